//! The constants of a problem, from public or generated records.
//!
//! Every one of them is a function of the records: computed from private ones and shown, or used to choose settings,
//! it would tell something about them that no budget accounts for. Whoever calls this vouches that they are public.
//!
//! What can be proven is: the losses of linear models have known curvature and gradients. The rest is what was seen at
//! the start and along a short unprotected descent, and is called an estimate.

use super::case::Problem;
use super::levels::Level;
use crate::build::Form;
use prdo_data::{Feature, Table};
use prdo_models::Bound;
use prdo_privacy::{Model, Records};
use rayon::prelude::*;

/// The most records of each node that are looked at.
const MOST_RECORDS: usize = 2000;
/// The most work of one pass over all nodes, in multiply-adds.
const MOST_WORK: usize = 100_000_000;
const STEPS: usize = 20;

pub struct PublicRecords<'a, F: Feature> {
    pub form: &'a Form,
    pub model: &'a dyn Model<Data = Table<F>>,
    pub nodes: &'a [Table<F>],
    /// x⁰.
    pub start: &'a [f64],
}

/// How a run samples and clips.
#[derive(Clone, Copy, Debug)]
pub struct Sampled {
    /// The lower of b/N and b₀/N: the variance of a Poisson batch's gradient has the factor 1 − rate. One for full
    /// batches.
    pub rate: f64,
    /// C_g: where clipping is inactive, as the theorem assumes, no gradient is longer.
    pub gradient_clip: Option<f64>,
}

impl Sampled {
    fn factor(&self) -> f64 {
        (1.0 - self.rate).max(0.0)
    }
}

struct Seen {
    loss: f64,
    gradient: Vec<f64>,
    /// (1/n)·Σ‖∇f_i − ∇f‖².
    spread: f64,
}

