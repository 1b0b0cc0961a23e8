//! Questions to the accountant, as `prdo privacy` and the Python package ask them: what a plan costs, and the least
//! noise, the most rounds or the largest sampling rate for a budget. Both get their figures here, so that both get the
//! same ones.

#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod allowed;
mod curve;

pub use allowed::{Allowed, BUDGET, DELTA, EPSILON, NOISE, POINTS, RATE, ROUNDS, ratio};
pub use curve::{Against, Curve, CurveError, Point, Question};
pub use prdo_report::wording as words;

use prdo_accounting::{
    Accountant, AccountingError, Bounds, Event, History, Method, Target, calibrate, numerical,
};

/// Releases to be accounted for: the first with a rate and noise of its own, then the rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Releases {
    /// The probability with which each record is in a batch.
    pub rate: f64,
    /// The same in the first release.
    pub first_rate: f64,
    pub noise: f64,
    /// The same of the first release.
    pub first_noise: f64,
    /// Releases, the first one among them.
    pub rounds: u64,
}

impl Releases {
    pub fn first(&self) -> Result<Event, AccountingError> {
        Event::sampled_gaussian(self.first_rate, self.first_noise)
    }

    pub fn each(&self) -> Result<Event, AccountingError> {
        Event::sampled_gaussian(self.rate, self.noise)
    }

    pub fn history(&self) -> Result<History, AccountingError> {
        Ok(History::new().and(self.first()?, 1).and(self.each()?, self.rounds.saturating_sub(1)))
    }

    /// What the plan costs at δ.
    ///
    /// # Guarantee
    /// The plan is (upper, δ)-differentially private.
    pub fn epsilon(&self, accountant: &Accountant, delta: f64) -> Result<Bounds, AccountingError> {
        accountant.epsilon(&self.history()?, delta)
    }

    /// δ at ε, exactly.
    ///
    /// # Guarantee
    /// The plan is (ε, upper)-differentially private.
    pub fn delta(&self, epsilon: f64) -> Result<Bounds, AccountingError> {
        numerical::delta(&self.history()?, epsilon)
    }

    /// The plan with the least noise that meets a budget.
    ///
    /// # Guarantee
    /// The plan's ε at the target's δ is at most the target's, as this accountant proves it.
    pub fn with_least_noise(
        accountant: &Accountant,
        target: &Target,
        (first_rate, rate): (f64, f64),
        rounds: u64,
    ) -> Result<Self, AccountingError> {
        let rates = [(first_rate, 1), (rate, rounds.saturating_sub(1))];
        let noise = calibrate::noise_multiplier(accountant, target, &rates)?;
        Ok(Self { rate, first_rate, noise, first_noise: noise, rounds })
    }

    /// The same plan with as many rounds as a budget allows; those of `self` are not looked at.
    ///
    /// # Guarantee
    /// As [`Releases::with_least_noise`].
    pub fn with_most_rounds(self, accountant: &Accountant, target: &Target) -> Result<Self, AccountingError> {
        let (first, each) = (self.first()?, self.each()?);
        if first == each {
            let rounds = calibrate::rounds(accountant, target, &History::new(), each)?;
            return Ok(Self { rounds, ..self });
        }
        // The first round is spent, then as many of the others as fit: none is an answer too.
        let spent = History::new().and(first, 1);
        let (epsilon, delta) = (target.epsilon(), target.delta());
        if accountant.epsilon(&spent, delta)?.upper > epsilon {
            return Err(AccountingError::NothingFits { epsilon, delta });
        }
        let rounds = match calibrate::rounds(accountant, target, &spent, each) {
            Ok(more) => (1 + more).min(calibrate::MOST_ROUNDS),
            Err(AccountingError::NothingFits { .. }) => 1,
            Err(error) => return Err(error),
        };
        Ok(Self { rounds, ..self })
    }

    /// The plan with the largest sampling rate that meets a budget.
    ///
    /// # Guarantee
    /// As [`Releases::with_least_noise`].
    pub fn with_largest_rate(
        accountant: &Accountant,
        target: &Target,
        noise: f64,
        rounds: u64,
    ) -> Result<Self, AccountingError> {
        let rate = calibrate::rate(accountant, target, noise, rounds)?;
        Ok(Self { rate, first_rate: rate, noise, first_noise: noise, rounds })
    }
}

/// The proven lower bound. The Rényi accountants know none; that is not the same as knowing the bound 0.
pub fn lower(method: Method, bounds: &Bounds) -> Option<f64> {
    (method == Method::Numerical).then_some(bounds.lower)
}
