//! Many nodes in one process: the same methods and gates as on real peers, driven round by round.
//!
//! * [`Simulation`] holds the nodes and does one round at a time, on all cores, with the same bits for any
//!   number of threads;
//! * [`Training`] is its interface without type parameters, for its drivers;
//! * [`train`] is the loop: rounds, measurements, and an [`Observer`] that may stop it.
//!
//! What never happens here: files, clocks, printing.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod auc;
mod checkpoint;
mod metrics;
mod simulation;
mod training;

pub use auc::{area_under_roc, auc, auc_values};
pub use checkpoint::CheckpointError;
pub use metrics::{COLUMNS, Column, Moments, Number, Panel, PanelScale, Row, Section, accuracy};
pub use simulation::{Simulation, SimulationError};
pub use training::{End, Observer, Schedule, Training, train};
