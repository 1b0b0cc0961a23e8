//! How far a mean may lie above its bound by chance.

/// P(t > k) for Student's t with a whole number of degrees of freedom, by the finite sums of Abramowitz and Stegun
/// 26.7.3 and 26.7.4. Exact to rounding, which is 1e-16: tails below about 1e-12 come out as such.
fn tail(k: f64, freedom: u32) -> f64 {
    let nu = f64::from(freedom);
    let theta = (k / nu.sqrt()).atan();
    let (sin, cos2) = (theta.sin(), theta.cos().powi(2));
    let inside = if freedom % 2 == 1 {
        let (mut term, mut sum) = (theta.cos(), 0.0);
        for j in 1..=(freedom - 1) / 2 {
            sum += term;
            let j = f64::from(j);
            term *= cos2 * 2.0 * j / (2.0 * j + 1.0);
        }
        2.0 / std::f64::consts::PI * (theta + sin * sum)
    } else {
        let (mut term, mut sum) = (1.0, 0.0);
        for j in 1..=freedom / 2 {
            sum += term;
            let j = f64::from(j);
            term *= cos2 * (2.0 * j - 1.0) / (2.0 * j);
        }
        sin * sum
    };
    0.5 * (1.0 - inside)
}

/// The k with P(t > k) = `level`, which must be 1e-11 or more.
pub fn quantile(level: f64, freedom: u32) -> f64 {
    let (mut low, mut high) = (0.0, 1e9);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if tail(middle, freedom) > level.max(1e-11) { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From tables of Student's t.
    #[test]
    fn quantiles_of_the_tables() {
        for (level, freedom, k) in [
            (0.05, 1, 6.313_752),
            (0.025, 2, 4.302_653),
            (0.01, 5, 3.364_930),
            (0.025, 19, 2.093_024),
            (0.0005, 19, 3.883_406),
            (0.025, 30, 2.042_272),
        ] {
            assert!((quantile(level, freedom) - k).abs() < 1e-5, "{level} {freedom}");
        }
        assert!((tail(8.0, 19) / 8.2e-8 - 1.0).abs() < 0.1, "{}", tail(8.0, 19));
    }
}
