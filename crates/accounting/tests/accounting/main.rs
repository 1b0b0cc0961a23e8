//! The accountant from outside: laws, reference values, long arithmetic, simulation.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod high_precision;
mod laws;
mod pairs;
mod pairs_drawn;
mod random_points;
mod reference;
mod simulation;
