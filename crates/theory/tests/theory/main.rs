//! The bounds from outside.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod disagreement;
mod properties;
mod reference;
mod scheduled;
