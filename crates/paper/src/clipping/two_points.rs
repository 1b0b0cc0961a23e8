//! Records at two points, for which clipping's fixed point and its distance from the minimiser have closed forms.
//!
//! ```text
//! ℓ(x; c) = ½(x − c)²;  a share p of the records has c = M, the rest c = 0
//! mean clip_C(x − c) = −pC + (1−p)x = 0   ⇔   x = pC/(1−p)      where x ≤ C < M − x
//! minimiser pM,  spread σ² = p(1−p)M²
//! ```
//!
//! A record's gradient is x − c, so those at M pull by C and no more. At a given σ the distance pM − pC/(1−p) is, with
//! u = √(p/(1−p)), σu − Cu²: largest for u = σ/(2C), where it is σ²/(4C), as long as that p is allowed, else about σu.

use prdo::error::RunError;
use prdo::prelude::*;

/// The largest share of records far away. With half of them there every x from C to M − C would be a fixed point.
const LARGEST_SHARE: f64 = 0.4;

#[derive(Clone, Debug)]
pub struct TwoPoints {
    /// M.
    pub far: f64,
    /// Records of each node, and how many of them are at M.
    records: usize,
    counts: Vec<usize>,
}

impl TwoPoints {
    /// `far_records` of all records at `far`, spread evenly over the nodes.
    pub fn even((nodes, records): (usize, usize), far_records: usize, far: f64) -> Self {
        let count = |node: usize| far_records / nodes + usize::from(node < far_records % nodes);
        Self { far, records, counts: (0..nodes).map(count).collect() }
    }

    /// The same, gathered at as few nodes as hold them.
    pub fn gathered((nodes, records): (usize, usize), far_records: usize, far: f64) -> Self {
        let count = |node: usize| far_records.saturating_sub(node * records).min(records);
        Self { far, records, counts: (0..nodes).map(count).collect() }
    }

    /// Of those with spread σ = 1 the one whose fixed point under `threshold` is farthest from its minimiser.
    pub fn worst((nodes, records): (usize, usize), threshold: f64) -> Self {
        let u = 0.5 / threshold;
        let share = (u * u / (1.0 + u * u)).min(LARGEST_SHARE);
        let all = (nodes * records) as f64;
        let count = (share * all).round().max(1.0);
        let share = count / all;
        Self::even((nodes, records), count as usize, 1.0 / (share * (1.0 - share)).sqrt())
    }

    /// p.
    pub fn share(&self) -> f64 {
        self.counts.iter().sum::<usize>() as f64 / (self.records * self.counts.len()) as f64
    }

    /// pM.
    pub fn minimiser(&self) -> f64 {
        self.share() * self.far
    }

    pub fn tables(&self) -> Result<Vec<Table>, RunError> {
        let table = |count: &usize| {
            let centres = (0..self.records).map(|r| if r < *count { self.far } else { 0.0 }).collect();
            Ok(Table::new(1, centres, vec![0.0; self.records])?)
        };
        self.counts.iter().map(table).collect()
    }

    /// Where the mean of all clipped gradients is 0: where every exact method stops, wherever the records are.
    pub fn fixed_point(&self, threshold: f64) -> f64 {
        let p = self.share();
        if (1.0 - p) * self.far <= threshold { p * self.far } else { p * threshold / (1.0 - p) }
    }

    /// Where the nodes of D-SGD stop, averaged: the solution of (I − W)x + αW(Dx − Cp) = 0 with D = diag(1 − p_i), a node's
    /// share being p_i. `None` if some node's records are not clipped as this supposes.
    pub fn gossip_fixed_point(&self, mixing: &Mixing, step: f64, threshold: f64) -> Option<f64> {
        let nodes = self.counts.len();
        let share: Vec<f64> = self.counts.iter().map(|count| *count as f64 / self.records as f64).collect();
        let row = |i: usize| {
            let unit = |j: usize| f64::from(u8::from(i == j));
            let matrix = |j: usize| unit(j) - mixing.weight(i, j) * (1.0 - step * (1.0 - share[j]));
            let pull: f64 = (0..nodes).map(|j| step * threshold * mixing.weight(i, j) * share[j]).sum();
            (0..nodes).map(matrix).chain([pull]).collect()
        };
        let x = solve((0..nodes).map(row).collect());
        let clipped_so = |x: &f64| x.abs() <= threshold && self.far - x > threshold;
        x.iter().all(clipped_so).then(|| x.iter().sum::<f64>() / nodes as f64)
    }
}

/// The solution of a linear system, each row with its right-hand side last; by elimination with pivots.
fn solve(mut rows: Vec<Vec<f64>>) -> Vec<f64> {
    let n = rows.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|a, b| rows[*a][k].abs().total_cmp(&rows[*b][k].abs())).unwrap_or(k);
        rows.swap(k, pivot);
        let from = rows[k].clone();
        for row in rows.iter_mut().skip(k + 1) {
            let factor = row[k] / from[k];
            row.iter_mut().zip(&from).skip(k).for_each(|(a, b)| *a -= factor * b);
        }
    }
    let mut x = vec![0.0; n];
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| rows[k][j] * x[j]).sum();
        x[k] = (rows[k][n] - known) / rows[k][k];
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_share_is_as_bad_as_the_formula_says() {
        let size = (8, 100_000);
        for threshold in [0.7_f64, 1.0, 2.0, 10.0] {
            let worst = TwoPoints::worst(size, threshold);
            let distance = worst.minimiser() - worst.fixed_point(threshold);
            assert!((distance * 4.0 * threshold - 1.0).abs() < 1e-3, "{threshold}: {distance}");
            // No other share at this spread does worse.
            for count in [1, 10, 1000, 100_000, 300_000] {
                let p = count as f64 / 800_000.0;
                let other = TwoPoints::even(size, count, 1.0 / (p * (1.0 - p)).sqrt());
                assert!(other.minimiser() - other.fixed_point(threshold) <= distance * (1.0 + 1e-6));
            }
        }
    }

    #[test]
    fn systems_are_solved_and_placements_hold_all_records() {
        let x = solve(vec![vec![0.0, 2.0, 6.0], vec![4.0, 1.0, 7.0]]);
        assert_eq!(x, [1.0, 3.0]);
        for law in [TwoPoints::even((8, 40), 32, 10.0), TwoPoints::gathered((8, 40), 32, 10.0)] {
            assert!((law.share() - 0.1).abs() < 1e-15 && (law.minimiser() - 1.0).abs() < 1e-15);
            let far = |table: &Table| table.features().iter().filter(|c| **c == 10.0).count();
            assert_eq!(law.tables().unwrap().iter().map(far).sum::<usize>(), 32);
        }
        assert_eq!(TwoPoints::gathered((8, 40), 50, 10.0).counts[..3], [40, 10, 0]);
    }

    #[test]
    fn without_heterogeneity_gossip_stops_where_all_stop() {
        let ring = Mixing::new(&Graph::ring(8).unwrap(), Weights::Paper, false).unwrap();
        let even = TwoPoints::even((8, 40), 32, 10.0);
        let x = even.gossip_fixed_point(&ring, 0.2, 0.5).unwrap();
        assert!((x - even.fixed_point(0.5)).abs() < 1e-14);
        let gathered = TwoPoints::gathered((8, 40), 32, 10.0);
        assert!((gathered.gossip_fixed_point(&ring, 0.2, 0.5).unwrap() - x).abs() > 1e-3);
        assert_eq!(gathered.gossip_fixed_point(&ring, 0.2, 20.0), None);
    }
}