impl<F: Feature> PublicRecords<'_, F> {
    pub fn constants(&self, sampled: Sampled) -> Problem {
        let part = Part { of: self, list: self.looked_at() };
        let seen = part.look(self.start);
        let (smoothness, variance) = (self.smoothness(), self.proven_variance(sampled));
        let how_many = part.words();
        // What is proven need not be looked for.
        let walk = match (&smoothness, &variance) {
            (Some(_), Some(_)) => Walk::default(),
            _ => part.walk(&seen, smoothness.as_ref().map(|level| level.value)),
        };
        let at_start = |value| match part.is_whole() {
            true => Level::proven(value, "exact at x⁰"),
            false => Level::estimated(value, format!("at x⁰, {how_many}")),
        };
        Problem {
            smoothness: smoothness.or_else(|| {
                let how = format!("largest ratio seen in {STEPS} steps of descent, {how_many}: from below");
                walk.ratio.filter(|ratio| *ratio > 0.0).map(|ratio| Level::estimated(ratio, how))
            }),
            initial_gap: self.initial_gap(&seen, part.is_whole(), &how_many),
            heterogeneity: Some(at_start(seen.spread)),
            sampling_variance: variance.or_else(|| {
                let how = format!(
                    "(1−b/N) times the largest mean ‖∇ℓ‖² seen in {STEPS} steps of descent, {how_many}"
                );
                Some(Level::estimated(sampled.factor() * walk.second_moment, how))
            }),
            dimension: Some(self.model.dimension() as u64),
            start_gradient: Some(square(&seen.gradient)),
        }
    }

    /// For each node, the records that are looked at: all, or some spread evenly.
    fn looked_at(&self) -> Vec<Vec<u32>> {
        let unit = match self.form {
            Form::Network { spec, .. } => usize::try_from(spec.flops()).unwrap_or(usize::MAX),
            Form::Linear(_) => self.model.dimension(),
        };
        let most = (MOST_WORK / unit.max(1) / self.nodes.len().max(1)).clamp(4, MOST_RECORDS);
        let some = |table: &Table<F>| {
            let count = table.len().min(most);
            (0..count).map(|k| (k as u64 * table.len() as u64 / count as u64) as u32).collect()
        };
        self.nodes.iter().map(some).collect()
    }

    /// The largest ‖a‖² of all records.
    fn largest_square(&self) -> f64 {
        let rows = self.nodes.iter().flat_map(|table| table.features().chunks_exact(table.width()));
        rows.map(norm_square).fold(0.0, f64::max)
    }

    /// What an intercept adds to ‖a‖² at most, where it is the model's own and not a feature.
    fn own_intercept(&self) -> f64 {
        let width = self.nodes.first().map_or(0, Table::width);
        if self.model.dimension() > width { 1.0 } else { 0.0 }
    }

    /// L_s where the model's formula has one.
    fn smoothness(&self) -> Option<Level> {
        match self.form {
            Form::Linear(model) => {
                let bound = model.smoothness(self.largest_square() + self.own_intercept());
                Some(Level::proven(bound.value, bound.how))
            }
            Form::Network { .. } => None,
        }
    }

    /// Δ_f; `None` where f has no lower bound.
    fn initial_gap(&self, seen: &Seen, whole: bool, how_many: &str) -> Option<Level> {
        let bound = match self.form {
            Form::Linear(model) => model.gap(self.start, seen.loss, &seen.gradient)?,
            Form::Network { .. } => Bound::of_positive_loss(seen.loss),
        };
        Some(match whole {
            true => Level::proven(bound.value.max(0.0), bound.how),
            false => Level::estimated(bound.value.max(0.0), format!("{}, {how_many}", bound.how)),
        })
    }

    /// σ²_sgd: (1 − rate) times a bound on (1/N)·Σ‖∇ℓ_r(x)‖² (as in `cv:oracle-difference`), where there is one.
    fn proven_variance(&self, sampled: Sampled) -> Option<Level> {
        if sampled.factor() == 0.0 {
            return Some(Level::proven(0.0, "every batch is the whole data"));
        }
        let clipped = sampled
            .gradient_clip
            .map(|clip| Bound { value: clip * clip, how: "C_g², for clipping is to be inactive" });
        let proven = [self.gradient_square(), clipped].into_iter().flatten();
        let bound = proven.min_by(|a, b| a.value.total_cmp(&b.value))?;
        Some(Level::proven(sampled.factor() * bound.value, format!("(1−b/N) times {}", bound.how)))
    }

    /// A bound on every node's (1/N)·Σ‖∇ℓ_r(x)‖² at every x, where the model has one.
    fn gradient_square(&self) -> Option<Bound> {
        let Form::Linear(model) = self.form else { return None };
        let (own, mut worst) = (self.own_intercept(), model.gradient_square(0.0)?);
        worst.value = 0.0;
        for table in self.nodes {
            let squares = table.features().chunks_exact(table.width()).map(norm_square);
            let bounds = squares.map(|square| Some(model.gradient_square(square + own)?.value));
            worst.value = worst.value.max(bounds.sum::<Option<f64>>()? / table.len().max(1) as f64);
        }
        Some(worst)
    }
}

struct Part<'a, F: Feature> {
    of: &'a PublicRecords<'a, F>,
    list: Vec<Vec<u32>>,
}

#[derive(Default)]
struct Walk {
    /// The largest ‖∇ℓ(x) − ∇ℓ(y)‖/‖x − y‖ of a record, where it was looked for.
    ratio: Option<f64>,
    /// The largest of any node's (1/N)·Σ‖∇ℓ_r‖².
    second_moment: f64,
}

