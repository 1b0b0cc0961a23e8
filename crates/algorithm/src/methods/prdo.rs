//! Private Recursive Decentralized Optimization (`prdo`): the paper's Algorithm `alg:storm-ed`.
//!
//! ```text
//! t = 0:  v = noisy gradient at x⁰, batch b₀
//! t ≥ 1:  v = (1−γ)v₋ + noisy { γ·gradient at x + (1−γ)·(gradient at x − gradient at x₋, same batch) }
//! ψ⁺ = x − αv;   φ = ψ⁺ + x − ψ;   x⁺ = Σ_j W_ij φ_j
//! ```
//!
//! Equations `eq:main-recursion` and `eq:main-query`. γ = 1 with b₀ = b is Exact Diffusion, bit for bit. On one node it is
//! DP-SRM (STORM with constant steps), on a complete graph with Metropolis weights PriSMA's setting: a server without a server.

use super::Cell;
use super::directions::Recursive;
use super::steps::Diffusion;

pub static METHOD: Cell<Recursive, Diffusion> =
    Cell::new("prdo", "PRDO", "Exact Diffusion along a recursive estimate that reuses the last direction");
