//! What can be wrong with a question to the accountant.

/// A question that has no answer, with the value that was given and what is allowed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AccountingError {
    /// A parameter lies outside its range.
    #[error("{field} = {value} is not allowed: it must be {allowed}")]
    OutOfRange {
        /// The parameter's name.
        field: &'static str,
        /// What was given.
        value: f64,
        /// What is allowed, in words.
        allowed: &'static str,
    },
    /// No noise multiplier up to the largest allowed one meets the budget.
    #[error(
        "no noise multiplier up to {largest:?} keeps ε ≤ {epsilon:?} at δ = {delta:?}: ask for a larger ε or δ, \
         fewer rounds or smaller batches"
    )]
    Unreachable {
        /// The budget's ε.
        epsilon: f64,
        /// The budget's δ.
        delta: f64,
        /// The largest multiplier tried.
        largest: f64,
    },
    /// Not even the smallest choice meets the budget.
    #[error(
        "not even one release keeps ε ≤ {epsilon:?} at δ = {delta:?}: ask for a larger ε or δ, or more noise"
    )]
    NothingFits {
        /// The budget's ε.
        epsilon: f64,
        /// The budget's δ.
        delta: f64,
    },
}

/// `value` if it is finite and `ok`, or the typed error.
pub(crate) fn require(
    field: &'static str,
    value: f64,
    allowed: &'static str,
    ok: impl Fn(f64) -> bool,
) -> Result<f64, AccountingError> {
    if value.is_finite() && ok(value) {
        Ok(value)
    } else {
        Err(AccountingError::OutOfRange { field, value, allowed })
    }
}
