//! Noise that cancels between nodes: what a node's releases cost when its noise is partly its own and partly shared.
//!
//! In every round node i adds to its answer own noise of multiplier z_own, and for each node j with which it has a
//! secret a share of multiplier z_pair: +s_ij at the one end, −s_ij at the other. The shares add up to zero, so that the
//! mean of all answers carries z_own alone. A coalition A knows its own shares, and sees all messages. To it the answers
//! of the others, together, are Gaussian with covariance Σ_A = z_own²·I + z_pair²·L_A, with L_A the Laplacian of the secrets
//! that have no end in A; and node i's round is as private as a sampled Gaussian release with multiplier
//!
//! ```text
//! z_i(A) = 1/√([Σ_A⁻¹]_ii),   z_own ≤ z_i(A) ≤ z_own·√(size of i's component of the secrets without A)
//! ```
//!
//! The larger A, the smaller z_i(A). `docs/pairs.md` has the theorem and what a user must know.
//!
//! ```
//! use prdo_accounting::pairs::{Secrets, choose};
//!
//! // Ten nodes that must be as safe from any one of them as with independent noise of multiplier 7.3.
//! let secrets = Secrets::complete(10)?;
//! let choice = choose(7.3, &secrets, 1, 10.0)?;
//! assert!((choice.gain() - 2.876).abs() < 1e-3);
//! assert!(choice.pairs.worst(&secrets, 1)?.multiplier >= 7.3);
//! # Ok::<(), prdo_accounting::pairs::PairsError>(())
//! ```

mod bounds;
mod choice;
mod error;
mod network;
mod plan;
mod secrets;
mod shares;
mod worst;

pub use choice::{Choice, choose, default_ratio};
pub use error::PairsError;
pub use plan::{Cost, Plan};
pub use secrets::Secrets;
pub use shares::Shares;
pub use worst::{MOST_WORK, Proof, Worst};

use crate::error::require;
use network::Network;

/// The two parts of a node's noise, as multipliers: standard deviation over sensitivity. The same at every node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pairs {
    own: f64,
    pair: f64,
}

/// Squares of these and their sums stay far inside the doubles.
pub(crate) const LEAST: f64 = 1e-100;
pub(crate) const MOST: f64 = 1e100;

impl Pairs {
    /// z_own from 1e-100 to 1e100; z_pair from 0, which is independent noise, to 1e100.
    pub fn new(own: f64, pair: f64) -> Result<Self, PairsError> {
        require("own_multiplier", own, "from 1e-100 to 1e100", |z| (LEAST..=MOST).contains(&z))?;
        let allowed = "0, or from 1e-100 to 1e100";
        require("pair_multiplier", pair, allowed, |z| z == 0.0 || (LEAST..=MOST).contains(&z))?;
        Ok(Self { own, pair })
    }

    pub fn own(&self) -> f64 {
        self.own
    }

    pub fn pair(&self) -> f64 {
        self.pair
    }

    /// z_i(A): the multiplier of independent noise that would protect `node` as well against `coalition`.
    ///
    /// # Guarantee
    /// Never above the exact z_i(A), and below it by at most a relative m²/4 + 2m + 4 units of 2⁻⁵³, m the nodes outside the
    /// coalition. Against whoever sees every message and knows what the coalition knows, the node's releases are at least
    /// as private as sampled Gaussian ones with this multiplier.
    pub fn multiplier(&self, secrets: &Secrets, node: usize, coalition: &[usize]) -> Result<f64, PairsError> {
        let outside = secrets.outside(node, coalition)?;
        if secrets.is_complete() {
            return Ok(bounds::star(self, outside.len()));
        }
        Ok(Network::of(secrets, self, outside).seen_from(node).max(self.own))
    }
}
