//! Exact Diffusion (`ed`).
//!
//! ```text
//! v  = noisy gradient at x
//! ψ⁺ = x − αv;   φ = ψ⁺ + x − ψ;   x⁺ = Σ_j W_ij φ_j
//! ```
//!
//! Reference: Yuan, Ying, Zhao, Sayed, "Exact Diffusion for distributed optimization and learning", 2019.
//! With privacy it is the paper's DP-ED, and PRDO with γ = 1.

use super::Cell;
use super::directions::Gradient;
use super::steps::Diffusion;

pub static METHOD: Cell<Gradient, Diffusion> =
    Cell::new("ed", "Exact Diffusion", "corrects the bias of diffusion with one vector per round");
