//! A whole plan: the noise that a budget needs, its two parts, and what coalitions of every size learn.

use super::choice::check;
use super::{Choice, PairsError, Proof, Secrets, choose};
use crate::{Accountant, AccountingError, Event, History, Target, calibrate};

/// What members' releases cost against a coalition of some size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    pub colluders: usize,
    /// The least z_i(A).
    pub multiplier: f64,
    pub proof: Proof,
    /// ∞ where the accountant has no bound.
    pub epsilon: f64,
}

/// Noise in two parts for a budget.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub choice: Choice,
    /// By rising size, from 0 (outsiders alone) to n − 1 (all others; or somebody with all keys). Every size for up to
    /// [`Plan::MOST_LISTED`] nodes; beyond, those up to two above the agreed one, then growing steps.
    pub costs: Vec<Cost>,
}

impl Plan {
    pub const MOST_LISTED: usize = 100;

    /// The noise for a budget: z as independent noise needs it for releases at `rates` (rate, count), then both parts as
    /// [`choose`] has them.
    ///
    /// # Guarantee
    /// Against outsiders and any `colluders` members together, all rounds of every other member are (ε, δ)-differentially
    /// private with the target's ε and δ; against coalitions of another size with that size's ε, a proven upper bound.
    pub fn new(
        accountant: &Accountant,
        target: &Target,
        rates: &[(f64, u64)],
        secrets: &Secrets,
        colluders: usize,
        ratio: f64,
    ) -> Result<Self, PairsError> {
        // What cannot be chosen is refused before anything takes time.
        check(secrets, colluders, ratio)?;
        let z = calibrate::noise_multiplier(accountant, target, rates)?;
        let choice = choose(z, secrets, colluders, ratio)?;
        let mut costs: Vec<Cost> = Vec::new();
        for worst in choice.pairs.for_sizes(secrets, &sizes(secrets.nodes(), colluders))? {
            let before = costs.last().filter(|before| before.multiplier == worst.multiplier);
            let epsilon = match before {
                Some(before) => before.epsilon,
                // It is at least z, for which the budget was proven.
                None if worst.colluders == colluders => epsilon(accountant, target, rates, z)?,
                None => epsilon(accountant, target, rates, worst.multiplier)?,
            };
            let (colluders, multiplier, proof) = (worst.colluders, worst.multiplier, worst.proof);
            costs.push(Cost { colluders, multiplier, proof, epsilon });
        }
        Ok(Self { choice, costs })
    }

    /// What the releases cost against coalitions of the agreed size.
    pub fn agreed(&self) -> Option<&Cost> {
        self.costs.iter().find(|cost| cost.colluders == self.choice.worst.colluders)
    }
}

/// ε of releases at these rates with this multiplier; ∞ where it is below what can be accounted for.
fn epsilon(
    accountant: &Accountant,
    target: &Target,
    rates: &[(f64, u64)],
    z: f64,
) -> Result<f64, AccountingError> {
    let (least, most) = Event::NOISE_MULTIPLIER_RANGE;
    if z < least {
        return Ok(f64::INFINITY);
    }
    let mut history = History::new();
    for (rate, count) in rates {
        // More noise than can be accounted for costs at most what the most does.
        history.add(Event::sampled_gaussian(*rate, z.min(most))?, *count);
    }
    Ok(accountant.epsilon(&history, target.delta())?.upper)
}

fn sizes(nodes: usize, colluders: usize) -> Vec<usize> {
    if nodes <= Plan::MOST_LISTED {
        return (0..nodes).collect();
    }
    let near = (colluders + 3).min(nodes - 1);
    let mut sizes: Vec<usize> = (0..near.min(8)).chain(colluders.max(8)..near.max(8)).collect();
    let mut next = near.max(8);
    while next < nodes - 1 {
        sizes.push(next);
        next += next / 2;
    }
    sizes.push(nodes - 1);
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_rise_from_outsiders_to_all_others_and_have_the_agreed_one() {
        for nodes in [2, 3, 10, 100, 101, 1000, 1_000_000] {
            for colluders in [0, 1, 2, 5, 7, 8, 9, 50, 90, nodes - 2].into_iter().filter(|c| c + 2 <= nodes) {
                let sizes = sizes(nodes, colluders);
                assert!(sizes.windows(2).all(|two| two[0] < two[1]), "{nodes} {colluders}: {sizes:?}");
                assert_eq!((sizes[0], sizes.last()), (0, Some(&(nodes - 1))));
                assert!(sizes.contains(&colluders) && sizes.len() <= 100, "{nodes} {colluders}: {sizes:?}");
            }
        }
    }
}
