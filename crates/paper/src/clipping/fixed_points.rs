//! Where clipped methods stop, held against the closed form: full batches, no noise.

use super::contestant::{Clips, Contestant};
use super::two_points::TwoPoints;
use crate::error::Error;
use prdo::error::RunError;
use prdo::prelude::*;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

pub const NODES: usize = 8;
pub const STEP: f64 = 0.2;
pub const ROUNDS: u32 = 600;
const RECORDS: usize = 40;
/// A tenth of all records, at 10: the minimiser is 1.
pub const FAR: (usize, f64) = (32, 10.0);
pub const CLIPS: Clips = Clips { gradient: 0.5, difference: 0.05, kappa: 1.0 };

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// As many of the far records at every node.
    Even,
    /// All of them at one node.
    Gathered,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FixedPoint {
    pub method: Contestant,
    pub placement: Placement,
    /// The norm beyond which gradients are shortened where nothing moves.
    pub threshold: f64,
    pub predicted: f64,
    /// x̄ after the last round.
    pub reached: f64,
    pub grad_norm: f64,
    pub clip_bias: f64,
    /// The first round from which ‖∇f(x̄)‖ keeps within a hundredth of its whole way to its end.
    pub settled_after: u32,
}

impl FixedPoint {
    pub fn error(&self) -> f64 {
        (self.reached - self.predicted).abs()
    }
}

impl Placement {
    pub const ALL: [Self; 2] = [Self::Even, Self::Gathered];

    pub fn records(self) -> TwoPoints {
        let size = (NODES, RECORDS);
        match self {
            Self::Even => TwoPoints::even(size, FAR.0, FAR.1),
            Self::Gathered => TwoPoints::gathered(size, FAR.0, FAR.1),
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Self::Even => "the same share at every node",
            Self::Gathered => "all at one node",
        }
    }
}

pub fn ring(nodes: usize) -> Result<Mixing, RunError> {
    Ok(Mixing::new(&Graph::ring(nodes)?, Weights::Paper, false)?)
}

/// A clipped run on these records: full batches, no noise.
pub fn run(
    records: &TwoPoints,
    nodes: usize,
    of: Contestant,
    (step, clips): (f64, &Clips),
) -> Result<Run<Quadratic>, RunError> {
    let model = Quadratic::new(1, 1.0)?;
    let run = Run::new(model, records.tables()?, ring(nodes)?, of.method, of.settings(step, clips.kappa));
    Ok(run.clip(clips.gradient, clips.difference))
}

/// Where the mean of all nodes' models stops.
pub fn predicted(
    records: &TwoPoints,
    nodes: usize,
    of: Contestant,
    (step, threshold): (f64, f64),
) -> Result<f64, RunError> {
    // Of these methods D-SGD alone stops elsewhere when the nodes' records differ.
    if of.method != Method::Dsgd {
        return Ok(records.fixed_point(threshold));
    }
    Ok(records.gossip_fixed_point(&ring(nodes)?, step, threshold).unwrap_or(f64::NAN))
}

pub fn measure(contestants: &[Contestant], tick: &(dyn Fn(&str) + Sync)) -> Result<Vec<FixedPoint>, Error> {
    let jobs: Vec<(Placement, Contestant)> =
        Placement::ALL.into_iter().flat_map(|p| contestants.iter().map(move |of| (p, *of))).collect();
    let one = |(placement, of): &(Placement, Contestant)| {
        let found = fixed_point(*placement, *of);
        tick(of.title());
        found
    };
    jobs.par_iter().map(one).collect()
}

fn fixed_point(placement: Placement, of: Contestant) -> Result<FixedPoint, Error> {
    let records = placement.records();
    let outcome = run(&records, NODES, of, (STEP, &CLIPS))?.rounds(ROUNDS).record_every(1).train()?;
    let threshold = of.threshold(&CLIPS);
    let predicted = predicted(&records, NODES, of, (STEP, threshold))?;
    let last = outcome.last().copied().unwrap_or_default();
    Ok(FixedPoint {
        method: of,
        placement,
        threshold,
        predicted,
        reached: outcome.average.first().copied().unwrap_or(f64::NAN),
        grad_norm: last.grad_norm,
        clip_bias: last.clip_bias.unwrap_or(f64::NAN),
        settled_after: settled_after(&outcome.rows),
    })
}

fn settled_after(rows: &[Row]) -> u32 {
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return 0 };
    let near = 0.01 * (first.grad_norm - last.grad_norm).abs();
    let far = rows.iter().rfind(|row| (row.grad_norm - last.grad_norm).abs() > near);
    far.map_or(0, |row| row.round + 1)
}
