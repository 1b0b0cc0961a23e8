//! A radix-2 Fourier transform with a proven error.

use crate::rounding::U;
use std::f64::consts::PI;

/// X_k = Σ_j x_j e^{+2πijk/N} in place, N a power of two.
///
/// # Lemma (rounding)
/// Every input reaches every output through log₂N butterflies. Each multiplies it by a twiddle factor good to 10U (its
/// angle, below π, is off by 1.4U of itself, its sine and cosine by 4U) with a relative error of √5·U, and adds once more
/// with U. So an output is off by at most ((1 + 14U)^{log₂N} − 1)·Σ|x_j|, which is [`relative_error`] times Σ|x_j|.
pub(crate) fn transform(re: &mut [f64], im: &mut [f64]) {
    let n = re.len();
    reverse_bits(re, im);
    let (sin, cos): (Vec<f64>, Vec<f64>) =
        (0..n / 2).map(|k| libm::sincos(2.0 * PI * k as f64 / n as f64)).unzip();
    let mut half = 1;
    while half < n {
        let stride = n / (2 * half);
        for start in (0..n).step_by(2 * half) {
            for k in 0..half {
                let (a, b) = (start + k, start + k + half);
                let (c, s) = (cos[k * stride], sin[k * stride]);
                let (x, y) = (re[b] * c - im[b] * s, re[b] * s + im[b] * c);
                (re[b], im[b]) = (re[a] - x, im[a] - y);
                (re[a], im[a]) = (re[a] + x, im[a] + y);
            }
        }
        half *= 2;
    }
}

/// The bound of [`transform`], in units of Σ|x_j|.
pub(crate) fn relative_error(n: usize) -> f64 {
    14.1 * U * (n as f64).log2()
}

fn reverse_bits(re: &mut [f64], im: &mut [f64]) {
    let n = re.len();
    let bits = n.trailing_zeros();
    for i in 0..n {
        let j = (i as u64).reverse_bits().checked_shr(64 - bits).unwrap_or(0) as usize;
        if i < j {
            re.swap(i, j);
            im.swap(i, j);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_sum_as_written() {
        for n in [1usize, 2, 8, 64] {
            let x: Vec<f64> = (0..n).map(|j| ((j * j + 3) % 7) as f64 / 7.0).collect();
            let y: Vec<f64> = (0..n).map(|j| ((j * 5 + 1) % 11) as f64 / 11.0 - 0.4).collect();
            let (mut re, mut im) = (x.clone(), y.clone());
            transform(&mut re, &mut im);
            let size: f64 = x.iter().zip(&y).map(|(a, b)| a.hypot(*b)).sum();
            for k in 0..n {
                let (mut a, mut b) = (0.0, 0.0);
                for j in 0..n {
                    let (s, c) = libm::sincos(2.0 * PI * ((j * k) % n) as f64 / n as f64);
                    a += x[j] * c - y[j] * s;
                    b += x[j] * s + y[j] * c;
                }
                assert!(
                    (re[k] - a).hypot(im[k] - b) <= (relative_error(n) + 4e-15) * size,
                    "n = {n}, k = {k}"
                );
            }
        }
    }
}
