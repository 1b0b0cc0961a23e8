//! How the average squared gradient falls with the horizon.

use super::case::{C_GAMMA, Case, Network, setup};
use super::problem::Problem;
use super::trace::stationarity;
use crate::error::Error;
use crate::statistics::{log_slope, mean_and_error};
use prdo::error::RunError;
use prdo::theory::Schedule;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

pub const THEOREM: f64 = -2.0 / 3.0;

/// Scheduled runs without noise of one problem on one network, over horizons.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slope {
    pub problem: String,
    #[serde(rename = "graph")]
    pub network: String,
    /// The one c_α of all horizons: the theorem's does not depend on T.
    pub c_alpha: f64,
    /// Of log mean against log T over the last decade of T by least squares, and its standard error from those of the
    /// means.
    pub slope: f64,
    pub slope_error: f64,
    pub slope_over_all_horizons: f64,
    pub slope_over_all_horizons_error: f64,
    pub points: Vec<Point>,
}

/// The mean of (1/T)·Σ‖∇f(x̄^t)‖² over seeds.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    pub rounds: f64,
    pub mean: f64,
    pub standard_error: f64,
}

impl Slope {
    /// Measures it, with the largest c_α that is feasible at every one of the horizons.
    pub fn measure(
        problem: &Problem,
        network: &Network,
        (horizons, seeds): (&[u32], u64),
        tick: &(dyn Fn() + Sync),
    ) -> Result<Self, Error> {
        let largest = |rounds: &u32| Schedule::largest(&setup(problem, network, *rounds), C_GAMMA);
        let schedules = horizons.iter().map(largest).collect::<Result<Vec<_>, _>>()?;
        let c_alpha = schedules.iter().map(Schedule::c_alpha).fold(f64::INFINITY, f64::min);
        let mut points = Vec::new();
        for rounds in horizons {
            let setup = setup(problem, network, *rounds);
            let schedule = Schedule::new(&setup, c_alpha, C_GAMMA)?;
            let case = Case { problem, network, schedule, protection: None };
            let run = |seed: u64| {
                let value = stationarity(&case, seed);
                tick();
                value
            };
            let values = (1..=seeds).into_par_iter().map(run).collect::<Result<Vec<_>, RunError>>()?;
            let (mean, standard_error) = mean_and_error(&values);
            points.push(Point { rounds: f64::from(*rounds), mean, standard_error });
        }
        let last = points.last().map_or(0.0, |point| point.rounds);
        let late: Vec<_> = points.iter().copied().filter(|point| point.rounds >= 0.0999 * last).collect();
        let ((slope, slope_error), all) = (fit(&late), fit(&points));
        Ok(Self {
            problem: problem.name.to_string(),
            network: network.name.to_string(),
            c_alpha,
            slope,
            slope_error,
            slope_over_all_horizons: all.0,
            slope_over_all_horizons_error: all.1,
            points,
        })
    }
}

/// The slope of log mean against log T, and its error from those of the means.
fn fit(points: &[Point]) -> (f64, f64) {
    let points: Vec<_> = points.iter().map(|p| (p.rounds, p.mean, p.standard_error)).collect();
    log_slope(&points)
}
