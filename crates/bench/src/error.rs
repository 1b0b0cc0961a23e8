//! Why something could not be measured.

use prdo::accounting::AccountingError;
use prdo::error::RunError;
use prdo::network::SpecError;
use rayon::ThreadPoolBuildError;

/// Why something could not be measured.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Its questions are fixed and valid: a refusal is the accountant's failure.
    #[error("the accountant: {0}")]
    Accountant(#[from] AccountingError),
    /// No network has this name.
    #[error("there is no network {0:?}")]
    NoNetwork(String),
    /// The network cannot be.
    #[error(transparent)]
    Network(#[from] SpecError),
    /// Gate or records are refused, or a round fails.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The system gives no threads.
    #[error("cannot start {threads} threads: {error}")]
    Threads {
        /// How many.
        threads: usize,
        /// Why.
        error: ThreadPoolBuildError,
    },
}

impl Error {
    /// Whether the input was wrong (exit 2), rather than the work failing (exit 1).
    pub fn is_input(&self) -> bool {
        match self {
            Self::NoNetwork(_) | Self::Network(_) => true,
            Self::Run(error) => error.is_input(),
            Self::Accountant(_) | Self::Threads { .. } => false,
        }
    }
}
