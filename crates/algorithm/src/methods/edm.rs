//! Exact Diffusion with Momentum (`edm`).
//!
//! ```text
//! m  = βm₋ + (1−β)·(noisy gradient at x),   m⁻¹ = 0
//! ψ⁺ = x − αm;   φ = ψ⁺ + x − ψ;   x⁺ = Σ_j W_ij φ_j
//! ```
//!
//! Reference: `hu2025edm` in the paper. With privacy it is the paper's DP-EDM.

use super::Cell;
use super::directions::Momentum;
use super::steps::Diffusion;

pub static METHOD: Cell<Momentum, Diffusion> =
    Cell::new("edm", "EDM", "Exact Diffusion along a running average of gradients");
