//! The network of a run: one mixing matrix, or several that take turns.

use super::{Arcs, Graph, Mixing, MixingError, NetworkError, Parts, Spectrum};
use std::sync::Arc;

/// How the contraction of a network without a symmetric W is measured: by the growth over so many turns through all
/// matrices, until it changes no more, at most so many times.
const WINDOW: u32 = 32;
const WINDOWS: u32 = 60;

/// Round t mixes with matrix number t modulo their count. Almost always there is one.
#[derive(Clone, Debug, PartialEq)]
pub struct Mixings {
    matrices: Arc<[Mixing]>,
}

/// What a method needs of the network. Each kind of need admits the networks of those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Needs {
    /// One symmetric, doubly stochastic W.
    Symmetric,
    /// Doubly stochastic matrices: links may go one way, and change from round to round.
    DoublyStochastic,
    /// Column-stochastic matrices: each node splits what it sends; links may go one way, and change from round to round.
    ColumnStochastic,
}

impl From<Mixing> for Mixings {
    fn from(mixing: Mixing) -> Self {
        Self { matrices: Arc::new([mixing]) }
    }
}

impl Mixings {
    /// Matrices that take turns. Their numbers are not checked: [`Mixings::check`] judges them.
    pub fn in_turns(matrices: Vec<Mixing>) -> Result<Self, MixingError> {
        let nodes = matrices.first().ok_or(MixingError::NoMatrix)?.nodes();
        match matrices.iter().position(|mixing| mixing.nodes() != nodes) {
            Some(turn) => Err(MixingError::Turn { turn, nodes: matrices[turn].nodes(), expected: nodes }),
            None => Ok(Self { matrices: matrices.into() }),
        }
    }

    /// A node that sends to k others splits what it sends into 1 + k equal parts, in each graph.
    pub fn out_degree(graphs: &[Arcs]) -> Result<Self, MixingError> {
        Self::in_turns(graphs.iter().map(Mixing::out_degree).collect::<Result<_, _>>()?)
    }

    /// The matrix of a round.
    pub fn at(&self, round: u32) -> &Mixing {
        &self.matrices[round as usize % self.matrices.len()]
    }

    /// All matrices, in the order of their turns.
    pub fn turns(&self) -> &[Mixing] {
        &self.matrices
    }

    pub fn nodes(&self) -> usize {
        self.at(0).nodes()
    }

    /// Who ever hears whom, in either direction.
    pub fn support(&self) -> Graph {
        match &*self.matrices {
            [one] => one.support(),
            several => {
                let pairs = several.iter().flat_map(|mixing| {
                    let rows =
                        (0..mixing.nodes()).flat_map(|i| mixing.row_entries(i).map(move |(j, w)| (i, j, w)));
                    rows.filter(|(i, j, w)| i != j && *w != 0.0)
                        .map(|(i, j, _)| (i.min(j) as u32, i.max(j) as u32))
                });
                Graph::from_pairs(self.nodes(), &pairs.collect::<Vec<_>>())
            }
        }
    }

    /// Whether the links of every turn go both ways, with the same weight.
    pub fn is_symmetric(&self) -> bool {
        self.matrices.iter().all(|mixing| mixing.check_symmetric().is_ok())
    }

    /// Holds the network against what is needed, and measures how fast it brings nodes together.
    ///
    /// One symmetric W is judged by [`Mixing::check`]. Otherwise every matrix must have non-negative numbers, columns (and
    /// rows, where that is needed) that add up to one and a weight of each node for itself, and along the links of all turns
    /// together every node must reach every other: then their product, over and over, tends to rank one.
    pub fn check(&self, needs: Needs, allow_indefinite: bool) -> Result<Spectrum, NetworkError> {
        if let [mixing] = &*self.matrices
            && (needs == Needs::Symmetric || mixing.check_symmetric().is_ok())
        {
            return mixing.check(allow_indefinite);
        }
        match needs {
            Needs::Symmetric => return Err(NetworkError::Changes { turns: self.matrices.len() }),
            Needs::DoublyStochastic => self.turns().iter().try_for_each(Mixing::check_rows)?,
            Needs::ColumnStochastic => {}
        }
        self.check_entries()?;
        Ok(self.contraction())
    }

