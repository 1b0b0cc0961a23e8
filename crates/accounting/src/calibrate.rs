//! The smallest noise multiplier that keeps a planned run within its budget.

use crate::error::{AccountingError, require};
use crate::release::{History, Release};
use crate::renyi::RenyiAccountant;

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

/// The least noise multiplier z for which releases at `rates` (rate, count), all with noise z, cost at most
/// `target`. PRDO's plan is `[(b0/N, 1), (b/N, T − 1)]` (equation `pv:accountant-test`).
///
/// # Guarantee
/// Never under-noised: the returned z, evaluated again, costs at most ε. It is within a relative 1e-9 of the
/// least such z (the cost falls as z grows).
///
/// # Errors
/// Rates outside (0, 1], or a budget that no multiplier up to 1e6 meets.
pub fn noise_multiplier(target: &Target, rates: &[(f64, u64)]) -> Result<f64, AccountingError> {
    let (least, most) = Release::NOISE_MULTIPLIER_RANGE;
    let cost = |z: f64| -> Result<f64, AccountingError> {
        let mut history = History::new();
        for (rate, count) in rates {
            history.add(Release::new(*rate, z)?, *count);
        }
        RenyiAccountant::new().epsilon(&history, target.delta)
    };
    if cost(most)? > target.epsilon {
        return Err(AccountingError::Unreachable {
            epsilon: target.epsilon,
            delta: target.delta,
            largest: most,
        });
    }
    if cost(least)? <= target.epsilon {
        return Ok(least);
    }
    // `high` always meets the budget, `low` never does; halving in log z.
    let (mut low, mut high) = (least, most);
    while high / low > 1.0 + 1e-9 {
        let middle = (low * high).sqrt();
        if cost(middle)? <= target.epsilon {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ok(high)
}
