//! The mathematics of privacy loss: what a sequence of noisy releases has cost.
//!
//! Pure functions of numbers. No vectors, no data, no random draws: useful on its own.
//!
//! * [`Release`] describes one Gaussian release on a Poisson sample (a frozen value);
//! * [`History`] is a composition of releases with counts, of different kinds if need be;
//! * [`renyi`] turns a history into ε at a given δ by the paper's finite sum and its conversion;
//! * [`calibrate`] finds the smallest noise multiplier for a budget.
//!
//! Adjacency is add/remove of one record throughout.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod calibrate;
pub mod error;
pub mod release;
pub mod renyi;

pub use calibrate::{Target, noise_multiplier};
pub use error::AccountingError;
pub use release::{History, Release};
pub use renyi::{Curve, RenyiAccountant};
