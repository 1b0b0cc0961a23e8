//! Rényi accounting at every real order, with the improved conversion.
//!
//! The Rényi divergence of order 1 + λ of a Poisson-sampled Gaussian release is ln M(λ)/λ with M(λ) = ∫ φ r^{1+λ}, and
//! that of removal bounds that of addition (Mironov, Talwar, Zhang 2019, Theorem 5). Orders add up under adaptive
//! composition. Any λ > 0 then gives the valid
//!
//! ```text
//! ε = (Σ count·ln M(λ) + ln(1/δ) + λ·ln λ − (1 + λ)·ln(1 + λ)) / λ
//! ```
//!
//! (Canonne, Kamath, Steinke 2020, Proposition 12; Balle et al. 2020, Theorem 21), which is ln(1/δ)/λ of the classical
//! conversion lessened by what (1 − e^{−u})₊ ≤ e^{λu} gives away. The best λ is searched for; the result is never below the
//! exact ε of [`crate::numerical`], and typically 5 to 20 % above it.

use crate::event::{Event, History};
use crate::law::{Direction, Law};
use crate::line::{Cut, Line};
use crate::search::golden_section;

/// Orders so high that the integral would be longer than this (in deviations of the noise) are left out.
const MOST_REACH: f64 = 5000.0;

/// ln M(λ): an upper bound, infinite where it cannot be had.
///
/// # Guarantee
/// At least λ times the Rényi divergence of order 1 + λ between the release on two data sets that differ in one record,
/// in both directions.
///
/// # Lemma (tails)
/// Above h > (1 + λ)s the integrand falls at least like e^{−(h − (1+λ)s)(y − h)}, below l < 0 at least like
/// e^{−|l||y − l|}; so what lies outside [l, h] is at most its value there over those rates.
pub fn ln_moment(event: &Event, lambda: f64) -> f64 {
    let slope = 1.0 / event.noise_multiplier();
    if !event.is_private() {
        return f64::INFINITY;
    }
    if event.rate() == 1.0 {
        return 0.5 * lambda * (1.0 + lambda) * slope * slope * (1.0 + 1e-15);
    }
    let law = Law { rate: event.rate(), slope, direction: Direction::Remove };
    let (low, high) = (-11.0, ((1.0 + lambda) * slope + 11.0) * (1.0 + 1e-12));
    if high > MOST_REACH {
        return f64::INFINITY;
    }
    // The scale only has to be roughly the largest value.
    let apart = (high - low) / 200.0;
    let largest =
        (0..=200).map(|j| law.ln_tilted(low + apart * f64::from(j), 1.0 + lambda)).fold(0.0, f64::max);
    let cut = Cut::new(law, lambda, low, high, largest);
    let Some(line) = Line::for_values(&cut, 0.0, 0.0, 38.0) else { return f64::INFINITY };
    let inside = line.ln_moment_at(lambda);
    let end = |y: f64| libm::exp(law.ln_tilted(y, 1.0 + lambda) - inside);
    inside + libm::log1p(1.01 * (end(low) + end(high)) / 11.0)
}

/// ln of a bound on the moment of a whole history.
fn ln_moments(history: &History, lambda: f64) -> f64 {
    history.entries().iter().map(|(event, count)| *count as f64 * ln_moment(event, lambda)).sum()
}

/// λ·ln λ − (1 + λ)·ln(1 + λ): what the improved conversion saves.
fn ln_saved(lambda: f64) -> f64 {
    lambda * libm::log(lambda) - (1.0 + lambda) * libm::log1p(lambda)
}

/// ε of the history at δ ∈ (0, 1); 0 for an empty one.
///
/// # Guarantee
/// The adaptive composition of the releases is (ε, δ)-differentially private for add/remove adjacency.
pub fn epsilon(history: &History, delta: f64) -> f64 {
    if history.is_empty() {
        return 0.0;
    }
    let at = |ln_lambda: f64| {
        let lambda = ln_lambda.exp();
        (ln_moments(history, lambda) - libm::log(delta) + ln_saved(lambda)) / lambda
    };
    least(at).max(0.0) * (1.0 + 1e-12)
}

/// δ of the history at ε ≥ 0.
///
/// # Guarantee
/// As for [`epsilon`].
pub fn delta(history: &History, epsilon: f64) -> f64 {
    if history.is_empty() {
        return 0.0;
    }
    let at = |ln_lambda: f64| {
        let lambda = ln_lambda.exp();
        ln_moments(history, lambda) - lambda * epsilon + ln_saved(lambda)
    };
    // Never 0, however small: a Gaussian's loss has no bound.
    (libm::exp(least(at)) * (1.0 + 1e-9)).clamp(f64::MIN_POSITIVE, 1.0)
}

/// The least value of a function of ln λ that falls and then rises: downhill in strides, then a golden section.
fn least(at: impl Fn(f64) -> f64) -> f64 {
    let at = &at;
    let stride = 0.7;
    let (mut x, mut here) = (0.0, at(0.0));
    for direction in [-stride, stride] {
        loop {
            let next = at(x + direction);
            // Downhill, or out of where nothing can be computed.
            if !(next < here || (here.is_infinite() && direction < 0.0 && x > -30.0)) || x.abs() > 30.0 {
                break;
            }
            (x, here) = (x + direction, next);
        }
    }
    golden_section(at, x - stride, x + stride, 16).1.min(here)
}
