//! Gradient Tracking (`gt`).
//!
//! ```text
//! v  = noisy gradient at x
//! y  = Σ_j W_ij (y₋ + v − v₋)_j;   x⁺ = Σ_j W_ij (x − αy)_j
//! ```
//!
//! With `combine = "first"` it is DIGing (Nedić, Olshevsky, Shi 2017) and its stochastic form DSGT (Pu, Nedić 2021):
//! y = Σ_j W_ij y₋_j + v − v₋ and x⁺ = Σ_j W_ij x_j − αy. It is Momentum Tracking with β = 0. Not private in its papers.

use super::Cell;
use super::directions::Gradient;
use super::steps::Tracking;

pub static METHOD: Cell<Gradient, Tracking> = Cell::new(
    "gt",
    "Gradient Tracking",
    "tracks the network's gradient with a second vector per round (DIGing, DSGT)",
);
