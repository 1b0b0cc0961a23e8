//! How far from the minimiser clipped methods stop, against C at a fixed spread σ = 1 of the records' gradients: at each C
//! the records for which clipping does worst.

use super::contestant::{Clips, Contestant};
use super::fixed_points::{predicted, run};
use super::two_points::TwoPoints;
use crate::error::Error;
use crate::statistics::log_slope;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

pub const NODES: usize = 8;
pub const STEP: f64 = 0.5;
pub const ROUNDS: u32 = 400;
/// C_Δ in C_g.
pub const RATIO: f64 = 0.1;

#[derive(Clone, Copy)]
pub struct Extent {
    pub records: usize,
    /// C_g from 0.01 to 10: so many values per decade.
    pub per_decade: u32,
}

pub const FULL: Extent = Extent { records: 500, per_decade: 4 };
pub const QUICK: Extent = Extent { records: 200, per_decade: 1 };

const DECADES: (i32, u32) = (-2, 3);
/// The regimes: C_g up to this, and from this.
pub const SMALL: f64 = 0.1;
pub const LARGE: f64 = 1.0;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Floor {
    pub method: Contestant,
    /// Of log ‖∇f(x̄)‖ against log C_g where C_g is at most σ/10, and where it is at least σ.
    pub slope_small: f64,
    pub slope_large: f64,
    pub points: Vec<Point>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// C_g; σ is 1.
    pub clip: f64,
    /// S of a round in which nothing moves.
    pub sensitivity: f64,
    pub grad_norm: f64,
    pub predicted: f64,
    pub clip_bias: f64,
}

impl Extent {
    pub fn clips(&self) -> Vec<f64> {
        let (first, decades) = DECADES;
        let power = |k: u32| f64::from(first) + f64::from(k) / f64::from(self.per_decade);
        (0..=decades * self.per_decade).map(|k| 10.0_f64.powf(power(k))).collect()
    }
}

pub fn measure(
    extent: &Extent,
    contestants: &[Contestant],
    tick: &(dyn Fn(&str) + Sync),
) -> Result<Vec<Floor>, Error> {
    let clips = extent.clips();
    let jobs: Vec<(Contestant, f64)> =
        contestants.iter().flat_map(|of| clips.iter().map(move |clip| (*of, *clip))).collect();
    let one = |(of, clip): &(Contestant, f64)| {
        let found = point(extent, *of, *clip);
        tick(of.title());
        found
    };
    let points = jobs.par_iter().map(one).collect::<Result<Vec<_>, Error>>()?;
    let floor = |(of, points): (&Contestant, &[Point])| Floor::of(*of, points.to_vec());
    Ok(contestants.iter().zip(points.chunks(clips.len())).map(floor).collect())
}

fn point(extent: &Extent, of: Contestant, clip: f64) -> Result<Point, Error> {
    let clips = Clips { gradient: clip, difference: RATIO * clip, kappa: 1.0 };
    let threshold = of.threshold(&clips);
    let records = TwoPoints::worst((NODES, extent.records), threshold);
    let outcome = run(&records, NODES, of, (STEP, &clips))?.rounds(ROUNDS).record_every(ROUNDS).train()?;
    let last = outcome.last().copied().unwrap_or_default();
    Ok(Point {
        clip,
        sensitivity: of.sensitivity(&clips, 0.0),
        grad_norm: last.grad_norm,
        predicted: records.minimiser() - predicted(&records, NODES, of, (STEP, threshold))?,
        clip_bias: last.clip_bias.unwrap_or(f64::NAN),
    })
}

impl Floor {
    fn of(method: Contestant, points: Vec<Point>) -> Self {
        let slope = |within: &dyn Fn(f64) -> bool| {
            let own = points.iter().filter(|p| within(p.clip));
            log_slope(&own.map(|p| (p.clip, p.grad_norm, 0.0)).collect::<Vec<_>>()).0
        };
        // A little wide: the ends are powers that were rounded.
        let (small, large) = (slope(&|clip| clip <= 1.001 * SMALL), slope(&|clip| clip >= 0.999 * LARGE));
        Self { method, slope_small: small, slope_large: large, points }
    }

    /// The largest |measured/predicted − 1|.
    pub fn largest_error(&self) -> f64 {
        self.points.iter().map(|p| (p.grad_norm / p.predicted - 1.0).abs()).fold(0.0, f64::max)
    }
}
