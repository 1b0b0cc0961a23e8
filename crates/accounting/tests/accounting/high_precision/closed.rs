//! One release, and releases without sampling: δ(ε) in terms of the normal distribution.

use super::plan::{Direction, Releases};
use super::real::{PRECISION, Real, abs, exact, exp, int, pi};

/// P(N(0, 1) > x).
pub fn above(x: &Real) -> Real {
    erfc(&(x / int(2).sqrt())) / int(2)
}

pub fn erfc(x: &Real) -> Real {
    if *x < Real::ZERO {
        int(2) - erfc(&-x)
    } else if *x < int(6) {
        erfc_by_series(x)
    } else {
        erfc_by_fraction(x)
    }
}

/// 1 − (2/√π) e^{−x²} Σ 2^n x^{2n+1}/(2n+1)!!, with enough bits for what the difference cancels (e^{x²} < 2^64).
fn erfc_by_series(x: &Real) -> Real {
    let wide = |value: &Real| value.clone().with_precision(PRECISION + 128).value();
    let x = wide(x);
    let double_square = wide(&int(2)) * &x * &x;
    let (mut term, mut sum, mut n) = (x.clone(), x.clone(), 0_u64);
    while term > (int(1) >> (PRECISION + 140) as isize) {
        n += 1;
        term = term * &double_square / int(2 * n + 1);
        sum += &term;
    }
    let erf = wide(&int(2)) * sum * (-&x * &x).exp() / Real::pi(PRECISION + 128).sqrt();
    (wide(&int(1)) - erf).with_precision(PRECISION).value()
}

/// e^{−x²}/√π · 1/(x + (1/2)/(x + (2/2)/(x + (3/2)/(x + …)))), from the inside: about (digits·ln 10)²/(8x²)
/// levels are needed.
fn erfc_by_fraction(x: &Real) -> Real {
    let inside = (1..=300_u64).rev().fold(x.clone(), |inner, k| x + int(k) / (int(2) * inner));
    (-x * x).exp() / (pi().sqrt() * inside)
}

/// δ(ε) of releases without sampling: one Gaussian mechanism with σ/√T. Both directions agree.
pub fn unsampled(kinds: &[Releases], epsilon: &Real) -> Real {
    let precision = kinds.iter().fold(int(0), |sum, kind| {
        assert!(kind.rate == 1.0);
        sum + int(kind.count) / (exact(kind.noise) * exact(kind.noise))
    });
    let mu = precision.sqrt();
    let (shift, half) = (epsilon / &mu, mu / int(2));
    above(&(&shift - &half)) - exp(epsilon) * above(&(shift + half))
}

/// δ(ε) of one sampled release, for any ε that some loss exceeds and some does not: the loss is monotone in x, so
/// the worst event is a half line.
pub fn single(kind: &Releases, direction: Direction, epsilon: &Real) -> Real {
    let (q, sigma) = (exact(kind.rate), exact(kind.noise));
    let growth = exp(epsilon);
    // x where the ratio of the densities is e^{±ε}.
    let edge = |ratio: &Real| &sigma * &sigma * ((ratio - int(1) + &q) / &q).ln() + int(1) / int(2);
    match direction {
        Direction::Remove => {
            let x = edge(&growth);
            &q * above(&((&x - int(1)) / &sigma)) - (growth - int(1) + &q) * above(&(x / sigma))
        }
        Direction::Add => {
            let inverse = growth.inv();
            if inverse <= int(1) - &q {
                return int(0);
            }
            let x = edge(&inverse);
            let below = |at: Real| above(&-at);
            (int(1) - &growth * (int(1) - &q)) * below(&x / &sigma)
                - growth * &q * below((x - int(1)) / sigma)
        }
    }
}

#[test]
fn the_two_ways_to_erfc_agree() {
    for quarter in 18..30 {
        let x = int(quarter) / int(4);
        let (series, fraction) = (erfc_by_series(&x), erfc_by_fraction(&x));
        assert!(abs(&(&series / fraction - int(1))) < (int(1) >> 170), "erfc({x})");
    }
    let known: Real = exact(0.157_299_207_050_285_13);
    assert!(abs(&(erfc(&int(1)) - known)) < (int(1) >> 54));
}
