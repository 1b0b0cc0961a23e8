//! The weakest node against the worst coalition of a size.

use super::bounds::{least_second_eigenvalue, star, without_listing};
use super::network::Network;
use super::{Pairs, PairsError, Secrets, Shares};

/// How much work listing all coalitions of a size may be: their number times the cube of the nodes outside. About a second.
/// Beyond it a bound is used.
pub const MOST_WORK: f64 = 1e9;

/// What is known of the least z_i(A) over all coalitions of a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// The least one, to rounding.
    Exact,
    /// At most the least one: too many coalitions to list.
    Bound,
}

/// The least z_i(A) over all coalitions A of `colluders` nodes and all nodes i outside.
#[derive(Clone, Debug, PartialEq)]
pub struct Worst {
    pub colluders: usize,
    pub multiplier: f64,
    pub proof: Proof,
    /// A node and a coalition for which it is that small; nothing where all are alike, and for a bound.
    pub at: Option<(usize, Vec<usize>)>,
}

impl Pairs {
    /// The least z_i(A) over |A| = `colluders` and i ∉ A.
    ///
    /// # Guarantee
    /// Never above it, so every node's releases are at least as private as sampled Gaussian ones with this multiplier, against
    /// outsiders and any so many members together. Smaller coalitions are covered: a larger A only lowers z_i(A).
    pub fn worst(&self, secrets: &Secrets, colluders: usize) -> Result<Worst, PairsError> {
        self.worst_with(secrets, colluders, &mut None)
    }

    /// The same for 0, 1, …, n − 1 colluders. The last, all others together, is z_own: so is what is left against whoever has
    /// all keys.
    ///
    /// # Guarantee
    /// As [`Pairs::worst`]. The multipliers never rise.
    pub fn by_colluders(&self, secrets: &Secrets) -> Result<Vec<Worst>, PairsError> {
        self.for_sizes(secrets, &(0..secrets.nodes()).collect::<Vec<_>>())
    }

    /// [`Pairs::worst`] for rising sizes of coalitions.
    pub(super) fn for_sizes(&self, secrets: &Secrets, sizes: &[usize]) -> Result<Vec<Worst>, PairsError> {
        let mut second = None;
        let rows = sizes.iter().map(|&colluders| self.worst_with(secrets, colluders, &mut second));
        let mut rows = rows.collect::<Result<Vec<_>, _>>()?;
        // What holds against more holds against fewer: a bound need not be below an exact value after it.
        for k in (1..rows.len()).rev() {
            let after: f64 = rows[k].multiplier;
            rows[k - 1].multiplier = rows[k - 1].multiplier.max(after);
        }
        Ok(rows)
    }

    fn worst_with(
        &self,
        secrets: &Secrets,
        colluders: usize,
        second: &mut Option<f64>,
    ) -> Result<Worst, PairsError> {
        let nodes = secrets.nodes();
        if colluders >= nodes {
            return Err(PairsError::TooManyColluders { nodes, colluders });
        }
        let exact = |multiplier, at| Worst { colluders, multiplier, proof: Proof::Exact, at };
        let (weakest, degree) = secrets.weakest();
        if secrets.is_complete() {
            return Ok(exact(star(self, nodes - colluders), None));
        }
        if degree <= colluders {
            return Ok(exact(self.own, Some((weakest, covering(secrets, weakest, colluders)))));
        }
        if work(nodes, colluders) <= MOST_WORK {
            let (multiplier, at) = self.of_all_coalitions(secrets, colluders);
            return Ok(exact(multiplier, at));
        }
        let second = *second.get_or_insert_with(|| least_second_eigenvalue(secrets));
        let multiplier = without_listing(self, secrets, colluders, second);
        Ok(Worst { colluders, multiplier, proof: Proof::Bound, at: None })
    }

