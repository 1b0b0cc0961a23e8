//! What clipping differences adds to the bias, alone: C_g is never reached, batches are small, and the records are skewed.

use super::contestant::{Clips, Contestant, GAMMA};
use super::fixed_points::run;
use super::two_points::TwoPoints;
use super::watch::{Late, watch};
use crate::statistics::mean_and_error;
use prdo::algorithm::methods::directions::Clipping;
use prdo::error::RunError;
use prdo::prelude::*;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

pub const NODES: usize = 8;
pub const STEP: f64 = 0.5;
pub const BATCH: usize = 5;
const RECORDS: usize = 200;
/// One record in twenty is at 1/√(p(1−p)): σ = 1, and batches are skewed.
const FAR: usize = NODES * RECORDS / 20;
pub const SHARE: f64 = 0.05;
/// Above every gradient of these runs.
pub const CLIP: f64 = 6.0;
/// A little more than the curvature, 1: what rounding adds to a difference is not clipped.
pub const KAPPA: f64 = 1.001;

#[derive(Clone, Copy)]
pub struct Extent {
    pub rounds: u32,
    pub seeds: u64,
    pub differences: &'static [f64],
}

pub const FULL: Extent =
    Extent { rounds: 10_000, seeds: 8, differences: &[1e-4, 1e-3, 3e-3, 1e-2, 2e-2, 3e-2, 5e-2, 1e-1] };
pub const QUICK: Extent = Extent { rounds: 600, seeds: 3, differences: &[1e-4, 2e-2, 1e-1] };

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    pub method: Contestant,
    /// C_Δ, where it is a setting.
    pub clip: Option<f64>,
    pub sensitivity: f64,
    pub clipped_differences: f64,
    /// The mean of x̄ over the second half of the rounds, against the same run without clipping, on the same batches: its mean
    /// over the seeds and that mean's standard error.
    pub bias: f64,
    pub bias_error: f64,
    /// (1−γ)C_Δ/γ, which the bias of clipping differences by themselves cannot exceed.
    pub bound: Option<f64>,
    /// The root of the mean square of ∇f(x̄) over the same rounds.
    pub floor: f64,
}

struct Ran {
    minimiser: f64,
    late: Late,
}

impl Ran {
    /// The mean of x̄ − minimiser, which is that of ∇f(x̄).
    fn mean(&self) -> f64 {
        self.late.average.iter().sum::<f64>() - self.minimiser
    }

    /// The mean of its square.
    fn square(&self) -> f64 {
        self.late.square - self.minimiser * (self.minimiser + 2.0 * self.mean())
    }
}

fn ran(extent: &Extent, of: Contestant, clips: &Clips, seed: u64) -> Result<Ran, RunError> {
    let far = 1.0 / (SHARE * (1.0 - SHARE)).sqrt();
    let records = TwoPoints::even((NODES, RECORDS), FAR, far);
    let prepared = run(&records, NODES, of, (STEP, clips))?
        .batch(BATCH, Sampling::WithoutReplacement)
        .first_batch(RECORDS)
        .seed(seed)
        .rounds(extent.rounds)
        .record_every(extent.rounds / 2)
        .prepare()?;
    Ok(Ran { minimiser: records.minimiser(), late: watch(prepared)? })
}

/// What is run: each at every C_Δ, once where C_Δ is no setting.
pub fn jobs(extent: &Extent, contestants: &[Contestant]) -> Vec<(Contestant, Option<f64>)> {
    let clips = |of: &Contestant| match of.clipping {
        Clipping::Movement => vec![(*of, None)],
        Clipping::Separate | Clipping::Combined => {
            extent.differences.iter().map(|clip| (*of, Some(*clip))).collect()
        }
    };
    contestants.iter().flat_map(clips).collect()
}

/// PRDO in each of its ways at every C_Δ.
pub fn measure(
    extent: &Extent,
    contestants: &[Contestant],
    tick: &(dyn Fn(&str) + Sync),
) -> Result<Vec<Point>, RunError> {
    let seeds: Vec<u64> = (1..=extent.seeds).collect();
    // Nothing reaches these.
    let inactive = Clips { gradient: 1e6, difference: 1e6, kappa: 1.0 };
    let unclipped = seeds.par_iter().map(|seed| {
        let mean = ran(extent, Contestant::PRDO[0], &inactive, *seed).map(|ran| ran.mean());
        tick("without clipping");
        mean
    });
    let unclipped = unclipped.collect::<Result<Vec<f64>, RunError>>()?;
    let jobs = jobs(extent, contestants);
    let one = |(of, clip): &(Contestant, Option<f64>)| {
        let clips = Clips { gradient: CLIP, difference: clip.unwrap_or(CLIP), kappa: KAPPA };
        let runs = seeds.iter().map(|seed| {
            let ran = ran(extent, *of, &clips, *seed);
            tick(of.title());
            ran
        });
        let runs = runs.collect::<Result<Vec<Ran>, RunError>>()?;
        Ok(point((*of, *clip), &clips, &runs, &unclipped))
    };
    jobs.par_iter().map(one).collect()
}

fn point((method, clip): (Contestant, Option<f64>), clips: &Clips, runs: &[Ran], unclipped: &[f64]) -> Point {
    let paired: Vec<f64> = runs.iter().zip(unclipped).map(|(run, open)| run.mean() - open).collect();
    let (bias, bias_error) = mean_and_error(&paired);
    let mean = |of: &dyn Fn(&Ran) -> f64| runs.iter().map(of).sum::<f64>() / runs.len() as f64;
    // The last row's share is that of the second half.
    let clipped =
        |run: &Ran| run.late.rows.last().and_then(|row| row.clipped_difference_fraction).unwrap_or(0.0);
    let alone = clip.filter(|_| method.clipping == Clipping::Separate);
    let bound = alone.map(|clip| (1.0 - GAMMA) * clip / GAMMA);
    Point {
        method,
        clip,
        sensitivity: method.sensitivity(clips, mean(&|run| run.late.movement)),
        clipped_differences: mean(&clipped),
        bias,
        bias_error,
        bound,
        floor: mean(&Ran::square).sqrt(),
    }
}
