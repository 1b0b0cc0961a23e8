//! What can be wrong with a network: one enum for each operation, with field, value and allowed range.

use super::Needs;
use thiserror::Error;

#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{field} = {value:?}: expected one of {allowed}")]
pub struct UnknownName {
    pub field: &'static str,
    pub value: String,
    pub allowed: String,
}

/// The names of a choice in run files, and back; they are listed in the order of its variants.
macro_rules! named {
    ($type:ident, $field:literal, $count:literal, $($variant:ident = $name:literal),* $(,)?) => {
        impl $type {
            pub const ALL: [Self; $count] = [$(Self::$variant),*];
            pub const NAMES: [&'static str; $count] = [$($name),*];

            pub fn name(self) -> &'static str {
                Self::NAMES[self as usize]
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $type {
            type Err = UnknownName;

            fn from_str(text: &str) -> Result<Self, UnknownName> {
                let found = Self::ALL.into_iter().find(|one| one.name() == text);
                let allowed = || Self::NAMES.join(", ");
                found.ok_or_else(|| UnknownName { field: $field, value: text.to_owned(), allowed: allowed() })
            }
        }
    };
}
pub(super) use named;

#[derive(Clone, Debug, PartialEq, Error)]
pub enum GraphError {
    #[error("nodes = {nodes}: the {family} graph needs {allowed}{}", if *nodes == 2 { "; two can be a \"path\"" } else { "" })]
    Nodes { family: &'static str, nodes: usize, allowed: &'static str },
    #[error("{side} = {value}: a torus needs 3 or more")]
    Side { side: &'static str, value: usize },
    #[error("nodes = {nodes}: at most {allowed} are supported")]
    TooManyNodes { nodes: usize, allowed: usize },
    #[error("the graph would have {edges} edges or more: at most {allowed} are supported")]
    TooManyEdges { edges: u64, allowed: u64 },
    #[error("{key} is missing: the {family} graph needs it")]
    Missing { key: &'static str, family: &'static str },
    #[error("{key} = {value} means nothing for the {family} graph: leave it out")]
    Meaningless { key: &'static str, value: f64, family: &'static str },
    #[error("probability = {probability}: must be above 0 and at most 1")]
    Probability { probability: f64 },
    #[error(
        "probability = {probability}: too small for a connected graph of {nodes} nodes; \
         about ln(n)/n = {needed:.3e} or more is needed"
    )]
    ProbabilityTooSmall {
        probability: f64,
        nodes: usize,
        draws: u32,
        /// The threshold of connectedness, ln(n)/n.
        needed: f64,
    },
    #[error("degree = {degree}: with {nodes} nodes {allowed}")]
    Degree { degree: usize, nodes: usize, allowed: &'static str },
    #[error("edge ({node}, {node}): a node cannot be its own neighbour")]
    SelfLoop { node: usize },
    #[error("edge ({from}, {to}): nodes are numbered 0 to {}", nodes.saturating_sub(1))]
    OutOfRange { from: usize, to: usize, nodes: usize },
}

#[derive(Clone, Debug, PartialEq, Error)]
pub enum MixingError {
    #[error(
        "weights = \"paper\": node {node} has {degree} neighbours, but these weights (1/2, 1/4, 1/4) need \
         exactly 2 at every node; use weights = \"metropolis\" with lazy = true"
    )]
    NotRing { node: usize, degree: usize },
    #[error("nodes = {nodes}: a mixing matrix has 1 to {allowed} rows")]
    Nodes { nodes: usize, allowed: usize },
    #[error("entry ({row}, {column}): rows and columns are numbered 0 to {}", nodes.saturating_sub(1))]
    OutOfRange { row: usize, column: usize, nodes: usize },
    #[error("entry ({row}, {column}) is given twice")]
    Duplicate { row: usize, column: usize },
    #[error("a sequence of networks needs at least one")]
    NoMatrix,
    #[error(
        "network {turn} of the sequence has {nodes} nodes, but the first has {expected}: all must have the same"
    )]
    Turn { turn: usize, nodes: usize, expected: usize },
}

/// Which part of the paper's assumption on the network (`ass:network`) a mixing matrix breaks, and where.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum NetworkError {
    #[error("weight ({row}, {column}) = {value}: must be a finite number")]
    NotFinite { row: usize, column: usize, value: f64 },
    #[error("weight ({row}, {column}) = {value}: must be 0 or more")]
    Negative { row: usize, column: usize, value: f64 },
    #[error("weight ({row}, {column}) = {value} but ({column}, {row}) = {mirrored}: must be the same")]
    Asymmetric { row: usize, column: usize, value: f64, mirrored: f64 },
    #[error("row {row} of the mixing matrix sums to {sum}: must be 1 (within {tolerance:e})")]
    RowSum { row: usize, sum: f64, tolerance: f64 },
    #[error("the network falls into {parts} parts: no path joins node {first} and node {other}")]
    Disconnected { parts: usize, first: usize, other: usize },
    #[error(
        "the smallest eigenvalue of the mixing matrix is {smallest}: must be 0 or more; \
         use lazy weights, or set allow_indefinite"
    )]
    Indefinite { smallest: f64 },
    #[error(
        "column {column} of the mixing matrix sums to {sum}: must be 1 (within {tolerance:e}), for a node gives away all it has"
    )]
    ColumnSum { column: usize, sum: f64, tolerance: f64 },
    #[error("node {node} has no weight for itself: must be above 0 where links go one way or change")]
    NoOwnWeight { node: usize },
    #[error(
        "no path leads from node {from} to node {to}{}: every node must reach every other",
        if *turns > 1 { format!(", along the links of all {turns} networks of the sequence together") } else { String::new() }
    )]
    NoPath { from: usize, to: usize, turns: usize },
    #[error(
        "the network changes from round to round ({turns} networks in turns), which this method does not bear"
    )]
    Changes { turns: usize },
    #[error("{method} needs {needs}, but {found}; {fit} run on such a network")]
    Unsuitable { method: &'static str, needs: Needs, found: Found, fit: String },
}

/// What a network has that a method does not bear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Node `to` hears node `from`, but not the other way round, or with another weight.
    OneWay { from: usize, to: usize },
    /// So many networks take turns.
    Changes { turns: usize },
    /// Row `row` does not add up to one.
    Unbalanced { row: usize },
}

impl std::fmt::Display for Found {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Found::OneWay { from, to } => {
                write!(f, "node {to} takes from node {from} what node {from} does not take from node {to}")
            }
            Found::Changes { turns } => {
                write!(f, "the network changes from round to round ({turns} in turns)")
            }
            Found::Unbalanced { row } => write!(f, "row {row} of its weights does not add up to 1"),
        }
    }
}

impl std::fmt::Display for Needs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Needs::Symmetric => "one network whose links go both ways",
            Needs::DoublyStochastic => "weights of which every node gives and takes 1 in all",
            Needs::ColumnStochastic => "weights of which every node gives 1 in all",
        })
    }
}
