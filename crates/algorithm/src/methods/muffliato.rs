//! D-SGD with several accelerated exchanges per round (`muffliato`).
//!
//! ```text
//! v   = noisy gradient at x;   z₀ = x − αv
//! z₁  = Wz₀;   z_{k+1} = ωWz_k + (1−ω)z_{k−1};   x⁺ = z_K
//! ```
//!
//! Reference: Cyffers, Even, Bellet, Massoulié, "Muffliato: peer-to-peer privacy amplification for decentralized optimization and
//! averaging", 2022. There privacy is counted per pair of nodes, by what each sees; here the complete transcript is protected, and
//! the exchanges only make the bias of D-SGD smaller.

use super::Cell;
use super::directions::Gradient;
use super::steps::ManyGossip;

pub static METHOD: Cell<Gradient, ManyGossip> =
    Cell::new("muffliato", "Muffliato-SGD", "D-SGD with several accelerated exchanges per round");
