//! The few statistical functions that the attacks need.

/// Φ, the normal distribution function.
pub fn normal(x: f64) -> f64 {
    0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
}

/// Φ⁻¹ by bisection: −∞ at 0, ∞ at 1.
pub fn normal_quantile(p: f64) -> f64 {
    if p <= 0.0 || p >= 1.0 {
        return if p <= 0.0 { f64::NEG_INFINITY } else { f64::INFINITY };
    }
    // In the lower tail, where erfc keeps its digits.
    if p > 0.5 {
        return -normal_quantile(1.0 - p);
    }
    bisect(-39.0, 0.0, |x| normal(x) < p)
}

/// P(X ≤ k) for X binomial of n and p.
pub fn binomial_below(k: u64, n: u64, p: f64) -> f64 {
    if k >= n {
        return 1.0;
    }
    incomplete_beta((n - k) as f64, k as f64 + 1.0, 1.0 - p)
}

/// The Clopper–Pearson upper bound: with probability at least 1 − `failure`, p is not above it when k of n were seen.
pub fn upper_bound(k: u64, n: u64, failure: f64) -> f64 {
    if k >= n {
        return 1.0;
    }
    // From above, so that rounding errs on the safe side.
    let low = k as f64 / n as f64;
    let p = bisect(low, 1.0, |p| binomial_below(k, n, p) > failure);
    (p * (1.0 + 1e-9)).min(1.0)
}

/// Where `below` turns from true to false between `low` and `high`.
pub(crate) fn bisect(low: f64, high: f64, below: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (low, high);
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if below(middle) { low = middle } else { high = middle }
    }
    high
}

/// I_x(a, b), the regularised incomplete beta function, by its continued fraction.
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return if x <= 0.0 { 0.0 } else { 1.0 };
    }
    // The fraction converges fast on this side of the mean.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(b, a, 1.0 - x);
    }
    let ln_front =
        libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b) + a * libm::log(x) + b * libm::log1p(-x)
            - libm::log(a);
    let keep = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let (mut c, mut d) = (1.0, 1.0 / keep(1.0 - (a + b) * x / (a + 1.0)));
    let mut fraction = d;
    for m in 1..5000 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for term in [even, odd] {
            d = 1.0 / keep(1.0 + term * d);
            c = keep(1.0 + term / c);
            change = c * d;
            fraction *= change;
        }
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    libm::exp(ln_front) * fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_inverse_and_symmetric() {
        for p in [1e-12, 1e-6, 0.01, 0.3, 0.5, 0.8, 0.999999] {
            assert!((normal(normal_quantile(p)) / p - 1.0).abs() < 1e-12, "{p}");
        }
        assert!((normal_quantile(0.975) - 1.959963984540054).abs() < 1e-12);
        assert_eq!(normal_quantile(0.0), f64::NEG_INFINITY);
    }

    #[test]
    fn binomial_tails_are_the_sums_of_their_terms() {
        for (k, n, p) in [(0_u64, 5_u64, 0.3), (2, 5, 0.3), (7, 40, 0.1), (30, 40, 0.9)] {
            let mut sum = 0.0;
            for i in 0..=k {
                let choose = (0..i).fold(1.0, |c, j| c * (n - j) as f64 / (j + 1) as f64);
                sum += choose * f64::powi(p, i as i32) * f64::powi(1.0 - p, (n - i) as i32);
            }
            assert!((binomial_below(k, n, p) - sum).abs() < 1e-12, "{k} {n} {p}");
        }
    }

    #[test]
    fn bounds_hold_exactly_where_they_are_known() {
        // Nothing of n: 1 − failure^(1/n). All of n: 1.
        let bound = upper_bound(0, 100, 0.01);
        assert!((bound - (1.0 - 0.01_f64.powf(0.01))).abs() < 1e-8);
        assert_eq!(upper_bound(9, 9, 0.01), 1.0);
        // Large samples: the normal approximation.
        let bound = upper_bound(6000, 20_000, 1e-4);
        assert!((bound - (0.3 + 3.719 * f64::sqrt(0.21 / 20_000.0))).abs() < 3e-4, "{bound}");
    }
}
