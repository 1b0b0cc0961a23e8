//! DP² (`dp2`): plain and preconditioned gradients in turns, by diffusion.
//!
//! ```text
//! s rounds:  v = noisy gradient at x;   G ← G + v
//! then       A ← βA + (1−β)(G/s)²,   D = √A + ε,   G ← 0
//! s rounds:  v = (α₂/α) · noisy { gradient at x / D, clipped at C₂ there },   and so on
//! ψ⁺ = x − αv;   φ = ψ⁺ + x − ψ;   x⁺ = Σ_j W_ij φ_j
//! ```
//!
//! Reference: Li, Zaheer, Liu, Reddi, McMahan, Smith, "Differentially private adaptive optimization with delayed
//! preconditioners", 2023, with one trusted curator, which a complete graph with Metropolis weights is here. For sparse or
//! badly scaled features. Until the first plain phase ends it is Exact Diffusion.

use super::Cell;
use super::directions::ScaledGradient;
use super::steps::Diffusion;

pub static METHOD: Cell<ScaledGradient, Diffusion> =
    Cell::new("dp2", "DP²", "Exact Diffusion that divides gradients by the size of earlier ones, in turns with plain rounds");
