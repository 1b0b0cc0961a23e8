//! The noise's variances and the paper's multiplier in closed form.

use crate::error::{TheoryError, between, count};
use crate::sensitivity::Sensitivity;
use crate::setting::{SCALE, SCALE_WORDS};

/// Variances of a coordinate of the noise (`pv:main-noise-orders`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Variances {
    /// ν₀² = z²C_g²/b₀², of the first round.
    pub first: f64,
    /// ν²_dp = z²S_γ²/(γ²b²): a later round adds γ times a draw with this variance. At least ν₀² where b₀ ≥ b.
    pub recursive: f64,
}

/// The variances of noise with multiplier z: deviation over sensitivity, in every round.
pub fn variances(
    noise_multiplier: f64,
    sensitivity: &Sensitivity,
    batch: u64,
    first_batch: u64,
) -> Result<Variances, TheoryError> {
    between("noise_multiplier", noise_multiplier, SCALE, SCALE_WORDS)?;
    count("batch", batch, 100_000_000, "from 1 to 1e8")?;
    count("first_batch", first_batch, 1_000_000_000_000_000, "from 1 to 1e15")?;
    let first = noise_multiplier * sensitivity.gradient_clip() / first_batch as f64;
    let recursive = noise_multiplier * (sensitivity.scale() / sensitivity.gamma()) / batch as f64;
    Ok(Variances { first: first * first, recursive: recursive * recursive })
}

/// A run's releases and the budget that they must keep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// ε: 10⁻⁶ to 10⁶. The paper's orders in T need ε ≤ 1; the guarantee does not.
    pub epsilon: f64,
    /// δ: above 0 and below 1.
    pub delta: f64,
    /// N, the records (public slots) of a node: 1 to 10¹².
    pub slots: u64,
    pub first_batch: u64,
    pub batch: u64,
    pub rounds: u64,
}

/// The paper's sufficient multiplier z (`pv:explicit-multipliers`): with a = ⌈2ln(1/δ)/ε⌉ + 1,
/// z² = max{a(a−1)/2, (2(e−1)a/ε)·[(b₀/N)² + (T−1)(b/N)²]}.
///
/// Much more noise than needed: the numerical accountant finds less.
///
/// # Guarantee
/// With noise of this multiplier in every round the whole transcript is (ε, δ)-DP (`pv:privacy-utility`): at the order
/// a every exponent of the sampled Gaussian's finite sum is at most one, the composition costs at most ε/4 and the
/// conversion at most ε/2.
pub fn explicit_multiplier(budget: &Budget) -> Result<f64, TheoryError> {
    between("epsilon", budget.epsilon, (1e-6, 1e6), "from 1e-6 to 1e6")?;
    between("delta", budget.delta, (f64::MIN_POSITIVE, 1.0_f64.next_down()), "above 0 and below 1")?;
    count("slots", budget.slots, 1_000_000_000_000, "from 1 to 1e12")?;
    count("first_batch", budget.first_batch, budget.slots, "from 1 to slots")?;
    count("batch", budget.batch, budget.slots, "from 1 to slots")?;
    count("rounds", budget.rounds, 1_000_000_000_000, "from 1 to 1e12")?;
    let order = explicit_order(budget.epsilon, budget.delta);
    let rate = |batch: u64| batch as f64 / budget.slots as f64;
    let squares = rate(budget.first_batch).powi(2) + (budget.rounds - 1) as f64 * rate(budget.batch).powi(2);
    let composed = 2.0 * (std::f64::consts::E - 1.0) * order / budget.epsilon * squares;
    Ok((0.5 * order * (order - 1.0)).max(composed).sqrt())
}

/// a = ⌈2ln(1/δ)/ε⌉ + 1, at least 2.
fn explicit_order(epsilon: f64, delta: f64) -> f64 {
    ((-2.0 * delta.ln() / epsilon).ceil() + 1.0).max(2.0)
}
