//! Many canaries in one run of real size.
//!
//! The battery needs tens of thousands of runs, so its models are small. Here there is one run, of a model as large as
//! real ones are, and a thousand canaries in it, each there or not by the toss of a coin. Every canary pushes along
//! coordinates of its own; how far the answers moved along them says which ones were there. How many of the
//! guesses are right bounds ε from below (Steinke, Nasr, Jagielski, "Privacy auditing with one (1) training run", 2023,
//! Theorem 5.2): if the run is (ε, δ)-private and r guesses are made about m canaries, at least v of them are right with
//! probability at most
//!
//! ```text
//! f(v) + 2mδ · max over i ≥ 1 of (f(v − i) − f(v))/i,   f(v) = P[Binomial(r, e^ε/(1 + e^ε)) ≥ v]
//! ```
//!
//! This is weaker than the battery, for it uses one run and pays for δ with m, but the model is as large as the real one.

use crate::canary::{CurrentPoint, beyond};
use crate::error::AuditError;
use crate::likelihood::{log_ratio, mixed};
use crate::network::{Network, Transcript, VICTIM};
use crate::setting::Setting;
use crate::statistics::{binomial_below, bisect};
use crate::subject::Subject;
use crate::view::Viewer;
use prdo_accounting::Bounds;
use prdo_privacy::{Model, Purpose, Secret, Start};
use rand::Rng;
use std::sync::Arc;

/// The probability with which the bound may be wrong, all numbers of guesses together. Far smaller ones are out of reach,
/// for the bound pays 2mδ for δ.
pub const FAILURE: f64 = 0.05;
/// How many of the canaries are guessed at: the surest of these shares of all.
const SHARES: [f64; 5] = [0.02, 0.05, 0.1, 0.2, 0.5];

#[derive(Clone, Debug)]
pub struct OneRun {
    /// The method and its privacy settings; slots and batches are scaled to the canaries.
    pub setting: Setting,
    pub dimension: usize,
    pub canaries: usize,
    /// Everything that is drawn follows from it.
    pub seed: u64,
}

#[derive(Clone, Debug)]
pub struct Proof {
    pub dimension: usize,
    pub canaries: usize,
    /// Guesses that were made, in the best choice of their number, and how many were right.
    pub guesses: (u64, u64),
    /// The bound, with confidence 1 − [`FAILURE`].
    pub epsilon: f64,
    pub claimed: Bounds,
    pub rounds: u32,
    /// Mean scores of canaries that were not there and that were: what separates them.
    pub means: (f64, f64),
}

/// The canaries' model. Canary i pushes along coordinates i, i + m, i + 2m and so on, with signs from a hash.
struct CanariesModel {
    dimension: usize,
    canaries: usize,
    length: f64,
    current: CurrentPoint,
}

impl CanariesModel {
    fn sign(j: usize) -> f64 {
        // The top bit of a multiplicative hash: signs without a pattern that matters.
        let hash = (j as u64 ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        if hash >> 63 == 0 { 1.0 } else { -1.0 }
    }

    fn coordinates(&self, canary: usize) -> impl Iterator<Item = usize> + use<> {
        (canary..self.dimension).step_by(self.canaries)
    }
}

impl Model for CanariesModel {
    type Data = Vec<u32>;

    fn dimension(&self) -> usize {
        self.dimension
    }

    fn loss(&self, _: &[f64], _: &Vec<u32>, _: usize) -> f64 {
        0.0
    }

    fn gradient(&self, x: &[f64], data: &Vec<u32>, record: usize, gradient: &mut [f64]) {
        let level = self.current.level(x);
        let Some(canary) = data.get(record) else { return };
        for j in self.coordinates(*canary as usize) {
            if let Some(g) = gradient.get_mut(j) {
                *g = self.length * level * Self::sign(j);
            }
        }
    }
}

impl OneRun {
    pub fn run<S: Subject>(&self, subject: &S) -> Result<Proof, AuditError> {
        if self.canaries == 0 || self.dimension < self.canaries {
            let why = format!("{} canaries need as many coordinates, not {}", self.canaries, self.dimension);
            return Err(AuditError::Setting { what: "canaries", why });
        }
        let scaled = |b: usize| (b * self.canaries).div_ceil(self.setting.slots).clamp(1, self.canaries);
        let batches = (scaled(self.setting.batches.0), scaled(self.setting.batches.1));
        let setting = Setting { slots: self.canaries, batches, ..self.setting.clone() };
        let there = self.tosses();
        let queries = self.play(subject, &setting, &there)?;
        let mut scores: Vec<(f64, bool)> = queries.into_iter().zip(there).collect();
        let mean = |which: bool| {
            let of: Vec<f64> = scores.iter().filter(|(_, t)| *t == which).map(|(s, _)| *s).collect();
            of.iter().sum::<f64>() / of.len().max(1) as f64
        };
        let means = (mean(false), mean(true));
        scores.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (epsilon, guesses) = self.best(&setting, &scores);
        let (dimension, canaries, rounds) = (self.dimension, self.canaries, setting.rounds);
        Ok(Proof { dimension, canaries, guesses, epsilon, claimed: setting.claimed()?, rounds, means })
    }

    fn tosses(&self) -> Vec<bool> {
        let mut stream = Secret::from_seed(mixed(self.seed, 1)).stream(Purpose::Data, 0, 0);
        (0..self.canaries).map(|_| stream.next_u32() & 1 == 1).collect()
    }

