//! PRDO's recursive estimate on directed graphs (`push-prdo`).
//!
//! ```text
//! v  = (1−γ)v₋ + noisy { γ·gradient at z + (1−γ)·(gradient at z − gradient at z₋, same batch) },  first batch b₀
//! x⁺ = Σ_j P_ij (x − αv)_j;   w⁺ = Σ_j P_ij w_j;   z⁺ = x⁺/w⁺
//! ```
//!
//! What PrivSGP-VR (Zhu, Huang, Wu, Ye, Xiao, Deng 2024) does with a table of N gradients per node, at PRDO's price and without
//! the table. With full batches and no noise any γ gives SGP's trajectory; it has SGP's bias.

use super::Cell;
use super::directions::Recursive;
use super::steps::Push;

pub static METHOD: Cell<Recursive, Push> =
    Cell::new("push-prdo", "Push-PRDO", "a recursive estimate for links that go one way");
