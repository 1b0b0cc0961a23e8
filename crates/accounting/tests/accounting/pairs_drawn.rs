//! The theorem on noise that cancels, by drawing: own noise and shares, pair by pair, as nodes would draw them; a coalition
//! that subtracts what it knows; and the best test there is on everything it is left with.

use crate::pairs::ring;
use chacha20::ChaCha20Rng;
use prdo_accounting::pairs::{Pairs, Secrets};
use prdo_accounting::{Event, History, numerical};
use rand::{RngExt, SeedableRng};
use std::f64::consts::{FRAC_1_SQRT_2, PI};

const NODES: usize = 6;
/// The probability with which the record takes part in a round.
const RATE: f64 = 0.3;
/// Rounds that a coalition sees; each is a case of one round too.
const ROUNDS: usize = 3;
const SAMPLES: usize = 200_000;
/// 99.99 % of a normal law are within so many deviations.
const DEVIATIONS: f64 = 3.8906;

struct Draws {
    rng: ChaCha20Rng,
    spare: Option<f64>,
}

impl Draws {
    fn new(seed: u64) -> Self {
        Self { rng: ChaCha20Rng::seed_from_u64(seed), spare: None }
    }

    fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let radius = (-2.0 * (1.0 - self.rng.random::<f64>()).ln()).sqrt();
        let (sine, cosine) = (2.0 * PI * self.rng.random::<f64>()).sin_cos();
        self.spare = Some(radius * sine);
        radius * cosine
    }
}

/// A world in which everybody's noise is drawn, and a coalition that looks at node 0.
struct World {
    secrets: Vec<(usize, usize)>,
    pairs: Pairs,
    coalition: Vec<usize>,
    /// Row 0 of Σ_A⁻¹ over the honest nodes, node 0 first.
    weights: Vec<f64>,
}

impl World {
    fn new(secrets: &Secrets, pairs: Pairs, coalition: &[usize]) -> Self {
        let secrets: Vec<_> = secrets.pairs().collect();
        let honest: Vec<usize> = (0..NODES).filter(|i| !coalition.contains(i)).collect();
        let weights = first_row_of_inverse(&covariance(&secrets, &pairs, &honest));
        Self { secrets, pairs, coalition: coalition.to_vec(), weights }
    }

    /// All nodes' answers in one round, and the part of each that the coalition knows. Queries are 0; the record moves
    /// node 0's by 1.
    fn round(&self, draws: &mut Draws, record: bool) -> ([f64; NODES], [f64; NODES]) {
        let mut answers: [f64; NODES] = std::array::from_fn(|_| self.pairs.own() * draws.normal());
        let mut known = [0.0; NODES];
        for &(i, j) in &self.secrets {
            let share = self.pairs.pair() * draws.normal();
            answers[i] += share;
            answers[j] -= share;
            if self.coalition.contains(&i) || self.coalition.contains(&j) {
                known[i] += share;
                known[j] -= share;
            }
        }
        if record && draws.rng.random::<f64>() < RATE {
            answers[0] += 1.0;
        }
        (answers, known)
    }

    /// ln of the ratio of the view's two densities, with the record over without: Neyman and Pearson's best test.
    fn loss(&self, draws: &mut Draws, record: bool) -> f64 {
        let (answers, known) = self.round(draws, record);
        let honest = (0..NODES).filter(|i| !self.coalition.contains(i));
        let score: f64 = honest.zip(&self.weights).map(|(i, w)| w * (answers[i] - known[i])).sum();
        (RATE * (score - 0.5 * self.weights[0]).exp_m1()).ln_1p()
    }
}

/// z_own²·I + z_pair²·L over these nodes.
fn covariance(secrets: &[(usize, usize)], pairs: &Pairs, nodes: &[usize]) -> Vec<Vec<f64>> {
    let (own, shared) = (pairs.own().powi(2), pairs.pair().powi(2));
    let linked = |i: usize, j: usize| secrets.contains(&(i.min(j), i.max(j)));
    let entry = |i: usize, j: usize| match i == j {
        true => own + shared * nodes.iter().filter(|&&k| linked(i, k)).count() as f64,
        false => -shared * f64::from(linked(i, j)),
    };
    nodes.iter().map(|&i| nodes.iter().map(|&j| entry(i, j)).collect()).collect()
}

/// Solves Σx = e₀.
fn first_row_of_inverse(sigma: &[Vec<f64>]) -> Vec<f64> {
    let m = sigma.len();
    let mut rows: Vec<Vec<f64>> = sigma.to_vec();
    rows.iter_mut().enumerate().for_each(|(i, row)| row.push(f64::from(i == 0)));
    for k in 0..m {
        let pivot: Vec<f64> = rows[k].iter().map(|x| x / rows[k][k]).collect();
        for (i, row) in rows.iter_mut().enumerate().filter(|(i, _)| *i != k) {
            let factor = row[k];
            assert!(i < m && factor.is_finite());
            row.iter_mut().zip(&pivot).for_each(|(x, p)| *x -= factor * p);
        }
        rows[k] = pivot;
    }
    rows.iter().map(|row| row[m]).collect()
}

/// An estimate and the half width of its interval.
#[derive(Debug)]
struct Estimate(f64, f64);

impl Estimate {
    /// δ(ε) as the test achieves it: P(loss > ε) − e^ε·Q(loss > ε).
    fn of(with: &[f64], without: &[f64], epsilon: f64) -> Self {
        let share = |losses: &[f64]| {
            let above = losses.iter().filter(|l| **l > epsilon).count() as f64 / losses.len() as f64;
            (above, above * (1.0 - above) / losses.len() as f64)
        };
        let ((p, of_p), (q, of_q)) = (share(with), share(without));
        let factor = epsilon.exp();
        Self(p - factor * q, DEVIATIONS * (of_p + factor * factor * of_q).sqrt())
    }

