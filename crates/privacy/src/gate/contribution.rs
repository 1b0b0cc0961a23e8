//! One record's clipped contribution to a query, added to an exact sum.

use crate::answer::Diagnostics;
use crate::clip::{self, Clip};
use crate::grid::Grid;
use crate::model::Model;
use crate::protection::Protection;
use crate::query::{Clips, Difference, Query};

/// Computes one record's clipped contribution after another and adds it to a sum on the grid.
pub(super) struct Contribution<'a, M: Model, P: Protection> {
    model: &'a M,
    data: &'a M::Data,
    query: &'a Query<'a, P>,
    clip: &'a Clip,
    grid: Grid,
    at: Vec<f64>,
    difference: Vec<f64>,
    pub(super) counts: Diagnostics,
}

impl<'a, M: Model, P: Protection> Contribution<'a, M, P> {
    pub(super) fn new(
        model: &'a M,
        data: &'a M::Data,
        query: &'a Query<'a, P>,
        clip: &'a Clip,
        grid: Grid,
    ) -> Self {
        let d = model.dimension();
        let second = if query.difference.is_some() { d } else { 0 };
        let (at, difference) = (vec![0.0; d], vec![0.0; second]);
        Self { model, data, query, clip, grid, at, difference, counts: Diagnostics::default() }
    }

    /// Adds `record`'s contribution; nothing if one of its gradients is not finite.
    pub(super) fn add(&mut self, record: usize, sum: &mut [i64]) {
        self.counts.records += 1;
        self.counts.evaluations += self.query.evaluations();
        // Cleared before each record: a model that forgets a coordinate must not find another record's there.
        self.at.fill(0.0);
        self.model.gradient(self.query.at.as_slice(), self.data, record, &mut self.at);
        if let Some(scaled) = &self.query.scaled {
            self.at.iter_mut().zip(scaled.by.as_slice()).for_each(|(g, by)| *g /= by);
        }
        let Some(norm) = clip::norm(&self.at) else {
            self.counts.non_finite += 1;
            return;
        };
        match self.query.difference {
            None => self.add_gradient(norm, sum),
            Some(term) => self.add_with_difference(&term, record, norm, sum),
        }
    }

    fn add_gradient(&mut self, norm: f64, sum: &mut [i64]) {
        let bound = self.clip.gradient();
        let factor = clip::factor(self.query.gradient_weight, norm, bound);
        self.counts.clipped_gradients += u64::from(norm > bound && self.query.gradient_weight > 0.0);
        for (s, g) in sum.iter_mut().zip(&self.at) {
            *s += self.grid.round(factor * g);
        }
    }

    fn add_with_difference(&mut self, term: &Difference<'_, P>, record: usize, norm: f64, sum: &mut [i64]) {
        self.difference.fill(0.0);
        self.model.gradient(term.previous.as_slice(), self.data, record, &mut self.difference);
        self.difference.iter_mut().zip(&self.at).for_each(|(d, g)| *d = g - *d);
        let Some(difference_norm) = clip::norm(&self.difference) else {
            self.counts.non_finite += 1;
            return;
        };
        if self.query.clips == Clips::Combined {
            return self.add_combined(term.weight, sum);
        }
        let (bound, difference_bound) = (self.clip.gradient(), self.clip.difference());
        let gradient = clip::factor(self.query.gradient_weight, norm, bound);
        let difference = clip::factor(term.weight, difference_norm, difference_bound);
        self.counts.differences += 1;
        self.counts.clipped_gradients += u64::from(norm > bound && self.query.gradient_weight > 0.0);
        self.counts.clipped_differences += u64::from(difference_norm > difference_bound);
        for ((s, g), d) in sum.iter_mut().zip(&self.at).zip(&self.difference) {
            *s += self.grid.round(gradient * g + difference * d);
        }
    }

    /// The weighted sum of gradient and difference, clipped as one. It counts as a gradient.
    fn add_combined(&mut self, weight: f64, sum: &mut [i64]) {
        let gamma = self.query.gradient_weight;
        self.at.iter_mut().zip(&self.difference).for_each(|(g, d)| *g = gamma * *g + weight * d);
        let Some(norm) = clip::norm(&self.at) else {
            self.counts.non_finite += 1;
            return;
        };
        let bound = self.query.scale(self.clip);
        let factor = clip::factor(1.0, norm, bound);
        self.counts.clipped_gradients += u64::from(norm > bound);
        for (s, u) in sum.iter_mut().zip(&self.at) {
            *s += self.grid.round(factor * u);
        }
    }
}
