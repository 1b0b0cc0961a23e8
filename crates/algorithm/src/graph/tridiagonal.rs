//! Eigenvalues of a symmetric tridiagonal matrix by counting sign changes (Sturm sequences).
//!
//! Bisection on the count finds any one eigenvalue to its last digits without the others, and cannot fail
//! to converge: Golub and Van Loan, *Matrix Computations*, section 8.4.

/// Diagonal `a` and off-diagonal `b` (one shorter) of a symmetric tridiagonal matrix.
pub(super) struct Tridiagonal<'a> {
    pub a: &'a [f64],
    pub b: &'a [f64],
}

impl Tridiagonal<'_> {
    fn count_below(&self, x: f64) -> usize {
        let mut count = 0;
        let mut pivot = 1.0f64;
        for (i, a) in self.a.iter().enumerate() {
            let b = if i == 0 { 0.0 } else { self.b[i - 1] };
            pivot = a - x - b * b / pivot;
            if pivot.abs() < f64::MIN_POSITIVE {
                pivot = -f64::MIN_POSITIVE;
            }
            count += usize::from(pivot < 0.0);
        }
        count
    }

    /// An interval that holds every eigenvalue (Gershgorin's discs).
    fn range(&self) -> (f64, f64) {
        let reach = |i: usize| {
            let left = if i == 0 { 0.0 } else { self.b[i - 1].abs() };
            left + self.b.get(i).map_or(0.0, |b| b.abs())
        };
        let discs = self.a.iter().enumerate().map(|(i, a)| (a - reach(i), a + reach(i)));
        discs.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), (l, h)| (lo.min(l), hi.max(h)))
    }

    /// Brackets the eigenvalue with `index` others below it, as closely as the arithmetic allows.
    pub(super) fn eigenvalue(&self, index: usize) -> (f64, f64) {
        let (lo, hi) = self.range();
        let margin = f64::EPSILON * lo.abs().max(hi.abs());
        let (mut lo, mut hi) = (lo - margin, hi + margin);
        // Two hundred halvings are more than the tolerance ever needs; the bound guards against NaN.
        for _ in 0..200 {
            let middle = lo + (hi - lo) / 2.0;
            if hi - lo <= f64::EPSILON * (lo.abs() + hi.abs()) + 1e-22 || middle <= lo || middle >= hi {
                break;
            }
            if self.count_below(middle) > index { hi = middle } else { lo = middle }
        }
        (lo, hi)
    }

    /// The size of the last component of the unit eigenvector of the smallest eigenvalue, which is at or just
    /// above `below`. By inverse iteration.
    ///
    /// With all off-diagonals made negative (a change of signs in the eigenvector only) the inverse has no
    /// negative entry: started from ones, nothing ever cancels.
    pub(super) fn last_component_of_smallest(&self, below: f64) -> f64 {
        let k = self.a.len();
        let shift = below - 1e-15;
        let mut pivots = Vec::with_capacity(k);
        for i in 0..k {
            let carried = if i == 0 { 0.0 } else { self.b[i - 1] * self.b[i - 1] / pivots[i - 1] };
            pivots.push((self.a[i] - shift - carried).max(1e-18));
        }
        let mut s = vec![1.0 / (k as f64).sqrt(); k];
        for _ in 0..4 {
            for i in 1..k {
                s[i] += self.b[i - 1].abs() / pivots[i - 1] * s[i - 1];
            }
            s[k - 1] /= pivots[k - 1];
            for i in (0..k - 1).rev() {
                s[i] = (s[i] + self.b[i].abs() * s[i + 1]) / pivots[i];
            }
            let largest = s.iter().fold(0.0, |m: f64, x| m.max(*x));
            let norm = largest * s.iter().map(|x| (x / largest) * (x / largest)).sum::<f64>().sqrt();
            s.iter_mut().for_each(|x| *x /= norm);
        }
        s[k - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn second_difference_matrix() {
        // Eigenvalues 2 - 2 cos(kπ/(n+1)), eigenvectors sin(ikπ/(n+1)).
        let n = 50;
        let (a, b) = (vec![2.0; n], vec![-1.0; n - 1]);
        let t = Tridiagonal { a: &a, b: &b };
        let angle = std::f64::consts::PI / (n + 1) as f64;
        for k in 0..n {
            let (lo, hi) = t.eigenvalue(k);
            let exact = 2.0 - 2.0 * (angle * (k + 1) as f64).cos();
            assert!(lo <= hi && hi - lo < 1e-14 && (lo - exact).abs() < 1e-14, "{k} {lo} {exact}");
        }
        let norm: f64 = (1..=n).map(|i| (angle * i as f64).sin().powi(2)).sum::<f64>().sqrt();
        let last = t.last_component_of_smallest(t.eigenvalue(0).0);
        assert!((last - (angle * n as f64).sin() / norm).abs() < 1e-10, "{last}");
    }

    #[test]
    fn one_by_one_and_decoupled_blocks() {
        let one = Tridiagonal { a: &[3.0], b: &[] };
        assert!((one.eigenvalue(0).0 - 3.0).abs() < 1e-14);
        assert!((one.last_component_of_smallest(3.0) - 1.0).abs() < 1e-15);
        let blocks = Tridiagonal { a: &[0.0, 0.0, 5.0], b: &[1.0, 0.0] };
        let values: Vec<f64> = (0..3).map(|k| blocks.eigenvalue(k).0).collect();
        for (value, exact) in values.iter().zip([-1.0, 1.0, 5.0]) {
            assert!((value - exact).abs() < 1e-14);
        }
        let zero = Tridiagonal { a: &[0.0, 0.0], b: &[0.0] };
        assert!(zero.eigenvalue(1).0.abs() < 1e-20);
    }
}
