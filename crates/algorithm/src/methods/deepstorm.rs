//! DEEPSTORM (`deepstorm`), in its second form, without a proximal term and with one mixing per round.
//!
//! ```text
//! d  = (1−γ)d₋ + noisy { γ·gradient at x + (1−γ)·(gradient at x − gradient at x₋, same batch) },  first batch b₀
//! y  = Σ_j W_ij (y₋ + d − d₋)_j;   x⁺ = Σ_j W_ij x_j − αy
//! ```
//!
//! Reference: Mancino-Ball, Miao, Xu, Chen, "Proximal stochastic recursive momentum methods for nonconvex composite decentralized
//! optimization", 2023 (γ is their β). Not private there. Both vectors travel in one exchange.

use super::Cell;
use super::directions::Recursive;
use super::steps::SplitTracking;

pub static METHOD: Cell<Recursive, SplitTracking> =
    Cell::new("deepstorm", "DEEPSTORM", "tracks a recursive estimate, both vectors in one exchange");