impl<F: Feature> Part<'_, F> {
    fn nodes(&self) -> Vec<(&Table<F>, &[u32])> {
        self.of.nodes.iter().zip(self.list.iter().map(Vec::as_slice)).collect()
    }

    fn is_whole(&self) -> bool {
        self.nodes().iter().all(|(table, list)| table.len() == list.len())
    }

    fn words(&self) -> String {
        let most = self.list.iter().map(Vec::len).max().unwrap_or(0);
        if self.is_whole() { "all records".into() } else { format!("{most} records per node") }
    }

    /// f, its gradient and the nodes' spread at x.
    fn look(&self, x: &[f64]) -> Seen {
        let one = |(table, list): (&Table<F>, &[u32])| {
            let mut sum = vec![0.0; x.len()];
            let loss = self.of.model.evaluate(x, table, Records::List(list), &mut sum);
            let count = list.len().max(1) as f64;
            sum.iter_mut().for_each(|s| *s /= count);
            (loss / count, sum)
        };
        let all: Vec<(f64, Vec<f64>)> = self.nodes().into_par_iter().map(one).collect();
        let n = all.len().max(1) as f64;
        let mut gradient = vec![0.0; x.len()];
        for (_, own) in &all {
            gradient.iter_mut().zip(own).for_each(|(g, o)| *g += o / n);
        }
        let apart = |own: &[f64]| own.iter().zip(&gradient).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
        Seen {
            loss: all.iter().map(|(loss, _)| loss / n).sum(),
            spread: all.iter().map(|(_, own)| apart(own) / n).sum(),
            gradient,
        }
    }

    /// The largest mean squared gradient of a node at x and, if asked for, the largest ratio of a record between x
    /// and y.
    fn records(&self, x: &[f64], y: Option<&[f64]>) -> (f64, f64) {
        let one = |(table, list): (&Table<F>, &[u32])| {
            let (mut here, mut there) = (vec![0.0; x.len()], vec![0.0; x.len()]);
            let (mut squares, mut apart) = (0.0, 0.0_f64);
            for r in list {
                self.of.model.gradient(x, table, *r as usize, &mut here);
                squares += square(&here);
                if let Some(y) = y {
                    self.of.model.gradient(y, table, *r as usize, &mut there);
                    apart = apart.max(distance(&here, &there));
                }
            }
            (squares / list.len().max(1) as f64, apart)
        };
        let all: Vec<(f64, f64)> = self.nodes().into_par_iter().map(one).collect();
        let (moment, apart) =
            all.iter().fold((0.0, 0.0), |(a, b), (c, d)| (f64::max(a, *c), f64::max(b, *d)));
        let moved = y.map_or(0.0, |y| distance(x, y));
        (moment, if moved > 0.0 { apart / moved } else { 0.0 })
    }

    /// A short descent on f with steps of 1/L_s, where L_s is known or else what was seen so far.
    fn walk(&self, seen: &Seen, smoothness: Option<f64>) -> Walk {
        let mut x = self.of.start.to_vec();
        let mut gradient = seen.gradient.clone();
        let mut walk = Walk::default();
        for _ in 0..STEPS {
            let length = square(&gradient).sqrt();
            // The first step of an unknown curvature is short: it only finds out.
            let first = 1e-3 * (1.0 + square(&x).sqrt()) / length;
            let step = smoothness.or(walk.ratio).map_or(first, |l| 1.0 / l);
            if !(step.is_finite() && length > 0.0) {
                break;
            }
            let next: Vec<f64> = x.iter().zip(&gradient).map(|(x, g)| x - step * g).collect();
            let (moment, ratio) = self.records(&x, smoothness.is_none().then_some(&next));
            walk.second_moment = walk.second_moment.max(moment);
            if smoothness.is_none() {
                walk.ratio = Some(walk.ratio.unwrap_or(0.0).max(ratio));
            }
            gradient = self.look(&next).gradient;
            x = next;
        }
        walk.second_moment = walk.second_moment.max(self.records(&x, None).0);
        walk
    }
}

fn norm_square<F: Feature>(row: &[F]) -> f64 {
    row.iter().map(|v| v.value() * v.value()).sum()
}

fn square(x: &[f64]) -> f64 {
    x.iter().map(|v| v * v).sum()
}

fn distance(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests;
