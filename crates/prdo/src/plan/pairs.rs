//! Noise in pairs, in units of what independent noise would have: what the mean and the network get of it, and how far nodes
//! drift apart.

use crate::build::Outline;
use prdo_accounting::pairs::PairsError;
use prdo_algorithm::methods::directions::{BETA, GAMMA};
use prdo_algorithm::{Method, Settings};
use prdo_privacy::{PairMechanism, PairSettings, SecretsOf};
use prdo_theory::disagreement::{Direction, after};

/// The most multiplications for which [`drift`] is worked out.
const MOST_WORK: f64 = 1e9;

#[derive(Clone, Debug)]
pub struct PlannedPairs {
    asked: PairSettings,
    exchanges: u32,
    /// Worth the multiplier 1.
    pub mechanism: PairMechanism,
}

impl PlannedPairs {
    pub fn of(outline: &Outline) -> Result<Option<Self>, PairsError> {
        let Some(asked) = outline.recipe.pairs else { return Ok(None) };
        let graph = outline.wiring.mixing.support();
        let exchanges = outline.recipe.method.exchanges(&outline.recipe.settings).per_round;
        let mechanism = asked.mechanism(1.0, (graph.nodes(), graph.pairs()), exchanges)?;
        Ok(Some(Self { asked, exchanges, mechanism }))
    }

    /// The same on so many nodes; `None` where that depends on which of them are linked, or nothing is gained.
    fn at(&self, nodes: u64) -> Option<PairMechanism> {
        match self.asked.secrets {
            _ if self.mechanism.secrets().nodes() as u64 == nodes => Some(self.mechanism.clone()),
            SecretsOf::Complete => self.asked.mechanism(1.0, (nodes as usize, []), self.exchanges).ok(),
            SecretsOf::Graph => None,
        }
    }

    /// What to multiply the variance of independent noise by: for n times the variance of the mean of all nodes' noise, and for the
    /// mean over the nodes of one node's.
    pub fn factors(&self, nodes: u64) -> Option<(f64, f64)> {
        let mechanism = self.at(nodes)?;
        let (own, pair) = (mechanism.pairs().own(), mechanism.pairs().pair());
        let secrets = mechanism.secrets();
        let links: usize = (0..secrets.nodes()).map(|node| secrets.degree(node)).sum();
        Some((own * own, own * own + pair * pair * links as f64 / secrets.nodes() as f64))
    }
}

/// How far a coordinate of a node's model is from the mean at the end of a run, in step size × the deviation of independent noise in
/// an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    pub independent: f64,
    pub pairs: f64,
}

/// That of a run with noise in pairs; `None` of methods whose nodes drift in other ways, of changing networks, and of those that are
/// too large.
pub fn drift(outline: &Outline, pairs: &PlannedPairs) -> Option<Drift> {
    let (recipe, [matrix]) = (&outline.recipe, outline.wiring.mixing.turns()) else { return None };
    let direction = direction(recipe.method, &recipe.settings)?;
    let (n, rounds) = (matrix.nodes(), u64::from(recipe.rounds));
    let (secrets, parts) = (pairs.mechanism.secrets(), pairs.mechanism.pairs());
    let node =
        |deviation: f64| move |i: usize| (0..n).map(|j| if i == j { deviation } else { 0.0 }).collect();
    let mut sources: Vec<Vec<f64>> = match secrets.is_complete() {
        // All pairs' shares have the Laplacian n·I − 11ᵀ, and what all nodes have in common does not drive them apart.
        true => (0..n).map(node(parts.own().hypot((n as f64).sqrt() * parts.pair()))).collect(),
        false => (0..n).map(node(parts.own())).collect(),
    };
    let ends = |(a, b): (usize, usize)| {
        let at = |j: usize| f64::from(i8::from(j == a) - i8::from(j == b));
        (0..n).map(|j| parts.pair() * at(j)).collect()
    };
    sources.extend(secrets.pairs().filter(|_| !secrets.is_complete()).map(ends));
    let entries: usize = (0..n).map(|i| matrix.row(i).0.len()).sum();
    if sources.len() as f64 * entries as f64 * rounds as f64 * f64::from(pairs.exchanges) > MOST_WORK {
        return None;
    }
    let once =
        |x: &[f64]| (0..n).map(|i| matrix.row_entries(i).map(|(j, w)| w * x[j]).sum()).collect::<Vec<f64>>();
    let mix = |x: &[f64]| (1..pairs.exchanges).fold(once(x), |x, _| once(&x));
    let independent: Vec<Vec<f64>> = (0..n).map(node(1.0)).collect();
    let of = |sources: &[Vec<f64>]| after(&mix, sources, direction, rounds).ok();
    Some(Drift { independent: of(&independent)?, pairs: of(&sources)? })
}

/// What a method makes of its noisy answers, where `theory::disagreement` knows how it mixes.
fn direction(method: Method, settings: &Settings) -> Option<Direction> {
    let known = [
        (Method::Ed, Direction::Gradient),
        (Method::Edm, Direction::Momentum { beta: BETA.of(settings) }),
        (Method::Prdo, Direction::Recursive { gamma: GAMMA.of(settings) }),
    ];
    known.into_iter().find(|(known, _)| *known == method).map(|(_, direction)| direction)
}
