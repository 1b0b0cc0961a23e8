//! Nodes with different noise: different batches, sensitivities or own parts.

use super::network::Network;
use super::secrets::{Secrets, check_ends, outside};
use super::{LEAST, MOST, PairsError};
use crate::error::require;
use crate::rounding::U;

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

    /// A lower bound for every coalition of so many: own² + Σ_j σ_ij²·own_j²/(σ_ij² + own_j²) over the honest partners j, each of
    /// them grounded by own noise alone. Leaving all other secrets out lowers the value (Rayleigh's law), and the coalition is
    /// given the largest terms. With at most n terms of 5 roundings each, the sum is off by at most n + 6 units of 2⁻⁵³; its root by
    /// less.
    pub(super) fn star(&self, node: usize, colluders: usize) -> f64 {
        let term = |other: usize, std: f64| {
            let (shared, own) = (std * std, self.own[other] * self.own[other]);
            shared / (shared + own) * own
        };
        let ends = self.pairs.iter().filter_map(|&(i, j, std)| match node {
            end if end == i => Some(term(j, std)),
            end if end == j => Some(term(i, std)),
            _ => None,
        });
        let mut terms: Vec<f64> = ends.collect();
        terms.sort_unstable_by(f64::total_cmp);
        terms.truncate(terms.len().saturating_sub(colluders));
        let square = terms.iter().fold(self.own[node] * self.own[node], |sum, term| sum + term);
        (square.sqrt() * (1.0 - (self.own.len() as f64 + 10.0) * U)).max(self.own[node])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pairs::Proof;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn least_deviations_are_least_and_stars_below_them(
            own in prop::collection::vec(0.1_f64..3.0, 7), pair in prop::collection::vec(0.0_f64..9.0, 21), colluders in 0_usize..7,
        ) {
            let all = (0..7).flat_map(|i| (0..i).map(move |j| (i, j)));
            let pairs = all.zip(pair).filter(|(_, std)| *std > 2.0).map(|((i, j), std)| (i, j, std)).collect();
            let shares = Shares::new(own, pairs).unwrap();
            let found = shares.least_stds(colluders).unwrap();
            for (node, (std, proof)) in found.into_iter().enumerate() {
                let sets = (0_u32..128).filter(|set| set.count_ones() as usize == colluders && set >> node & 1 == 0);
                let stds = sets.map(|set| {
                    let coalition: Vec<usize> = (0..7).filter(|i| set >> i & 1 == 1).collect();
                    shares.effective_std(node, &coalition).unwrap()
                });
                let least = stds.fold(f64::INFINITY, f64::min);
                prop_assert!((std / least - 1.0).abs() < 1e-13 && proof == Proof::Exact, "{} {}", std, least);
                let star = shares.star(node, colluders);
                prop_assert!(star <= least * (1.0 + 1e-13) && star >= shares.own()[node], "{} {}", star, least);
            }
        }
    }

    #[test]
    fn too_many_coalitions_of_unequal_nodes_have_a_bound() {
        // Equal nodes with secrets between all: the star is the closed form.
        let pairs = (0..40).flat_map(|i| (0..i).map(move |j| (i, j, 2.0))).collect();
        let shares = Shares::new(vec![0.5; 40], pairs).unwrap();
        let expected = 0.5 * f64::sqrt((1.0 + 30.0 * 16.0) / 17.0);
        for (std, proof) in shares.least_stds(10).unwrap() {
            assert!(
                proof == Proof::Bound && std <= expected && std > expected * (1.0 - 1e-13),
                "{std} {expected}"
            );
        }
        assert!(matches!(shares.least_stds(40), Err(PairsError::TooManyColluders { .. })));
    }
}
