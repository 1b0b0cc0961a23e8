//! How fast it is, measured in this process: the privacy accountant and per-record gradients. They take plain settings and
//! return what was found; `prdo bench` prints it.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod accountant;
mod error;
pub mod gradients;

pub use error::Error;

use std::hint::black_box;
use std::time::{Duration, Instant};

/// A piece of a report for people.
pub enum Block {
    Line(String),
    /// Titles of columns, and rows.
    Table(Vec<String>, Vec<Vec<String>>),
}

fn line(text: impl Into<String>) -> Block {
    Block::Line(text.into())
}

fn table(head: &[&str], rows: Vec<Vec<String>>) -> Block {
    Block::Table(head.iter().map(|title| (*title).to_string()).collect(), rows)
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
