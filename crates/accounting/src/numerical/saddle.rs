//! Where to put the contour: the saddle point of the integrand.
//!
//! The integrand on the real axis is e^{ϕ(λ)} with ϕ(λ) = K(λ) − λε − ln λ − ln(1 + λ), convex, K the logarithm of the
//! moment. At its minimum the integrand falls off fastest along the vertical line. Any λ > 0 gives a correct bound, so
//! nothing here has to be exact: coarse sums are enough.

use super::parts::Parts;
use crate::rounding::INV_SQRT_2PI;

/// Coarse tables of the losses, for K and its derivatives.
pub(crate) struct Cumulants {
    gaussian: f64,
    laws: Vec<Coarse>,
}

struct Coarse {
    count: f64,
    /// (ln weight, loss) at each node.
    nodes: Vec<(f64, f64)>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Moments {
    pub k: f64,
    pub mean: f64,
    pub variance: f64,
}

impl Moments {
    /// The ε for which λ is the saddle.
    fn epsilon_at(&self, lambda: f64) -> f64 {
        self.mean - 1.0 / lambda - 1.0 / (1.0 + lambda)
    }

    /// ϕ″(λ).
    pub fn curvature(&self, lambda: f64) -> f64 {
        self.variance + 1.0 / (lambda * lambda) + 1.0 / ((1.0 + lambda) * (1.0 + lambda))
    }

    /// ln of the saddle-point approximation of δ(ε).
    fn ln_delta(&self, lambda: f64, epsilon: f64) -> f64 {
        let phi = self.k - lambda * epsilon - lambda.ln() - (1.0 + lambda).ln();
        phi - 0.5 * (2.0 * std::f64::consts::PI * self.curvature(lambda)).ln()
    }
}

/// A contour's place: λ, the ε it suits, and the δ expected there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Saddle {
    pub lambda: f64,
    pub epsilon: f64,
    pub ln_delta: f64,
    /// ln of the integrand's size times its width: δ itself if λ is the saddle of ε, more if not.
    pub ln_peak: f64,
    pub curvature: f64,
}

const STEP: f64 = 0.25;
/// The range in which ln λ is searched.
const LN_RANGE: (f64, f64) = (-23.0, 46.0);
/// A λ as large as this is the end of the range, not a saddle.
pub(crate) const LARGEST: f64 = 8e19;

impl Cumulants {
    /// Tables that leave out at most about `tail` of each law's mass at either end.
    pub fn new(parts: &Parts, tail: f64) -> Self {
        let laws = parts.laws.iter().map(|(law, count)| {
            let high = end_of(|y| law.mass_above(y), tail);
            let low = -end_of(|y| law.mass_below(-y), tail);
            let nodes = ((low / STEP) as i64..=(high / STEP) as i64).map(|j| {
                let y = j as f64 * STEP;
                let ln_ratio = law.ln_ratio(y);
                ((STEP * INV_SQRT_2PI).ln() + law.kappa(0.0) * ln_ratio - 0.5 * y * y, law.sign() * ln_ratio)
            });
            Coarse { count: *count, nodes: nodes.collect() }
        });
        Self { gaussian: parts.gaussian, laws: laws.collect() }
    }

    pub fn at(&self, lambda: f64) -> Moments {
        let s2 = self.gaussian;
        let mut total =
            Moments { k: 0.5 * s2 * lambda * (lambda + 1.0), mean: s2 * (lambda + 0.5), variance: s2 };
        for law in &self.laws {
            let largest = law.nodes.iter().fold(f64::NEG_INFINITY, |m, (ln, loss)| m.max(ln + lambda * loss));
            let (mut sum, mut first, mut second) = (0.0, 0.0, 0.0);
            for (ln, loss) in &law.nodes {
                let weight = libm::exp(ln + lambda * loss - largest);
                sum += weight;
                first += weight * loss;
                second += weight * loss * loss;
            }
            let mean = first / sum;
            total.k += law.count * (largest + sum.ln());
            total.mean += law.count * mean;
            total.variance += law.count * (second / sum - mean * mean).max(0.0);
        }
        total
    }

