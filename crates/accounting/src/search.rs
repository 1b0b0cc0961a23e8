//! One-dimensional search.

/// Where a function that falls and then rises is least on [low, high], and its value there: so many rounds of a golden
/// section, each leaving 0.618 of the interval.
pub(crate) fn golden_section(f: impl Fn(f64) -> f64, mut low: f64, mut high: f64, rounds: u32) -> (f64, f64) {
    let golden = 0.618_033_988_749_895;
    let (mut a, mut b) = (high - golden * (high - low), low + golden * (high - low));
    let (mut at_a, mut at_b) = (f(a), f(b));
    for _ in 0..rounds {
        if at_a < at_b {
            (high, b, at_b) = (b, a, at_a);
            a = high - golden * (high - low);
            at_a = f(a);
        } else {
            (low, a, at_a) = (a, b, at_b);
            b = low + golden * (high - low);
            at_b = f(b);
        }
    }
    if at_a < at_b { (a, at_a) } else { (b, at_b) }
}
