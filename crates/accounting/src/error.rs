//! What can be wrong with a question to the accountant.

/// A question that has no answer, with the value that was given and what is allowed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AccountingError {
    #[error("{field} = {value} is not allowed: it must be {allowed}")]
    OutOfRange { field: &'static str, value: f64, allowed: &'static str },
    #[error(
        "no noise multiplier up to {largest:?} keeps ε ≤ {epsilon:?} at δ = {delta:?}: ask for a larger ε or δ, \
         fewer rounds or smaller batches"
    )]
    Unreachable { epsilon: f64, delta: f64, largest: f64 },
    #[error(
        "not even one release keeps ε ≤ {epsilon:?} at δ = {delta:?}: ask for a larger ε or δ, or more noise"
    )]
    NothingFits { epsilon: f64, delta: f64 },
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
