//! The mixing matrix W: with which weight a node takes each neighbour's message.
//!
//! Stored as compressed rows with rising columns. A row always holds its diagonal entry, also when it is
//! zero: a node always "hears" itself, and whoever walks a row need not ask.

use super::error::named;
use super::{Arcs, Graph, MAX_NODES, MixingError, UnknownName};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Weights {
    /// The paper's ring: 1/2 for the node itself, 1/4 for each of its two neighbours.
    Paper,
    /// w_ij = 1/(1 + max(d_i, d_j)): needs to know the neighbours' degrees only.
    Metropolis,
    /// w_ij = 1/(1 + d_max): the same weight on every edge.
    MaxDegree,
    /// p_ij = 1/(1 + d_j), d_j the nodes that j sends to: each node splits what it sends into equal parts. Columns add up to
    /// one, rows need not: for methods that push.
    OutDegree,
}

named!(
    Weights,
    "weights",
    4,
    Paper = "paper",
    Metropolis = "metropolis",
    MaxDegree = "max-degree",
    OutDegree = "out-degree",
);

/// A sparse mixing matrix. Any numbers can be in it: [`Mixing::check`] judges them.
#[derive(Clone, Debug, PartialEq)]
pub struct Mixing {
    /// Where each row starts; one more entry than there are rows.
    offsets: Vec<usize>,
    columns: Vec<u32>,
    weights: Vec<f64>,
}

impl Mixing {
    /// The weights of a rule on a graph; `lazy` takes (I + W)/2 instead, which is positive semidefinite.
    ///
    /// W is symmetric bit for bit, but for [`Weights::OutDegree`]. On a complete graph (not lazy) [`Weights::Metropolis`] and
    /// [`Weights::MaxDegree`] give the same bits everywhere, 1/n, so all nodes compute the same average.
    pub fn new(graph: &Graph, weights: Weights, lazy: bool) -> Result<Self, MixingError> {
        let nodes = graph.nodes();
        if weights == Weights::Paper
            && let Some(node) = (0..nodes).find(|&i| graph.degree(i) != 2)
        {
            return Err(MixingError::NotRing { node, degree: graph.degree(node) });
        }
        let most = graph.max_degree();
        let share = |degree: usize| 1.0 / (1.0 + degree as f64);
        let weight = |i: usize, j: usize| match weights {
            Weights::Paper => 0.25,
            Weights::Metropolis => share(graph.degree(i).max(graph.degree(j))),
            Weights::MaxDegree => share(most),
            Weights::OutDegree => share(graph.degree(j)),
        };
        // What is left to one, written without a subtraction from one: exactly the neighbours' weight
        // where all of them weigh 1/(1 + d_i).
        let own = |i: usize| match weights {
            Weights::Paper => 0.5,
            Weights::Metropolis => {
                let fair = share(graph.degree(i));
                fair + graph.neighbours(i).iter().map(|&j| fair - weight(i, j as usize)).sum::<f64>()
            }
            Weights::MaxDegree => (1 + most - graph.degree(i)) as f64 / (1.0 + most as f64),
            Weights::OutDegree => share(graph.degree(i)),
        };
        let entry = |i: usize, j: usize| match (i == j, lazy) {
            (true, false) => own(i),
            (true, true) => (1.0 + own(i)) / 2.0,
            (false, false) => weight(i, j),
            (false, true) => weight(i, j) / 2.0,
        };
        Ok(Self::fill(graph, entry))
    }

    /// P of a directed graph: a node that sends to k others splits what it sends into 1 + k equal parts.
    pub fn out_degree(arcs: &Arcs) -> Result<Self, MixingError> {
        let nodes = arcs.nodes();
        let mut parts = vec![1.0; nodes];
        arcs.pairs().iter().for_each(|(from, _)| parts[*from as usize] += 1.0);
        let own = (0..nodes).map(|i| (i, i, 1.0 / parts[i]));
        let sent =
            arcs.pairs().iter().map(|(from, to)| (*to as usize, *from as usize, 1.0 / parts[*from as usize]));
        Self::from_entries(nodes, own.chain(sent).collect())
    }

