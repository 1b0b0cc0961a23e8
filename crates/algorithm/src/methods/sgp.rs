//! Stochastic Gradient Push (`sgp`): gradient descent on directed graphs.
//!
//! ```text
//! v  = noisy gradient at z
//! x⁺ = Σ_j P_ij (x − αv)_j;   w⁺ = Σ_j P_ij w_j;   z⁺ = x⁺/w⁺
//! ```
//!
//! Reference: Assran, Loizou, Ballas, Rabbat, "Stochastic gradient push for distributed deep learning", 2019. Not private there.
//! On heterogeneous data it is biased, as D-SGD is: z solves (I − P)diag(w)z + αP∇f(z) = 0, w being n times P's Perron vector.

use super::Cell;
use super::directions::Gradient;
use super::steps::Push;

pub static METHOD: Cell<Gradient, Push> = Cell::new(
    "sgp",
    "SGP",
    "D-SGD for links that go one way: sums are pushed, and weighed by how much arrived",
);