    /// The run, and each canary's log-likelihood ratio.
    fn play<S: Subject>(
        &self,
        subject: &S,
        setting: &Setting,
        there: &[bool],
    ) -> Result<Vec<f64>, AuditError> {
        let network = Network::new(subject, setting)?;
        let model = Arc::new(CanariesModel {
            dimension: self.dimension,
            canaries: self.canaries,
            length: beyond(self.setting.clip.gradient().max(self.setting.clip.difference())),
            current: CurrentPoint::default(),
        });
        let secret = Arc::new(Secret::from_seed(mixed(self.seed, 2)));
        let here: Vec<u32> = (0..).zip(there).filter(|(_, there)| **there).map(|(i, _)| i).collect();
        let mut gates = Vec::new();
        for node in 0..crate::setting::NODES {
            let records = if node == VICTIM { here.clone() } else { Vec::new() };
            gates.push(network.gate(node, &model, records, &secret)?);
        }
        let mut at = |node: usize, round: u32, point: &[f64]| {
            if node == VICTIM {
                model.current.set(round, point);
            }
        };
        let transcript = network.drive(&mut gates, &Start::zeros(self.dimension), &mut at)?;
        drop(gates);
        let moved = self.moved(&self.seen(setting, &secret, transcript)?);
        Ok(moved.iter().map(|rounds| log_ratio(setting, rounds)).collect())
    }

    /// By round: the victim's answer, as those see it against whom ε is claimed.
    fn seen(
        &self,
        setting: &Setting,
        secret: &Secret,
        transcript: Transcript,
    ) -> Result<Vec<Vec<f64>>, AuditError> {
        let viewer = Viewer::new(setting)?;
        let rounds = transcript.answers.into_iter();
        let Some(test) = viewer.agreed() else {
            return Ok(rounds.map(|mut answers| answers.swap_remove(VICTIM)).collect());
        };
        let shares = viewer.shares(secret, self.dimension);
        Ok(rounds.zip(shares).map(|(answers, shares)| test.of(&answers, &shares)).collect())
    }

    /// By canary and round: how far the victim's query moved along the canary's coordinates, in units of the sensitivity.
    fn moved(&self, seen: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let m = self.canaries;
        let mut sums = vec![vec![0.0; seen.len()]; m];
        for (round, answer) in seen.iter().enumerate() {
            for (j, value) in answer.iter().enumerate() {
                sums[j % m][round] += CanariesModel::sign(j) * value;
            }
        }
        for (canary, rounds) in sums.iter_mut().enumerate() {
            let own = (self.dimension - canary).div_ceil(m) as f64;
            rounds.iter_mut().for_each(|value| *value /= own.sqrt());
        }
        sums
    }

    /// The best bound over how many are guessed at; `scores` ascend.
    fn best(&self, setting: &Setting, scores: &[(f64, bool)]) -> (f64, (u64, u64)) {
        let m = scores.len();
        let mut best = (0.0, (0, 0));
        for share in SHARES {
            // As many "there" as "not there", the surest of each.
            let each = ((share * m as f64 / 2.0).round() as usize).clamp(1, (m / 2).max(1));
            let wrong_low = scores.iter().take(each).filter(|(_, there)| *there).count();
            let wrong_high = scores.iter().rev().take(each).filter(|(_, there)| !*there).count();
            let (r, v) = (2 * each as u64, (2 * each - wrong_low - wrong_high) as u64);
            let epsilon = bound(m as u64, r, v, setting.delta, FAILURE / SHARES.len() as f64);
            if epsilon > best.0 || best.1.0 == 0 {
                best = (epsilon, (r, v));
            }
        }
        best
    }
}

/// The largest ε that `v` right guesses of `r` about `m` canaries rule out; 0 if none.
pub fn bound(m: u64, r: u64, v: u64, delta: f64, failure: f64) -> f64 {
    let ruled_out = |epsilon: f64| chance(m, r, v, epsilon, delta) < failure;
    if !ruled_out(0.0) {
        return 0.0;
    }
    let above = bisect(0.0, 50.0, ruled_out);
    // From below: the last ε that is surely ruled out.
    (above - 1e-9).max(0.0)
}

/// How probable `v` or more right guesses are at most, if the run is (ε, δ)-private.
fn chance(m: u64, r: u64, v: u64, epsilon: f64, delta: f64) -> f64 {
    let p = 1.0 / (1.0 + libm::exp(-epsilon));
    // f(v) = P[X ≥ v], and P[v − i ≤ X < v] for the term with δ.
    let at_least = |v: u64| if v == 0 { 1.0 } else { 1.0 - binomial_below(v - 1, r, p) };
    let tail = at_least(v);
    let mut steepest = 0.0_f64;
    for i in 1..=v {
        steepest = steepest.max((at_least(v - i) - tail) / i as f64);
    }
    tail + 2.0 * m as f64 * delta * steepest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject::Shipped;
    use prdo_algorithm::Method;

    #[test]
    fn the_bound_is_that_of_the_binomial_where_delta_is_zero() {
        // 100 of 100: e^ε/(1+e^ε) to the hundredth = failure.
        let p = f64::powf(1e-3, 0.01);
        assert!((bound(100, 100, 100, 0.0, 1e-3) - (p / (1.0 - p)).ln()).abs() < 1e-6);
        assert_eq!(bound(100, 100, 50, 0.0, 1e-3), 0.0);
        assert!(bound(1000, 100, 95, 1e-5, 1e-3) < bound(1000, 100, 95, 0.0, 1e-3));
    }

    #[test]
    fn a_run_of_honest_code_gives_less_than_the_claim_and_more_than_nothing() {
        for method in [Method::Prdo, Method::Mt] {
            let setting = Setting::every_record(method).unwrap();
            let run = OneRun { setting, dimension: 3001, canaries: 500, seed: 3 };
            let proof = run.run(&Shipped).unwrap();
            assert!(proof.epsilon > 0.3 && proof.epsilon < proof.claimed.upper, "{method}: {proof:?}");
        }
    }
}
