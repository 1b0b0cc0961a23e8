//! The mathematics of privacy loss: what a sequence of noisy releases has cost.
//!
//! Functions of numbers. No vectors, no data, no random draws, no state of the process: useful on its own. What remembers
//! answers ([`Accountant`], [`Calibrations`]) is a value that its owner holds, and gives what computing again would.
//!
//! ```
//! use prdo_accounting::{Accountant, Event, History, Method, Target, calibrate, numerical};
//!
//! // 9,500 releases on Poisson samples of 100 out of 4,500 records, noise 2.464143 times the sensitivity.
//! let event = Event::sampled_gaussian(100.0 / 4500.0, 2.464143)?;
//! let epsilon = numerical::epsilon(&History::new().and(event, 9500), 1e-5)?;
//! assert!(epsilon.lower < 3.987_714_167 && 3.987_714_167 < epsilon.upper);
//! assert!(epsilon.width() < 1e-7);
//!
//! // How much noise would ε = 4 have needed?
//! let accountant = Accountant::new(Method::Numerical);
//! let z = calibrate::noise_multiplier(&accountant, &Target::new(4.0, 1e-5)?, &[(100.0 / 4500.0, 9500)])?;
//! assert!((z - 2.458_116_14).abs() < 1e-7);
//! # Ok::<(), prdo_accounting::AccountingError>(())
//! ```
//!
//! * [`Event`] describes one release (a frozen value), [`History`] a composition of them with counts;
//! * [`numerical`] bounds ε and δ of a history from both sides, as tightly as double arithmetic allows;
//! * [`renyi`] and [`paper`] are the Rényi accountants, looser, kept for comparison;
//! * [`pairs`] says what noise is worth that cancels between nodes, against coalitions of them;
//! * [`Accountant`] is one interface to the three; [`calibrate`] finds the noise, the rounds or the rate for a budget.
//!
//! Adjacency is add/remove of one record throughout.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod accountant;
pub mod calibrate;
pub mod error;
pub mod event;
mod law;
mod line;
pub mod numerical;
pub mod pairs;
pub mod paper;
pub mod renyi;
mod rounding;
mod search;
mod target;

pub use accountant::{Accountant, Method};
pub use calibrate::Calibrations;
pub use error::AccountingError;
pub use event::{Event, History};
pub use numerical::Bounds;
pub use target::Target;
