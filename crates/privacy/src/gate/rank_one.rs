//! Gradients of rank one: the clipped sum of a linear model's batch, without a gradient ever being written out.
//!
//! A record's gradient is s⊗a: its norm is ‖s‖·‖a‖, and so is that of a difference of the same record, Δs⊗a, because a
//! is the record's and does not change. So a record takes two matrix products and no memory of its own. The sum is
//! the exact integer sum of every other path: each coordinate of each clipped contribution is rounded to the grid,
//! here once, from the exact product.

use crate::answer::Diagnostics;
use crate::clip::{self, Clip};
use crate::grid::Grid;
use crate::linear::Linear;
use crate::protection::Protection;
use crate::query::{Clips, Query};
use prdo_kernels::Level;
use prdo_kernels::rank_one::{self, STEP};
use rayon::prelude::*;

/// Records that are done together: their inputs stay in the second-level cache while the sum passes by.
const BLOCK: usize = 16;

/// Exact sum, on the grid, of the batch's clipped contributions.
///
/// # Guarantee
/// A contribution's coefficients are computed from norms that are the gate's own; rounding adds to a contribution no more
/// than `relative_error` of the dimension says, and half a step per coordinate.
pub(super) fn clipped_sum<D: Sync, P: Protection>(
    linear: &dyn Linear<D>,
    data: &D,
    query: &Query<'_, P>,
    rules: (&Clip, Grid),
    batch: &[u32],
) -> (Vec<i64>, Diagnostics) {
    let (outputs, inputs) = (linear.outputs(), linear.inputs());
    let width = inputs.next_multiple_of(STEP);
    let padded = |x: &[f64]| padded(x, inputs, width);
    let at = padded(query.at.as_slice());
    let previous = query.difference.map(|d| padded(d.previous.as_slice()));
    let part = |records: &[u32]| {
        let mut sum = Sum::new(linear, data, query, rules, (&at, previous.as_deref()), width);
        records.chunks(BLOCK).for_each(|block| sum.add(block));
        (sum.sum, sum.counts)
    };
    let share = batch.len().div_ceil(rayon::current_num_threads()).next_multiple_of(BLOCK).max(4 * BLOCK);
    let none = || (vec![0; outputs * width], Diagnostics::default());
    let (sum, counts) = match batch.len() <= share {
        true => part(batch),
        false => batch.par_chunks(share).map(part).reduce_with(super::join).unwrap_or_else(none),
    };
    (sum.chunks_exact(width).flat_map(|row| &row[..inputs]).copied().collect(), counts)
}

/// The matrix `x` with rows of `width` values, the last of them zeros.
fn padded(x: &[f64], inputs: usize, width: usize) -> Vec<f64> {
    let mut out = vec![0.0; x.len() / inputs.max(1) * width];
    for (row, to) in x.chunks_exact(inputs).zip(out.chunks_exact_mut(width)) {
        to[..inputs].copy_from_slice(row);
    }
    out
}

struct Sum<'a, D, P: Protection> {
    linear: &'a dyn Linear<D>,
    data: &'a D,
    query: &'a Query<'a, P>,
    clip: &'a Clip,
    grid: Grid,
    at: &'a [f64],
    previous: Option<&'a [f64]>,
    width: usize,
    level: Level,
    /// The inputs of a block's records, and what is computed from them.
    lines: Vec<f64>,
    squares: Vec<f64>,
    slopes: Vec<f64>,
    before: Vec<f64>,
    sum: Vec<i64>,
    counts: Diagnostics,
}

