//! What a run with noise in pairs promises, and against whom.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairFacts {
    pub own_multiplier: f64,
    pub pair_multiplier: f64,
    /// How many times less noise the mean of all nodes carries than with independent noise.
    pub gain: f64,
    /// The run's ε is against outsiders and any so many members together.
    pub colluders: usize,
    /// Whether all pairs of nodes have a secret.
    pub complete: bool,
    pub epsilon_by_colluders: Vec<EpsilonAgainst>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EpsilonAgainst {
    pub colluders: usize,
    /// Nothing where there is no bound.
    pub epsilon: Option<f64>,
}
