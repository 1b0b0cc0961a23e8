//! Directed graphs: who sends to whom.

use super::{Graph, GraphError, check_edges, check_nodes};

/// A directed graph without loops or repeated arcs: (sender, receiver), ascending. Nodes are numbered from zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arcs {
    nodes: usize,
    arcs: Vec<(u32, u32)>,
}

impl Arcs {
    /// From pairs (sender, receiver) in any order; repeats are merged.
    pub fn new(nodes: usize, pairs: impl IntoIterator<Item = (usize, usize)>) -> Result<Self, GraphError> {
        check_nodes("directed", nodes, nodes >= 1, "1 or more")?;
        let mut arcs = Vec::new();
        for (from, to) in pairs {
            if from >= nodes || to >= nodes {
                return Err(GraphError::OutOfRange { from, to, nodes });
            }
            if from == to {
                return Err(GraphError::SelfLoop { node: from });
            }
            check_edges(arcs.len() as u64 + 1)?;
            arcs.push((from as u32, to as u32));
        }
        arcs.sort_unstable();
        arcs.dedup();
        Ok(Self { nodes, arcs })
    }

    /// Every edge in both directions.
    pub fn of(graph: &Graph) -> Self {
        let row = |i: usize| graph.neighbours(i).iter().map(move |j| (i as u32, *j));
        Self { nodes: graph.nodes(), arcs: (0..graph.nodes()).flat_map(row).collect() }
    }

    /// Node i sends to i + 1 (mod n).
    pub fn ring(nodes: usize) -> Result<Self, GraphError> {
        check_nodes("directed-ring", nodes, nodes >= 2, "2 or more")?;
        Self::new(nodes, (0..nodes).map(|i| (i, (i + 1) % nodes)))
    }

    /// Node i sends to i + 1, i + 2, i + 4, … (mod n).
    pub fn exponential(nodes: usize) -> Result<Self, GraphError> {
        check_nodes("directed-exponential", nodes, nodes >= 2, "2 or more")?;
        Self::new(nodes, (0..nodes).flat_map(|i| hops(nodes).map(move |hop| (i, (i + hop) % nodes))))
    }

    /// The same one hop per round: in round t node i sends to i + 2^(t mod log₂ n) alone (Ying, Yuan, Chen, Hu, Pan, Yin 2021).
    pub fn one_peer_exponential(nodes: usize) -> Result<Vec<Self>, GraphError> {
        check_nodes("one-peer-exponential", nodes, nodes >= 2, "2 or more")?;
        hops(nodes).map(|hop| Self::new(nodes, (0..nodes).map(|i| (i, (i + hop) % nodes)))).collect()
    }

    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// All arcs, (sender, receiver), ascending.
    pub fn pairs(&self) -> &[(u32, u32)] {
        &self.arcs
    }
}

/// Powers of two below n.
fn hops(nodes: usize) -> impl Iterator<Item = usize> {
    (0..usize::BITS).map(|power| 1_usize << power).take_while(move |hop| *hop < nodes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_send_where_they_say() {
        assert_eq!(Arcs::ring(3).unwrap().pairs(), &[(0, 1), (1, 2), (2, 0)]);
        assert_eq!(Arcs::exponential(4).unwrap().pairs().len(), 8);
        let turns = Arcs::one_peer_exponential(6).unwrap();
        assert_eq!(turns.len(), 3);
        assert_eq!(turns[2].pairs()[0], (0, 4));
        assert_eq!(Arcs::of(&Graph::path(3).unwrap()).pairs(), &[(0, 1), (1, 0), (1, 2), (2, 1)]);
    }

    #[test]
    fn bad_arcs_are_refused() {
        assert_eq!(Arcs::new(2, [(0, 2)]), Err(GraphError::OutOfRange { from: 0, to: 2, nodes: 2 }));
        assert_eq!(Arcs::new(2, [(1, 1)]), Err(GraphError::SelfLoop { node: 1 }));
        assert!(matches!(Arcs::ring(1), Err(GraphError::Nodes { .. })));
        assert_eq!(Arcs::new(2, [(0, 1), (0, 1)]).unwrap().pairs(), &[(0, 1)]);
    }
}
