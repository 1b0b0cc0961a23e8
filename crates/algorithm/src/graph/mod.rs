//! The network: who is whose neighbour, with which weight, and how fast opinions spread over it.
//!
//! * [`Graph`] is an undirected simple graph; [`GraphFamily`] names the families and [`Graph::build`] makes one;
//! * [`Mixing`] is the mixing matrix W on a graph, by a rule ([`Weights`]) or entry by entry;
//! * [`Arcs`] is a directed graph, and [`Mixings`] the matrices of a run: one, or several that take turns;
//! * [`Mixing::check`] holds W against the paper's assumption on the network (`ass:network`) and gives its
//!   [`Spectrum`]: no method starts on a W that was not checked;
//! * [`parse_network`] reads a graph or a matrix from text; [`positions`] says where to draw the nodes.
//!
//! Nothing here reads files or clocks, and a random graph is a function of its seed alone, by integer and
//! IEEE arithmetic only: every peer that is given the same line of a run file builds the same network.

mod arcs;
mod chance;
mod check;
mod circulant;
mod dense;
mod error;
mod families;
mod lanczos;
mod layout;
mod mixing;
mod mixings;
mod parse;
mod random;
mod text;
mod tridiagonal;

pub use arcs::Arcs;
pub use check::Spectrum;
pub use error::{Found, GraphError, MixingError, NetworkError, UnknownName};
pub use families::{GraphFamily, Parameters};
pub use layout::positions;
pub use mixing::{Mixing, Weights};
pub use mixings::{Mixings, Needs};
pub use parse::{Network, parse_network};
pub use text::ParseError;

pub const MAX_NODES: usize = 1_000_000;
pub const MAX_EDGES: u64 = 50_000_000;

/// An undirected graph without self loops or repeated edges. Nodes are numbered from zero.
///
/// Stored as compressed rows: the neighbours of all nodes one after the other, each row in rising order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// Where each node's row starts in `neighbours`; one more entry than there are nodes.
    offsets: Vec<usize>,
    neighbours: Vec<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// For each node the number of its part; node 0 is in part 0.
    pub part_of: Vec<usize>,
    pub count: usize,
}

impl Parts {
    /// The first node that node 0 has no path to, if there is one.
    pub fn stranger(&self) -> Option<usize> {
        self.part_of.iter().position(|&part| part != 0)
    }

    /// Which of so many nodes are reached from `start`; `next[i]` lists those one step from node `i`.
    fn from(start: usize, nodes: usize, next: &[Vec<u32>]) -> Vec<bool> {
        let (mut reached, mut stack) = (vec![false; nodes], vec![start]);
        reached[start] = true;
        while let Some(node) = stack.pop() {
            for other in next[node].iter().map(|j| *j as usize) {
                if !std::mem::replace(&mut reached[other], true) {
                    stack.push(other);
                }
            }
        }
        reached
    }

    /// Walks every part once; `row(i)` lists the nodes next to node `i`.
    fn of<R: Iterator<Item = u32>>(nodes: usize, row: impl Fn(usize) -> R) -> Self {
        const UNSEEN: usize = usize::MAX;
        let mut part_of = vec![UNSEEN; nodes];
        let (mut count, mut stack) = (0, Vec::new());
        for start in 0..nodes {
            if part_of[start] != UNSEEN {
                continue;
            }
            part_of[start] = count;
            stack.push(start);
            while let Some(node) = stack.pop() {
                for next in row(node).map(|j| j as usize) {
                    if part_of[next] == UNSEEN {
                        part_of[next] = count;
                        stack.push(next);
                    }
                }
            }
            count += 1;
        }
        Self { part_of, count }
    }
}

impl Graph {
    /// A graph on nodes 0 to `nodes - 1` from its edges, in any order and direction; repeats are merged.
    pub fn from_edges(
        nodes: usize,
        edges: impl IntoIterator<Item = (usize, usize)>,
    ) -> Result<Self, GraphError> {
        check_nodes("custom", nodes, nodes >= 1, "1 or more")?;
        let mut pairs = Vec::new();
        for (from, to) in edges {
            if from >= nodes || to >= nodes {
                return Err(GraphError::OutOfRange { from, to, nodes });
            }
            if from == to {
                return Err(GraphError::SelfLoop { node: from });
            }
            check_edges(pairs.len() as u64 + 1)?;
            pairs.push((from as u32, to as u32));
        }
        Ok(Self::from_pairs(nodes, &pairs))
    }

    pub fn nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of edges, each counted once.
    pub fn edges(&self) -> usize {
        self.neighbours.len() / 2
    }

    /// The neighbours of a node in rising order; none for a node that does not exist.
    pub fn neighbours(&self, node: usize) -> &[u32] {
        match (self.offsets.get(node), self.offsets.get(node.saturating_add(1))) {
            (Some(&start), Some(&end)) => &self.neighbours[start..end],
            _ => &[],
        }
    }

    pub fn degree(&self, node: usize) -> usize {
        self.neighbours(node).len()
    }

    pub fn max_degree(&self) -> usize {
        (0..self.nodes()).map(|i| self.degree(i)).max().unwrap_or(0)
    }

