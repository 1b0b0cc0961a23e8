//! The families of graphs: their names, and one function to build any of them.

use super::error::named;
use super::{Arcs, Graph, GraphError, UnknownName, check_edges, check_nodes};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GraphFamily {
    Ring,
    Path,
    /// A grid joined at its ends, as square as the number of nodes allows.
    Torus,
    Complete,
    Star,
    /// Binary numbers that differ in one digit.
    Hypercube,
    /// Every pair with a probability, given that the graph is connected.
    ErdosRenyi,
    /// Random, every node of the same degree, connected.
    RandomRegular,
    /// Hops of powers of two around a cycle.
    Exponential,
    /// Each node sends to the next one.
    DirectedRing,
    /// Each node sends by hops of powers of two.
    DirectedExponential,
    /// Each node sends by one hop per round, the powers of two in turns.
    OnePeerExponential,
}

/// What a family may need besides the number of nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Parameters {
    /// Probability of an edge (erdos-renyi only).
    pub probability: Option<f64>,
    /// Number of neighbours of every node (random-regular only).
    pub degree: Option<usize>,
    /// Seed of the random families; the others ignore it.
    pub seed: u64,
}

named!(
    GraphFamily,
    "graph",
    12,
    Ring = "ring",
    Path = "path",
    Torus = "torus",
    Complete = "complete",
    Star = "star",
    Hypercube = "hypercube",
    ErdosRenyi = "erdos-renyi",
    RandomRegular = "random-regular",
    Exponential = "exponential",
    DirectedRing = "directed-ring",
    DirectedExponential = "directed-exponential",
    OnePeerExponential = "one-peer-exponential",
);

impl GraphFamily {
    /// Who sends to whom in each turn, where links go one way.
    pub fn arcs(self, nodes: usize) -> Option<Result<Vec<Arcs>, GraphError>> {
        match self {
            GraphFamily::DirectedRing => Some(Arcs::ring(nodes).map(|arcs| vec![arcs])),
            GraphFamily::DirectedExponential => Some(Arcs::exponential(nodes).map(|arcs| vec![arcs])),
            GraphFamily::OnePeerExponential => Some(Arcs::one_peer_exponential(nodes)),
            _ => None,
        }
    }
}

impl Graph {
    /// A graph of this family. Of directed ones, who hears whom in either direction: [`GraphFamily::arcs`] has the links.
    pub fn build(family: GraphFamily, nodes: usize, parameters: &Parameters) -> Result<Self, GraphError> {
        let name = family.name();
        let &Parameters { probability, degree, seed } = parameters;
        if let (Some(value), true) = (probability, family != GraphFamily::ErdosRenyi) {
            return Err(GraphError::Meaningless { key: "probability", value, family: name });
        }
        if let (Some(degree), true) = (degree, family != GraphFamily::RandomRegular) {
            return Err(GraphError::Meaningless { key: "degree", value: degree as f64, family: name });
        }
        match family {
            GraphFamily::Ring => Self::ring(nodes),
            GraphFamily::Path => Self::path(nodes),
            GraphFamily::Torus => Self::torus_of(nodes),
            GraphFamily::Complete => Self::complete(nodes),
            GraphFamily::Star => Self::star(nodes),
            GraphFamily::Hypercube => Self::hypercube(nodes),
            GraphFamily::ErdosRenyi => {
                let missing = GraphError::Missing { key: "probability", family: name };
                Self::erdos_renyi(nodes, probability.ok_or(missing)?, seed)
            }
            GraphFamily::RandomRegular => {
                let missing = GraphError::Missing { key: "degree", family: name };
                Self::random_regular(nodes, degree.ok_or(missing)?, seed)
            }
            GraphFamily::Exponential => Self::exponential(nodes),
            GraphFamily::DirectedRing
            | GraphFamily::DirectedExponential
            | GraphFamily::OnePeerExponential => {
                let arcs = family.arcs(nodes).transpose()?.unwrap_or_default();
                let pairs: Vec<_> = arcs.iter().flat_map(Arcs::pairs).copied().collect();
                Ok(Self::from_pairs(nodes, &pairs))
            }
        }
    }

    /// A cycle: node i next to i ± 1 (mod n). The network of the paper's experiments.
    pub fn ring(nodes: usize) -> Result<Self, GraphError> {
        check_nodes("ring", nodes, nodes >= 3, "3 or more")?;
        Ok(Self::from_rule(nodes, |i, row| {
            row.extend([((i + 1) % nodes) as u32, ((i + nodes - 1) % nodes) as u32]);
        }))
    }