    /// Rows of a graph with the diagonal put in its place.
    fn fill(graph: &Graph, entry: impl Fn(usize, usize) -> f64) -> Self {
        let nodes = graph.nodes();
        let size = nodes + 2 * graph.edges();
        let mut offsets = Vec::with_capacity(nodes + 1);
        let (mut columns, mut weights) = (Vec::with_capacity(size), Vec::with_capacity(size));
        offsets.push(0);
        for i in 0..nodes {
            let row = graph.neighbours(i);
            let split = row.partition_point(|&j| (j as usize) < i);
            for &j in row[..split].iter().chain(&[i as u32]).chain(&row[split..]) {
                columns.push(j);
                weights.push(entry(i, j as usize));
            }
            offsets.push(columns.len());
        }
        Self { offsets, columns, weights }
    }

    /// A matrix from its entries (row, column, weight) in any order. Both halves have to be given; what is
    /// not given is zero. The numbers are not checked.
    pub fn from_entries(nodes: usize, mut entries: Vec<(usize, usize, f64)>) -> Result<Self, MixingError> {
        if nodes == 0 || nodes > MAX_NODES {
            return Err(MixingError::Nodes { nodes, allowed: MAX_NODES });
        }
        if let Some(&(row, column, _)) = entries.iter().find(|e| e.0 >= nodes || e.1 >= nodes) {
            return Err(MixingError::OutOfRange { row, column, nodes });
        }
        entries.sort_by_key(|&(row, column, _)| (row, column));
        let repeat = entries.windows(2).find(|pair| (pair[0].0, pair[0].1) == (pair[1].0, pair[1].1));
        if let Some(&[(row, column, _), _]) = repeat {
            return Err(MixingError::Duplicate { row, column });
        }
        let (mut offsets, mut columns, mut weights) = (vec![0], Vec::new(), Vec::new());
        let mut entries = entries.into_iter().peekable();
        for i in 0..nodes {
            let mut has_diagonal = false;
            while let Some((_, column, weight)) = entries.next_if(|&(row, _, _)| row == i) {
                if column > i && !has_diagonal {
                    columns.push(i as u32);
                    weights.push(0.0);
                }
                has_diagonal |= column >= i;
                columns.push(column as u32);
                weights.push(weight);
            }
            if !has_diagonal {
                columns.push(i as u32);
                weights.push(0.0);
            }
            offsets.push(columns.len());
        }
        Ok(Self { offsets, columns, weights })
    }

    pub fn nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of stored entries, the diagonal included.
    pub fn entries(&self) -> usize {
        self.columns.len()
    }

    /// A row: its columns in rising order and their weights; nothing for a row that does not exist.
    pub fn row(&self, node: usize) -> (&[u32], &[f64]) {
        match (self.offsets.get(node), self.offsets.get(node.saturating_add(1))) {
            (Some(&start), Some(&end)) => (&self.columns[start..end], &self.weights[start..end]),
            _ => (&[], &[]),
        }
    }

    pub fn row_entries(&self, node: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let (columns, weights) = self.row(node);
        columns.iter().map(|&j| j as usize).zip(weights.iter().copied())
    }

    /// One weight; zero where nothing is stored.
    pub fn weight(&self, row: usize, column: usize) -> f64 {
        let (columns, weights) = self.row(row);
        match u32::try_from(column).map(|column| columns.binary_search(&column)) {
            Ok(Ok(at)) => weights[at],
            _ => 0.0,
        }
    }

    /// y = W x.
    pub(super) fn apply(&self, x: &[f64], y: &mut [f64]) {
        for (i, out) in y.iter_mut().enumerate() {
            *out = self.row_entries(i).map(|(j, weight)| weight * x[j]).sum();
        }
    }

