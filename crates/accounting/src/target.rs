//! What a run may cost.

use crate::error::{AccountingError, require};

/// A privacy budget: the whole run must be (ε, δ)-differentially private.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    epsilon: f64,
    delta: f64,
}

impl Target {
    pub fn new(epsilon: f64, delta: f64) -> Result<Self, AccountingError> {
        Ok(Self {
            epsilon: require("epsilon", epsilon, "above 0", |e| e > 0.0)?,
            delta: require("delta", delta, "above 0 and below 1", |d| d > 0.0 && d < 1.0)?,
        })
    }

    pub fn epsilon(&self) -> f64 {
        self.epsilon
    }

    pub fn delta(&self) -> f64 {
        self.delta
    }
}
