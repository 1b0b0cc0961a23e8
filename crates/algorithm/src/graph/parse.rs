//! A network from text: a list of edges or a matrix. Never reads a file: the caller hands over the text.
//!
//! One line is one row of numbers, separated by commas, or else by spaces or tabs. `#` starts a comment, empty
//! lines are skipped, nodes are numbered from zero.
//!
//! **Edges**: `i j`, or `i j weight` in every line. Without weights the lines make a [`Graph`]. With weights
//! they make a [`Mixing`]: an edge counts in both directions and is written once (or twice with the same
//! weight); `i i weight` gives a diagonal entry, and where it is not given the diagonal is what is left to
//! one. There are as many nodes as the largest number says, plus one, or as a first line `# edges 12` says.
//!
//! **Arcs**, for links that go one way: `i j`, node i sends to node j; or `i j weight`, the share of what i has that j takes.
//! Node i keeps what is left to one. Only after a first line `# arcs`, or `# arcs 12`.
//!
//! **Matrix**: the rows of W, as many as there are columns.
//!
//! A first line `# edges`, `# arcs` or `# matrix` says which. Without it [`parse_network`] looks at the shape: two or three
//! columns that begin with two whole numbers are edges, a square is a matrix. A text that is both is an edge
//! list if a whole number above 1 is among its first two columns (no weight is above 1), and otherwise an error.

use std::collections::BTreeMap;

use super::{
    Arcs, Graph, MAX_NODES, Mixing, MixingError,
    text::{NetworkText, ParseError, Shape},
};

#[derive(Clone, Debug, PartialEq)]
pub enum Network {
    /// Edges without weights: a rule has to give them.
    Graph(Graph),
    /// Links that go one way, without weights.
    Arcs(Arcs),
    /// A mixing matrix, not yet checked.
    Mixing(Mixing),
}

/// Reads an edge list or a matrix, whichever the text is (see the rules above).
pub fn parse_network(text: &str) -> Result<Network, ParseError> {
    let network = NetworkText::read(text)?;
    match network.shape()? {
        Shape::Edges => network.edges(),
        Shape::Arcs => network.arcs(),
        Shape::Matrix => network.matrix().map(Network::Mixing),
    }
}

