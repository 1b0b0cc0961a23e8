//! THE GATE: the only place where private records are read.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]
pub mod model;
pub mod streams;

pub use model::{Data, Model, Records};
pub use streams::{Origin, Purpose, Secret, Stream};
