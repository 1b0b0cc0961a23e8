//! The paper's theorem and every inequality of its proof, held against runs of the paper's setting: the same gates,
//! noise and method as any other run, on problems with known constants.

mod case;
mod evidence;
mod file;
mod inequality;
mod modes;
mod page;
mod problem;
mod results;
mod slope;
mod trace;
mod verdict;

pub use page::write;
pub use results::Results;

use super::error::Error;
use case::{Case, Network};
use evidence::Evidence;
use problem::Problem;
use rayon::prelude::*;
use results::Summary;
use slope::Slope;
use std::time::Instant;
use verdict::Finding;

struct Extent {
    horizons: &'static [u32],
    seeds: u64,
    slope_horizons: &'static [u32],
    slope_seeds: u64,
}

const FULL: Extent = Extent {
    horizons: &[100, 316, 1000],
    seeds: 20,
    slope_horizons: &[100, 178, 316, 562, 1000, 1778, 3162, 5623],
    slope_seeds: 6,
};
const QUICK: Extent = Extent { horizons: &[30], seeds: 4, slope_horizons: &[20, 60, 200], slope_seeds: 2 };

pub struct Bounds {
    problems: Vec<Problem>,
    networks: Vec<Network>,
    extent: Extent,
    quick: bool,
    began: Instant,
}

impl Bounds {
    /// The paper's, or a smaller version in seconds.
    pub fn new(quick: bool) -> Result<Self, Error> {
        let began = Instant::now();
        let extent = if quick { QUICK } else { FULL };
        Ok(Self { problems: Problem::all()?, networks: Network::all()?, extent, quick, began })
    }

    pub fn runs(&self) -> u64 {
        let Extent { horizons, seeds, slope_horizons, slope_seeds } = self.extent;
        let pairs = (self.problems.len() * self.networks.len()) as u64;
        pairs * (2 * horizons.len() as u64 * seeds + slope_horizons.len() as u64 * slope_seeds)
    }

    /// Runs everything; `tick` is called after each run.
    pub fn measure(&self, tick: &(dyn Fn() + Sync)) -> Result<Results, Error> {
        let Extent { horizons, seeds, slope_horizons, slope_seeds } = self.extent;
        let cases = cases(&self.problems, &self.networks, horizons)?;
        let judge = |case: &Case<'_>| -> Result<(Summary, Vec<Finding>), Error> {
            let evidence = Evidence::gather(case, seeds, tick)?;
            let findings = inequality::ALL.iter().map(|one| Finding::of(one, &evidence)).collect();
            Ok((Summary::of(&evidence), findings))
        };
        let judged = cases.par_iter().map(judge).collect::<Result<Vec<_>, Error>>()?;
        let pairs: Vec<(&Problem, &Network)> =
            self.problems.iter().flat_map(|p| self.networks.iter().map(move |n| (p, n))).collect();
        let horizons = (slope_horizons, slope_seeds);
        let slope =
            |(problem, network): &(&Problem, &Network)| Slope::measure(problem, network, horizons, tick);
        let slopes = pairs.par_iter().map(slope).collect::<Result<Vec<_>, Error>>()?;
        let seconds = self.began.elapsed().as_secs_f64();
        Ok(Results::new(judged, slopes, seeds, slope_seeds, self.quick, seconds))
    }
}

/// Every problem on every network over every horizon, without noise and with it.
fn cases<'a>(
    problems: &'a [Problem],
    networks: &'a [Network],
    horizons: &[u32],
) -> Result<Vec<Case<'a>>, Error> {
    let mut cases = Vec::new();
    for problem in problems {
        for network in networks {
            for rounds in horizons {
                for private in [false, true] {
                    cases.push(Case::new(problem, network, *rounds, private)?);
                }
            }
        }
    }
    Ok(cases)
}

#[cfg(test)]
mod tests;
