//! Two releases, as the convolution of one's law with the other's closed form: good near atoms, where the contour
//! integral is not. By Takahasi and Mori's rule (tanh of sinh), which does not mind the flat end of the integrand.

use super::closed::{above, single};
use super::contour::Measured;
use super::plan::{Direction, Releases};
use super::real::{Real, abs, approximately, exact, exp, int, pi};

struct Release {
    q: Real,
    sigma: Real,
}

impl Release {
    fn of(kind: &Releases) -> Self {
        Self { q: exact(kind.rate), sigma: exact(kind.noise) }
    }

    /// (2x − 1)/2σ².
    fn exponent(&self, x: &Real) -> Real {
        (int(2) * x - int(1)) / (int(2) * &self.sigma * &self.sigma)
    }

    fn ratio(&self, x: &Real) -> Real {
        int(1) - &self.q + &self.q * self.exponent(x).exp()
    }

    /// The x with this ratio, if there is one.
    fn edge(&self, ratio: &Real) -> Option<Real> {
        let sampled = ratio - int(1) + &self.q;
        let x = |s: Real| &self.sigma * &self.sigma * (s / &self.q).ln() + int(1) / int(2);
        (sampled > Real::ZERO).then(|| x(sampled))
    }

    fn normal(&self, x: &Real) -> Real {
        let scaled = x / &self.sigma;
        (-(&scaled * &scaled) / int(2)).exp() / ((int(2) * pi()).sqrt() * &self.sigma)
    }

    /// P(x > at) − e^ε Q(x > at), P the mixture and Q the normal law.
    fn difference_above(&self, at: &Real, growth: &Real) -> Real {
        &self.q * above(&((at - int(1)) / &self.sigma))
            - (growth - int(1) + &self.q) * above(&(at / &self.sigma))
    }
}

/// δ(ε) of one release of each of the two kinds.
pub fn pair(first: &Releases, second: &Releases, direction: Direction, epsilon: &Real) -> Measured {
    // The law of the noisier one is the flatter one: its variable needs fewer nodes.
    let (first, second) = if first.noise < second.noise { (second, first) } else { (first, second) };
    let (one, other) = (Release::of(first), Release::of(second));
    let reach = int(14) * &one.sigma;
    let (low, most) = (-&reach, &reach + int(1));
    let growth = exp(epsilon);
    let least = int(1) - &other.q;
    match direction {
        Direction::Remove => {
            // Beyond the edge the first loss alone exceeds ε whatever the second is.
            let edge = one.edge(&(&growth / least)).unwrap();
            let rest = one.difference_above(&edge, &growth);
            let inner = |x: &Real| {
                let ratio = one.ratio(x);
                one.normal(x) * &ratio * single(second, direction, &(epsilon - ratio.ln()))
            };
            let mut integral = tanh_sinh(inner, &low, &edge.min(most));
            integral.value += rest;
            integral
        }
        Direction::Add => match one.edge(&(int(1) / (growth * least))) {
            Some(edge) => {
                let inner =
                    |x: &Real| one.normal(x) * single(second, direction, &(epsilon + one.ratio(x).ln()));
                tanh_sinh(inner, &low, &edge.min(most))
            }
            None => Measured::closed(int(0)),
        },
    }
}

/// ∫ f over [low, high], halving the step until two results agree to 22 digits.
fn tanh_sinh(f: impl Fn(&Real) -> Real, low: &Real, high: &Real) -> Measured {
    if low >= high {
        return Measured::closed(int(0));
    }
    let (half, middle) = ((high - low) / int(2), (high + low) / int(2));
    let quarter_turn = pi() / int(2);
    let term = |u: Real| {
        let (sinh, cosh) = sinh_cosh(&u);
        let (inner_sinh, inner_cosh) = sinh_cosh(&(&quarter_turn * sinh));
        let x = &middle + &half * inner_sinh / &inner_cosh;
        // So far out rounding puts x on the end itself.
        if x <= *low || x >= *high {
            return int(0);
        }
        f(&x) * cosh / (&inner_cosh * &inner_cosh)
    };
    // Beyond |u| = 17/4 the weight is below 1e-45.
    let sum = |first: i64, stride: usize, step: &Real| {
        let last = 17 * approximately_inverse(step) / 4;
        let ks = (-last + first..=last).step_by(stride);
        ks.fold(int(0), |sum, k| sum + term(signed(k) * step))
    };
    let scale = half.clone() * &quarter_turn;
    let mut step = int(1) / int(16);
    let mut total = sum(0, 1, &step);
    let mut before = &total * &step * &scale;
    loop {
        step /= int(2);
        total += sum(1, 2, &step);
        let value = &total * &step * &scale;
        let error = abs(&(&value - &before));
        if error <= abs(&value) * exact(1e-22) || step < exact(1e-4) {
            return Measured { value, error };
        }
        before = value;
    }
}

/// From one exponential: near 0 sinh loses some of its many digits.
fn sinh_cosh(x: &Real) -> (Real, Real) {
    let (up, down) = (exp(x), exp(&-x));
    ((&up - &down) / int(2), (up + down) / int(2))
}

fn approximately_inverse(step: &Real) -> i64 {
    approximately(&step.clone().inv()) as i64
}

fn signed(k: i64) -> Real {
    if k < 0 { -int(k.unsigned_abs()) } else { int(k.unsigned_abs()) }
}
