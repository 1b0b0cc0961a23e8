//! The paper's Rényi accountant: a finite sum at integer orders, added over releases, converted to (ε, δ).
//!
//! For integer a ≥ 2 (equation `pv:rdp-function`)
//!
//! ```text
//! ε_SG(a; q, z) = 1/(a−1) · log Σ_{k=0..a} C(a,k) (1−q)^{a−k} q^k exp(k(k−1)/(2z²))
//! ```
//!
//! bounds both directions of add/remove adjacency (Mironov, Talwar, Zhang 2019, Corollary 7). Costs at one
//! order add up under adaptive composition, and `ε_a + log(1/δ)/(a−1)` is a valid ε (`eq:rdp-conversion`).
//!
//! Kept because it is the paper's; [`crate::renyi`] is tighter and [`crate::numerical`] exact.

use crate::error::{AccountingError, require};
use crate::event::Event;
use crate::target::Target;

/// Rounding in the sums below is far smaller than this; every cost is enlarged by it so that it stays a bound.
const ROUNDING_SLACK: f64 = 1e-11;

/// The integer orders that are tried: all up to 128, then about 8 % apart up to 2048.
pub fn orders() -> Vec<u32> {
    let mut orders: Vec<u32> = (2..=128).collect();
    let mut next = 128.0_f64 * 1.08;
    while next <= 2048.0 {
        orders.push(next as u32);
        next *= 1.08;
    }
    orders
}

/// ε_SG(a; q, z) for one release and one integer order (equation `pv:rdp-function`).
///
/// # Guarantee
/// At least the Rényi divergence of order `a` between the release on two data sets that differ in one
/// record, in both directions; rounding only enlarges it.
pub fn sampled_gaussian(order: u32, event: &Event) -> f64 {
    let ln_factorial: Vec<f64> = ln_factorials(order);
    sampled_gaussian_with(order, event, &ln_factorial)
}

fn ln_factorials(largest: u32) -> Vec<f64> {
    (0..=largest).map(|k| libm::lgamma(f64::from(k) + 1.0)).collect()
}

fn sampled_gaussian_with(order: u32, event: &Event, ln_factorial: &[f64]) -> f64 {
    let (a, q, z) = (f64::from(order), event.rate(), event.noise_multiplier());
    let cost = if q == 1.0 { a / (2.0 * z * z) } else { ln_moment(order, q, z, ln_factorial) / (a - 1.0) };
    cost * (1.0 + ROUNDING_SLACK)
}

/// log Σ_k C(a,k)(1−q)^{a−k}q^k e^{u_k} with u_k = k(k−1)/(2z²), as log(1 + Σ_{k≥2} … (e^{u_k} − 1)):
/// the binomial weights sum to one, so tiny costs keep all their digits.
fn ln_moment(order: u32, q: f64, z: f64, ln_factorial: &[f64]) -> f64 {
    let a = order as usize;
    let (ln_q, ln_p) = (q.ln(), libm::log1p(-q));
    let ln_terms: Vec<f64> = (2..=a)
        .map(|k| {
            let kf = k as f64;
            let u = kf * (kf - 1.0) / (2.0 * z * z);
            let ln_growth = if u > 40.0 { u } else { libm::expm1(u).ln() };
            let ln_choose = ln_factorial[a] - ln_factorial[k] - ln_factorial[a - k];
            ln_choose + (a - k) as f64 * ln_p + kf * ln_q + ln_growth
        })
        .collect();
    let largest = ln_terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        return 0.0;
    }
    let ln_excess = largest + ln_terms.iter().map(|t| (t - largest).exp()).sum::<f64>().ln();
    if ln_excess > 40.0 { ln_excess + (-ln_excess).exp() } else { libm::log1p(ln_excess.exp()) }
}

/// The Rényi cost of one release at every order of [`orders`].
#[derive(Clone, Debug)]
pub struct Curve(Vec<f64>);

impl Curve {
    pub fn of(event: &Event) -> Self {
        let orders = orders();
        let ln_factorial = ln_factorials(orders.last().copied().unwrap_or(2));
        Self(orders.iter().map(|a| sampled_gaussian_with(*a, event, &ln_factorial)).collect())
    }
}

/// ε at δ of releases given by their curves and counts; 0 when there are none.
pub fn epsilon_of_curves<'a>(
    curves: impl Iterator<Item = (&'a Curve, u64)>,
    delta: f64,
) -> Result<f64, AccountingError> {
    require("delta", delta, "above 0 and below 1", |d| d > 0.0 && d < 1.0)?;
    let curves: Vec<_> = curves.filter(|(_, n)| *n > 0).collect();
    if curves.is_empty() {
        return Ok(0.0);
    }
    let ln_inverse_delta = -delta.ln();
    let epsilon = orders()
        .iter()
        .enumerate()
        .map(|(at, a)| {
            let cost: f64 = curves.iter().map(|(curve, n)| curve.0[at] * *n as f64).sum();
            cost + ln_inverse_delta / (f64::from(*a) - 1.0)
        })
        .fold(f64::INFINITY, f64::min);
    Ok(epsilon)
}

