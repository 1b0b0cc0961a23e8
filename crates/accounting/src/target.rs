//! What a run may cost.

use crate::error::{AccountingError, require};

/// A privacy budget: the whole run must be (ε, δ)-differentially private.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    epsilon: f64,
    delta: f64,
}

impl Target {
    /// A budget of ε at δ.
    ///
    /// # Errors
    /// ε not positive and finite, or δ outside (0, 1).
    pub fn new(epsilon: f64, delta: f64) -> Result<Self, AccountingError> {
        Ok(Self {
            epsilon: require("epsilon", epsilon, "above 0", |e| e > 0.0)?,
            delta: require("delta", delta, "above 0 and below 1", |d| d > 0.0 && d < 1.0)?,
        })
    }

    /// The budget's ε.
    pub fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// The budget's δ.
    pub fn delta(&self) -> f64 {
        self.delta
    }
}