    /// A line: node i next to i ± 1.
    pub fn path(nodes: usize) -> Result<Self, GraphError> {
        check_nodes("path", nodes, nodes >= 1, "1 or more")?;
        Ok(Self::from_rule(nodes, |i, row| {
            row.extend(i.checked_sub(1).map(|j| j as u32));
            row.extend((i + 1 < nodes).then_some((i + 1) as u32));
        }))
    }

    /// A grid whose ends are joined both ways; node i is at row i / cols and column i mod cols.
    pub fn torus(rows: usize, cols: usize) -> Result<Self, GraphError> {
        for (side, value) in [("rows", rows), ("cols", cols)] {
            if value < 3 {
                return Err(GraphError::Side { side, value });
            }
        }
        let nodes = rows.saturating_mul(cols);
        check_nodes("torus", nodes, true, "")?;
        Ok(Self::from_rule(nodes, |i, out| {
            let (row, col) = (i / cols, i % cols);
            let at = |r: usize, c: usize| ((r % rows) * cols + c % cols) as u32;
            out.extend([
                at(row + 1, col),
                at(row + rows - 1, col),
                at(row, col + 1),
                at(row, col + cols - 1),
            ]);
        }))
    }

    /// The most square torus with this many nodes (rows ≤ cols).
    pub fn torus_of(nodes: usize) -> Result<Self, GraphError> {
        let allowed = "a product of two factors of 3 or more, such as 9, 12, 16 or 20";
        check_nodes("torus", nodes, nodes >= 9, allowed)?;
        let rows = (3..=nodes.isqrt()).rev().find(|rows| nodes.is_multiple_of(*rows));
        let rows = rows.ok_or(GraphError::Nodes { family: "torus", nodes, allowed })?;
        Self::torus(rows, nodes / rows)
    }

    pub fn complete(nodes: usize) -> Result<Self, GraphError> {
        check_nodes("complete", nodes, nodes >= 1, "1 or more")?;
        check_edges(nodes as u64 * (nodes as u64 - 1) / 2)?;
        Ok(Self::from_rule(nodes, |i, row| row.extend((0..nodes as u32).filter(|&j| j as usize != i))))
    }

    /// Node 0 next to every other, and no other edge.
    pub fn star(nodes: usize) -> Result<Self, GraphError> {
        check_nodes("star", nodes, nodes >= 2, "2 or more")?;
        Ok(Self::from_rule(nodes, |i, row| match i {
            0 => row.extend(1..nodes as u32),
            _ => row.push(0),
        }))
    }

    /// Nodes whose numbers differ in one binary digit are neighbours.
    pub fn hypercube(nodes: usize) -> Result<Self, GraphError> {
        let fits = nodes >= 2 && nodes.is_power_of_two();
        check_nodes("hypercube", nodes, fits, "a power of two, 2 or more")?;
        Ok(Self::from_rule(nodes, |i, row| {
            row.extend((0..nodes.trailing_zeros()).map(|bit| (i ^ (1 << bit)) as u32));
        }))
    }

