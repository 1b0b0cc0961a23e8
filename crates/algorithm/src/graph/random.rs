//! Random graphs, always connected, each a function of its seed.
//!
//! Only integer and IEEE arithmetic decides an edge, so the graph is the same on every machine.

use std::collections::HashSet;

use prdo_privacy::{Purpose, Secret, Stream};
use rand::Rng;

use super::{
    Graph, GraphError, MAX_EDGES,
    chance::{below, ln, ln_one_minus, shuffle, unit},
    check_edges, check_nodes,
};

/// How many graphs are drawn before giving up on a connected one.
const DRAWS: u32 = 100;

impl Graph {
    /// G(n, p) given that it is connected: every pair is an edge with the same probability.
    ///
    /// Draws whole graphs, at most 100, until one is connected; each takes time proportional to its nodes
    /// and edges (Batagelj and Brandes, *Efficient generation of large random networks*, 2005).
    pub fn erdos_renyi(nodes: usize, probability: f64, seed: u64) -> Result<Self, GraphError> {
        check_nodes("erdos-renyi", nodes, nodes >= 1, "1 or more")?;
        if !(probability > 0.0 && probability <= 1.0) {
            return Err(GraphError::Probability { probability });
        }
        if nodes == 1 || probability == 1.0 {
            return Self::complete(nodes);
        }
        let n = nodes as f64;
        check_edges((0.5 * n * (n - 1.0) * probability) as u64)?;
        let too_small = |draws| {
            let needed = ln(n) / n;
            GraphError::ProbabilityTooSmall { probability, nodes, draws, needed }
        };
        // With 20 lonely nodes expected, a graph without one has a chance of about e^-20: do not try.
        if ln(n) + (n - 1.0) * ln_one_minus(probability) > ln(20.0) {
            return Err(too_small(0));
        }
        let secret = Secret::from_seed(seed);
        for draw in 0..DRAWS {
            let mut stream = secret.stream(Purpose::Graph, 0, draw);
            let pairs = draw_pairs(nodes, probability, &mut stream)?;
            if has_lonely_node(nodes, &pairs) {
                continue;
            }
            let graph = Self::from_pairs(nodes, &pairs);
            if graph.is_connected() {
                return Ok(graph);
            }
        }
        Err(too_small(DRAWS))
    }

    /// A connected random graph in which every node has the same degree.
    ///
    /// Degree 2 is a uniformly random ring. Otherwise ends of edges are paired at random, and self loops and
    /// repeats are switched away against random other edges: close to uniform, not exactly. Above half of
    /// all possible neighbours the complement is drawn instead.
    pub fn random_regular(nodes: usize, degree: usize, seed: u64) -> Result<Self, GraphError> {
        check_nodes("random-regular", nodes, nodes >= 2, "2 or more")?;
        let refuse = |allowed| Err(GraphError::Degree { degree, nodes, allowed });
        match (nodes, degree) {
            (2, 1) => return Self::path(2),
            (2, _) => return refuse("it must be 1"),
            _ if degree < 2 => return refuse("it must be 2 or more for the graph to be connected"),
            _ if degree >= nodes => return refuse("it must be below the number of nodes"),
            _ if nodes % 2 == 1 && degree % 2 == 1 => {
                return refuse("it must be even: nodes * degree is odd");
            }
            _ => check_edges(nodes as u64 * degree as u64 / 2)?,
        }
        let secret = Secret::from_seed(seed);
        for draw in 0..DRAWS {
            let mut stream = secret.stream(Purpose::Graph, 1, draw);
            let graph = match degree {
                2 => Some(random_ring(nodes, &mut stream)),
                _ if 2 * degree < nodes => {
                    regular_pairs(nodes, degree, &mut stream).map(|pairs| Self::from_pairs(nodes, &pairs))
                }
                _ => regular_pairs(nodes, nodes - 1 - degree, &mut stream)
                    .map(|pairs| complement(&Self::from_pairs(nodes, &pairs))),
            };
            if let Some(graph) = graph.filter(Self::is_connected) {
                return Ok(graph);
            }
        }
        refuse("no connected regular graph came up in 100 draws: choose a larger degree or another seed")
    }
}

