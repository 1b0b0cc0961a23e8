//! The theorem's bounds, each split into what causes it.
//!
//! Every term of `cv:finite-bound` comes from exactly one of four causes, for h₀, H₀, Σ² and B_net are linear in
//! Δ_f⁰, ζ₀², σ²_sgd and dν²_dp: the parts of a bound add up to it.

use crate::constants::{Constants, fresh_variance, network_budget};
use crate::error::TheoryError;
use crate::lemmas;
use crate::setting::{Levels, Setting};

/// A quantity by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Split {
    /// From the distance to the goal, Δ_f⁰.
    pub optimisation: f64,
    /// From the nodes' different gradients at the start, ζ₀².
    pub heterogeneity: f64,
    /// From sampling batches, σ²_sgd.
    pub sampling: f64,
    /// From the noise, dν²_dp.
    pub privacy: f64,
}

impl Split {
    /// Nothing.
    pub const ZERO: Self = Self { optimisation: 0.0, heterogeneity: 0.0, sampling: 0.0, privacy: 0.0 };

    /// The whole.
    pub fn total(&self) -> f64 {
        self.parts().iter().map(|(_, part)| part).sum()
    }

    /// The parts with their names.
    pub fn parts(&self) -> [(&'static str, f64); 4] {
        [
            ("optimisation", self.optimisation),
            ("heterogeneity", self.heterogeneity),
            ("sampling", self.sampling),
            ("privacy", self.privacy),
        ]
    }

    /// The sum with another, part by part.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            optimisation: self.optimisation + other.optimisation,
            heterogeneity: self.heterogeneity + other.heterogeneity,
            sampling: self.sampling + other.sampling,
            privacy: self.privacy + other.privacy,
        }
    }

    /// `factor` times as much of each part. A part that is zero stays so, whatever the factor.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        let scale = |part: f64| if part == 0.0 { 0.0 } else { part * factor };
        Self {
            optimisation: scale(self.optimisation),
            heterogeneity: scale(self.heterogeneity),
            sampling: scale(self.sampling),
            privacy: scale(self.privacy),
        }
    }
}

/// The three bounds of the finite-time theorem, and what they are made of. They hold where [`crate::Conditions`] do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// (1/T)·Σ E‖∇f(x̄)‖² is at most this (`cv:finite-bound`).
    pub stationarity: Split,
    /// (1/T)·Σ U_t is at most this, four times the first (`cv:finite-direction`).
    pub direction: Split,
    /// (1/(nT))·Σ C_t is at most this (`cv:finite-consensus`).
    pub consensus: Split,
    /// h₀ is at most this (`cv:initial-errors`).
    pub first_mean_error: Split,
    /// H₀ is at most this (`cv:initial-errors`).
    pub first_local_error: Split,
    /// Σ² (`cv:unified-variance`).
    pub unified_variance: Split,
    /// B_net(T) (`cv:network-budget`).
    pub network_budget: Split,
}

impl Bounds {
    /// Of a setting at these levels. h₀ and H₀ are the right sides of `cv:initial-errors`.
    ///
    /// # Errors
    /// A level outside its range.
    pub fn of(setting: &Setting, levels: &Levels) -> Result<Self, TheoryError> {
        let levels = levels.checked()?;
        let constants = Constants::of(setting);
        let (n, t) = (setting.nodes(), setting.rounds());
        let first_mean_error = lemmas::first_mean_error(setting, &levels);
        let unified_variance = fresh_variance(setting, &levels);
        let network_budget = network_budget(setting, &levels)?;

        let optimisation = 2.0 * levels.initial_gap / (setting.step_size() * t);
        let stationarity = Split { optimisation, ..Split::ZERO }
            .plus(first_mean_error.scaled(2.0 / (setting.gamma() * t)))
            .plus(unified_variance.scaled(4.0 * setting.gamma() / n))
            .plus(network_budget.scaled(4.0 * constants.q / t));
        let direction = stationarity.scaled(4.0);
        let consensus =
            network_budget.scaled(2.0 / (n * t)).plus(scaled_by(direction, 2.0 * constants.a_u / n));
        Ok(Self {
            stationarity,
            direction,
            consensus,
            first_mean_error,
            first_local_error: lemmas::first_local_error(setting, &levels),
            unified_variance,
            network_budget,
        })
    }
}

/// Zero where the factor is, even of an infinite part.
fn scaled_by(split: Split, factor: f64) -> Split {
    if factor == 0.0 { Split::ZERO } else { split.scaled(factor) }
}