    /// Node i next to i ± 1, i ± 2, i ± 4, … (mod n): few edges, and a gap of order 1/log n.
    pub fn exponential(nodes: usize) -> Result<Self, GraphError> {
        check_nodes("exponential", nodes, nodes >= 2, "2 or more")?;
        Ok(Self::from_rule(nodes, |i, row| {
            let hops = (0..usize::BITS).map(|power| 1usize << power).take_while(|&hop| hop < nodes);
            row.extend(hops.flat_map(|hop| [((i + hop) % nodes) as u32, ((i + nodes - hop) % nodes) as u32]));
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(graph: Result<Graph, GraphError>) -> (usize, usize, usize, usize) {
        let graph = graph.unwrap();
        assert!(graph.is_connected());
        for i in 0..graph.nodes() {
            let row = graph.neighbours(i);
            assert!(row.windows(2).all(|w| w[0] < w[1]), "row {i} is sorted and has no repeats");
            assert!(
                row.iter().all(|&j| j as usize != i && graph.neighbours(j as usize).contains(&(i as u32)))
            );
        }
        let least = (0..graph.nodes()).map(|i| graph.degree(i)).min().unwrap();
        (graph.nodes(), graph.edges(), least, graph.max_degree())
    }

    #[test]
    fn counts_of_every_family() {
        assert_eq!(shape(Graph::ring(3)), (3, 3, 2, 2));
        assert_eq!(shape(Graph::ring(32)), (32, 32, 2, 2));
        assert_eq!(shape(Graph::path(1)), (1, 0, 0, 0));
        assert_eq!(shape(Graph::path(7)), (7, 6, 1, 2));
        assert_eq!(shape(Graph::torus(3, 3)), (9, 18, 4, 4));
        assert_eq!(shape(Graph::torus(3, 7)), (21, 42, 4, 4));
        assert_eq!(shape(Graph::complete(1)), (1, 0, 0, 0));
        assert_eq!(shape(Graph::complete(9)), (9, 36, 8, 8));
        assert_eq!(shape(Graph::star(2)), (2, 1, 1, 1));
        assert_eq!(shape(Graph::star(9)), (9, 8, 1, 8));
        assert_eq!(shape(Graph::hypercube(2)), (2, 1, 1, 1));
        assert_eq!(shape(Graph::hypercube(32)), (32, 80, 5, 5));
        assert_eq!(shape(Graph::exponential(2)), (2, 1, 1, 1));
        assert_eq!(shape(Graph::exponential(3)), (3, 3, 2, 2));
        assert_eq!(shape(Graph::exponential(16)), (16, 56, 7, 7));
        assert_eq!(shape(Graph::exponential(11)), (11, 44, 8, 8));
    }

    #[test]
    fn torus_of_is_the_most_square() {
        assert_eq!(Graph::torus_of(36), Graph::torus(6, 6));
        assert_eq!(Graph::torus_of(30), Graph::torus(5, 6));
        assert_eq!(Graph::torus_of(21), Graph::torus(3, 7));
        for nodes in [0, 1, 6, 8, 10, 13, 14, 22, 9973] {
            let error = Graph::torus_of(nodes).unwrap_err();
            assert!(matches!(error, GraphError::Nodes { family: "torus", .. }), "{error}");
        }
    }

    #[test]
    fn sizes_outside_a_family_are_refused() {
        assert_eq!(
            Graph::ring(2).unwrap_err().to_string(),
            "nodes = 2: the ring graph needs 3 or more; two can be a \"path\""
        );
        for graph in [
            Graph::path(0),
            Graph::complete(0),
            Graph::star(1),
            Graph::hypercube(1),
            Graph::hypercube(12),
            Graph::exponential(1),
        ] {
            assert!(matches!(graph, Err(GraphError::Nodes { .. })), "{graph:?}");
        }
        assert_eq!(Graph::torus(3, 2), Err(GraphError::Side { side: "cols", value: 2 }));
        assert!(matches!(Graph::torus(usize::MAX, usize::MAX), Err(GraphError::TooManyNodes { .. })));
        assert!(matches!(Graph::ring(1_000_001), Err(GraphError::TooManyNodes { .. })));
        assert!(matches!(Graph::ring(usize::MAX), Err(GraphError::TooManyNodes { .. })));
        let error = Graph::complete(10_001).unwrap_err();
        assert!(matches!(error, GraphError::TooManyEdges { edges: 50_005_000, .. }), "{error}");
    }

    #[test]
    fn names_go_there_and_back() {
        for (family, name) in GraphFamily::ALL.into_iter().zip(GraphFamily::NAMES) {
            assert_eq!(family.to_string(), name);
            assert_eq!(name.parse(), Ok(family));
        }
        let error = "rings".parse::<GraphFamily>().unwrap_err();
        assert!(error.to_string().starts_with("graph = \"rings\": expected one of ring, path, torus"));
    }

    #[test]
    fn every_family_is_built_with_its_own_parameters_only() {
        for family in GraphFamily::ALL {
            let parameters = Parameters {
                probability: (family == GraphFamily::ErdosRenyi).then_some(0.6),
                degree: (family == GraphFamily::RandomRegular).then_some(3),
                seed: 1,
            };
            let graph = Graph::build(family, 16, &parameters).unwrap();
            assert_eq!((graph.nodes(), graph.is_connected()), (16, true), "{family}");
            if family != GraphFamily::ErdosRenyi {
                let error = Graph::build(family, 16, &Parameters { probability: Some(0.5), ..parameters });
                assert!(matches!(error, Err(GraphError::Meaningless { key: "probability", .. })));
            }
            if family != GraphFamily::RandomRegular {
                let error = Graph::build(family, 16, &Parameters { degree: Some(3), ..parameters });
                assert!(matches!(error, Err(GraphError::Meaningless { key: "degree", .. })));
            }
        }
        let none = Parameters::default();
        let error = Graph::build(GraphFamily::ErdosRenyi, 16, &none).unwrap_err();
        assert_eq!(error.to_string(), "probability is missing: the erdos-renyi graph needs it");
        let error = Graph::build(GraphFamily::RandomRegular, 16, &none).unwrap_err();
        assert!(matches!(error, GraphError::Missing { key: "degree", .. }));
    }
}
