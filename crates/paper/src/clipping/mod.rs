//! The paper's open question, measured: what active clipping does to where methods stop, with the two clips of PRDO, with C_Δ
//! tied to the movement, and with one clip for both. Runs without privacy: the bias alone, without the noise that goes with it.

mod contestant;
mod differences;
mod fixed_points;
mod floor;
mod minibatch;
mod page;
mod results;
mod tables;
mod two_points;
mod watch;
mod words;

pub use page::{FIGURE, write};
pub use results::Results;
pub use words::ways;

use super::error::Error;
use contestant::Contestant;
use std::time::Instant;

#[derive(Clone, Copy)]
struct Extent {
    floor: floor::Extent,
    differences: differences::Extent,
    minibatch: minibatch::Extent,
}

const FULL: Extent =
    Extent { floor: floor::FULL, differences: differences::FULL, minibatch: minibatch::FULL };
const QUICK: Extent =
    Extent { floor: floor::QUICK, differences: differences::QUICK, minibatch: minibatch::QUICK };

fn extent(quick: bool) -> Extent {
    if quick { QUICK } else { FULL }
}

/// How many runs that is.
pub fn runs(quick: bool) -> u64 {
    let Extent { floor, differences, minibatch } = extent(quick);
    let (all, prdo) = (Contestant::ALL, Contestant::PRDO);
    let fixed_points = fixed_points::Placement::ALL.len() * all.len();
    let floors = floor.clips().len() * all.len();
    let pairs = differences::jobs(&differences, &prdo).len();
    let points = minibatch.clips.len() * all.len() + minibatch::open_ones(&all).len();
    (fixed_points + floors) as u64
        + (1 + pairs as u64) * differences.seeds
        + points as u64 * minibatch.streams
}

/// Runs everything, or a smaller version; `tick` is told what was run.
pub fn measure(quick: bool, tick: &(dyn Fn(&str) + Sync)) -> Result<Results, Error> {
    let (extent, started) = (extent(quick), Instant::now());
    let (all, prdo) = (Contestant::ALL, Contestant::PRDO);
    Ok(Results {
        fixed_points: fixed_points::measure(&all, tick)?,
        floors: floor::measure(&extent.floor, &all, tick)?,
        differences: differences::measure(&extent.differences, &prdo, tick)?,
        minibatch: minibatch::measure(&extent.minibatch, &all, tick)?,
        quick,
        seconds: started.elapsed().as_secs_f64(),
    })
}

#[cfg(test)]
mod tests;
