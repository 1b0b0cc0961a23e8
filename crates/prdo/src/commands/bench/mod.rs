//! `prdo bench`: how fast it is, measured in this process.

mod accountant;
mod gradients;

use super::Failure;
use crate::cli::bench::Bench;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Measures what was asked for.
pub fn run(what: &Bench) -> Result<(), Failure> {
    match what {
        Bench::Accountant { json } => accountant::run(*json),
        Bench::Gradients(args) => gradients::run(args),
    }
}

/// The median time of a call in seconds, and how many were timed: for about a second, after warming up.
fn median<T, E>(mut call: impl FnMut() -> Result<T, E>) -> Result<(f64, usize), E> {
    const LEAST: usize = 5;
    const MOST: usize = 2000;
    let warm = Instant::now();
    for k in 0..LEAST {
        black_box(call()?);
        // Something slow is warm after one call.
        if k > 0 && warm.elapsed() > Duration::from_millis(500) {
            break;
        }
    }
    let started = Instant::now();
    let mut seconds = Vec::new();
    while seconds.len() < LEAST || (seconds.len() < MOST && started.elapsed() < Duration::from_secs(1)) {
        let one = Instant::now();
        black_box(call()?);
        seconds.push(one.elapsed().as_secs_f64());
    }
    seconds.sort_by(f64::total_cmp);
    Ok((seconds[seconds.len() / 2], seconds.len()))
}
