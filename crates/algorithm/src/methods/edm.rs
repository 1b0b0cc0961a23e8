//! Exact Diffusion with Momentum (`edm`).
//!
//! ```text
//! m  = βm₋ + (1−β)·(noisy gradient at x),   m⁻¹ = 0
//! ψ⁺ = x − αm;   φ = ψ⁺ + x − ψ;   x⁺ = Σ_j W_ij φ_j
//! ```
//!
//! Reference: `hu2025edm` in the paper. With privacy it is the paper's DP-EDM.

use super::directions::{BETA, Momentum};
use super::steps::Diffusion;
use super::{Card, Cell};

pub static METHOD: Cell<Momentum, Diffusion> = Cell::new(Card {
    name: "edm",
    title: "EDM",
    idea: "Exact Diffusion along a running average of gradients",
    parameters: &[BETA.parameter()],
    first_batch: false,
    differences: false,
});