    /// Every edge once, as (smaller end, larger end), in rising order.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.nodes()).flat_map(move |i| {
            self.neighbours(i).iter().map(|&j| j as usize).filter(move |&j| j > i).map(move |j| (i, j))
        })
    }

    pub fn components(&self) -> Parts {
        Parts::of(self.nodes(), |i| self.neighbours(i).iter().copied())
    }

    pub fn is_connected(&self) -> bool {
        self.components().count <= 1
    }

    /// From pairs that are in range and no self loops: a counting sort into rows, then repeats merged.
    fn from_pairs(nodes: usize, pairs: &[(u32, u32)]) -> Self {
        let mut offsets = vec![0usize; nodes + 1];
        for &(a, b) in pairs {
            offsets[a as usize + 1] += 1;
            offsets[b as usize + 1] += 1;
        }
        for i in 0..nodes {
            offsets[i + 1] += offsets[i];
        }
        let mut next = offsets.clone();
        let mut neighbours = vec![0u32; 2 * pairs.len()];
        for &(a, b) in pairs {
            for (from, to) in [(a, b), (b, a)] {
                neighbours[next[from as usize]] = to;
                next[from as usize] += 1;
            }
        }
        let mut kept = 0;
        for i in 0..nodes {
            let (start, end) = (offsets[i], offsets[i + 1]);
            neighbours[start..end].sort_unstable();
            offsets[i] = kept;
            for read in start..end {
                if kept == offsets[i] || neighbours[kept - 1] != neighbours[read] {
                    neighbours[kept] = neighbours[read];
                    kept += 1;
                }
            }
        }
        offsets[nodes] = kept;
        neighbours.truncate(kept);
        Self { offsets, neighbours }
    }

    /// From a rule that pushes the neighbours of a node, in any order, repeats allowed. The rule must be
    /// symmetric and must not push the node itself.
    fn from_rule(nodes: usize, mut rule: impl FnMut(usize, &mut Vec<u32>)) -> Self {
        let mut offsets = Vec::with_capacity(nodes + 1);
        offsets.push(0);
        let (mut neighbours, mut row) = (Vec::new(), Vec::new());
        for i in 0..nodes {
            row.clear();
            rule(i, &mut row);
            row.sort_unstable();
            row.dedup();
            neighbours.extend_from_slice(&row);
            offsets.push(neighbours.len());
        }
        Self { offsets, neighbours }
    }
}

/// Refuses a number of nodes that a family does not have, or that is beyond [`MAX_NODES`].
fn check_nodes(
    family: &'static str,
    nodes: usize,
    fits: bool,
    allowed: &'static str,
) -> Result<(), GraphError> {
    if !fits {
        return Err(GraphError::Nodes { family, nodes, allowed });
    }
    if nodes > MAX_NODES {
        return Err(GraphError::TooManyNodes { nodes, allowed: MAX_NODES });
    }
    Ok(())
}

/// Refuses more than [`MAX_EDGES`] edges, before memory is taken for them.
fn check_edges(edges: u64) -> Result<(), GraphError> {
    if edges > MAX_EDGES {
        return Err(GraphError::TooManyEdges { edges, allowed: MAX_EDGES });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_in_any_order_and_twice_make_one_graph() {
        let graph = Graph::from_edges(4, [(2, 0), (0, 2), (3, 1), (1, 2), (0, 2)]).unwrap();
        assert_eq!((graph.nodes(), graph.edges()), (4, 3));
        assert_eq!(graph.neighbours(2), [0, 1]);
        assert_eq!(graph.neighbours(4), [0u32; 0]);
        assert_eq!(graph.neighbours(usize::MAX), [0u32; 0]);
        assert_eq!(graph.pairs().collect::<Vec<_>>(), [(0, 2), (1, 2), (1, 3)]);
        assert_eq!(graph, Graph::from_edges(4, graph.pairs()).unwrap());
        assert_eq!((graph.max_degree(), graph.is_connected()), (2, true));
    }

    #[test]
    fn parts_are_counted_and_a_stranger_is_named() {
        let graph = Graph::from_edges(6, [(0, 1), (1, 3), (2, 4)]).unwrap();
        let parts = graph.components();
        assert_eq!((parts.count, parts.stranger()), (3, Some(2)));
        assert_eq!(parts.part_of, [0, 0, 1, 0, 1, 2]);
        assert_eq!(Graph::from_edges(1, []).unwrap().components().stranger(), None);
    }

    #[test]
    fn bad_edges_are_shown() {
        let error = Graph::from_edges(3, [(0, 1), (1, 3)]).unwrap_err();
        assert_eq!(error, GraphError::OutOfRange { from: 1, to: 3, nodes: 3 });
        assert_eq!(error.to_string(), "edge (1, 3): nodes are numbered 0 to 2");
        assert_eq!(Graph::from_edges(3, [(2, 2)]), Err(GraphError::SelfLoop { node: 2 }));
        assert!(matches!(Graph::from_edges(0, []), Err(GraphError::Nodes { nodes: 0, .. })));
        assert!(matches!(Graph::from_edges(1_000_001, []), Err(GraphError::TooManyNodes { .. })));
    }
}