    /// The saddle whose δ is about e^`ln_delta`.
    pub fn for_delta(&self, ln_delta: f64) -> Saddle {
        let miss = |ln_lambda: f64| {
            let lambda = ln_lambda.exp();
            let moments = self.at(lambda);
            ln_delta - moments.ln_delta(lambda, moments.epsilon_at(lambda))
        };
        // Where the loss is nearly normal, its deviations give the scale.
        let spread = self.at(1e-9).variance.sqrt();
        let guess = ((-2.0 * ln_delta).sqrt() / spread).ln();
        self.saddle_at(root(miss, guess))
    }

    /// The same ε with another λ.
    pub fn moved(&self, epsilon: f64, lambda: f64) -> Saddle {
        let moments = self.at(lambda);
        let ln_delta = moments.ln_delta(lambda, epsilon);
        Saddle { lambda, epsilon, ln_delta, ln_peak: ln_delta, curvature: moments.curvature(lambda) }
    }

    pub fn for_epsilon(&self, epsilon: f64) -> Saddle {
        let miss = |ln_lambda: f64| {
            let lambda = ln_lambda.exp();
            lambda * (self.at(lambda).epsilon_at(lambda) - epsilon)
        };
        self.saddle_at(root(miss, 0.0))
    }

    fn saddle_at(&self, ln_lambda: f64) -> Saddle {
        let lambda = ln_lambda.exp();
        let moments = self.at(lambda);
        let epsilon = moments.epsilon_at(lambda);
        let ln_delta = moments.ln_delta(lambda, epsilon);
        Saddle { lambda, epsilon, ln_delta, ln_peak: ln_delta, curvature: moments.curvature(lambda) }
    }
}

/// The first y of a grid beyond which at most `tail` is left.
pub(crate) fn end_of(mass_beyond: impl Fn(f64) -> f64, tail: f64) -> f64 {
    let mut y = 0.5;
    while mass_beyond(y) > tail && y < 300.0 {
        y += 0.5;
    }
    y
}

/// The zero of an increasing function of ln λ, to three digits; the nearer end of the range if there is none.
fn root(f: impl Fn(f64) -> f64, guess: f64) -> f64 {
    let (least, most) = LN_RANGE;
    let guess = if guess.is_finite() { guess.clamp(least, most) } else { 0.0 };
    let (mut low, mut high, mut at_low, mut at_high);
    let at_guess = f(guess);
    let mut reach = 0.5;
    if at_guess < 0.0 {
        (low, at_low) = (guess, at_guess);
        loop {
            high = (low + reach).min(most);
            at_high = f(high);
            if at_high >= 0.0 || high >= most {
                break;
            }
            (low, at_low) = (high, at_high);
            reach *= 2.0;
        }
        if at_high < 0.0 {
            return most;
        }
    } else {
        (high, at_high) = (guess, at_guess);
        loop {
            low = (high - reach).max(least);
            at_low = f(low);
            if at_low < 0.0 || low <= least {
                break;
            }
            (high, at_high) = (low, at_low);
            reach *= 2.0;
        }
        if at_low >= 0.0 {
            return least;
        }
    }
    // Regula falsi with the Illinois weights.
    let mut last_moved_low = None;
    for _ in 0..60 {
        if high - low < 1e-3 {
            break;
        }
        let ratio = at_low / (at_low - at_high);
        let middle =
            if ratio.is_finite() { low + ratio.clamp(0.02, 0.98) * (high - low) } else { 0.5 * (low + high) };
        let value = f(middle);
        if value.abs() < 1e-3 {
            return middle;
        }
        if value < 0.0 {
            (low, at_low) = (middle, value);
            if last_moved_low == Some(true) {
                at_high *= 0.5;
            }
            last_moved_low = Some(true);
        } else {
            (high, at_high) = (middle, value);
            if last_moved_low == Some(false) {
                at_low *= 0.5;
            }
            last_moved_low = Some(false);
        }
    }
    0.5 * (low + high)
}
