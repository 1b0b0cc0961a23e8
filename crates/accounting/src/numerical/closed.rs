//! Where δ(ε) has a closed form: Gaussian releases without sampling, and a single sampled release.
//!
//! # Theorem (rate 1)
//! Gaussian releases with multipliers σ_i compose to one with μ² = Σ 1/σ_i² (in both directions), for which
//! δ(ε) = Φ̄(a) − e^ε·Φ̄(a + μ), a = ε/μ − μ/2 (Balle and Wang 2018, Theorem 8).
//!
//! # Theorem (one release)
//! For r = dP/dQ increasing, δ(ε) = P(y > y*) − e^ε·Q(y > y*) with r(y*) = e^ε. Removal, with g = e^ε − 1 + q > 0 and
//! y* = ln(g/q)/s + s/2: δ = q·Φ̄(y* − s) − g·Φ̄(y*). Addition, with g = e^{−ε} − 1 + q and y° the same of this g:
//! δ = e^ε·(g·Φ̄(−y°) − q·Φ̄(s − y°)), and 0 if g ≤ 0.
//!
//! All three are A·(Φ̄(u) − φ(u)·R(v)) with v > u and R = Φ̄/φ, Mills' ratio.

use super::moment_table::Delta;
use crate::law::{Direction, Law};
use crate::rounding::{INV_SQRT_2PI, U, normal_tail};

/// δ(ε) for Gaussian releases with μ² = `variance`.
pub(crate) fn gaussian(variance: f64, epsilon: f64) -> Delta {
    let mu = variance.sqrt();
    let (u, v) = (epsilon / mu - 0.5 * mu, epsilon / mu + 0.5 * mu);
    let slip = 8.0 * U * (epsilon / mu + mu);
    hockey_stick(1.0, u, v, slip, 0.0)
}

pub(crate) fn single(law: &Law, epsilon: f64) -> Delta {
    let (q, s) = (law.rate, law.slope);
    let place = |growth: f64| libm::log(growth / q) / s + 0.5 * s;
    // How far the place may be off: by the rounding of growth, of the logarithm, and of the sum.
    let slip = |growth: f64, growth_error: f64| {
        (growth_error / growth + 8.0 * U * (1.0 + libm::log(growth / q).abs())) / s + 4.0 * U * s
    };
    match law.direction {
        Direction::Remove => {
            let growth = libm::expm1(epsilon) + q;
            if growth.is_infinite() {
                // ln(g/q) = ε − ln q up to a relative e^{−709}.
                let ln_ratio = epsilon - libm::log(q);
                let y = ln_ratio / s + 0.5 * s;
                let slip = 8.0 * U * (1.0 + ln_ratio) / s + 4.0 * U * s;
                return hockey_stick(q, y - s, y, slip, 8.0 * U);
            }
            let y = place(growth);
            hockey_stick(q, y - s, y, slip(growth, 8.0 * U * growth), 8.0 * U)
        }
        Direction::Add => {
            let growth = libm::expm1(-epsilon) + q;
            let error = 8.0 * U * (q + epsilon.min(1.0));
            if growth <= error {
                // δ ≤ e^ε·g·Φ̄(−y°) with a g that is at most twice the error.
                return Delta {
                    lower: 0.0,
                    middle: 0.0,
                    upper: 2.0 * error * libm::exp(epsilon),
                    slope: 0.0,
                };
            }
            let y = place(growth);
            let grown = libm::exp(epsilon) * growth;
            hockey_stick(grown, -y, s - y, slip(growth, error), error / growth + 8.0 * U)
        }
    }
}

/// A·(Φ̄(u) − φ(u)·R(v)) where u and v = u + s are off by at most `slip` and A by a relative `factor_error`.
///
/// # Lemma (errors)
/// Moving u and v together by du changes the bracket by (v − u)·φ(u)·R(v)·du, moving v − u by d changes it by at most
/// φ(u)·d. Φ̄ and R are good to 64U, φ(u) to (u² + 8)U.
fn hockey_stick(factor: f64, u: f64, v: f64, slip: f64, factor_error: f64) -> Delta {
    let density = INV_SQRT_2PI * libm::exp(-0.5 * u * u);
    let far = mills(v);
    let (near, value) = if u > 0.0 {
        let near = mills(u);
        (density * near, density * (near - far))
    } else {
        let near = normal_tail(u);
        (near, near - density * far)
    };
    let moved = density * ((v - u) * far * slip + 8.0 * U * (v.abs() + u.abs()));
    let rounding = (64.0 + u * u) * U * (near + density * far);
    let error = factor * (moved + rounding + value.max(0.0) * factor_error) * 1.01;
    let middle = factor * value;
    Delta {
        lower: (middle - error).max(0.0),
        middle,
        upper: (middle + error).clamp(f64::MIN_POSITIVE, 1.0),
        slope: factor * density * far,
    }
}

/// Mills' ratio R(x) = Φ̄(x)/φ(x), relative error below 64U for x ≥ −1, and infinite below where it is not needed.
///
/// Above 4 by Laplace's continued fraction R = 1/(x + 1/(x + 2/(x + 3/…))), whose convergents bracket it; with 60 levels
/// they agree to 1e-30.
pub(crate) fn mills(x: f64) -> f64 {
    if x < 4.0 {
        return normal_tail(x) / INV_SQRT_2PI * libm::exp(0.5 * x * x);
    }
    let tail = (1..=60).rev().fold(x, |below, level| x + f64::from(level) / below);
    1.0 / tail
}
