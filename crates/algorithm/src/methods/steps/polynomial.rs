//! Polynomials of W, as exchanges: what several exchanges of one vector can make of it.
//!
//! With y(λ) = (2λ − λ₂ − λ_n)/(λ₂ − λ_n), which is between −1 and 1 on the eigenvalues of disagreement:
//!
//! ```text
//! shifted:  p(λ) = (T_K(y(λ)) + 1) / (T_K(y(1)) + 1)      symmetric, rows that add up to 1, positive semidefinite
//! fastest:  p(λ) = T_K(y(λ)) / T_K(y(1))                  the same without the sign, half the disagreement
//! power:    p(λ) = λ^K
//! ```
//!
//! T_K is Chebyshev's polynomial, so no polynomial of degree K with p(1) = 1 (and, of the first, p ≥ 0) is smaller on all of
//! [λ_n, λ₂]. Divided by its values at 1 its recurrence is stable, also where λ₂ = λ_n: with q_k = T_{k−1}(y(1))/T_k(y(1)),
//!
//! ```text
//! z_{k+1} = 2q_{k+1}·y(W)z_k − q_{k+1}q_k·z_{k−1};   q₁ = 1/y(1),  q_{k+1} = 1/(2y(1) − q_k)
//! ```

use crate::graph::Spectrum;

/// Between which numbers the eigenvalues of disagreement lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ends {
    /// λ_n, or less.
    pub smallest: f64,
    /// λ₂.
    pub second: f64,
}

/// Room for rounding below the smallest eigenvalue, beyond which a polynomial may be negative.
const ROUNDING: f64 = 1e-12;

impl Ends {
    /// Those of a symmetric W. `None` for networks that have no such spectrum.
    pub fn of(spectrum: &Spectrum) -> Option<Self> {
        let second = spectrum.lambda.min(1.0);
        let smallest = spectrum.smallest - spectrum.smallest_error - ROUNDING;
        (!spectrum.smallest.is_nan()).then(|| Self { smallest: smallest.min(second), second })
    }
}

/// A polynomial of W of degree K, in K exchanges.
#[derive(Clone, Debug, PartialEq)]
pub struct Polynomial {
    /// z_{k+1} = a·Wz_k + b·z_k + c·z_{k−1}.
    steps: Vec<[f64; 3]>,
    /// What is mixed in the end is (z_K + this · z₀) over its weights.
    start: f64,
}

impl Polynomial {
    /// W^K.
    pub fn power(degree: u32) -> Self {
        Self { steps: vec![[1.0, 0.0, 0.0]; degree as usize], start: 0.0 }
    }

    /// The smallest positive semidefinite one on the eigenvalues of disagreement; W itself for a single exchange.
    pub fn shifted(degree: u32, ends: Ends) -> Self {
        match degree {
            0 | 1 => Self::power(degree),
            _ => {
                let (steps, share) = chebyshev(degree, ends);
                Self { steps, start: share }
            }
        }
    }

    /// The smallest one on the eigenvalues of disagreement.
    pub fn fastest(degree: u32, ends: Ends) -> Self {
        Self { steps: chebyshev(degree, ends).0, start: 0.0 }
    }

    /// K.
    pub fn degree(&self) -> usize {
        self.steps.len()
    }

    /// a, b and c of exchange number k.
    pub(super) fn step(&self, k: usize) -> [f64; 3] {
        self.steps.get(k).copied().unwrap_or([1.0, 0.0, 0.0])
    }

    /// The weights of z_K and z₀ in the result.
    pub(super) fn shares(&self) -> (f64, f64) {
        (1.0 / (1.0 + self.start), self.start / (1.0 + self.start))
    }

    /// Whether each exchange gives all that the next one needs.
    pub(super) fn is_power(&self) -> bool {
        self.start == 0.0 && self.steps.iter().all(|step| *step == [1.0, 0.0, 0.0])
    }

    /// p(λ): the eigenvalue that W's λ becomes.
    pub fn at(&self, eigenvalue: f64) -> f64 {
        let (mut before, mut now) = (0.0, 1.0);
        for [a, b, c] in &self.steps {
            (before, now) = (now, a * eigenvalue * now + b * now + c * before);
        }
        let (last, first) = self.shares();
        last * now + first
    }
}

