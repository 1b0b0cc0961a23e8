//! Decentralized (stochastic) gradient descent (`dsgd`).
//!
//! ```text
//! v  = noisy gradient at x
//! x⁺ = Σ_j W_ij (x − αv)_j          (`combine = "first"`: x⁺ = Σ_j W_ij x_j − αv)
//! ```
//!
//! The simplest baseline. On heterogeneous data its fixed point is biased by the step size.

use super::Cell;
use super::directions::Gradient;
use super::steps::Gossip;

pub static METHOD: Cell<Gradient, Gossip> =
    Cell::new("dsgd", "D-SGD", "steps and averages; biased when nodes' data differ");
