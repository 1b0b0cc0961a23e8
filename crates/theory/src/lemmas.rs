//! The right sides of the lemmas' inequalities, as functions of the setting and of measured moments.
//!
//! The moments are those of `cv:moment-definitions`: C_t = E‖PX^t‖²_F (disagreement), H_t = E‖E^t‖²_F (local error),
//! h_t = E‖ē^t‖² (mean error), U_t = E‖v̄^t‖² (direction). All but the network energy's inequalities are about
//! expectations.

use crate::constants::Constants;
use crate::setting::{Levels, Setting};
use crate::split::Split;

/// Sums over t = 0 … T−1 of the moments.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sums {
    pub disagreement: f64,
    pub local_error: f64,
    pub direction: f64,
}

/// h₀ ≤ σ²_sgd/(nb₀) + dν²_dp/n (`cv:initial-errors`).
pub fn first_mean_error(setting: &Setting, levels: &Levels) -> Split {
    let n = setting.nodes();
    Split {
        sampling: levels.sampling_variance / (n * setting.first_batch() as f64),
        privacy: levels.noise_power() / n,
        ..Split::ZERO
    }
}

/// H₀ ≤ nσ²_sgd/b₀ + ndν²_dp (`cv:initial-errors`).
pub fn first_local_error(setting: &Setting, levels: &Levels) -> Split {
    let n = setting.nodes();
    Split {
        sampling: n * levels.sampling_variance / setting.first_batch() as f64,
        privacy: n * levels.noise_power(),
        ..Split::ZERO
    }
}

/// E f(x̄^{t+1}) is at most this (`cv:descent`): E f(x̄^t) − (α/2)E‖∇f(x̄^t)‖² − (α/4)U_t + αh_t + (αL_s²/n)C_t.
/// Needs α ≤ 1/(2L_s).
pub fn descent(setting: &Setting, now: &Moments) -> f64 {
    let alpha = setting.step_size();
    let pull = setting.smoothness() * setting.smoothness() / setting.nodes() * now.disagreement;
    now.loss - alpha * (0.5 * now.gradient + 0.25 * now.direction) + alpha * (now.mean_error + pull)
}

/// The moments of one round that `cv:descent` speaks of.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    pub loss: f64,
    pub gradient: f64,
    pub direction: f64,
    pub mean_error: f64,
    pub disagreement: f64,
}

/// h_t is at most this, given h_{t−1} and E‖X^t − X^{t−1}‖²_F (`cv:h-recursion`).
pub fn next_mean_error(setting: &Setting, levels: &Levels, before: f64, movement: f64) -> f64 {
    let kept = (1.0 - setting.gamma()).powi(2);
    let n = setting.nodes();
    kept * before + innovation(setting, levels, movement / n) / n
}

/// H_t is at most this, given H_{t−1} and E‖X^t − X^{t−1}‖²_F (`cv:H-recursion`).
pub fn next_local_error(setting: &Setting, levels: &Levels, before: f64, movement: f64) -> f64 {
    let kept = (1.0 - setting.gamma()).powi(2);
    let n = setting.nodes();
    kept * before + n * innovation(setting, levels, movement / n)
}

/// E‖e_i^t − (1−γ)e_i^{t−1}‖² is at most this, given ‖x_i^t − x_i^{t−1}‖² (`cv:innovation-bound`):
/// 2γ²σ²_sgd/b + 2(1−γ)²L_s²/b·‖x_i^t − x_i^{t−1}‖² + γ²dν²_dp.
pub fn innovation(setting: &Setting, levels: &Levels, movement: f64) -> f64 {
    let (gamma, b) = (setting.gamma(), setting.batch());
    let moved = (1.0 - gamma) * setting.smoothness();
    2.0 * gamma * gamma * levels.sampling_variance / b
        + 2.0 * moved * moved / b * movement
        + gamma * gamma * levels.noise_power()
}

/// Σ_{t≥1} E‖X^t − X^{t−1}‖²_F is at most this (`cv:movement`): 4ΣC_t + nα²ΣU_t.
pub fn movement(setting: &Setting, sums: &Sums) -> f64 {
    let alpha = setting.step_size();
    4.0 * sums.disagreement + setting.nodes() * alpha * alpha * sums.direction
}

/// Σ h_t is at most this, given h₀ (`cv:h-sum`).
pub fn mean_error_sum(setting: &Setting, levels: &Levels, first: f64, sums: &Sums) -> f64 {
    let n = setting.nodes();
    first / setting.gamma() + error_sum(setting, levels, sums) / (n * n)
}

/// Σ H_t is at most this, given H₀ (`cv:H-sum`).
pub fn local_error_sum(setting: &Setting, levels: &Levels, first: f64, sums: &Sums) -> f64 {
    first / setting.gamma() + error_sum(setting, levels, sums)
}

/// What `cv:H-sum` adds to H₀/γ: 2γnσ²T/b + 8L_s²/(bγ)·ΣC_t + 2nL_s²α²/(bγ)·ΣU_t + γndν²T.
fn error_sum(setting: &Setting, levels: &Levels, sums: &Sums) -> f64 {
    let (n, b, gamma) = (setting.nodes(), setting.batch(), setting.gamma());
    let fresh = 2.0 * levels.sampling_variance / b + levels.noise_power();
    let moved = 2.0 * setting.smoothness() * setting.smoothness() / (b * gamma);
    gamma * n * setting.rounds() * fresh + moved * movement(setting, sums)
}

/// 𝓔₀ is at most this (`cv:initial-energy`): nα²λζ₀²/(2(1−λ)).
pub fn first_energy(setting: &Setting, heterogeneity: f64) -> f64 {
    let alpha = setting.step_size();
    0.5 * setting.nodes() * alpha * alpha * setting.lambda() / setting.setup().gap() * heterogeneity
}

/// 𝓔_{t+1} is at most this on every path (`cv:network-energy`), given 𝓔_t, ‖PR^t‖²_F and ‖P(M^{t+1} − M^t)‖²_F.
pub fn next_energy(setting: &Setting, energy: f64, residual: f64, drift: f64) -> f64 {
    let (lambda, alpha) = (setting.lambda(), setting.step_size());
    let force = alpha * alpha * lambda / setting.setup().root_gap();
    lambda.sqrt() * energy + force * (residual + drift / setting.setup().gap())
}

/// ‖PX^t‖²_F is at most four times the energy on every path (`cv:energy-coercivity`).
pub fn disagreement_of_energy(energy: f64) -> f64 {
    4.0 * energy
}

/// The initial heterogeneity's part of `cv:network-sum`: 4nα²λζ₀²/((1−√λ)(1−λ)).
pub fn network_start(setting: &Setting, heterogeneity: f64) -> f64 {
    8.0 * first_energy(setting, heterogeneity) / setting.setup().root_gap()
}

/// Σ C_t is at most this (`cv:network-sum`). Needs α ≤ (1−√λ)/(4L_s).
pub fn disagreement_sum(setting: &Setting, heterogeneity: f64, sums: &Sums) -> f64 {
    let constants = Constants::of(setting);
    network_start(setting, heterogeneity) + constants.k_h * sums.local_error + constants.k_u * sums.direction
}

/// Σ C_t is at most this (`cv:closed-consensus`): 2B_net(T) + 2A_U·ΣU_t. Needs A_C ≤ 1/2.
pub fn closed_disagreement_sum(setting: &Setting, network_budget: f64, direction_sum: f64) -> f64 {
    2.0 * network_budget + 2.0 * Constants::of(setting).a_u * direction_sum
}
