//! Layer 2: statistics of noise and batches, from the gates' answers in many runs.
//!
//! In units of the declared sensitivity, along an axis that nobody pushes along a noisy query is z times a standard
//! normal; along the axis of the other records it is their number in the batch, plus that. (Noise in pairs is made white first, and
//! batches are counted by somebody who knows all shares: [`crate::view`].) Every statistic is brought to
//! mean 0 and variance 1 under the claim; beyond [`LIMIT`] the claim is rejected.

use crate::canary::{COUNT, SIGNAL};
use crate::network::VICTIM;
use crate::setting::{NODES, Setting};
use crate::view::{ADVERSARIES, View};

/// How many standard errors a statistic may be off. One in 5·10⁸ is by chance.
pub const LIMIT: f64 = 6.0;

#[derive(Clone, Debug, Default)]
pub struct Moments {
    /// By (first round, later rounds), then by (victim, others).
    cells: [[Cell; 2]; 2],
    noise: Products,
    batches: Products,
    /// The best tests of each adversary, where noise is in pairs.
    tests: [Powers; ADVERSARIES.len()],
}

/// Sums over answers of one kind.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    noise: Powers,
    others: Powers,
    canary: Powers,
}

/// Sums of powers of deviations from the expected value.
#[derive(Clone, Copy, Debug, Default)]
struct Powers {
    n: f64,
    first: f64,
    second: f64,
    fourth: f64,
}

/// Sums of products that should be uncorrelated, with how many there are (each of variance 1).
#[derive(Clone, Copy, Debug, Default)]
struct Products {
    nodes: (f64, f64),
    rounds: (f64, f64),
    axes: (f64, f64),
}

impl Powers {
    fn add(&mut self, x: f64) {
        let square = x * x;
        self.n += 1.0;
        self.first += x;
        self.second += square;
        self.fourth += square * square;
    }

    fn merge(&mut self, other: &Self) {
        self.n += other.n;
        self.first += other.first;
        self.second += other.second;
        self.fourth += other.fourth;
    }
}

fn product(pair: &mut (f64, f64), sum: f64, count: f64) {
    pair.0 += sum;
    pair.1 += count;
}

impl Moments {
    /// Adds what was seen of one run, in which the canary is or is not.
    pub fn add(&mut self, setting: &Setting, view: &View, canary: bool) {
        let z = setting.own_multiplier();
        for tests in &view.tests {
            for (powers, noise) in self.tests.iter_mut().zip(tests) {
                noise.iter().for_each(|n| powers.add(*n));
            }
        }
        // By node and axis (two silent ones, then batch sizes): the sum over rounds and that of squares.
        let mut over_rounds = [[(0.0, 0.0); 3]; NODES];
        let mut rounds = 0.0;
        for (round, (rows, noise)) in view.own.iter().zip(&view.noise).enumerate() {
            let round = round as u32;
            let rate = setting.rate(round);
            let mut now = [[0.0; 3]; NODES];
            for (node, (row, silent)) in rows.iter().zip(noise).enumerate() {
                let others = setting.slots - usize::from(node == VICTIM);
                let here = usize::from(canary && node == VICTIM);
                let cell = &mut self.cells[usize::from(round > 0)][usize::from(node != VICTIM)];
                silent.iter().for_each(|n| cell.noise.add(*n));
                let more = row[COUNT] - others as f64 * rate;
                cell.others.add(more);
                cell.canary.add(row[SIGNAL] - here as f64 * rate);
                now[node] = [silent[0], silent[1], more / Expected::new(others, rate, z).deviation()];
                product(&mut self.noise.axes, silent[0] * silent[1], 1.0);
            }
            self.between_nodes(&now);
            for (sums, values) in over_rounds.iter_mut().zip(&now) {
                sums.iter_mut().zip(values).for_each(|(s, v)| *s = (s.0 + v, s.1 + v * v));
            }
            rounds += 1.0;
        }
        // Σ over pairs of rounds = ((Σ)² − Σ²)/2.
        let pairs = rounds * (rounds - 1.0) / 2.0;
        for [a, b, batch] in over_rounds {
            let sum = |(s, squares): (f64, f64)| (s * s - squares) / 2.0;
            product(&mut self.noise.rounds, sum(a) + sum(b), 2.0 * pairs);
            product(&mut self.batches.rounds, sum(batch), pairs);
        }
    }

    fn between_nodes(&mut self, now: &[[f64; 3]; NODES]) {
        let pairs = (NODES * (NODES - 1) / 2) as f64;
        let sum = |axis: usize| {
            let (s, squares) = now.iter().fold((0.0, 0.0), |(s, q), v| (s + v[axis], q + v[axis] * v[axis]));
            (s * s - squares) / 2.0
        };
        product(&mut self.noise.nodes, sum(0) + sum(1), 2.0 * pairs);
        product(&mut self.batches.nodes, sum(2), pairs);
    }

    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.cells.iter_mut().flatten().zip(other.cells.iter().flatten()) {
            mine.noise.merge(&theirs.noise);
            mine.others.merge(&theirs.others);
            mine.canary.merge(&theirs.canary);
        }
        self.tests.iter_mut().zip(&other.tests).for_each(|(mine, theirs)| mine.merge(theirs));
        for (mine, theirs) in [(&mut self.noise, &other.noise), (&mut self.batches, &other.batches)] {
            product(&mut mine.nodes, theirs.nodes.0, theirs.nodes.1);
            product(&mut mine.rounds, theirs.rounds.0, theirs.rounds.1);
            product(&mut mine.axes, theirs.axes.0, theirs.axes.1);
        }
    }
}