    fn meets(&self, low: f64, high: f64) -> bool {
        low <= self.0 + self.1 && high >= self.0 - self.1
    }
}

fn bounds(z: f64, rounds: u64, epsilon: f64) -> (f64, f64) {
    let history = History::new().and(Event::sampled_gaussian(RATE, z).unwrap(), rounds);
    let bounds = numerical::delta(&history, epsilon).unwrap();
    (bounds.lower, bounds.upper)
}

/// δ(ε) of one release where the record is added (the law without it comes first), in closed form.
fn added(z: f64, epsilon: f64) -> f64 {
    let edge = ((-epsilon).exp() - (1.0 - RATE)) / RATE;
    if edge <= 0.0 {
        return 0.0;
    }
    let x = z * z * edge.ln() + 0.5;
    let below = |y: f64| 0.5 * libm::erfc(-y * FRAC_1_SQRT_2);
    let with = (1.0 - RATE) * below(x / z) + RATE * below((x - 1.0) / z);
    below(x / z) - epsilon.exp() * with
}

#[test]
fn the_best_test_on_the_joint_view_finds_what_the_accountant_says() {
    let pairs = Pairs::new(0.5, 0.9).unwrap();
    let (circle, all) = (ring(NODES), Secrets::complete(NODES).unwrap());
    let cases: [(&Secrets, &[usize]); 9] = [
        (&circle, &[]),
        (&circle, &[1]),
        (&circle, &[3]),
        (&circle, &[2, 4]),
        (&circle, &[1, 3, 5]),
        (&all, &[]),
        (&all, &[2]),
        (&all, &[2, 5]),
        (&all, &[1, 2, 5]),
    ];
    for (seed, (secrets, coalition)) in (1..).zip(cases) {
        let z = pairs.multiplier(secrets, 0, coalition).unwrap();
        let world = World::new(secrets, pairs, coalition);
        let mut draws = Draws::new(seed);
        let mut losses =
            |record| -> Vec<f64> { (0..SAMPLES * ROUNDS).map(|_| world.loss(&mut draws, record)).collect() };
        let (with, without) = (losses(true), losses(false));
        let text = format!(
            "{} secrets, coalition {coalition:?}, z = {z:.4}",
            if secrets.is_complete() { "all" } else { "ring" }
        );

        // One round, the record removed.
        let removed = Estimate::of(&with, &without, 0.5);
        let (low, high) = bounds(z, 1, 0.5);
        assert!(removed.meets(low, high), "{text}: removed {removed:?}, not {low}");
        assert!(removed.1 < 0.2 * removed.0, "too uncertain: {text}: {removed:?}");
        for wrong in [0.9, 1.1] {
            let (low, high) = bounds(wrong * z, 1, 0.5);
            assert!(!removed.meets(low, high), "blind to z·{wrong}: {text}: {removed:?}, {low}");
        }
        // One round, the record added: the accountant has the larger of the two.
        let flipped = |losses: &[f64]| losses.iter().map(|l| -l).collect::<Vec<_>>();
        let other = Estimate::of(&flipped(&without), &flipped(&with), 0.15);
        let exact = added(z, 0.15);
        assert!(other.meets(exact, exact), "{text}: added {other:?}, not {exact}");
        assert!(exact <= bounds(z, 1, 0.15).1, "{text}");
        // Several rounds, fresh noise in each.
        let sums = |losses: &[f64]| losses.chunks_exact(ROUNDS).map(|l| l.iter().sum()).collect::<Vec<f64>>();
        let composed = Estimate::of(&sums(&with), &sums(&without), 1.0);
        let (low, high) = bounds(z, ROUNDS as u64, 1.0);
        println!("{text}: {removed:?} {other:?} ({exact:.5}) {composed:?} ({high:.5})");
        assert!(composed.meets(low, high), "{text}: composed {composed:?}, not {low}");
    }
}

#[test]
fn drawn_noise_has_the_covariance_that_is_accounted_for() {
    let pairs = Pairs::new(0.4, 1.7).unwrap();
    for (seed, secrets) in (20..).zip([ring(NODES), Secrets::complete(NODES).unwrap()]) {
        let world = World::new(&secrets, pairs, &[]);
        let mut draws = Draws::new(seed);
        let rounds = 100_000;
        let (mut products, mut square_of_sum) = ([[0.0; NODES]; NODES], 0.0);
        for _ in 0..rounds {
            let (answers, _) = world.round(&mut draws, false);
            square_of_sum += answers.iter().sum::<f64>().powi(2);
            for (i, row) in products.iter_mut().enumerate() {
                row.iter_mut().zip(&answers).for_each(|(product, other)| *product += answers[i] * other);
            }
        }
        let expected = covariance(&world.secrets, &pairs, &[0, 1, 2, 3, 4, 5]);
        for i in 0..NODES {
            for j in 0..NODES {
                let found = products[i][j] / f64::from(rounds);
                let variance = expected[i][i] * expected[j][j] + expected[i][j].powi(2);
                let miss = (found - expected[i][j]).abs() / (variance / f64::from(rounds)).sqrt();
                assert!(miss < 4.5, "({i}, {j}): {found}, not {}", expected[i][j]);
            }
        }
        // The mean keeps own noise alone: shares add up to zero.
        let own = square_of_sum / f64::from(rounds) / NODES as f64;
        let miss = (own / pairs.own().powi(2) - 1.0).abs() / (2.0 / f64::from(rounds)).sqrt();
        assert!(miss < 4.5, "{own}");
    }
}
