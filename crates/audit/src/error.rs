//! An audit that could not be made. Not a verdict: nothing was found out.

use prdo_algorithm::{Failure, Node};
use prdo_privacy::Noised;

#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    #[error("the setting {what} cannot be audited: {why}")]
    Setting { what: &'static str, why: String },
    #[error("the network under audit stopped in round {round}: {why}")]
    Stopped { round: u32, why: String },
    /// A program's own method failed.
    #[error("round {round} of the run under audit: {failure}")]
    Method { round: u32, failure: Failure },
    #[error("a message of the network under audit cannot be read: {0}")]
    Message(#[from] prdo_privacy::DecodeError),
    #[error(transparent)]
    Accounting(#[from] prdo_accounting::AccountingError),
    #[error("the operating system gives no random bytes: {0}")]
    Entropy(String),
}

/// Whether this node can go on.
pub(crate) fn sound(node: &dyn Node<Noised>, round: u32) -> Result<(), AuditError> {
    node.failure().map_or(Ok(()), |failure| Err(AuditError::Method { round, failure }))
}

pub(crate) fn refused<E: std::fmt::Display>(what: &'static str) -> impl FnOnce(E) -> AuditError {
    move |error| AuditError::Setting { what, why: error.to_string() }
}
