//! Means and slopes of what runs measured.

use prdo::simulator::Row;

/// The mean, and its standard error.
pub fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    (mean, if n > 1.0 { (squares / (n - 1.0) / n).sqrt() } else { 0.0 })
}

/// The least-squares slope of log y against log x, of (x, y, the error of y), and its error from those of y.
pub fn log_slope(points: &[(f64, f64, f64)]) -> (f64, f64) {
    let n = points.len() as f64;
    let centre = points.iter().map(|(x, ..)| x.ln()).sum::<f64>() / n;
    let spread: f64 = points.iter().map(|(x, ..)| (x.ln() - centre).powi(2)).sum();
    let weight = |x: f64| (x.ln() - centre) / spread;
    let slope = points.iter().map(|(x, y, _)| weight(*x) * y.ln()).sum();
    let variance: f64 = points.iter().map(|(x, y, error)| (weight(*x) * error / y).powi(2)).sum();
    (slope, variance.sqrt())
}

/// The mean of a metric over the last sixth of the rounds (500–600 in the paper's first setting); `None` where it is not
/// measured.
pub fn late(rows: &[Row], of: impl Fn(&Row) -> Option<f64>) -> Option<f64> {
    let last = rows.last().map_or(0, |row| row.round);
    let late = rows.iter().filter(|row| row.round >= last - last / 6);
    let values: Vec<f64> = late.filter_map(of).collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_law_has_its_exponent_as_slope() {
        let points = [100.0_f64, 300.0, 1000.0].map(|x| (x, 5.0 * x.powf(-0.7), 0.0));
        let (slope, error) = log_slope(&points);
        assert!((slope + 0.7).abs() < 1e-12 && error == 0.0);
        let noisy = points.map(|(x, y, _)| (x, y, 0.01 * y));
        // Two ends a decade apart: 0.01·√2/ln 10, and a little less with the point between.
        assert!((log_slope(&noisy).1 - 0.01 * 2.0_f64.sqrt() / 10.0_f64.ln()).abs() < 1e-4);
    }
}