impl<'a, D, P: Protection> Sum<'a, D, P> {
    fn new(
        linear: &'a dyn Linear<D>,
        data: &'a D,
        query: &'a Query<'a, P>,
        (clip, grid): (&'a Clip, Grid),
        (at, previous): (&'a [f64], Option<&'a [f64]>),
        width: usize,
    ) -> Self {
        let outputs = linear.outputs();
        Self {
            linear,
            data,
            query,
            clip,
            grid,
            at,
            previous,
            width,
            level: Level::best(),
            lines: vec![0.0; BLOCK * width],
            squares: vec![0.0; BLOCK],
            slopes: vec![0.0; BLOCK * outputs],
            before: vec![0.0; BLOCK * outputs],
            sum: vec![0; outputs * width],
            counts: Diagnostics::default(),
        }
    }

    fn add(&mut self, records: &[u32]) {
        let (outputs, inputs, width) = (self.linear.outputs(), self.linear.inputs(), self.width);
        let count = records.len();
        let lines = &mut self.lines[..count * width];
        for (record, line) in records.iter().zip(lines.chunks_exact_mut(width)) {
            // Cleared before each record: a model that forgets a value must not find another record's there.
            line.fill(0.0);
            self.linear.input(self.data, *record as usize, &mut line[..inputs]);
        }
        rank_one::squares(self.level, lines, width, &mut self.squares[..count]);
        let slopes = |weights: &[f64], out: &mut [f64]| {
            rank_one::scores(self.level, weights, lines, width, out);
            for (record, scores) in records.iter().zip(out.chunks_exact_mut(outputs)) {
                self.linear.slopes(self.data, *record as usize, scores);
            }
        };
        slopes(self.at, &mut self.slopes[..count * outputs]);
        if let Some(previous) = self.previous {
            slopes(previous, &mut self.before[..count * outputs]);
        }
        for which in 0..count {
            self.counts.records += 1;
            self.counts.evaluations += self.query.evaluations();
            if !self.scale(which) {
                self.counts.non_finite += 1;
                self.slopes[which * outputs..(which + 1) * outputs].fill(0.0);
                self.lines[which * width..(which + 1) * width].fill(0.0);
            }
        }
        let (rows, lines) = (&self.slopes[..count * outputs], &self.lines[..count * width]);
        rank_one::add_rounded(self.level, rows, lines, width, &mut self.sum);
    }

    /// Turns a record's slopes into those of its clipped contribution, in steps of the grid; `false` if it is to
    /// contribute nothing because one of its gradients is not finite.
    fn scale(&mut self, which: usize) -> bool {
        let (outputs, width) = (self.linear.outputs(), self.width);
        let slopes = &mut self.slopes[which * outputs..(which + 1) * outputs];
        let input = match self.squares[which] {
            squares if squares.is_finite() && squares > 1e-280 => Some(squares.sqrt()),
            _ => clip::norm(&self.lines[which * width..(which + 1) * width]),
        };
        let norm_of =
            |s: &[f64]| input.zip(clip::norm(s)).map(|(a, s)| a * s).filter(|norm| norm.is_finite());
        let Some(norm) = norm_of(slopes) else { return false };
        let bound = self.clip.gradient();
        let steps = 1.0 / self.grid.spacing();
        let gradient = clip::factor(self.query.gradient_weight, norm, bound) * steps;
        let Some(term) = self.query.difference else {
            self.counts.clipped_gradients += u64::from(norm > bound && self.query.gradient_weight > 0.0);
            slopes.iter_mut().for_each(|s| *s *= gradient);
            return finite(slopes);
        };
        let before = &mut self.before[which * outputs..(which + 1) * outputs];
        before.iter_mut().zip(slopes.iter()).for_each(|(b, s)| *b = s - *b);
        let Some(difference_norm) = norm_of(before) else { return false };
        if self.query.clips == Clips::Combined {
            let gamma = self.query.gradient_weight;
            slopes.iter_mut().zip(before.iter()).for_each(|(s, d)| *s = gamma * *s + term.weight * d);
            let Some(norm) = norm_of(slopes) else { return false };
            let bound = self.query.scale(self.clip);
            self.counts.clipped_gradients += u64::from(norm > bound);
            let factor = clip::factor(1.0, norm, bound) * steps;
            slopes.iter_mut().for_each(|s| *s *= factor);
            return finite(slopes);
        }
        let difference_bound = self.clip.difference();
        let difference = clip::factor(term.weight, difference_norm, difference_bound) * steps;
        self.counts.differences += 1;
        self.counts.clipped_gradients += u64::from(norm > bound && self.query.gradient_weight > 0.0);
        self.counts.clipped_differences += u64::from(difference_norm > difference_bound);
        slopes.iter_mut().zip(before.iter()).for_each(|(s, d)| *s = gradient * *s + difference * d);
        finite(slopes)
    }
}

/// Slopes beyond all bounds beside inputs of next to nothing have a norm, but overflow on the grid.
fn finite(slopes: &[f64]) -> bool {
    slopes.iter().all(|s| s.is_finite())
}
