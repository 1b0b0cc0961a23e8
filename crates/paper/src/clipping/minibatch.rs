//! Clipped methods with minibatches on the paper's heterogeneous logistic regression, against C_g.

use super::contestant::{Clips, Contestant};
use super::fixed_points::ring;
use super::watch::{Late, watch};
use crate::statistics::{late, mean_and_error};
use prdo::models::LinearModel;
use prdo::prelude::*;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

pub const NODES: usize = 16;
pub const RECORDS: usize = 500;
pub const DIMENSION: usize = 20;
pub const HETEROGENEITY: f64 = 0.2;
pub const REGULARIZATION: f64 = 0.001;
pub const STEP: f64 = 1.0;
pub const BATCH: usize = 16;
const DATA_SEED: u64 = 1;

#[derive(Clone, Copy)]
pub struct Extent {
    pub rounds: u32,
    pub streams: u64,
    pub clips: &'static [f64],
}

/// C_Δ in C_g.
pub const RATIO: f64 = 0.003;
pub const FULL: Extent = Extent { rounds: 3000, streams: 3, clips: &[0.1, 0.3, 1.0, 2.0, 3.0, 6.0] };
pub const QUICK: Extent = Extent { rounds: 300, streams: 1, clips: &[1.0, 6.0] };

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Minibatch {
    /// κ of the runs whose C_Δ follows the movement: the largest curvature of a record's loss.
    pub kappa: f64,
    /// Without clipping.
    pub open: Vec<Open>,
    pub points: Vec<Point>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Open {
    pub method: Contestant,
    pub late_grad_norm: f64,
}

/// Means over the streams and the last sixth of the rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    pub method: Contestant,
    /// C_g.
    pub clip: f64,
    /// S; where it follows the movement, its mean over the second half of the rounds.
    pub sensitivity: f64,
    pub late_grad_norm: f64,
    pub late_grad_norm_by_stream: Vec<f64>,
    pub late_clip_bias: f64,
    pub clipped_gradients: f64,
    pub clipped_differences: Option<f64>,
}

struct Problem {
    model: Logistic,
    records: Vec<Table>,
    kappa: f64,
}

impl Problem {
    fn new() -> Result<Self, RunError> {
        let records = prdo::data::generate::logistic(NODES, RECORDS, DIMENSION, HETEROGENEITY, DATA_SEED)?;
        let model = Logistic::new(DIMENSION, REGULARIZATION)?;
        let squares = records.iter().flat_map(|table| table.features().chunks(DIMENSION));
        let largest = squares.map(|a| a.iter().map(|a| a * a).sum::<f64>()).fold(0.0, f64::max);
        let kappa = model.smoothness(largest).value;
        Ok(Self { model, records, kappa })
    }

    fn clips(&self, gradient: f64) -> Clips {
        Clips { gradient, difference: RATIO * gradient, kappa: self.kappa }
    }

    fn run(&self, extent: &Extent, of: Contestant, clip: Option<f64>, stream: u64) -> Result<Late, RunError> {
        let settings = of.settings(STEP, self.kappa);
        let run = Run::new(self.model, self.records.clone(), ring(NODES)?, of.method, settings)
            .batch(BATCH, Sampling::WithoutReplacement)
            .first_batch(RECORDS)
            .seed(stream)
            .rounds(extent.rounds)
            .record_every(extent.rounds / 60);
        let clipped = clip.map(|clip| self.clips(clip));
        let run = match clipped {
            Some(clips) => run.clip(clips.gradient, clips.difference),
            None => run,
        };
        watch(run.prepare()?)
    }
}

/// The methods whose unclipped runs differ, and those of every clip.
pub fn measure(
    extent: &Extent,
    contestants: &[Contestant],
    tick: &(dyn Fn(&str) + Sync),
) -> Result<Minibatch, RunError> {
    let problem = Problem::new()?;
    let streams = |of: Contestant, clip: Option<f64>| {
        let run = |stream: u64| {
            let late = problem.run(extent, of, clip, stream);
            tick(of.title());
            late
        };
        (1..=extent.streams).map(run).collect::<Result<Vec<Late>, RunError>>()
    };
    let open = |of: &Contestant| {
        let runs = streams(*of, None)?;
        Ok(Open { method: *of, late_grad_norm: mean_and_error(&norms(&runs)).0 })
    };
    let jobs: Vec<(Contestant, f64)> =
        contestants.iter().flat_map(|of| extent.clips.iter().map(move |clip| (*of, *clip))).collect();
    let one =
        |(of, clip): &(Contestant, f64)| Ok(point(*of, &problem.clips(*clip), &streams(*of, Some(*clip))?));
    let points = jobs.par_iter().map(one).collect::<Result<Vec<_>, RunError>>()?;
    let open = open_ones(contestants).par_iter().map(open).collect::<Result<Vec<_>, RunError>>()?;
    Ok(Minibatch { kappa: problem.kappa, open, points })
}

/// Those among them that differ without clipping.
pub fn open_ones(contestants: &[Contestant]) -> Vec<Contestant> {
    let plain = |of: &&Contestant| **of == Contestant::plain(of.method);
    contestants.iter().filter(plain).copied().collect()
}

fn norms(runs: &[Late]) -> Vec<f64> {
    runs.iter().filter_map(|run| late(&run.rows, |row| Some(row.grad_norm))).collect()
}

fn point(method: Contestant, clips: &Clips, runs: &[Late]) -> Point {
    let mean = |of: &dyn Fn(&Row) -> Option<f64>| {
        let values: Vec<f64> = runs.iter().filter_map(|run| late(&run.rows, of)).collect();
        (!values.is_empty()).then(|| mean_and_error(&values).0)
    };
    let norms = norms(runs);
    let movement = runs.iter().map(|run| run.movement).sum::<f64>() / runs.len() as f64;
    Point {
        method,
        clip: clips.gradient,
        sensitivity: method.sensitivity(clips, movement),
        late_grad_norm: mean_and_error(&norms).0,
        late_grad_norm_by_stream: norms,
        late_clip_bias: mean(&|row| row.clip_bias).unwrap_or(f64::NAN),
        clipped_gradients: mean(&|row| row.clipped_gradient_fraction).unwrap_or(f64::NAN),
        clipped_differences: mean(&|row| row.clipped_difference_fraction),
    }
}
