//! Decentralized (stochastic) gradient descent (`dsgd`).
//!
//! ```text
//! v  = noisy gradient at x
//! x⁺ = Σ_j W_ij (x − αv)_j          (`combine = "first"`: x⁺ = Σ_j W_ij x_j − αv)
//! ```
//!
//! The simplest baseline. On heterogeneous data its fixed point is biased by the step size.

use super::directions::Gradient;
use super::steps::Gossip;
use super::{COMBINE, Card, Cell};

pub static METHOD: Cell<Gradient, Gossip> = Cell::new(Card {
    name: "dsgd",
    title: "D-SGD",
    idea: "steps and averages; biased when nodes' data differ",
    parameters: &[COMBINE.parameter()],
    first_batch: false,
    differences: false,
});
