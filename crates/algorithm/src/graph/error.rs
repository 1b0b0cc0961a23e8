//! What can be wrong with a network: one enum for each operation, with field, value and allowed range.

use thiserror::Error;

/// A name that is not in a list of names.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{field} = {value:?}: expected one of {allowed}")]
pub struct UnknownName {
    /// The key the name was given for.
    pub field: &'static str,
    /// What was given.
    pub value: String,
    /// Every name that would have been taken.
    pub allowed: String,
}

/// Why a graph cannot be built.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum GraphError {
    /// The family has no member with this number of nodes.
    #[error("nodes = {nodes}: the {family} graph needs {allowed}{}", if *nodes == 2 { "; two can be a \"path\"" } else { "" })]
    Nodes {
        /// Name of the family.
        family: &'static str,
        /// What was asked for.
        nodes: usize,
        /// What the family allows.
        allowed: &'static str,
    },
    /// A side of a torus is too short: nodes would be joined twice.
    #[error("{side} = {value}: a torus needs 3 or more")]
    Side {
        /// `rows` or `cols`.
        side: &'static str,
        /// What was asked for.
        value: usize,
    },
    /// More nodes than any graph may have.
    #[error("nodes = {nodes}: at most {allowed} are supported")]
    TooManyNodes {
        /// What was asked for.
        nodes: usize,
        /// The largest number allowed.
        allowed: usize,
    },
    /// More edges than any graph may have.
    #[error("the graph would have {edges} edges or more: at most {allowed} are supported")]
    TooManyEdges {
        /// How many edges are known to be needed.
        edges: u64,
        /// The largest number allowed.
        allowed: u64,
    },
    /// A parameter that the family needs was not given.
    #[error("{key} is missing: the {family} graph needs it")]
    Missing {
        /// `probability` or `degree`.
        key: &'static str,
        /// Name of the family.
        family: &'static str,
    },
    /// A parameter that means nothing to the family was given.
    #[error("{key} = {value} means nothing for the {family} graph: leave it out")]
    Meaningless {
        /// `probability` or `degree`.
        key: &'static str,
        /// What was given.
        value: f64,
        /// Name of the family.
        family: &'static str,
    },
    /// Not a probability an edge can have.
    #[error("probability = {probability}: must be above 0 and at most 1")]
    Probability {
        /// What was given.
        probability: f64,
    },
    /// G(n, p) was never connected.
    #[error(
        "probability = {probability}: too small for a connected graph of {nodes} nodes; \
         about ln(n)/n = {needed:.3e} or more is needed"
    )]
    ProbabilityTooSmall {
        /// What was given.
        probability: f64,
        /// Number of nodes.
        nodes: usize,
        /// How many graphs were drawn (0 if there was no hope).
        draws: u32,
        /// The threshold of connectedness, ln(n)/n.
        needed: f64,
    },
    /// No connected regular graph has this degree.
    #[error("degree = {degree}: with {nodes} nodes {allowed}")]
    Degree {
        /// What was given.
        degree: usize,
        /// Number of nodes.
        nodes: usize,
        /// What the degree must be.
        allowed: &'static str,
    },
    /// An edge from a node to itself.
    #[error("edge ({node}, {node}): a node cannot be its own neighbour")]
    SelfLoop {
        /// Both ends.
        node: usize,
    },
    /// An edge to a node that does not exist.
    #[error("edge ({from}, {to}): nodes are numbered 0 to {}", nodes.saturating_sub(1))]
    OutOfRange {
        /// One end.
        from: usize,
        /// The other end.
        to: usize,
        /// Number of nodes.
        nodes: usize,
    },
}

/// Why mixing weights cannot be laid out on a graph.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum MixingError {
    /// The paper's weights exist on a ring only.
    #[error(
        "weights = \"paper\": node {node} has {degree} neighbours, but these weights (1/2, 1/4, 1/4) need \
         exactly 2 at every node; use weights = \"metropolis\" with lazy = true"
    )]
    NotRing {
        /// The first node with another degree.
        node: usize,
        /// How many neighbours it has.
        degree: usize,
    },
    /// Too many nodes, or none.
    #[error("nodes = {nodes}: a mixing matrix has 1 to {allowed} rows")]
    Nodes {
        /// What was asked for.
        nodes: usize,
        /// The largest number allowed.
        allowed: usize,
    },
    /// An entry outside the matrix.
    #[error("entry ({row}, {column}): rows and columns are numbered 0 to {}", nodes.saturating_sub(1))]
    OutOfRange {
        /// Row of the entry.
        row: usize,
        /// Column of the entry.
        column: usize,
        /// Number of nodes.
        nodes: usize,
    },
    /// The same entry was given twice.
    #[error("entry ({row}, {column}) is given twice")]
    Duplicate {
        /// Row of the entry.
        row: usize,
        /// Column of the entry.
        column: usize,
    },
}

/// Which part of the paper's assumption on the network (`ass:network`) a mixing matrix breaks, and where.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum NetworkError {
    /// A weight is not a number, or infinite.
    #[error("weight ({row}, {column}) = {value}: must be a finite number")]
    NotFinite {
        /// Row of the weight.
        row: usize,
        /// Column of the weight.
        column: usize,
        /// The weight.
        value: f64,
    },
    /// A weight is below zero.
    #[error("weight ({row}, {column}) = {value}: must be 0 or more")]
    Negative {
        /// Row of the weight.
        row: usize,
        /// Column of the weight.
        column: usize,
        /// The weight.
        value: f64,
    },
    /// W is not its own transpose.
    #[error("weight ({row}, {column}) = {value} but ({column}, {row}) = {mirrored}: must be the same")]
    Asymmetric {
        /// Row of the weight.
        row: usize,
        /// Column of the weight.
        column: usize,
        /// The weight at (row, column).
        value: f64,
        /// The weight at (column, row).
        mirrored: f64,
    },
    /// A row does not sum to one.
    #[error("row {row} of the mixing matrix sums to {sum}: must be 1 (within {tolerance:e})")]
    RowSum {
        /// The row.
        row: usize,
        /// Its sum.
        sum: f64,
        /// By how much it may differ from one.
        tolerance: f64,
    },
    /// Some nodes can never hear of each other.
    #[error("the network falls into {parts} parts: no path joins node {first} and node {other}")]
    Disconnected {
        /// Number of parts.
        parts: usize,
        /// A node of the first part.
        first: usize,
        /// A node of another part.
        other: usize,
    },
    /// W has an eigenvalue below zero.
    #[error(
        "the smallest eigenvalue of the mixing matrix is {smallest}: must be 0 or more; \
         use lazy weights, or set allow_indefinite"
    )]
    Indefinite {
        /// The smallest eigenvalue.
        smallest: f64,
    },
}
