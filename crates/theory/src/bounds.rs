//! The theorem's bounds, each split into what causes it.
//!
//! Every term of `cv:finite-bound` comes from exactly one of four causes, for h₀, H₀, Σ² and B_net are linear in
//! Δ_f⁰, ζ₀², σ²_sgd and dν²_dp: the parts of a bound add up to it.

use crate::constants::Constants;
use crate::error::TheoryError;
use crate::lemmas;
use crate::setting::{Levels, Setting};
use crate::split::Split;

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
    /// Σ², of the mean's error.
    pub unified_variance: Split,
    /// B_net(T) (`cv:network-budget`).
    pub network_budget: Split,
}

impl Bounds {
    /// Of a setting at these levels. h₀ and H₀ are the right sides of `cv:initial-errors`.
    pub fn of(setting: &Setting, levels: &Levels) -> Result<Self, TheoryError> {
        Self::apart(setting, levels, levels.noise_variance)
    }

    /// The same where the noise is not independent between nodes, as with noise in pairs: ν²_dp of the levels is n times the
    /// variance of the mean of all nodes' noise, `network_noise` the mean over nodes of the variance of one node's noise.
    ///
    /// Not a statement of the paper, whose noise is independent. In its proof noise meets the mean's error only as the mean of all
    /// nodes (h₀, `cv:h-recursion`) and the network's only as the sum of all nodes' squares (H₀, `cv:H-recursion`); that nodes are
    /// independent makes both of them ν²_dp, and is used nowhere else.
    pub fn apart(setting: &Setting, levels: &Levels, network_noise: f64) -> Result<Self, TheoryError> {
        let levels = levels.checked()?;
        let network = Levels { noise_variance: network_noise, ..levels }.checked()?;
        let constants = Constants::of(setting);
        let (n, t) = (setting.nodes(), setting.rounds());
        let first_mean_error = lemmas::first_mean_error(setting, &levels);
        let unified_variance = fresh_variance(setting, &levels);
        let network_budget = network_budget(setting, &network)?;

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
            first_local_error: lemmas::first_local_error(setting, &network),
            unified_variance,
            network_budget,
        })
    }
}

/// Zero where the factor is, even of an infinite part.
fn scaled_by(split: Split, factor: f64) -> Split {
    if factor == 0.0 { Split::ZERO } else { split.scaled(factor) }
}

/// B_net(T) (`cv:network-budget`), by cause:
/// 4nα²λζ₀²/((1−√λ)(1−λ)) + K_H(H₀/γ + 2γnΣ²T).
pub fn network_budget(setting: &Setting, levels: &Levels) -> Result<Split, TheoryError> {
    let levels = levels.checked()?;
    let (n, gamma) = (setting.nodes(), setting.gamma());
    let k_h = Constants::of(setting).k_h;
    let start = lemmas::first_local_error(setting, &levels).scaled(k_h / gamma);
    let fresh = fresh_variance(setting, &levels).scaled(k_h * 2.0 * gamma * n * setting.rounds());
    let heterogeneity = lemmas::network_start(setting, levels.heterogeneity);
    Ok(Split { heterogeneity, ..Split::ZERO }.plus(start).plus(fresh))
}

/// Σ² = σ²_sgd/b + dν²_dp (`cv:unified-variance`), by cause. The levels are taken as they are.
fn fresh_variance(setting: &Setting, levels: &Levels) -> Split {
    Split {
        sampling: levels.sampling_variance / setting.batch(),
        privacy: levels.noise_power(),
        ..Split::ZERO
    }
}
