//! Why something could not be measured.

use prdo::accounting::AccountingError;
use prdo::error::RunError;
use prdo::network::{NAMES, SpecError};
use rayon::ThreadPoolBuildError;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Its questions are fixed and valid: a refusal is the accountant's failure.
    #[error("the accountant: {0}")]
    Accountant(#[from] AccountingError),
    #[error("unknown network {0:?}; expected one of {names}", names = NAMES.join(", "))]
    UnknownNetwork(String),
    #[error(transparent)]
    Network(#[from] SpecError),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error("cannot start {threads} threads: {error}")]
    Threads { threads: usize, error: ThreadPoolBuildError },
}

impl Error {
    /// Whether the input was wrong (exit 2), rather than the work failing (exit 1).
    pub fn is_input(&self) -> bool {
        match self {
            Self::UnknownNetwork(_) | Self::Network(_) => true,
            Self::Run(error) => error.is_input(),
            Self::Accountant(_) | Self::Threads { .. } => false,
        }
    }
}