/// The mean, variance and fourth moment of a number of records in a batch plus noise, under the claim.
struct Expected {
    variance: f64,
    fourth: f64,
}

impl Expected {
    fn new(records: usize, rate: f64, z: f64) -> Self {
        let one = rate * (1.0 - rate);
        let variance = records as f64 * one + z * z;
        Self { variance, fourth: 3.0 * variance * variance + records as f64 * one * (1.0 - 6.0 * one) }
    }

    fn deviation(&self) -> f64 {
        self.variance.sqrt()
    }

    fn mean_score(&self, p: &Powers) -> f64 {
        score(p.first, p.n * self.variance)
    }

    fn variance_score(&self, p: &Powers) -> f64 {
        score(p.second - p.n * self.variance, p.n * (self.fourth - self.variance * self.variance))
    }
}

/// A sum in units of its standard error. What is not a number is infinitely wrong; an empty sum scores 0.
fn score(sum: f64, variance: f64) -> f64 {
    if variance <= 0.0 && sum == 0.0 {
        return 0.0;
    }
    let score = sum / variance.sqrt();
    if score.is_nan() { f64::INFINITY } else { score }
}

/// What each adversary's best test faced in both worlds, over what is claimed, and how many standard errors its square is
/// off 1.
pub fn faced(without: &Moments, with: &Moments) -> [(f64, f64); ADVERSARIES.len()] {
    std::array::from_fn(|k| {
        let mut all = without.tests[k];
        all.merge(&with.tests[k]);
        ((all.second / all.n.max(1.0)).sqrt(), score(all.second - all.n, 2.0 * all.n))
    })
}

#[derive(Clone, Debug)]
pub struct Scores {
    /// (name, what it looks at, worst score).
    pub list: Vec<(&'static str, &'static str, f64)>,
}

pub fn scores(setting: &Setting, without: &Moments, with: &Moments) -> Scores {
    let z = setting.own_multiplier();
    let worst = |scores: &mut dyn Iterator<Item = f64>| {
        scores.fold(0.0_f64, |worst, s| if s.abs() > worst.abs() { s } else { worst })
    };
    let worlds = [(without, 0), (with, 1)];
    let (mut variance, mut mean, mut shape) = (Vec::new(), Vec::new(), Vec::new());
    let (mut batch_mean, mut batch_variance) = (Vec::new(), Vec::new());
    for (moments, canaries) in worlds {
        for (phase, groups) in moments.cells.iter().enumerate() {
            let rate = setting.rate(phase as u32);
            for (group, cell) in groups.iter().enumerate() {
                let n = cell.noise.n;
                variance.push(score(cell.noise.second - n, 2.0 * n));
                mean.push(score(cell.noise.first, n));
                shape.push(score(cell.noise.fourth - 3.0 * n, 96.0 * n));
                let (others, here) =
                    if group == 0 { (setting.slots - 1, canaries) } else { (setting.slots, 0) };
                for (records, powers) in [(others, &cell.others), (here, &cell.canary)] {
                    let expected = Expected::new(records, rate, z);
                    batch_mean.push(expected.mean_score(powers));
                    batch_variance.push(expected.variance_score(powers));
                }
            }
        }
        // All nodes and rounds together: the most samples.
        let mut all = Powers::default();
        moments.cells.iter().flatten().for_each(|cell| all.merge(&cell.noise));
        variance.push(score(all.second - all.n, 2.0 * all.n));
    }
    let between = |phase: usize| {
        let (a, b) = (&without.cells[phase][0].noise, &with.cells[phase][0].noise);
        score(b.second / b.n.max(1.0) - a.second / a.n.max(1.0), 2.0 / a.n.max(1.0) + 2.0 / b.n.max(1.0))
    };
    let pair = |which: &dyn Fn(&Moments) -> (f64, f64)| {
        worst(&mut worlds.iter().map(|(moments, _)| {
            let (sum, count) = which(moments);
            score(sum, count)
        }))
    };
    let list = vec![
        ("noise-variance", "variance of the noise, against the claim", worst(&mut variance.into_iter())),
        ("noise-mean", "mean of the noise", worst(&mut mean.into_iter())),
        ("noise-shape", "fourth moment of the noise", worst(&mut shape.into_iter())),
        (
            "noise-canary",
            "variance of the noise with the record, against without",
            worst(&mut (0..2).map(between)),
        ),
        ("noise-nodes", "correlation of the noise between nodes", pair(&|m| m.noise.nodes)),
        ("noise-rounds", "correlation of the noise between rounds", pair(&|m| m.noise.rounds)),
        ("noise-axes", "correlation of the noise between coordinates", pair(&|m| m.noise.axes)),
        ("batch-mean", "mean number of records in a batch", worst(&mut batch_mean.into_iter())),
        (
            "batch-variance",
            "variance of the number of records in a batch",
            worst(&mut batch_variance.into_iter()),
        ),
        ("batch-nodes", "correlation of batches between nodes", pair(&|m| m.batches.nodes)),
        ("batch-rounds", "correlation of batches between rounds", pair(&|m| m.batches.rounds)),
    ];
    Scores { list }
}
