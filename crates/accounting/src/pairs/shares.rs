//! Nodes with different noise: different batches, sensitivities or own parts.

use super::network::Network;
use super::secrets::{Secrets, check_ends, outside};
use super::{LEAST, MOST, PairsError};
use crate::error::require;

/// Standard deviations of own noise, node by node, and of the shares, pair by pair, all in the units of the answers (not as
/// multipliers: S_i/b_i may differ from node to node, while a share has one size at both ends).
#[derive(Clone, Debug, PartialEq)]
pub struct Shares {
    own: Vec<f64>,
    pairs: Vec<(usize, usize, f64)>,
}

impl Shares {
    /// Own deviations from 1e-100 to 1e100, and (i, j, deviation) of each pair, from 0 to 1e100.
    pub fn new(own: Vec<f64>, pairs: Vec<(usize, usize, f64)>) -> Result<Self, PairsError> {
        let (nodes, most) = (own.len(), Secrets::MOST_LISTED);
        if !(1..=most).contains(&nodes) {
            return Err(PairsError::Nodes { nodes, most });
        }
        for &std in &own {
            require("own_noise_std", std, "from 1e-100 to 1e100", |s| (LEAST..=MOST).contains(&s))?;
        }
        for &(from, to, std) in &pairs {
            check_ends(from, to, nodes)?;
            let allowed = "0, or from 1e-100 to 1e100";
            require("pair_noise_std", std, allowed, |s| s == 0.0 || (LEAST..=MOST).contains(&s))?;
        }
        let mut ends: Vec<_> = pairs.iter().map(|&(i, j, _)| (i.min(j), i.max(j))).collect();
        ends.sort_unstable();
        if let Some(twice) = ends.windows(2).find(|two| two[0] == two[1]) {
            return Err(PairsError::Twice { from: twice[0].0, to: twice[0].1 });
        }
        Ok(Self { own, pairs })
    }

    pub fn own(&self) -> &[f64] {
        &self.own
    }

    pub fn pairs(&self) -> &[(usize, usize, f64)] {
        &self.pairs
    }

    /// 1/√([Σ_A⁻¹]_ii), Σ_A = diag(own²) + the Laplacian of the pairs' variances without the coalition's. Divided by S_i/b_i
    /// it is the node's multiplier z_i(A).
    ///
    /// # Guarantee
    /// Never above the exact value, by the argument of [`Pairs::multiplier`](super::Pairs::multiplier), which needs nothing
    /// equal: only row i of the answers depends on a record of node i.
    pub fn effective_std(&self, node: usize, coalition: &[usize]) -> Result<f64, PairsError> {
        let outside = outside(self.own.len(), node, coalition)?;
        Ok(Network::of_shares(self, outside).seen_from(node).max(self.own[node]))
    }
}
