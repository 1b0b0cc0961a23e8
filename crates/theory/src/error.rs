//! What can be wrong with a question to the theory.

#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{field} = {value} is not allowed: it must be {allowed}")]
pub struct TheoryError {
    pub field: &'static str,
    pub value: f64,
    pub allowed: &'static str,
}

/// `value` if it lies between `least` and `most`, both allowed; NaN never does.
pub(crate) fn between(
    field: &'static str,
    value: f64,
    (least, most): (f64, f64),
    allowed: &'static str,
) -> Result<f64, TheoryError> {
    if (least..=most).contains(&value) { Ok(value) } else { Err(TheoryError { field, value, allowed }) }
}

pub(crate) fn count(
    field: &'static str,
    value: u64,
    most: u64,
    allowed: &'static str,
) -> Result<u64, TheoryError> {
    if (1..=most).contains(&value) {
        Ok(value)
    } else {
        Err(TheoryError { field, value: value as f64, allowed })
    }
}
