//! The eigenvectors of a small mixing matrix and the network energy in their coordinates.

use prdo::algorithm::graph::Mixing;
use prdo::theory::energy::{Mode, Products};

/// An eigenvector of W that is orthogonal to the all-ones vector.
pub struct Direction {
    pub eigenvalue: f64,
    pub vector: Vec<f64>,
    /// The energy's matrices; `None` where z is zero, for such modes have no energy.
    pub mode: Option<Mode>,
}

impl Direction {
    /// uᵀA for a matrix of n rows.
    pub fn project(&self, rows: &[Vec<f64>]) -> Vec<f64> {
        let mut sum = vec![0.0; rows.first().map_or(0, Vec::len)];
        for (u, row) in self.vector.iter().zip(rows) {
            sum.iter_mut().zip(row).for_each(|(s, v)| *s += u * v);
        }
        sum
    }

    /// The energy of this mode with model row p = uᵀX and correction row s = uᵀS.
    pub fn energy(&self, p: &[f64], s: &[f64]) -> f64 {
        let Some(mode) = &self.mode else { return 0.0 };
        let scale = mode.correction_scale();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let products = Products { pp: dot(p, p), pq: dot(p, s) / scale, qq: dot(s, s) / (scale * scale) };
        mode.energy(&products)
    }
}

/// Eigenvalues below this are those of the zero modes, up to rounding.
const ZERO: f64 = 1e-9;

pub fn disagreement(mixing: &Mixing) -> Vec<Direction> {
    let n = mixing.nodes();
    let dense = (0..n).map(|i| (0..n).map(|j| mixing.weight(i, j)).collect()).collect();
    let mut pairs = eigen(dense);
    // Largest first: that is the consensus mode, eigenvalue one.
    pairs.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mode = |z: f64| if z > ZERO { Mode::new(z).ok() } else { None };
    pairs
        .into_iter()
        .skip(1)
        .map(|(eigenvalue, vector)| Direction { eigenvalue, vector, mode: mode(eigenvalue) })
        .collect()
}

/// Eigenvalues and eigenvectors of a small symmetric matrix, by Jacobi's rotations.
fn eigen(mut a: Vec<Vec<f64>>) -> Vec<(f64, Vec<f64>)> {
    let n = a.len();
    // Row k of `v` becomes the k-th eigenvector.
    let mut v: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| f64::from(i == j)).collect()).collect();
    for _ in 0..60 {
        let off: f64 = (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| a[i][j].powi(2)).sum();
        if off < 1e-34 {
            break;
        }
        for q in 1..n {
            for p in 0..q {
                rotate(&mut a, &mut v, p, q);
            }
        }
    }
    v.into_iter().enumerate().map(|(k, vector)| (a[k][k], vector)).collect()
}

/// Turns coordinates p and q so that a[p][q] becomes zero.
fn rotate(a: &mut [Vec<f64>], v: &mut [Vec<f64>], p: usize, q: usize) {
    if a[p][q] == 0.0 {
        return;
    }
    let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
    let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let c = 1.0 / (t * t + 1.0).sqrt();
    let s = t * c;
    let turn = |x: f64, y: f64| (c * x - s * y, s * x + c * y);
    for row in a.iter_mut() {
        (row[p], row[q]) = turn(row[p], row[q]);
    }
    for k in 0..v.len() {
        (a[p][k], a[q][k]) = turn(a[p][k], a[q][k]);
        (v[p][k], v[q][k]) = turn(v[p][k], v[q][k]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prdo::prelude::*;

    #[test]
    fn eigenvectors_of_the_ring_and_the_torus() {
        let ring = Mixing::new(&Graph::ring(8).unwrap(), Weights::Paper, false).unwrap();
        let torus = Mixing::new(&Graph::torus(3, 3).unwrap(), Weights::Metropolis, true).unwrap();
        for mixing in [&ring, &torus] {
            let modes = disagreement(mixing);
            assert_eq!(modes.len(), mixing.nodes() - 1);
            let lambda = mixing.check(false).unwrap().lambda;
            assert!((modes[0].eigenvalue - lambda).abs() < 1e-12);
            for (k, mode) in modes.iter().enumerate() {
                let u = &mode.vector;
                assert!(u.iter().sum::<f64>().abs() < 1e-12, "orthogonal to consensus");
                for i in 0..u.len() {
                    let image: f64 = mixing.row_entries(i).map(|(j, w)| w * u[j]).sum();
                    assert!((image - mode.eigenvalue * u[i]).abs() < 1e-12);
                }
                for (l, other) in modes.iter().enumerate() {
                    let dot: f64 = u.iter().zip(&other.vector).map(|(a, b)| a * b).sum();
                    assert!((dot - f64::from(k == l)).abs() < 1e-12);
                }
            }
        }
        // The lazy ring of even size has one mode that mixing removes at once.
        assert_eq!(disagreement(&ring).iter().filter(|mode| mode.mode.is_none()).count(), 1);
    }
}