    fn of_all_coalitions(&self, secrets: &Secrets, colluders: usize) -> (f64, Option<(usize, Vec<usize>)>) {
        let (mut least, mut at) = (f64::INFINITY, None);
        each_coalition(secrets.nodes(), colluders, |coalition, outside| {
            Network::of(secrets, self, outside).seen_from_all(&mut |node, multiplier| {
                // Of those that differ by rounding, the first.
                if multiplier < least * (1.0 - 1e-12) {
                    at = Some((node, coalition.to_vec()));
                }
                least = least.min(multiplier);
            });
        });
        (least.max(self.own), at)
    }
}

impl Shares {
    /// For each node the least [`Shares::effective_std`] over all coalitions of so many others, and what it is: where they are too
    /// many to list, own noise with the shares of the honest partners that hide least.
    ///
    /// # Guarantee
    /// Never above any `effective_std(node, coalition)` with at most `colluders` in the coalition.
    pub fn least_stds(&self, colluders: usize) -> Result<Vec<(f64, Proof)>, PairsError> {
        let nodes = self.own().len();
        if colluders >= nodes {
            return Err(PairsError::TooManyColluders { nodes, colluders });
        }
        if work(nodes, colluders) > MOST_WORK {
            return Ok((0..nodes).map(|node| (self.star(node, colluders), Proof::Bound)).collect());
        }
        let mut least = vec![f64::INFINITY; nodes];
        each_coalition(nodes, colluders, |_, outside| {
            Network::of_shares(self, outside)
                .seen_from_all(&mut |node, std| least[node] = least[node].min(std));
        });
        Ok(least.iter().zip(self.own()).map(|(std, own)| (std.max(*own), Proof::Exact)).collect())
    }
}

/// Calls with every coalition of so many, and with the nodes outside.
fn each_coalition(nodes: usize, colluders: usize, mut call: impl FnMut(&[usize], Vec<usize>)) {
    let mut coalition: Vec<usize> = (0..colluders).collect();
    loop {
        let outside = (0..nodes).filter(|i| coalition.binary_search(i).is_err()).collect();
        call(&coalition, outside);
        if !advance(&mut coalition, nodes) {
            return;
        }
    }
}

/// The next set of so many numbers below `nodes`, in the order of a dictionary; whether there is one.
fn advance(set: &mut [usize], nodes: usize) -> bool {
    let size = set.len();
    let Some(at) = (0..size).rev().find(|&k| set[k] < nodes - size + k) else { return false };
    let first = set[at] + 1;
    set[at..].iter_mut().zip(first..).for_each(|(member, next)| *member = next);
    true
}

/// A node's neighbours, and others up to so many.
fn covering(secrets: &Secrets, node: usize, colluders: usize) -> Vec<usize> {
    let ends = secrets.pairs().filter(|&(i, j)| i == node || j == node);
    let mut coalition: Vec<usize> = ends.map(|(i, j)| if i == node { j } else { i }).collect();
    let others = (0..secrets.nodes()).filter(|i| *i != node && !coalition.contains(i)).collect::<Vec<_>>();
    let missing = colluders.saturating_sub(coalition.len());
    coalition.extend(others.into_iter().take(missing));
    coalition.sort_unstable();
    coalition
}

/// C(n, c)·(n − c)³.
fn work(nodes: usize, colluders: usize) -> f64 {
    let honest = (nodes - colluders) as f64;
    let ways = (0..colluders).map(|k| (nodes - k) as f64 / (k + 1) as f64).product::<f64>();
    ways * honest.powi(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_coalition_is_listed_once() {
        for (nodes, colluders, ways) in [(5, 0, 1), (5, 1, 5), (6, 3, 20), (7, 6, 7), (4, 4, 1)] {
            let mut set: Vec<usize> = (0..colluders).collect();
            let mut seen = vec![set.clone()];
            while advance(&mut set, nodes) {
                seen.push(set.clone());
            }
            let sorted = seen.windows(2).all(|two| two[0] < two[1]);
            let valid =
                seen.iter().all(|s| s.windows(2).all(|two| two[0] < two[1]) && s.iter().all(|i| *i < nodes));
            assert!(seen.len() == ways && sorted && valid, "{nodes} {colluders}: {seen:?}");
        }
        assert_eq!(work(6, 3), 20.0 * 27.0);
    }
}