/// The exchanges of T_K(y(W))/T_K(y(1)), and 1/T_K(y(1)).
fn chebyshev(degree: u32, ends: Ends) -> (Vec<[f64; 3]>, f64) {
    let (sum, width) = (ends.smallest + ends.second, ends.second - ends.smallest);
    // y(1) is this over the width.
    let reach = 2.0 - sum;
    let (mut steps, mut product, mut q) = (Vec::new(), 1.0, 0.0);
    for k in 0..degree {
        // q_{k+1} over the width, and how often y(W)z_k is taken.
        let (share, times) = if k == 0 { (1.0 / reach, 1.0) } else { (1.0 / (2.0 * reach - width * q), 2.0) };
        steps.push([2.0 * times * share, -times * share * sum, -width * share * q]);
        q = width * share;
        product *= q;
    }
    (steps, product)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAZY_RING: Ends = Ends { smallest: 0.0, second: 0.904_508_497_187_473_7 };

    #[test]
    fn three_exchanges_on_the_lazy_ring_of_ten_are_those_of_the_study() {
        let three = Polynomial::shifted(3, LAZY_RING);
        let eigenvalues: Vec<f64> =
            (1..10).map(|k| 0.5 * (1.0 + (std::f64::consts::TAU * f64::from(k) / 10.0).cos())).collect();
        let mixed: Vec<f64> = eigenvalues.iter().map(|z| three.at(*z)).collect();
        let largest = mixed.iter().fold(0.0, |most: f64, z| most.max(*z));
        assert!((largest - 0.447).abs() < 5e-4, "{largest}");
        assert!(mixed.iter().all(|z| *z > -1e-15), "{mixed:?}");
        assert!((Polynomial::power(3).at(LAZY_RING.second) - 0.74).abs() < 5e-3);
        // Eight fastest ones do more than twenty plain ones.
        let eight =
            eigenvalues.iter().map(|z| Polynomial::fastest(8, LAZY_RING).at(*z).abs()).fold(0.0, f64::max);
        assert!(eight < 0.013 && LAZY_RING.second.powi(20) > 0.13, "{eight}");
    }

    #[test]
    fn values_are_those_of_the_cosine_and_no_network_is_too_fast_or_too_slow() {
        for (smallest, second) in
            [(0.0, 0.9), (-0.3, 0.5), (0.2, 1.0 - 1e-9), (-1e-12, 1e-17), (0.0, 0.0), (0.3, 0.3)]
        {
            let ends = Ends { smallest, second };
            for degree in [1, 2, 3, 8, 100] {
                let (shifted, fastest) =
                    (Polynomial::shifted(degree, ends), Polynomial::fastest(degree, ends));
                for polynomial in [&shifted, &fastest] {
                    assert!((polynomial.at(1.0) - 1.0).abs() < 1e-10, "{ends:?} {degree}");
                    assert_eq!(polynomial.degree(), degree as usize);
                }
                // T_K(1/c) by its closed form.
                let y = (2.0 - smallest - second) / (second - smallest);
                let top = (f64::from(degree) * y.acosh()).cosh();
                for share in [0.0, 0.1, 0.37, 0.5, 0.9, 1.0_f64] {
                    let place = smallest + share * (second - smallest);
                    let wave = (f64::from(degree) * (2.0 * share - 1.0).acos()).cos();
                    let expected = if top.is_finite() { wave / top } else { 0.0 };
                    assert!((fastest.at(place) - expected).abs() < 1e-9, "{ends:?} {degree} {share}");
                    let expected = if top.is_finite() { (wave + 1.0) / (top + 1.0) } else { 0.0 };
                    let found = shifted.at(place);
                    assert!(
                        degree == 1 || (found - expected).abs() < 1e-9,
                        "{ends:?} {degree} {share}: {found}"
                    );
                    assert!(degree == 1 || found > -1e-14, "{ends:?} {degree} {share}: {found}");
                }
            }
        }
    }
}
