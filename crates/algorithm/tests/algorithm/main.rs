//! Graphs and methods from outside.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod exchanges;
mod family;
mod family_from_outside;
mod graphs;
