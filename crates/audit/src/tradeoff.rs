//! The claimed trade-off curve: how well the best test could do, if the accountant is right.
//!
//! A mechanism that is (ε, δ(ε))-private for every ε leaves to every test with false-alarm rate α a miss rate of at least
//!
//! ```text
//! f(α) = sup over ε of max{ 0, 1 − δ(ε) − e^ε·α, e^{−ε}·(1 − δ(ε) − α) }
//! ```
//!
//! (Wasserman, Zhou 2010; Dong, Roth, Su 2022). At rate 1 this is the Gaussian curve Φ(Φ⁻¹(1 − α) − √T/z).

use crate::error::AuditError;
use prdo_accounting::{History, numerical, renyi};

/// The largest ε tried. Beyond it only error rates below e⁻¹⁴, one in a million, would be bounded better.
const MOST_EPSILON: f64 = 14.0;
/// How near to its top a line is followed; what is lost is of the order of its square.
const NEAR: f64 = 3e-3;

/// Where nothing is left to gain: δ is below 10⁻⁹ there, or ε is [`MOST_EPSILON`].
fn most_epsilon(history: &History) -> f64 {
    renyi::epsilon(history, 1e-9).clamp(0.1, MOST_EPSILON)
}

/// The curve of one history, for many α: δ(ε) at steps of 0.1, so that f is a little lower than it could be.
#[derive(Clone, Debug)]
pub struct Curve {
    deltas: Vec<(f64, f64)>,
}

/// Between the ε of a [`Curve`]: about its square over eight, 10⁻³, is the most that f may lose.
const STEP: f64 = 0.1;

impl Curve {
    pub fn of(history: &History) -> Result<Self, AuditError> {
        let at = |k: u32| {
            let epsilon = STEP * f64::from(k);
            Ok((epsilon, numerical::delta(history, epsilon)?.upper))
        };
        let deltas =
            (0..=(most_epsilon(history) / STEP).ceil() as u32).map(at).collect::<Result<_, AuditError>>()?;
        Ok(Self { deltas })
    }

    pub fn least_miss_rate(&self, alpha: f64) -> f64 {
        let line = |(epsilon, delta): &(f64, f64)| {
            let odds = libm::exp(*epsilon);
            (1.0 - delta - odds * alpha).max((1.0 - delta - alpha) / odds)
        };
        self.deltas.iter().map(line).fold(0.0, f64::max)
    }
}

/// f(α) of a history, from below.
pub fn least_miss_rate(history: &History, alpha: f64) -> Result<f64, AuditError> {
    let forward = |epsilon: f64, delta: f64| 1.0 - delta - libm::exp(epsilon) * alpha;
    let backward = |epsilon: f64, delta: f64| libm::exp(-epsilon) * (1.0 - delta - alpha);
    let best = highest(history, &forward)?.max(highest(history, &backward)?);
    Ok(best.clamp(0.0, 1.0))
}

/// The largest value over ε. Both lines of the curve are concave in e^ε or e^{−ε}, so they have one top: golden section.
fn highest(history: &History, value: &dyn Fn(f64, f64) -> f64) -> Result<f64, AuditError> {
    let at = |epsilon: f64| -> Result<f64, AuditError> {
        Ok(value(epsilon, numerical::delta(history, epsilon)?.upper))
    };
    const RATIO: f64 = 0.618_033_988_749_894_9;
    let (mut low, mut high) = (0.0, most_epsilon(history));
    let (mut left, mut right) = (high - RATIO * (high - low), low + RATIO * (high - low));
    let (mut at_left, mut at_right) = (at(left)?, at(right)?);
    let mut best = at(0.0)?.max(at_left).max(at_right);
    while high - low > NEAR {
        // Far out both are exactly flat: the top is on the near side then.
        if at_left >= at_right {
            (high, right, at_right) = (right, left, at_left);
            left = high - RATIO * (high - low);
            at_left = at(left)?;
            best = best.max(at_left);
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = low + RATIO * (high - low);
            at_right = at(right)?;
            best = best.max(at_right);
        }
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::{normal, normal_quantile};
    use prdo_accounting::Event;

    #[test]
    fn at_rate_one_it_is_the_gaussian_curve() {
        for (z, rounds) in [(2.0, 4), (1.0, 1), (5.0, 100), (0.5, 3)] {
            let history = History::new().and(Event::gaussian(z).unwrap(), rounds);
            let mu = (rounds as f64).sqrt() / z;
            for alpha in [0.001, 0.02, 0.2, 0.5, 0.9] {
                let expected = normal(normal_quantile(1.0 - alpha) - mu);
                let found = least_miss_rate(&history, alpha).unwrap();
                assert!(
                    found <= expected + 1e-9 && found > expected - 1e-5,
                    "{z} {alpha}: {found} {expected}"
                );
            }
        }
    }

    #[test]
    fn sampling_helps_and_nothing_released_tells_nothing() {
        let sampled = History::new().and(Event::sampled_gaussian(0.25, 1.0).unwrap(), 20);
        let whole = History::new().and(Event::gaussian(1.0).unwrap(), 20);
        for alpha in [0.01, 0.1, 0.4] {
            assert!(least_miss_rate(&sampled, alpha).unwrap() > least_miss_rate(&whole, alpha).unwrap());
            assert_eq!(least_miss_rate(&History::new(), alpha).unwrap(), 1.0 - alpha);
        }
    }
}
