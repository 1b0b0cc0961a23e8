//! The inverse of Σ = diag(g) + Laplacian(w) at one place, without a subtraction.
//!
//! Read Σ as an electrical network: w_ij is the conductance between i and j, g_i the one from i to the ground. Then
//! 1/[Σ⁻¹]_ii is the conductance from i to the ground through the whole network. Eliminating a node k (a step of Cholesky's
//! factorisation, written for these numbers) leaves a network of the same kind:
//!
//! ```text
//! d = g_k + Σ_j w_kj,    g_i ← g_i + w_ki·g_k/d,    w_ij ← w_ij + w_ki·w_kj/d
//! ```
//!
//! **Rounding.** Only positive numbers are added, multiplied and divided. With t other nodes left, every number that a step
//! computes is the exact result of the step times 1 + θ, |θ| ≤ (t + 3)u to first order (t additions in d, a division, a
//! product, an addition). The conductance that remains in the end rises with every g and w (Rayleigh's law) and is
//! homogeneous of degree one in them, so a step's relative errors reach it undiminished at most, never magnified, whatever
//! the condition of Σ. Over the m − 1 steps they add up to less than (m − 1)(m + 6)/2·u, with squares rounded beforehand
//! one u more. The root takes half of it. The margin m²/4 + 2m + 4 units holds all that and the rounding of root and
//! margin; terms of second order are below m⁴u², nothing beside the slack of m/2 units.

use super::secrets::Secrets;
use super::{Pairs, Shares};
use crate::rounding::U;

#[derive(Clone, Debug)]
pub(super) struct Network {
    /// The numbers of the nodes that are left.
    nodes: Vec<usize>,
    /// How many nodes there were at first, which decides the margin.
    size: usize,
    ground: Vec<f64>,
    /// Row by row, `width` numbers each; of these only the ones before the diagonal count.
    between: Vec<f64>,
    width: usize,
}

impl Network {
    pub(super) fn of(secrets: &Secrets, pairs: &Pairs, nodes: Vec<usize>) -> Self {
        let ground = vec![pairs.own * pairs.own; nodes.len()];
        let shared = pairs.pair * pairs.pair;
        let edges = secrets.pairs().map(|(i, j)| (i, j, shared));
        Self::new(secrets.nodes(), nodes, ground, edges)
    }

    pub(super) fn of_shares(shares: &Shares, nodes: Vec<usize>) -> Self {
        let ground = nodes.iter().map(|&i| shares.own()[i] * shares.own()[i]).collect();
        let edges = shares.pairs().iter().map(|&(i, j, std)| (i, j, std * std));
        Self::new(shares.own().len(), nodes, ground, edges)
    }

    /// Edges with an end outside `nodes` are left out: those who left know them.
    fn new(
        all: usize,
        nodes: Vec<usize>,
        ground: Vec<f64>,
        edges: impl Iterator<Item = (usize, usize, f64)>,
    ) -> Self {
        let width = nodes.len();
        let mut place = vec![None; all];
        for (at, &node) in nodes.iter().enumerate() {
            place[node] = Some(at);
        }
        let mut between = vec![0.0; width * width];
        for (i, j, conductance) in edges {
            if let (Some(a), Some(b)) = (place[i], place[j]) {
                between[a.max(b) * width + a.min(b)] = conductance;
            }
        }
        Self { nodes, size: width, ground, between, width }
    }

    /// 1/√([Σ⁻¹]_ii) of a node of the network, from below.
    pub(super) fn seen_from(&self, node: usize) -> f64 {
        let at = self.nodes.iter().position(|&other| other == node).unwrap_or(0);
        let alone = self.keeping(at..at + 1);
        alone.lowered(alone.ground[0])
    }

    /// The same for every node, each number once: (node, 1/√([Σ⁻¹]_ii)), in the order of a halving.
    pub(super) fn seen_from_all(&self, found: &mut impl FnMut(usize, f64)) {
        match self.nodes.len() {
            0 => {}
            1 => found(self.nodes[0], self.lowered(self.ground[0])),
            several => {
                for half in [0..several / 2, several / 2..several] {
                    self.keeping(half).seen_from_all(found);
                }
            }
        }
    }

    /// The root, less what rounding may have added.
    fn lowered(&self, conductance: f64) -> f64 {
        let m = self.size as f64;
        conductance.sqrt() * (1.0 - (0.25 * m * m + 2.0 * m + 4.0) * U)
    }

    /// The network as these nodes see it: all others eliminated.
    fn keeping(&self, kept: std::ops::Range<usize>) -> Self {
        let others = (0..self.nodes.len()).filter(|at| !kept.contains(at));
        let order: Vec<usize> = kept.clone().chain(others).collect();
        let width = order.len();
        let mut between = vec![0.0; width * width];
        for (a, &i) in order.iter().enumerate() {
            for (b, &j) in order[..a].iter().enumerate() {
                between[a * width + b] = self.between[i.max(j) * self.width + i.min(j)];
            }
        }
        let mut network = Self {
            nodes: order.iter().map(|&i| self.nodes[i]).collect(),
            size: self.size,
            ground: order.iter().map(|&i| self.ground[i]).collect(),
            between,
            width,
        };
        while network.nodes.len() > kept.len() {
            network.eliminate_last();
        }
        network
    }

    fn eliminate_last(&mut self) {
        let Some(ground) = self.ground.pop() else { return };
        self.nodes.pop();
        let left = self.nodes.len();
        let (before, last) = self.between.split_at_mut(left * self.width);
        let row = &last[..left];
        let total = row.iter().fold(ground, |sum, w| sum + w);
        for (i, &w) in row.iter().enumerate().filter(|(_, w)| **w > 0.0) {
            let share = w / total;
            self.ground[i] += share * ground;
            let others = before[i * self.width..].iter_mut().zip(&row[..i]);
            others.for_each(|(between, other)| *between += share * other);
        }
    }
}
