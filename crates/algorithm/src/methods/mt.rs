//! Momentum Tracking (`mt`).
//!
//! ```text
//! u  = βu₋ + (1−β)·(noisy gradient at x),   u⁻¹ = 0
//! y  = Σ_j W_ij (y₋ + u − u₋)_j,            y⁻¹ = 0     first exchange
//! x⁺ = Σ_j W_ij (x − αy)_j                              second exchange
//! ```
//!
//! With `combine = "first"`, the authors' form, both vectors travel in one exchange:
//! y = Σ_j W_ij y₋_j + u − u₋ and x⁺ = Σ_j W_ij x_j − αy.
//!
//! Reference: Takezawa, Bao, Niwa, Sato, Yamada, "Momentum Tracking", 2023. Two vectors a neighbour a round.

use super::Cell;
use super::directions::Momentum;
use super::steps::Tracking;

pub static METHOD: Cell<Momentum, Tracking> =
    Cell::new("mt", "Momentum Tracking", "tracks the network's momentum with a second vector per round");
