//! What can be wrong with a run, before anything is trained.

use prdo_accounting::AccountingError;
use prdo_accounting::pairs::PairsError;
use prdo_algorithm::graph::{GraphError, MixingError, NetworkError};
use prdo_algorithm::methods::key;
use prdo_data::DataError;
use prdo_models::ModelError;
use prdo_privacy::clip::ClipError;
use prdo_privacy::{GateError, LedgerError, SamplingError, ShardError, StartError};
use prdo_runfile::Key;
use prdo_simulator::SimulationError;

#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error("{field} = {value} is not allowed: it must be {allowed}")]
    OutOfRange { field: Key, value: String, allowed: String },
    #[error("{field} is missing: {why}")]
    Missing { field: Key, why: String },
    #[error("node {node} has no records: every node needs at least one")]
    EmptyNode { node: usize },
    #[error("clip.gradient is missing: a private run must bound what one record can contribute")]
    ClipMissing,
    #[error("graph: {0}")]
    Graph(#[from] GraphError),
    #[error("graph: {0}")]
    Mixing(#[from] MixingError),
    #[error("graph: {0}")]
    Network(#[from] NetworkError),
    #[error("data: {0}")]
    Data(#[from] DataError),
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error("privacy: {0}")]
    Accounting(#[from] AccountingError),
    #[error("privacy: {0}")]
    Pairs(#[from] PairsError),
    #[error(transparent)]
    Clip(#[from] ClipError),
    #[error(transparent)]
    Sampling(#[from] SamplingError),
    #[error(transparent)]
    Shard(#[from] ShardError),
    #[error(transparent)]
    Gate(#[from] GateError),
    #[error(transparent)]
    Start(#[from] StartError),
    #[error("the operating system has no randomness to give: {0}")]
    Entropy(String),
    #[error(transparent)]
    Simulation(#[from] SimulationError),
}

impl RunError {
    pub fn range(field: Key, value: impl ToString, allowed: impl ToString) -> Self {
        Self::OutOfRange { field, value: value.to_string(), allowed: allowed.to_string() }
    }

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
            Self::Pairs(PairsError::OwnNoiseOnly { .. }) => Key::PrivacySecrets,
            Self::Pairs(PairsError::Accounting(AccountingError::OutOfRange { field: "ratio", .. })) => {
                Key::PrivacyRatio
            }
            Self::Pairs(_) => Key::PrivacyColluders,
            Self::Clip(e) if e.field == "difference" => Key::ClipDifference,
            Self::Clip(_) => Key::ClipGradient,
            Self::Sampling(e) if e.field == "first" => Key::BatchFirst,
            Self::Sampling(_) => Key::BatchSize,
            Self::Simulation(SimulationError::Settings(e)) => {
                Key::named(&key(e.field())).unwrap_or(Key::MethodStepSize)
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
                | Self::Simulation(
                    SimulationError::Diverged { .. }
                        | SimulationError::Method { .. }
                        | SimulationError::Messages { .. },
                )
                | Self::Simulation(SimulationError::Gate {
                    error: GateError::Diverged { .. }
                        | GateError::Model(_)
                        | GateError::Ledger(LedgerError::Exhausted { .. }),
                    ..
                })
        )
    }
}
