//! The simulator from outside.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::needless_range_loop)]

mod clip_bias;
mod failures;
mod identities;
mod networks;
mod problem;
mod wires;
