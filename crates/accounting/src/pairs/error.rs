//! What can be wrong with a question about noise that cancels between nodes.

use crate::error::AccountingError;

/// A question that has no answer, or a setting that gains nothing, with what is allowed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PairsError {
    #[error(transparent)]
    Accounting(#[from] AccountingError),
    #[error(
        "colluders = {colluders} is not allowed with nodes = {nodes}: it must be at most nodes − 2, because shared noise \
         gains nothing unless at least two members stay honest"
    )]
    TooFewHonest { nodes: usize, colluders: usize },
    #[error("colluders = {colluders} is not allowed: it must be below the number of nodes, {nodes}")]
    TooManyColluders { nodes: usize, colluders: usize },
    #[error(
        "node {node} shares secrets with {neighbours} others only: {colluders} colluders can know all its shares and \
         leave it its own noise alone; ask for fewer colluders or for more secrets, such as between all pairs"
    )]
    OwnNoiseOnly { node: usize, neighbours: usize, colluders: usize },
    #[error("nodes = {nodes} is not allowed: it must be from 1 to {most}")]
    Nodes { nodes: usize, most: usize },
    #[error("secret ({from}, {to}) is not allowed: its ends must be two different nodes from 0 to {last}")]
    Ends { from: usize, to: usize, last: usize },
    #[error("secret ({from}, {to}) is given twice")]
    Twice { from: usize, to: usize },
    #[error("node {node} is not allowed: it must be from 0 to {last}")]
    Node { node: usize, last: usize },
    #[error("node {node} is itself in the coalition")]
    Inside { node: usize },
}