/// The paper's explicit multiplier z (equation `pv:explicit-multipliers`) for releases at `rates` (rate, count): no
/// search, and much more noise than needed.
///
/// With a = ⌈2 ln(1/δ)/ε⌉ + 1, z² = max{a(a−1)/2, 2(e−1)a/ε·Σ count·rate²}.
///
/// # Guarantee
/// Releases with this multiplier satisfy `pv:accountant-test`: at the order a, the first term makes every exponent of
/// the finite sum at most 1, the composition costs at most ε/4 and the conversion at most ε/2.
pub fn explicit_multiplier(target: &Target, rates: &[(f64, u64)]) -> f64 {
    let a = (2.0 * -target.delta().ln() / target.epsilon()).ceil() + 1.0;
    let squares: f64 = rates.iter().map(|(rate, count)| rate * rate * *count as f64).sum();
    let least = 0.5 * a * (a - 1.0);
    let composed = 2.0 * (std::f64::consts::E - 1.0) * a / target.epsilon() * squares;
    least.max(composed).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum of `pv:rdp-function`, term by term as printed (no rearrangement).
    fn as_printed(a: u32, q: f64, z: f64) -> f64 {
        let mut choose = 1.0_f64;
        let mut sum = 0.0;
        for k in 0..=a {
            let kf = f64::from(k);
            sum += choose
                * (1.0 - q).powi((a - k) as i32)
                * q.powi(k as i32)
                * (kf * (kf - 1.0) / (2.0 * z * z)).exp();
            choose *= f64::from(a - k) / (kf + 1.0);
        }
        sum.ln() / f64::from(a - 1)
    }

    #[test]
    fn matches_the_printed_sum() {
        for (a, q, z) in [(2, 0.1, 1.0), (5, 0.3, 0.8), (16, 0.0222, 2.46), (32, 0.01, 1.5), (8, 0.9, 3.0)] {
            let event = Event::sampled_gaussian(q, z).unwrap();
            let (ours, printed) = (sampled_gaussian(a, &event), as_printed(a, q, z));
            assert!((ours / printed - 1.0).abs() < 1e-8, "a={a} q={q} z={z}: {ours} against {printed}");
            assert!(ours >= printed * (1.0 - 1e-9));
        }
    }

    #[test]
    fn full_rate_is_the_gaussian_cost_and_the_limit_of_rates_near_one() {
        let full = sampled_gaussian(7, &Event::sampled_gaussian(1.0, 2.0).unwrap());
        let near = sampled_gaussian(7, &Event::sampled_gaussian(1.0 - 1e-9, 2.0).unwrap());
        assert!((full / (7.0 / 8.0) - 1.0).abs() < 1e-10);
        assert!((full / near - 1.0).abs() < 1e-6);
    }

    #[test]
    fn tiny_costs_keep_their_digits() {
        // To second order the cost is a·q²·(e^{1/z²} − 1)/2.
        let (q, z) = (1e-6, 5.0);
        let cost = sampled_gaussian(2, &Event::sampled_gaussian(q, z).unwrap());
        let leading = q * q * (1.0_f64 / (z * z)).exp_m1();
        assert!((cost / leading - 1.0).abs() < 1e-6, "{cost:e} against {leading:e}");
    }

    #[test]
    fn the_explicit_multiplier_meets_the_papers_test() {
        for (epsilon, delta, q0, q, rounds) in
            [(1.0, 1e-5, 0.1, 0.01, 1000), (0.3, 1e-6, 0.05, 0.05, 10), (4.0, 1e-5, 0.0222, 0.0222, 9500)]
        {
            let target = Target::new(epsilon, delta).unwrap();
            let rates = [(q0, 1), (q, rounds - 1)];
            let z = explicit_multiplier(&target, &rates);
            let a = (2.0 * -f64::ln(delta) / epsilon).ceil() as u32 + 1;
            let cost: f64 = rates
                .iter()
                .map(|(rate, n)| *n as f64 * sampled_gaussian(a, &Event::sampled_gaussian(*rate, z).unwrap()))
                .sum();
            assert!(cost <= epsilon / 4.0 * (1.0 + 1e-9), "{cost}");
            assert!(cost - f64::ln(delta) / (f64::from(a) - 1.0) <= epsilon);
        }
    }

    #[test]
    fn no_releases_cost_nothing_and_bad_delta_is_refused() {
        assert_eq!(epsilon_of_curves(std::iter::empty(), 1e-5).unwrap(), 0.0);
        for delta in [0.0, 1.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(epsilon_of_curves(std::iter::empty(), delta).is_err());
        }
    }
}
