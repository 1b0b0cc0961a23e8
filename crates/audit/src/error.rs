//! An audit that could not be made. Not a verdict: nothing was found out.

/// Why there is no verdict.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// Settings that no gate takes.
    #[error("the setting {what} cannot be audited: {why}")]
    Setting {
        /// Which part of it.
        what: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// The network under audit stopped.
    #[error("the network under audit stopped in round {round}: {why}")]
    Stopped {
        /// In which round.
        round: u32,
        /// Why.
        why: String,
    },
    /// A message that cannot be read.
    #[error("a message of the network under audit cannot be read: {0}")]
    Message(#[from] prdo_privacy::DecodeError),
    /// The accountant refused.
    #[error(transparent)]
    Accounting(#[from] prdo_accounting::AccountingError),
    /// The operating system has no secret to give.
    #[error("the operating system gives no random bytes: {0}")]
    Entropy(String),
}

/// A setting that is refused.
pub(crate) fn refused<E: std::fmt::Display>(what: &'static str) -> impl FnOnce(E) -> AuditError {
    move |error| AuditError::Setting { what, why: error.to_string() }
}