    /// Whatever can be said of numbers and links for the method that needs least: fast for any size.
    pub fn check_entries(&self) -> Result<(), NetworkError> {
        match self.turns() {
            [mixing] if mixing.check_symmetric().is_ok() => return mixing.check_entries(),
            turns => turns.iter().try_for_each(Mixing::check_pushing)?,
        }
        self.check_reach()
    }

    /// [`Mixings::check`] for whatever a method needs least.
    pub fn spectrum(&self) -> Result<Spectrum, NetworkError> {
        self.check(Needs::ColumnStochastic, true)
    }

    /// That along the links of all turns together every node reaches every other.
    fn check_reach(&self) -> Result<(), NetworkError> {
        let (nodes, turns) = (self.nodes(), self.matrices.len());
        let mut heard_by = vec![Vec::new(); nodes];
        let mut hears = vec![Vec::new(); nodes];
        for mixing in self.turns() {
            for (i, hears) in hears.iter_mut().enumerate() {
                for (j, _) in mixing.row_entries(i).filter(|(_, weight)| *weight > 0.0) {
                    heard_by[j].push(i as u32);
                    hears.push(j as u32);
                }
            }
        }
        let unreached = |next: &[Vec<u32>]| Parts::from(0, nodes, next).iter().position(|reached| !reached);
        if let Some(to) = unreached(&heard_by) {
            return Err(NetworkError::NoPath { from: 0, to, turns });
        }
        match unreached(&hears) {
            Some(from) => Err(NetworkError::NoPath { from, to: 0, turns }),
            None => Ok(()),
        }
    }

    /// λ as the mean factor by which a round shrinks what nodes differ in: the second largest size of an eigenvalue of the
    /// product of all turns, per round. On vectors that add up to zero the largest eigenvalue has no part.
    fn contraction(&self) -> Spectrum {
        let (nodes, turns) = (self.nodes(), self.matrices.len() as u32);
        let mut x: Vec<f64> =
            (0..nodes).map(|i| ((i as f64 + 1.0) * 1.618_033_988_749_895).fract()).collect();
        let mut y = vec![0.0; nodes];
        centre(&mut x);
        let (mut rate, mut error) = (0.0_f64, 1.0_f64);
        for _ in 0..WINDOWS {
            let mut growth = 0.0;
            for _ in 0..WINDOW {
                for round in 0..turns {
                    self.at(round).apply(&x, &mut y);
                    std::mem::swap(&mut x, &mut y);
                }
                growth += centre(&mut x).ln();
            }
            let found = (growth / f64::from(WINDOW * turns)).exp().min(1.0);
            (error, rate) = ((found - rate).abs(), found);
            if error < 1e-9 {
                break;
            }
        }
        Spectrum {
            lambda: rate,
            lambda_error: error,
            second_magnitude: rate,
            smallest: f64::NAN,
            smallest_error: f64::NAN,
            spectral_gap: 1.0 - rate,
        }
    }
}

/// What is left of a vector of norm one after a turn when there is only rounding.
const NOTHING: f64 = 1e-13;

