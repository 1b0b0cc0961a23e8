//! The paper's experiments: `figure_1`, `sensitivity_example`, `bounds`, `clipping`, and the grids of runs (`grid`) `table_1` and
//! `frontier`. What they ask of the program around them is [`Front`]; nothing is printed here.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod bounds;
pub mod clipping;
mod error;
pub mod figure_1;
mod front;
pub mod frontier;
pub mod grid;
mod images;
mod numbers;
pub mod sensitivity_example;
mod statistics;
pub mod table_1;
mod typed;

pub use error::Error;
pub use front::{Facts, Front, Stage};