/// Each pair (v, w) with w < v independently: the number of pairs to skip to the next edge is geometric.
fn draw_pairs(nodes: usize, probability: f64, stream: &mut Stream) -> Result<Vec<(u32, u32)>, GraphError> {
    let (n, scale) = (nodes as u64, ln_one_minus(probability));
    let all = n * (n - 1) / 2;
    let mut pairs = Vec::new();
    let (mut v, mut before_v, mut next) = (1u64, 0u64, 0u64);
    loop {
        let skip = (ln(unit(stream)) / scale).floor();
        if skip.is_nan() || skip >= (all - next) as f64 {
            return Ok(pairs);
        }
        next += skip as u64;
        while next - before_v >= v {
            before_v += v;
            v += 1;
        }
        if pairs.len() as u64 == MAX_EDGES {
            check_edges(MAX_EDGES + 1)?;
        }
        pairs.push((v as u32, (next - before_v) as u32));
        next += 1;
    }
}

/// The usual reason why a random graph is not connected, and the fastest to see.
fn has_lonely_node(nodes: usize, pairs: &[(u32, u32)]) -> bool {
    let mut lonely = vec![true; nodes];
    for &(a, b) in pairs {
        (lonely[a as usize], lonely[b as usize]) = (false, false);
    }
    lonely.contains(&true)
}

/// A cycle through all nodes in random order: the only connected graph of degree 2, drawn uniformly.
fn random_ring(nodes: usize, stream: &mut Stream) -> Graph {
    let mut order: Vec<u32> = (0..nodes as u32).collect();
    shuffle(&mut order, stream);
    let pairs: Vec<_> = (0..nodes).map(|i| (order[i], order[(i + 1) % nodes])).collect();
    Graph::from_pairs(nodes, &pairs)
}

/// The edges of a random graph of this degree, or none if the repair does not come to an end.
fn regular_pairs(nodes: usize, degree: usize, stream: &mut Stream) -> Option<Vec<(u32, u32)>> {
    let mut ends: Vec<u32> = (0..nodes as u32).flat_map(|i| std::iter::repeat_n(i, degree)).collect();
    shuffle(&mut ends, stream);
    let mut pairs: Vec<(u32, u32)> = ends.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
    let mut taken = HashSet::with_capacity(pairs.len());
    let mut good: Vec<bool> = pairs.iter().map(|&(a, b)| a != b && taken.insert(key(a, b))).collect();
    let bad: Vec<usize> = (0..pairs.len()).filter(|&i| !good[i]).collect();
    for i in bad {
        let mut tries = 0u32;
        while !good[i] {
            tries += 1;
            if tries > 100_000 {
                return None;
            }
            let j = below(stream, pairs.len());
            let ((a, b), (mut c, mut d)) = (pairs[i], pairs[j]);
            if stream.next_u32() & 1 == 1 {
                (c, d) = (d, c);
            }
            // (a, b), (c, d) become (a, d), (c, b): degrees stay, and a bad pair is gone.
            let fresh = a != d && c != b && key(a, d) != key(c, b);
            if i == j || !fresh || taken.contains(&key(a, d)) || taken.contains(&key(c, b)) {
                continue;
            }
            if good[j] {
                taken.remove(&key(c, d));
            }
            taken.extend([key(a, d), key(c, b)]);
            (pairs[i], pairs[j]) = ((a, d), (c, b));
            (good[i], good[j]) = (true, true);
        }
    }
    Some(pairs)
}

fn complement(graph: &Graph) -> Graph {
    let nodes = graph.nodes();
    Graph::from_rule(nodes, |i, row| {
        let mut skipped = graph.neighbours(i).iter().copied().peekable();
        for j in 0..nodes as u32 {
            if skipped.next_if_eq(&j).is_none() && j as usize != i {
                row.push(j);
            }
        }
    })
}

