//! Means, deviations and correlations of synthetic images' features, and the affine map that evens them out.
//!
//! The features of a record are changed by public constants only: no statistic of anybody's records is in them.
//! Sums are in doubles, in one order, with the operations that give the same bits everywhere.

use prdo_kernels::Level;
use prdo_kernels::rank_one::{self, STEP};

/// The least deviation that a channel is divided by, as a share of what channels have on average.
const LEAST_DEVIATION: f64 = 0.3;

#[derive(Clone, Debug)]
pub(crate) struct Moments {
    channels: usize,
    padded: usize,
    count: f64,
    sum: Vec<f64>,
    products: Vec<f64>,
}

impl Moments {
    pub(crate) fn new(channels: usize) -> Self {
        let padded = channels.next_multiple_of(STEP);
        let (sum, products) = (vec![0.0; padded], vec![0.0; padded * padded]);
        Self { channels, padded, count: 0.0, sum, products }
    }

    /// Adds rows of `channels` values, in order.
    pub(crate) fn add(&mut self, rows: &[f32]) {
        const TOGETHER: usize = 64;
        for rows in rows.chunks(TOGETHER * self.channels) {
            let count = rows.len() / self.channels;
            let mut lines = vec![0.0; count * self.padded];
            for (row, line) in rows.chunks_exact(self.channels).zip(lines.chunks_exact_mut(self.padded)) {
                line.iter_mut().zip(row).for_each(|(to, v)| *to = f64::from(*v));
                self.sum.iter_mut().zip(line.iter()).for_each(|(sum, v)| *sum += v);
            }
            rank_one::add(Level::best(), &lines, &lines, self.padded, &mut self.products);
            self.count += count as f64;
        }
    }

    /// Makes features of mean 0 and deviation 1, and undoes (1 − `ridge`-fold) their correlations: the covariance of
    /// the result is R(R + `ridge`·I)⁻¹, in some basis, for the correlations R.
    pub(crate) fn whitening(&self, ridge: f64) -> Whitening {
        let (n, p) = (self.channels, self.padded);
        let mean: Vec<f64> = self.sum[..n].iter().map(|sum| sum / self.count).collect();
        let covariance = |i: usize, j: usize| self.products[i * p + j] / self.count - mean[i] * mean[j];
        // A channel that hardly ever changes in synthetic images may well do so in real ones: it is not blown up.
        let usual = (0..n).map(|i| covariance(i, i).max(0.0)).sum::<f64>() / n as f64;
        let least = (LEAST_DEVIATION * LEAST_DEVIATION * usual).max(1e-12);
        let deviations: Vec<f64> = (0..n).map(|i| covariance(i, i).max(least).sqrt()).collect();
        let mut matrix = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                let own = if i == j { ridge } else { 0.0 };
                matrix[i * n + j] = covariance(i, j) / (deviations[i] * deviations[j]) + own;
            }
        }
        factorise(&mut matrix, n);
        let inverse = inverted(&matrix, n);
        let width = n.next_multiple_of(prdo_kernels::LANES);
        let mut weights = vec![0.0; n * width];
        for i in 0..n {
            for j in 0..=i {
                weights[j * width + i] = (inverse[i * n + j] / deviations[j]) as f32;
            }
        }
        Whitening { width, mean: mean.iter().map(|m| *m as f32).collect(), weights }
    }
}

/// Cholesky's factor, in place, of the lower half of a symmetric matrix. A pivot that rounding made too small counts
/// as small: whitening needs no more than that.
fn factorise(matrix: &mut [f64], n: usize) {
    for j in 0..n {
        for i in j..n {
            let (head, tail) = matrix.split_at(i * n);
            let row_j = if i == j { &tail[..j] } else { &head[j * n..j * n + j] };
            let dot: f64 = tail[..j].iter().zip(row_j).map(|(a, b)| a * b).sum();
            let rest = matrix[i * n + j] - dot;
            matrix[i * n + j] = if i == j { rest.max(1e-9).sqrt() } else { rest / matrix[j * n + j] };
        }
    }
}

fn inverted(lower: &[f64], n: usize) -> Vec<f64> {
    let mut inverse = vec![0.0; n * n];
    for j in 0..n {
        inverse[j * n + j] = 1.0 / lower[j * n + j];
        for i in j + 1..n {
            let dot: f64 = (j..i).map(|k| lower[i * n + k] * inverse[k * n + j]).sum();
            inverse[i * n + j] = -dot / lower[i * n + i];
        }
    }
    inverse
}

/// weightsᵀ(v − mean).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Whitening {
    /// Columns of the weights: the channels, padded to whole vectors.
    pub(crate) width: usize,
    pub(crate) mean: Vec<f32>,
    /// A line for each channel that comes in.
    pub(crate) weights: Vec<f32>,
}

impl Whitening {
    /// One of so many channels that makes everything 0.
    pub(crate) fn blank(channels: usize) -> Self {
        let width = channels.next_multiple_of(prdo_kernels::LANES);
        Self { width, mean: vec![0.0; channels], weights: vec![0.0; channels * width] }
    }

    /// Multiplies every channel that comes out.
    pub(crate) fn weigh(&mut self, loudness: &[f32]) {
        for line in self.weights.chunks_exact_mut(self.width) {
            line.iter_mut().zip(loudness).for_each(|(weight, loudness)| *weight *= loudness);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(map: &Whitening, row: &[f32]) -> Vec<f64> {
        let n = map.mean.len();
        let centred: Vec<f64> = row.iter().zip(&map.mean).map(|(v, m)| f64::from(v - m)).collect();
        (0..n).map(|i| (0..n).map(|j| f64::from(map.weights[j * map.width + i]) * centred[j]).sum()).collect()
    }

    #[test]
    fn whitened_features_have_no_mean_and_no_correlations() {
        let n = 5;
        let base = |r: usize, k: usize| (((r * 31 + k * 17) * 7919 % 1009) as f32 / 1009.0 - 0.5) * 3.0;
        let row = |r: usize| -> Vec<f32> {
            let mut row: Vec<f32> =
                (0..n).map(|k| base(r, k) + 0.8 * base(r, (k + 1) % n) + k as f32).collect();
            row[4] = 2.5;
            row
        };
        let rows: Vec<f32> = (0..4000).flat_map(row).collect();
        let mut moments = Moments::new(n);
        moments.add(&rows);
        let map = moments.whitening(1e-9);
        let white: Vec<Vec<f64>> = rows.chunks_exact(n).map(|row| apply(&map, row)).collect();
        for i in 0..n {
            let mean: f64 = white.iter().map(|w| w[i]).sum::<f64>() / 4000.0;
            assert!(mean.abs() < 1e-4, "{i}: {mean}");
            for j in 0..n {
                let product: f64 = white.iter().map(|w| w[i] * w[j]).sum::<f64>() / 4000.0;
                // The channel that never changes stays 0.
                let expected = if i == j && i < 4 { 1.0 } else { 0.0 };
                assert!((product - expected).abs() < 1e-3, "{i} {j}: {product}");
            }
        }
        let mut louder = map.clone();
        louder.weigh(&[1.0, 2.0, 0.5, 1.0, 1.0]);
        let (before, after) = (apply(&map, &rows[..n]), apply(&louder, &rows[..n]));
        assert_eq!(after, [before[0], 2.0 * before[1], 0.5 * before[2], before[3], before[4]]);
    }
}