impl NetworkText<'_> {
    /// The two ends of every line, and how many nodes there are.
    fn ends(&self) -> Result<(usize, Vec<(usize, usize)>), ParseError> {
        if let Some(line) = self.lines.first()
            && !matches!(line.fields.len(), 2 | 3)
        {
            let expected = "2 columns (i j) or 3 (i j weight)".to_owned();
            return Err(ParseError::Columns { line: line.number, expected, found: line.fields.len() });
        }
        let mut largest = 0;
        let mut ends = Vec::with_capacity(self.lines.len());
        for line in &self.lines {
            let (i, j) = (self.node(line, 0)?, self.node(line, 1)?);
            largest = largest.max(i).max(j);
            ends.push((i, j));
        }
        Ok((self.nodes.unwrap_or(largest + 1), ends))
    }

    fn refuse_loops(&self, ends: &[(usize, usize)]) -> Result<(), ParseError> {
        match self.lines.iter().zip(ends).find(|(_, (i, j))| i == j) {
            Some((line, &(node, _))) => Err(ParseError::SelfLoop { line: line.number, node }),
            None => Ok(()),
        }
    }

    fn edges(&self) -> Result<Network, ParseError> {
        let (nodes, ends) = self.ends()?;
        if self.columns() == 3 {
            return self.weighted(nodes, &ends).map(Network::Mixing);
        }
        self.refuse_loops(&ends)?;
        Ok(Network::Graph(Graph::from_edges(nodes, ends)?))
    }

    fn arcs(&self) -> Result<Network, ParseError> {
        let (nodes, ends) = self.ends()?;
        self.refuse_loops(&ends)?;
        if self.columns() != 3 {
            return Ok(Network::Arcs(Arcs::new(nodes, ends)?));
        }
        if nodes > MAX_NODES {
            return Err(MixingError::Nodes { nodes, allowed: MAX_NODES }.into());
        }
        let (mut kept, mut entries) = (vec![1.0; nodes], Vec::with_capacity(ends.len() + nodes));
        for (line, &(from, to)) in self.lines.iter().zip(&ends) {
            let share = line.number_at(2)?;
            kept[from] -= share;
            entries.push((to, from, share));
        }
        entries.extend(kept.into_iter().enumerate().map(|(i, rest)| (i, i, rest)));
        Ok(Network::Mixing(Mixing::from_entries(nodes, entries)?))
    }

    fn weighted(&self, nodes: usize, ends: &[(usize, usize)]) -> Result<Mixing, ParseError> {
        if nodes > MAX_NODES {
            return Err(MixingError::Nodes { nodes, allowed: MAX_NODES }.into());
        }
        let mut weights = BTreeMap::new();
        for (line, &(i, j)) in self.lines.iter().zip(ends) {
            let value = line.number_at(2)?;
            let earlier = *weights.entry((i.min(j), i.max(j))).or_insert(value);
            if earlier.to_bits() != value.to_bits() {
                return Err(ParseError::Conflict { line: line.number, from: i, to: j, value, earlier });
            }
        }
        let mut left = vec![1.0; nodes];
        let mut entries = Vec::with_capacity(2 * weights.len() + nodes);
        for (&(i, j), &weight) in weights.iter().filter(|((i, j), _)| i != j) {
            left[i] -= weight;
            left[j] -= weight;
            entries.extend([(i, j, weight), (j, i, weight)]);
        }
        let own = left.iter().enumerate().map(|(i, &rest)| (i, i, *weights.get(&(i, i)).unwrap_or(&rest)));
        entries.extend(own);
        Ok(Mixing::from_entries(nodes, entries)?)
    }

    fn matrix(&self) -> Result<Mixing, ParseError> {
        let (rows, columns) = (self.lines.len(), self.columns());
        let mut entries = Vec::new();
        for (i, line) in self.lines.iter().enumerate() {
            for j in 0..columns {
                let weight = line.number_at(j)?;
                if weight != 0.0 {
                    entries.push((i, j, weight));
                }
            }
        }
        if rows != columns {
            let line = self.lines.last().map_or(1, |line| line.number);
            return Err(ParseError::NotSquare { line, rows, columns });
        }
        Ok(Mixing::from_entries(rows, entries)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(text: &str) -> Graph {
        match parse_network(text).unwrap() {
            Network::Graph(graph) => graph,
            other => panic!("{other:?}"),
        }
    }

    fn mixing(text: &str) -> Mixing {
        match parse_network(text).unwrap() {
            Network::Mixing(w) => w,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn arcs_go_one_way() {
        let ring = Arcs::ring(3).unwrap();
        assert_eq!(parse_network("# arcs\n0 1\n1 2\n2 0"), Ok(Network::Arcs(ring)));
        let w = mixing("# arcs 3\n0 1 0.25\n0 2 0.25\n1 0 0.5\n2 0 0.75");
        assert_eq!(w.row(0), (&[0, 1, 2][..], &[0.5, 0.5, 0.75][..]));
        assert_eq!(w.row(1), (&[0, 1][..], &[0.25, 0.5][..]));
        assert!(matches!(parse_network("# arcs\n1 1"), Err(ParseError::SelfLoop { line: 2, node: 1 })));
        assert!(matches!(parse_network("# arcs\n0 1 0.5\n0 1 0.5"), Err(ParseError::Mixing(_))));
    }

    #[test]
    fn edges_with_comments_commas_and_repeats() {
        let ring = Graph::ring(4).unwrap();
        assert_eq!(graph("# a ring\n0 1\n1 2 # here\n\n2\t3\r\n3 0\n0 3\n"), ring);
        assert_eq!(graph("0,1\n1, 2\n2 ,3\n3,0"), ring);
        assert_eq!(graph("\u{feff}# edges\n0 1\n1 0"), Graph::path(2).unwrap());
        assert_eq!(graph("# edges 5\n0 1").nodes(), 5);
        assert_eq!(graph("# edges 1").nodes(), 1);
        assert_eq!(graph("0 1"), Graph::path(2).unwrap());
        assert_eq!(graph("0 1\n1 2"), Graph::path(3).unwrap());
    }

    #[test]
    fn weighted_edges_leave_the_rest_to_the_diagonal() {
        let w = mixing("0 1 0.25\n1 2 0.25\n2 1 0.25\n2 2 0.9");
        assert_eq!(w.row(0), (&[0, 1][..], &[0.75, 0.25][..]));
        assert_eq!(w.row(1), (&[0, 1, 2][..], &[0.25, 0.5, 0.25][..]));
        assert_eq!(w.weight(2, 2), 0.9);
        assert_eq!(mixing("0 1 0.3\n1 2 0.3\n0 2 0.3").nodes(), 3);
    }

    #[test]
    fn matrices_by_shape_or_marker() {
        let w = mixing("0.5 0.5\n0.5 0.5");
        assert_eq!((w.nodes(), w.weight(0, 1)), (2, 0.5));
        assert_eq!(mixing("# matrix\n0 1\n1 0").row(0), (&[0, 1][..], &[0.0, 1.0][..]));
        assert_eq!(mixing("1").nodes(), 1);
        let w = mixing("0.5,0.5,0,0\n0.5,0,0.5,0\n0,.5,0,.5\n0,0,5e-1,0.5");
        assert_eq!(w.row(1), (&[0, 1, 2][..], &[0.5, 0.0, 0.5][..]));
        assert_eq!(mixing("0.5 0.5 0\n0.5 0 0.5\n0 0.5 0.5").entries(), 7);
        assert!(mixing("nan").weight(0, 0).is_nan());
    }

    #[test]
    fn texts_that_could_be_both_are_refused() {
        for text in ["0 1\n1 0", "1 0 0\n0 1 0\n0 0 1", "0 1\n0 1"] {
            let error = parse_network(text).unwrap_err();
            assert!(matches!(error, ParseError::Ambiguous { line: 1, .. }), "{error}");
            assert!(error.to_string().contains("\"# edges\" or \"# matrix\""));
        }
    }

    #[test]
    fn errors_name_the_line() {
        let cases = [
            (
                "0 1\n1 x\n2 3",
                "line 2, column 2: expected the number of a node (a whole number, from 0), found \"x\"",
            ),
            ("0 1\n\n1 2 0.5", "line 3: expected 2 columns as in line 1, found 3"),
            (
                "0 1\n-1 2\n2 0",
                "line 2, column 1: expected the number of a node (a whole number, from 0), found \"-1\"",
            ),
            ("0 1\n2 2\n1 2", "line 2: edge (2, 2): a node cannot be its own neighbour"),
            ("0 1\n1 1000000\n1 2", "line 2, column 2: node 1000000 is out of range, expected 0 to 999999"),
            ("# edges 3\n0 3", "line 2, column 2: node 3 is out of range, expected 0 to 2"),
            ("0 1 0.5\n1 0 0.25", "line 2: weight of edge (1, 0) is 0.25, but 0.5 in an earlier line"),
            ("0 1 a\n1 2 .5", "line 1, column 3: expected a number, found \"a\""),
            ("# edges\n1 2 3 4", "line 2: expected 2 columns (i j) or 3 (i j weight), found 4"),
            ("# matrix\n1 0\n", "line 2: expected a square matrix, found 1 rows of 2 columns"),
            ("1,0,0,0\n0,,0,1", "line 2, column 2: expected a number, found \"\""),
            ("0 1 2 3\n0 1 2 3", "line 2: expected a square matrix, found 2 rows of 4 columns"),
        ];
        for (text, message) in cases {
            assert_eq!(parse_network(text).unwrap_err().to_string(), message, "{text:?}");
        }
        for text in ["", "\n# nothing\n", "# matrix", "# edges"] {
            assert_eq!(parse_network(text), Err(ParseError::Empty));
        }
        assert!(matches!(parse_network("# edges 0"), Err(ParseError::Graph(_))));
        assert!(matches!(parse_network("# edges 9999999"), Err(ParseError::Graph(_))));
        assert!(matches!(parse_network("# edges 9999999\n0 1 0.5"), Err(ParseError::Mixing(_))));
        let huge = format!("# edges {}\n0 1 0.5", usize::MAX);
        assert!(matches!(parse_network(&huge), Err(ParseError::Mixing(_))));
        assert!(matches!(
            NetworkText::read("# edges 3").unwrap().matrix(),
            Err(ParseError::NotSquare { .. })
        ));
        assert!(matches!(
            NetworkText::read("0.5 0.5\n0.5 0.5").unwrap().edges(),
            Err(ParseError::Number { line: 1, column: 1, .. })
        ));
    }
}
