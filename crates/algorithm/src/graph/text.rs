//! The text of a network cut into lines and fields, and everything that can be wrong with it.

use thiserror::Error;

use super::{GraphError, MAX_NODES, MixingError};

/// Why the text of a network cannot be read. Lines and columns count from 1, nodes from 0.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ParseError {
    #[error("no network in the text: expected lines \"i j\", or the rows of a square matrix")]
    Empty,
    #[error("line {line}: expected {expected}, found {found}")]
    Columns { line: usize, expected: String, found: usize },
    #[error("line {line}, column {column}: expected {expected}, found {found:?}")]
    Number { line: usize, column: usize, expected: &'static str, found: String },
    #[error("line {line}, column {column}: node {index} is out of range, expected 0 to {largest}")]
    Index { line: usize, column: usize, index: u64, largest: usize },
    #[error("line {line}: expected a square matrix, found {rows} rows of {columns} columns")]
    NotSquare { line: usize, rows: usize, columns: usize },
    #[error("line {line}: edge ({node}, {node}): a node cannot be its own neighbour")]
    SelfLoop { line: usize, node: usize },
    #[error("line {line}: weight of edge ({from}, {to}) is {value}, but {earlier} in an earlier line")]
    Conflict { line: usize, from: usize, to: usize, value: f64, earlier: f64 },
    #[error(
        "line {line}: {rows} rows of {columns} columns can be an edge list or a matrix; \
         make the first line of the text \"# edges\" or \"# matrix\""
    )]
    Ambiguous { line: usize, rows: usize, columns: usize },
    #[error(transparent)]
    Graph(#[from] GraphError),
    #[error(transparent)]
    Mixing(#[from] MixingError),
}

#[derive(Clone, Copy)]
pub(super) enum Shape {
    Edges,
    Arcs,
    Matrix,
}

/// The lines with something on them, cut into fields.
pub(super) struct NetworkText<'a> {
    marker: Option<Shape>,
    pub(super) nodes: Option<usize>,
    pub(super) lines: Vec<Line<'a>>,
}

/// A line's number, counted from 1, and its fields.
pub(super) struct Line<'a> {
    pub(super) number: usize,
    pub(super) fields: Vec<&'a str>,
}

impl<'a> NetworkText<'a> {
    /// Cuts a text into fields; every line must have as many as the first.
    pub(super) fn read(text: &'a str) -> Result<Self, ParseError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let (marker, nodes) = marker(text.lines().next().unwrap_or(""));
        let mut lines: Vec<Line<'a>> = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let content = line.split('#').next().unwrap_or("").trim();
            if content.is_empty() {
                continue;
            }
            let fields: Vec<&str> = match content.contains(',') {
                true => content.split(',').map(str::trim).collect(),
                false => content.split_whitespace().collect(),
            };
            let (number, found) = (index + 1, fields.len());
            if let Some(first) = lines.first().filter(|first| first.fields.len() != found) {
                let expected = format!("{} columns as in line {}", first.fields.len(), first.number);
                return Err(ParseError::Columns { line: number, expected, found });
            }
            lines.push(Line { number, fields });
        }
        if lines.is_empty() && nodes.is_none() {
            return Err(ParseError::Empty);
        }
        Ok(Self { marker, nodes, lines })
    }

    pub(super) fn columns(&self) -> usize {
        self.lines.first().map_or(2, |line| line.fields.len())
    }

    /// Whether this is an edge list or a matrix, by the marker or else by its shape.
    pub(super) fn shape(&self) -> Result<Shape, ParseError> {
        if let Some(marker) = self.marker {
            return Ok(marker);
        }
        let (rows, columns) = (self.lines.len(), self.columns());
        if !matches!(columns, 2 | 3) {
            return Ok(Shape::Matrix);
        }
        let ends = || self.lines.iter().flat_map(|line| &line.fields[..2]).map(|field| field.parse::<u64>());
        match (ends().all(|end| end.is_ok()), rows == columns) {
            (true, false) | (false, false) => Ok(Shape::Edges),
            (false, true) => Ok(Shape::Matrix),
            (true, true) if ends().any(|end| end.is_ok_and(|index| index > 1)) => Ok(Shape::Edges),
            (true, true) => {
                let line = self.lines.first().map_or(1, |line| line.number);
                Err(ParseError::Ambiguous { line, rows, columns })
            }
        }
    }

    pub(super) fn node(&self, line: &Line<'_>, field: usize) -> Result<usize, ParseError> {
        let (found, column) = (line.fields[field], field + 1);
        let index: u64 = found.parse().map_err(|_| ParseError::Number {
            line: line.number,
            column,
            expected: "the number of a node (a whole number, from 0)",
            found: found.to_owned(),
        })?;
        let largest = self.nodes.unwrap_or(MAX_NODES).saturating_sub(1);
        match usize::try_from(index) {
            Ok(node) if node <= largest => Ok(node),
            _ => Err(ParseError::Index { line: line.number, column, index, largest }),
        }
    }
}

impl Line<'_> {
    pub(super) fn number_at(&self, field: usize) -> Result<f64, ParseError> {
        let found = self.fields[field];
        found.parse().map_err(|_| ParseError::Number {
            line: self.number,
            column: field + 1,
            expected: "a number",
            found: found.to_owned(),
        })
    }
}

/// What a first line says: `# edges`, `# edges 12`, `# arcs`, `# arcs 12` or `# matrix`; anything else is a comment or data.
fn marker(line: &str) -> (Option<Shape>, Option<usize>) {
    let Some(comment) = line.trim().strip_prefix('#') else { return (None, None) };
    match comment.split_whitespace().collect::<Vec<_>>()[..] {
        ["matrix"] => (Some(Shape::Matrix), None),
        ["edges"] => (Some(Shape::Edges), None),
        ["arcs"] => (Some(Shape::Arcs), None),
        ["arcs", count] => match count.parse() {
            Ok(nodes) => (Some(Shape::Arcs), Some(nodes)),
            Err(_) => (None, None),
        },
        ["edges", count] => match count.parse() {
            Ok(nodes) => (Some(Shape::Edges), Some(nodes)),
            Err(_) => (None, None),
        },
        _ => (None, None),
    }
}
