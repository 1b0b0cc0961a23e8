//! Problems: data loaders and partitions, and models that give per-record losses and gradients.
//!
//! What never happens here: sampling, clipping, noise (the gate does those), or a look at a neighbour.
#![deny(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod data;
pub mod features;
pub mod models;
pub mod network;

pub use data::Table;