/// One number for both directions of an edge.
fn key(a: u32, b: u32) -> u64 {
    u64::from(a.min(b)) << 32 | u64::from(a.max(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn erdos_renyi_has_the_right_number_of_edges() {
        let (n, p) = (400, 0.05);
        let mean = 0.5 * (n * (n - 1)) as f64 * p;
        let std = (mean * (1.0 - p)).sqrt();
        let mut total = 0.0;
        for seed in 0..50 {
            let graph = Graph::erdos_renyi(n, p, seed).unwrap();
            assert!(graph.is_connected());
            total += graph.edges() as f64;
        }
        assert!((total / 50.0 - mean).abs() < 4.0 * std / 50f64.sqrt(), "{total} {mean}");
        assert_eq!(Graph::erdos_renyi(n, p, 3), Graph::erdos_renyi(n, p, 3));
        assert_ne!(Graph::erdos_renyi(n, p, 3), Graph::erdos_renyi(n, p, 4));
    }

    #[test]
    fn every_pair_is_drawn_equally_often() {
        let mut count = [[0u32; 6]; 6];
        for seed in 0..4000 {
            let mut stream = Secret::from_seed(seed).stream(Purpose::Graph, 0, 0);
            for (v, w) in draw_pairs(6, 0.3, &mut stream).unwrap() {
                assert!(w < v && v < 6);
                count[v as usize][w as usize] += 1;
            }
        }
        for (v, row) in count.iter().enumerate() {
            for &seen in &row[..v] {
                assert!((f64::from(seen) - 1200.0).abs() < 4.5 * (1200.0f64 * 0.7).sqrt(), "{count:?}");
            }
        }
    }

    #[test]
    fn erdos_renyi_edge_cases() {
        assert_eq!(Graph::erdos_renyi(1, 0.1, 0).unwrap().nodes(), 1);
        assert_eq!(Graph::erdos_renyi(5, 1.0, 0), Graph::complete(5));
        for probability in [0.0, -0.1, 1.1, f64::NAN, f64::INFINITY] {
            assert!(matches!(Graph::erdos_renyi(5, probability, 0), Err(GraphError::Probability { .. })));
        }
        let error = Graph::erdos_renyi(1000, 1e-5, 0).unwrap_err();
        assert!(matches!(error, GraphError::ProbabilityTooSmall { draws: 0, .. }));
        assert!(error.to_string().contains("ln(n)/n = 6.908e-3"), "{error}");
        let error = Graph::erdos_renyi(1000, 0.0042, 0).unwrap_err();
        assert!(matches!(error, GraphError::ProbabilityTooSmall { draws: 100, .. }), "{error}");
        let error = Graph::erdos_renyi(1_000_000, 0.5, 0).unwrap_err();
        assert!(matches!(error, GraphError::TooManyEdges { .. }));
        assert!(Graph::erdos_renyi(3, 1e-320, 0).is_err());
    }

    #[test]
    fn regular_graphs_of_every_possible_degree() {
        for n in 2..14 {
            for k in 0..=n {
                let possible = k < n && (k >= 2 || (n, k) == (2, 1)) && n * k % 2 == 0;
                let graph = Graph::random_regular(n, k, 11);
                assert_eq!(graph.is_ok(), possible, "{n} {k} {graph:?}");
                let Ok(graph) = graph else { continue };
                assert!(graph.is_connected() && graph.edges() == n * k / 2);
                assert!((0..n).all(|i| graph.degree(i) == k), "{n} {k}");
            }
        }
        let error = Graph::random_regular(9, 3, 0).unwrap_err().to_string();
        assert_eq!(error, "degree = 3: with 9 nodes it must be even: nodes * degree is odd");
    }

    #[test]
    fn regular_graphs_are_reproducible_and_vary() {
        let graph = |seed| Graph::random_regular(50, 4, seed).unwrap();
        assert_eq!(graph(1), graph(1));
        assert_ne!(graph(1), graph(2));
        let dense = Graph::random_regular(120, 59, 5).unwrap();
        assert!((0..120).all(|i| dense.degree(i) == 59));
        assert_eq!(dense, Graph::random_regular(120, 59, 5).unwrap());
    }

    /// Peers build the network each for itself: these edges may never change.
    #[test]
    fn pinned_edges() {
        let pairs = |graph: Result<Graph, GraphError>| graph.unwrap().pairs().collect::<Vec<_>>();
        let sparse = [(0, 3), (1, 3), (1, 5), (2, 5), (3, 4), (3, 5)];
        assert_eq!(pairs(Graph::erdos_renyi(6, 0.4, 1)), sparse);
        let cubic = pairs(Graph::random_regular(8, 3, 1));
        assert_eq!(cubic[..6], [(0, 1), (0, 2), (0, 6), (1, 2), (1, 4), (2, 7)]);
        assert_eq!(cubic[6..], [(3, 4), (3, 5), (3, 7), (4, 5), (5, 6), (6, 7)]);
    }
}
