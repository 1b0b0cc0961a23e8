//! What can be wrong with a run, before anything is trained.

use prdo_accounting::AccountingError;
use prdo_algorithm::graph::{GraphError, MixingError, NetworkError};
use prdo_data::DataError;
use prdo_models::ModelError;
use prdo_privacy::clip::ClipError;
use prdo_privacy::{GateError, LedgerError, SamplingError, ShardError, StartError};
use prdo_runfile::{Key, Section};
use prdo_simulator::SimulationError;

/// A run that cannot be prepared, or that failed.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A number outside its range.
    #[error("{field} = {value} is not allowed: it must be {allowed}")]
    OutOfRange {
        /// The run file's key.
        field: Key,
        /// What was given.
        value: String,
        /// What is allowed, in words.
        allowed: String,
    },
    /// Something is needed that was not given.
    #[error("{field} is missing: {why}")]
    Missing {
        /// The run file's key.
        field: Key,
        /// Why it is needed.
        why: String,
    },
    /// A node without records.
    #[error("node {node} has no records: every node needs at least one")]
    EmptyNode {
        /// Which.
        node: usize,
    },
    /// Privacy without a clip.
    #[error("clip.gradient is missing: a private run must bound what one record can contribute")]
    ClipMissing,
    /// The graph.
    #[error("graph: {0}")]
    Graph(#[from] GraphError),
    /// The mixing weights.
    #[error("graph: {0}")]
    Mixing(#[from] MixingError),
    /// The paper's network assumption.
    #[error("graph: {0}")]
    Network(#[from] NetworkError),
    /// The data.
    #[error("data: {0}")]
    Data(#[from] DataError),
    /// The model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The privacy budget.
    #[error("privacy: {0}")]
    Accounting(#[from] AccountingError),
    /// The clipping norms.
    #[error(transparent)]
    Clip(#[from] ClipError),
    /// The batch sizes.
    #[error(transparent)]
    Sampling(#[from] SamplingError),
    /// The slots.
    #[error(transparent)]
    Shard(#[from] ShardError),
    /// The gate.
    #[error(transparent)]
    Gate(#[from] GateError),
    /// The starting point.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The operating system.
    #[error("the operating system has no randomness to give: {0}")]
    Entropy(String),
    /// The nodes.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
}

impl RunError {
    /// A value outside its range.
    pub fn range(field: Key, value: impl ToString, allowed: impl ToString) -> Self {
        Self::OutOfRange { field, value: value.to_string(), allowed: allowed.to_string() }
    }

    /// A key that is needed.
    pub fn missing(field: Key, why: impl ToString) -> Self {
        Self::Missing { field, why: why.to_string() }
    }

    /// The run file's key that the error is about, where there is one.
    pub fn field(&self) -> Option<Key> {
        Some(match self {
            Self::OutOfRange { field, .. } | Self::Missing { field, .. } => *field,
            Self::EmptyNode { .. } => Key::GraphNodes,
            Self::ClipMissing => Key::ClipGradient,
            Self::Graph(_) | Self::Mixing(_) | Self::Network(_) => Key::GraphKind,
            Self::Data(_) => Key::DataSource,
            Self::Model(e) => match e.field {
                "classes" => Key::DataClasses,
                "condition" => Key::ModelCondition,
                "curvature" => Key::ModelCurvature,
                _ => Key::ModelRegularization,
            },
            Self::Accounting(AccountingError::OutOfRange { field: "delta", .. }) => Key::PrivacyDelta,
            Self::Accounting(AccountingError::OutOfRange { field: "noise_multiplier", .. }) => {
                Key::PrivacyNoiseMultiplier
            }
            Self::Accounting(_) => Key::PrivacyEpsilon,
            Self::Clip(e) if e.field == "difference" => Key::ClipDifference,
            Self::Clip(_) => Key::ClipGradient,
            Self::Sampling(e) if e.field == "first" => Key::BatchFirst,
            Self::Sampling(_) => Key::BatchSize,
            Self::Simulation(SimulationError::Settings(e)) => {
                Section::Method.key(e.field).unwrap_or(Key::MethodStepSize)
            }
            Self::Shard(_) | Self::Gate(_) | Self::Start(_) | Self::Entropy(_) | Self::Simulation(_) => {
                return None;
            }
        })
    }

    /// Whether the input was wrong (exit 2), rather than the work failing (exit 1).
    pub fn is_input(&self) -> bool {
        !matches!(
            self,
            Self::Entropy(_)
                | Self::Simulation(SimulationError::Diverged { .. })
                | Self::Simulation(SimulationError::Gate {
                    error: GateError::Diverged { .. }
                        | GateError::Model(_)
                        | GateError::Ledger(LedgerError::Exhausted { .. }),
                    ..
                })
        )
    }
}