/// Takes the mean off and gives the norm of what is left, which has norm one then; 0 for nothing but rounding.
fn centre(x: &mut [f64]) -> f64 {
    let mean = x.iter().sum::<f64>() / x.len().max(1) as f64;
    x.iter_mut().for_each(|value| *value -= mean);
    let norm = x.iter().map(|value| value * value).sum::<f64>().sqrt();
    if norm < NOTHING {
        return 0.0;
    }
    x.iter_mut().for_each(|value| *value /= norm);
    norm
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Weights;

    fn ring(nodes: usize) -> Mixing {
        Mixing::new(&Graph::ring(nodes).unwrap(), Weights::Paper, false).unwrap()
    }

    #[test]
    fn one_symmetric_matrix_is_judged_as_ever() {
        let one = Mixings::from(ring(8));
        for needs in [Needs::Symmetric, Needs::DoublyStochastic, Needs::ColumnStochastic] {
            assert_eq!(one.check(needs, false), ring(8).check(false));
        }
    }

    #[test]
    fn a_directed_ring_contracts_by_its_eigenvalue() {
        let n = 9;
        let network = Mixings::out_degree(&[Arcs::ring(n).unwrap()]).unwrap();
        let found = network.check(Needs::DoublyStochastic, false).unwrap();
        // |1 + e^{2πi/n}| / 2
        let expected = (std::f64::consts::PI / n as f64).cos();
        assert!((found.lambda - expected).abs() < 1e-6, "{found:?}");
        assert!(!network.is_symmetric());
        assert_eq!(network.support(), Graph::ring(n).unwrap());
        let refused = network.check(Needs::Symmetric, false).unwrap_err();
        assert!(matches!(refused, NetworkError::Asymmetric { .. }), "{refused}");
    }

    #[test]
    fn one_peer_at_a_time_agrees_after_log_n_rounds() {
        let network = Mixings::out_degree(&Arcs::one_peer_exponential(16).unwrap()).unwrap();
        assert_eq!(network.turns().len(), 4);
        let found = network.check(Needs::DoublyStochastic, false).unwrap();
        assert_eq!(found.lambda, 0.0);
        let odd = Mixings::out_degree(&Arcs::one_peer_exponential(11).unwrap()).unwrap();
        let found = odd.check(Needs::DoublyStochastic, false).unwrap();
        assert!(found.lambda > 0.0 && found.lambda < 0.8, "{found:?}");
        assert_eq!(odd.check(Needs::Symmetric, false), Err(NetworkError::Changes { turns: 4 }));
    }

    #[test]
    fn what_does_not_reach_everybody_is_refused() {
        let one_way = Arcs::new(3, [(0, 1), (1, 2)]).unwrap();
        let refused = Mixings::out_degree(std::slice::from_ref(&one_way))
            .unwrap()
            .check(Needs::ColumnStochastic, false);
        assert_eq!(refused, Err(NetworkError::NoPath { from: 1, to: 0, turns: 1 }));
        let back = Arcs::new(3, [(2, 0)]).unwrap();
        let both = Mixings::out_degree(&[one_way, back]).unwrap();
        assert!(both.check(Needs::ColumnStochastic, false).is_ok());
        assert!(matches!(both.check(Needs::DoublyStochastic, false), Err(NetworkError::RowSum { .. })));
        let split = Mixing::from_entries(2, vec![(0, 0, 0.5), (1, 1, 1.0), (1, 0, 0.4)]).unwrap();
        let refused = Mixings::from(split).check(Needs::ColumnStochastic, false);
        assert!(matches!(refused, Err(NetworkError::ColumnSum { column: 0, .. })), "{refused:?}");
        let swap = Mixing::from_entries(3, vec![(1, 0, 1.0), (2, 1, 1.0), (0, 2, 1.0)]).unwrap();
        let refused = Mixings::from(swap).check(Needs::ColumnStochastic, false);
        assert_eq!(refused, Err(NetworkError::NoOwnWeight { node: 0 }));
    }

    #[test]
    fn turns_are_of_one_size() {
        assert_eq!(Mixings::in_turns(vec![]), Err(MixingError::NoMatrix));
        let refused = Mixings::in_turns(vec![ring(4), ring(5)]).unwrap_err();
        assert_eq!(refused, MixingError::Turn { turn: 1, nodes: 5, expected: 4 });
        let turns = Mixings::in_turns(vec![ring(5), ring(5)]).unwrap();
        assert_eq!((turns.nodes(), turns.at(7), turns.support()), (5, &ring(5), Graph::ring(5).unwrap()));
    }
}