    /// The graph of the weights that are not zero, in either direction.
    pub fn support(&self) -> Graph {
        let nodes = self.nodes();
        let pairs: Vec<(u32, u32)> = (0..nodes)
            .flat_map(|i| self.row_entries(i).map(move |(j, weight)| (i, j, weight)))
            .filter(|&(i, j, weight)| weight != 0.0 && (i < j || (i > j && self.weight(j, i) == 0.0)))
            .map(|(i, j, _)| (i as u32, j as u32))
            .collect();
        Graph::from_pairs(nodes, &pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paper_weights_live_on_a_ring() {
        let w = Mixing::new(&Graph::ring(5).unwrap(), Weights::Paper, false).unwrap();
        assert_eq!(w.row(0), (&[0, 1, 4][..], &[0.5, 0.25, 0.25][..]));
        assert_eq!(w.row(2), (&[1, 2, 3][..], &[0.25, 0.5, 0.25][..]));
        assert_eq!((w.nodes(), w.entries()), (5, 15));
        assert_eq!(
            (w.weight(0, 4), w.weight(0, 2), w.weight(9, 9), w.weight(0, usize::MAX)),
            (0.25, 0.0, 0.0, 0.0)
        );
        assert_eq!(w.row(5), (&[][..], &[][..]));
        let error = Mixing::new(&Graph::path(4).unwrap(), Weights::Paper, false).unwrap_err();
        assert_eq!(error, MixingError::NotRing { node: 0, degree: 1 });
        assert!(error.to_string().contains("\"metropolis\" with lazy = true"));
    }

    #[test]
    fn complete_graphs_give_identical_rows() {
        for n in [1, 2, 3, 7, 10, 49, 97] {
            let graph = Graph::complete(n).unwrap();
            for rule in [Weights::Metropolis, Weights::MaxDegree] {
                let w = Mixing::new(&graph, rule, false).unwrap();
                assert!((0..n).all(|i| w.row(i).1.iter().all(|&x| x == 1.0 / n as f64)), "{n} {rule}");
                assert!((0..n).all(|i| w.row(i).0.len() == n));
            }
        }
    }

    #[test]
    fn rules_on_a_star() {
        let graph = Graph::star(4).unwrap();
        let w = Mixing::new(&graph, Weights::Metropolis, false).unwrap();
        assert_eq!(w.row(0).1, [0.25; 4]);
        assert_eq!(w.row(3), (&[0, 3][..], &[0.25, 0.75][..]));
        let lazy = Mixing::new(&graph, Weights::MaxDegree, true).unwrap();
        assert_eq!(lazy.row(3), (&[0, 3][..], &[0.125, 0.875][..]));
        assert_eq!(lazy.weight(0, 0), 0.625);
    }

    #[test]
    fn entries_in_any_order_with_the_diagonal_put_in() {
        let w = Mixing::from_entries(3, vec![(2, 0, 0.5), (0, 2, 0.5), (1, 1, 1.0), (0, 0, 0.5)]).unwrap();
        assert_eq!(w.row(0), (&[0, 2][..], &[0.5, 0.5][..]));
        assert_eq!(w.row(1), (&[1][..], &[1.0][..]));
        assert_eq!(w.row(2), (&[0, 2][..], &[0.5, 0.0][..]));
        let later = Mixing::from_entries(2, vec![(0, 1, 1.0), (1, 0, 1.0)]).unwrap();
        assert_eq!(later.row(0), (&[0, 1][..], &[0.0, 1.0][..]));
        assert_eq!(w.support(), Graph::from_edges(3, [(0, 2)]).unwrap());
        let one_way = Mixing::from_entries(3, vec![(2, 1, 0.5), (0, 2, 0.5)]).unwrap();
        assert_eq!(one_way.support(), Graph::from_edges(3, [(0, 2), (1, 2)]).unwrap());
    }

    #[test]
    fn bad_entries_are_refused() {
        let twice = Mixing::from_entries(2, vec![(1, 0, 0.5), (0, 0, 1.0), (1, 0, 0.5)]);
        assert_eq!(twice, Err(MixingError::Duplicate { row: 1, column: 0 }));
        let outside = Mixing::from_entries(2, vec![(1, 2, 0.5)]);
        assert_eq!(outside, Err(MixingError::OutOfRange { row: 1, column: 2, nodes: 2 }));
        assert!(matches!(Mixing::from_entries(0, vec![]), Err(MixingError::Nodes { nodes: 0, .. })));
        assert!(matches!(Mixing::from_entries(2_000_000, vec![]), Err(MixingError::Nodes { .. })));
    }

    #[test]
    fn names_go_there_and_back() {
        for (rule, name) in Weights::ALL.into_iter().zip(Weights::NAMES) {
            assert_eq!((rule.to_string().as_str(), name.parse()), (name, Ok(rule)));
        }
        assert_eq!("max".parse::<Weights>().unwrap_err().field, "weights");
    }
}
