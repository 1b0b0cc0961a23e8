//! How the average squared gradient falls with the horizon.

use super::case::{C_GAMMA, Case, Network, setup};
use super::problem::Problem;
use super::trace::stationarity;
use crate::error::Error;
use prdo::error::RunError;
use prdo::theory::Schedule;
use rayon::prelude::*;

/// The theorem's exponent.
pub const THEOREM: f64 = -2.0 / 3.0;

/// Scheduled runs without noise of one problem on one network, over horizons.
pub struct Fall {
    pub problem: &'static str,
    pub network: &'static str,
    /// The one c_α of all horizons: the theorem's does not depend on T.
    pub c_alpha: f64,
    /// T, the mean of (1/T)·Σ‖∇f(x̄^t)‖² over seeds, and its standard error.
    pub points: Vec<(f64, f64, f64)>,
    /// Of log mean against log T over the last decade of T by least squares, and its standard error from those of the
    /// means.
    pub slope: (f64, f64),
    /// The same over all horizons.
    pub whole: (f64, f64),
}

impl Fall {
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
            let (mean, error) = mean_and_error(&values);
            points.push((f64::from(*rounds), mean, error));
        }
        let last = points.last().map_or(0.0, |(t, _, _)| *t);
        let late: Vec<_> = points.iter().copied().filter(|(t, _, _)| *t >= 0.0999 * last).collect();
        let (slope, whole) = (fit(&late), fit(&points));
        Ok(Self { problem: problem.name, network: network.name, c_alpha, points, slope, whole })
    }
}

/// The mean and its standard error.
pub fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    (mean, if n > 1.0 { (squares / (n - 1.0) / n).sqrt() } else { 0.0 })
}

/// The least-squares slope of log y against log x, and its error from those of y.
fn fit(points: &[(f64, f64, f64)]) -> (f64, f64) {
    let n = points.len() as f64;
    let centre = points.iter().map(|(x, _, _)| x.ln()).sum::<f64>() / n;
    let spread: f64 = points.iter().map(|(x, _, _)| (x.ln() - centre).powi(2)).sum();
    let weight = |x: f64| (x.ln() - centre) / spread;
    let slope = points.iter().map(|(x, y, _)| weight(*x) * y.ln()).sum();
    let variance: f64 = points.iter().map(|(x, y, e)| (weight(*x) * e / y).powi(2)).sum();
    (slope, variance.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_law_has_its_exponent_as_slope() {
        let points: Vec<(f64, f64, f64)> =
            [100.0, 300.0, 1000.0].iter().map(|t: &f64| (*t, 5.0 * t.powf(-0.7), 0.0)).collect();
        let (slope, error) = fit(&points);
        assert!((slope + 0.7).abs() < 1e-12 && error == 0.0);
        let noisy: Vec<_> = points.iter().map(|(t, y, _)| (*t, *y, 0.01 * y)).collect();
        // Two ends a decade apart: 0.01·√2/ln 10, and a little less with the point between.
        assert!((fit(&noisy).1 - 0.01 * 2.0_f64.sqrt() / 10.0_f64.ln()).abs() < 1e-4);
    }
}
