//! The spectrum of a small network: Householder's reduction to tridiagonal form, then bisection.

use super::{Mixing, check::Extremes, tridiagonal::Tridiagonal};

/// The ends of the spectrum of I − W on the space orthogonal to the all-ones vector, for two nodes or more.
///
/// All weights are non-negative and the network is connected, so zero is the smallest eigenvalue of I − W and
/// is simple: what is wanted are the second smallest and the largest.
pub(super) fn extremes(w: &Mixing) -> Extremes {
    let n = w.nodes();
    let (a, b) = tridiagonalise(laplacian_matrix(w), n);
    let t = Tridiagonal { a: &a, b: &b };
    // The reduction's backward error: a small multiple of n rounding errors of a matrix of norm 2.
    let error = 2.0 * n as f64 * f64::EPSILON;
    Extremes {
        smallest: t.eigenvalue(1).1.max(0.0),
        smallest_error: error,
        largest: t.eigenvalue(n - 1).1,
        largest_error: error,
    }
}

/// I − W as a full matrix, row after row, with rows that sum to zero.
fn laplacian_matrix(w: &Mixing) -> Vec<f64> {
    let n = w.nodes();
    let mut matrix = vec![0.0; n * n];
    for (i, row) in matrix.chunks_exact_mut(n).enumerate() {
        for (j, weight) in w.row_entries(i).filter(|&(j, _)| j != i) {
            row[j] = -weight;
            row[i] += weight;
        }
    }
    matrix
}

/// Diagonal and off-diagonal of a tridiagonal matrix with the eigenvalues of the symmetric matrix `m`.
///
/// Golub and Van Loan, *Matrix Computations*, algorithm 8.3.1, on the rows and columns above `k`.
fn tridiagonalise(mut m: Vec<f64>, n: usize) -> (Vec<f64>, Vec<f64>) {
    let (mut a, mut b) = (Vec::with_capacity(n), Vec::with_capacity(n));
    let (mut v, mut p) = (vec![0.0; n], vec![0.0; n]);
    for k in 0..n {
        a.push(m[k * n + k]);
        if k + 1 == n {
            break;
        }
        v[k + 1..].copy_from_slice(&m[k * n + k + 1..(k + 1) * n]);
        let v = &mut v[k + 1..];
        let norm = v.iter().map(|x| x * x).sum::<f64>().sqrt();
        if norm == 0.0 {
            b.push(0.0);
            continue;
        }
        // Reflect row k's tail onto its first axis; the sign avoids cancellation.
        let alpha = if v[0] > 0.0 { -norm } else { norm };
        b.push(alpha);
        v[0] -= alpha;
        let scale = v.iter().map(|x| x * x).sum::<f64>().sqrt();
        v.iter_mut().for_each(|x| *x /= scale);
        reflect(&mut m, n, k + 1, v, &mut p[k + 1..]);
    }
    (a, b)
}

/// M ← (I − 2vvᵀ) M (I − 2vvᵀ) on the block of rows and columns from `from`, with a unit vector v.
fn reflect(m: &mut [f64], n: usize, from: usize, v: &[f64], p: &mut [f64]) {
    let rows = m.chunks_exact(n).skip(from);
    for (out, row) in p.iter_mut().zip(rows) {
        *out = 2.0 * row[from..].iter().zip(v).map(|(x, y)| x * y).sum::<f64>();
    }
    let along: f64 = p.iter().zip(v).map(|(x, y)| x * y).sum();
    p.iter_mut().zip(v).for_each(|(x, y)| *x -= along * y);
    for ((row, vi), pi) in m.chunks_exact_mut(n).skip(from).zip(v).zip(&*p) {
        for ((x, vj), pj) in row[from..].iter_mut().zip(v).zip(&*p) {
            *x -= vi * pj + pi * vj;
        }
    }
}
