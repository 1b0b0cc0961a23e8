//! All seeds of a case, and what the theory says of it.

use super::case::Case;
use super::problem::{Problem, spread2};
use super::trace::Trace;
use crate::error::Error;
use prdo::error::RunError;
use prdo::theory::{Bounds, Levels, Setting};
use rayon::prelude::*;

pub struct Evidence<'a> {
    pub case: &'a Case<'a>,
    pub traces: Vec<Trace>,
    pub levels: Levels,
    pub bounds: Bounds,
    /// The largest 1 + ‖X^t‖²_F: what rounding is measured against.
    pub scale: f64,
}

impl<'a> Evidence<'a> {
    /// Runs the case with seeds 1, 2, …
    pub fn gather(case: &'a Case<'a>, seeds: u64, tick: &(dyn Fn() + Sync)) -> Result<Self, Error> {
        let run = |seed: u64| {
            let trace = Trace::of(case, seed);
            tick();
            trace
        };
        let traces = (1..=seeds).into_par_iter().map(run).collect::<Result<Vec<_>, RunError>>()?;
        let levels = levels(case, &traces);
        let bounds = Bounds::of(case.setting(), &levels)?;
        let sizes = traces.iter().flat_map(|trace| &trace.rounds).map(|round| round.size);
        let scale = 1.0 + sizes.fold(0.0, f64::max);
        Ok(Self { case, traces, levels, bounds, scale })
    }

    pub fn setting(&self) -> &Setting {
        self.case.setting()
    }

    /// E_t‖E^t‖²_F given the past, exactly.
    pub fn expected_local_error(&self, trace: &Trace, t: usize) -> f64 {
        let fresh: f64 = trace.rounds[t].nodes.iter().map(|node| node.innovation).sum();
        let kept = (1.0 - self.setting().gamma()).powi(2);
        fresh + if t == 0 { 0.0 } else { kept * trace.rounds[t - 1].local_error }
    }

    /// E_t‖ē^t‖² given the past, exactly: the nodes draw independently.
    pub fn expected_mean_error(&self, trace: &Trace, t: usize) -> f64 {
        let n = self.setting().nodes();
        let fresh: f64 = trace.rounds[t].nodes.iter().map(|node| node.innovation).sum();
        let kept = (1.0 - self.setting().gamma()).powi(2);
        fresh / (n * n) + if t == 0 { 0.0 } else { kept * trace.rounds[t - 1].mean_error }
    }
}

/// Δ_f⁰, ζ₀², σ²_sgd, d and ν²_dp of a case.
///
/// Poisson batches with expected size b give the variance (1 − b/N)/b times the mean square of the gradients: σ² is
/// (1 − b/N) times its supremum, the proven one or, where there is none, the largest along the trajectories. The
/// latter is the smallest σ² with which the proof can speak of these runs, so that the bounds are as low as can be.
fn levels(case: &Case<'_>, traces: &[Trace]) -> Levels {
    let problem: &Problem = case.problem;
    let start = problem.local(&problem.start);
    let squares = traces.iter().flat_map(|trace| &trace.rounds).flat_map(|round| &round.nodes);
    let largest = || squares.map(|node| node.mean_square).fold(0.0, f64::max);
    Levels {
        initial_gap: start.loss - problem.infimum,
        heterogeneity: spread2(&start.gradients) / start.gradients.len() as f64,
        sampling_variance: case.left_out() * problem.mean_square.unwrap_or_else(largest),
        dimension: problem.dimension() as u64,
        noise_variance: case.protection.as_ref().map_or(0.0, |p| p.variances.recursive),
    }
}
