//! GT-HSGD (`gt-hsgd`): tracking of a recursive estimate.
//!
//! ```text
//! v  = (1−γ)v₋ + noisy { γ·gradient at x + (1−γ)·(gradient at x − gradient at x₋, same batch) },  first batch b₀
//! y  = Σ_j W_ij (y₋ + v − v₋)_j;   x⁺ = Σ_j W_ij (x − αy)_j
//! ```
//!
//! Reference: Xin, Khan, Kar, "A hybrid variance-reduced method for decentralized stochastic non-convex optimization", 2021 (γ is
//! their β). Not private there; here at PRDO's price, with twice its vectors.

use super::Cell;
use super::directions::Recursive;
use super::steps::Tracking;

pub static METHOD: Cell<Recursive, Tracking> =
    Cell::new("gt-hsgd", "GT-HSGD", "tracks a recursive estimate with a second vector per round");
