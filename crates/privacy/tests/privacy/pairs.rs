//! Noise that cancels between nodes, at the gate.

use prdo_accounting::pairs::{Pairs, Secrets, choose};
use prdo_accounting::{Accountant, Target};
use prdo_privacy::*;
use std::sync::Arc;

const D: usize = 700;
const BATCH: usize = 4;
const CLIP: f64 = 2.0;

/// Gradients of zero: answers are noise alone.
struct Silent(usize);

impl Model for Silent {
    type Data = Vec<u8>;
    fn dimension(&self) -> usize {
        self.0
    }
    fn loss(&self, _: &[f64], _: &Vec<u8>, _: usize) -> f64 {
        0.0
    }
    fn gradient(&self, _: &[f64], _: &Vec<u8>, _: usize, gradient: &mut [f64]) {
        gradient.fill(0.0);
    }
}

fn gate(node: u32, d: usize, z: f64, seed: u64) -> Gate<Silent, Noised> {
    let ledger = Ledger::new(Arc::new(Accountant::default()), Target::new(1e9, 1e-5).unwrap());
    let clip = Clip::new(CLIP, 0.1).unwrap();
    let rules = PrivateRules { batches: Batches::new(BATCH, BATCH), clip, noise_multiplier: z, ledger };
    let shard = Shard::seal_in_slots(vec![0; 3], 8).unwrap();
    Gate::private(node, Arc::new(Silent(d)), shard, Arc::new(Secret::from_seed(seed)), rules).unwrap()
}

fn ring(nodes: usize) -> Secrets {
    Secrets::between(nodes, (0..nodes).map(|i| (i, (i + 1) % nodes))).unwrap()
}

/// A gate per node, with shares from one seed; the gates' own noise has another.
fn gates(mechanism: &Arc<PairMechanism>, d: usize, z: f64) -> Vec<Gate<Silent, Noised>> {
    let secret = Secret::from_seed(7);
    let with = |node: u32| {
        let shares = NodeShares::simulated(Arc::clone(mechanism), node, &secret).unwrap();
        gate(node, d, z, 3).with_shares(shares).unwrap()
    };
    (0..mechanism.secrets().nodes() as u32).map(with).collect()
}

/// The noise has the covariance of the theorem: own² + pair²·(Laplacian of the secrets), in units of S/b.
#[test]
fn noise_of_all_nodes_has_the_covariance_of_the_theorem() {
    for secrets in [Secrets::complete(4).unwrap(), ring(5)] {
        let n = secrets.nodes();
        let (own, pair) = (0.6, 1.3);
        let mechanism = PairMechanism::new(Pairs::new(own, pair).unwrap(), secrets.clone(), 1).unwrap();
        let mechanism = Arc::new(mechanism);
        let mut gates = gates(&mechanism, D, mechanism.multiplier());
        let x = Released::zeros(D);
        let (rounds, unit) = (150, CLIP / BATCH as f64);
        let mut sums = vec![vec![0.0; n]; n];
        for round in 0..rounds {
            let answers: Vec<Released<Noised>> =
                gates.iter_mut().map(|g| g.answer(round, &Query::gradient(&x)).unwrap().released).collect();
            for (i, a) in answers.iter().enumerate() {
                for (j, b) in answers.iter().enumerate() {
                    let products = a.as_slice().iter().zip(b.as_slice()).map(|(a, b)| a * b);
                    sums[i][j] += products.sum::<f64>() / (unit * unit);
                }
            }
        }
        let count = f64::from(rounds) * D as f64;
        let linked = |i: usize, j: usize| secrets.pairs().any(|pair| pair == (i.min(j), i.max(j)));
        for (i, row) in sums.iter().enumerate() {
            for (j, sum) in row.iter().enumerate() {
                let expected = match i == j {
                    true => own * own + pair * pair * secrets.degree(i) as f64,
                    false if linked(i, j) => -pair * pair,
                    false => 0.0,
                };
                let variance = own * own + pair * pair * secrets.degree(i) as f64;
                let error = 6.0 * variance * (2.0 / count).sqrt();
                let found = sum / count;
                assert!((found - expected).abs() < error, "{i} {j}: {found} for {expected} ± {error}");
            }
        }
    }
}

/// In the sum over all nodes there is own noise alone, but for half a step of the grid per node.
#[test]
fn shares_cancel_in_the_sum_of_all_answers() {
    // More coordinates than one part of a stream.
    let d = 40_000;
    let choice = choose(1.5, &Secrets::complete(3).unwrap(), 1, 10.0).unwrap();
    let (own, n) = (choice.pairs.own(), 3);
    let mechanism = Arc::new(PairMechanism::new(choice.pairs, Secrets::complete(n).unwrap(), 1).unwrap());
    let mut paired = gates(&mechanism, d, 1.5);
    let mut alone: Vec<_> = (0..n as u32).map(|node| gate(node, d, own, 3)).collect();
    let x = Released::zeros(d);
    for round in [0, 1, 5] {
        let sum = |gates: &mut [Gate<Silent, Noised>]| {
            let mut sum = vec![0.0; d];
            for gate in gates {
                let answer = gate.answer(round, &Query::gradient(&x)).unwrap().released;
                sum.iter_mut().zip(answer.as_slice()).for_each(|(s, v)| *s += v);
            }
            sum
        };
        let (with, without) = (sum(&mut paired), sum(&mut alone));
        // The sensitivity has half a step of the grid per √coordinate in it, which differs with z: 1e-7 of the noise.
        for (a, b) in with.iter().zip(&without) {
            assert!((a - b).abs() < 1e-6, "{a} {b}");
        }
    }
    // A single answer is much noisier.
    let answer = paired[0].answer(9, &Query::gradient(&x)).unwrap().released;
    let variance =
        answer.as_slice().iter().map(|v| v * v).sum::<f64>() / d as f64 / (CLIP / BATCH as f64).powi(2);
    let expected = own * own + 2.0 * choice.pairs.pair().powi(2);
    assert!((variance / expected - 1.0).abs() < 0.05, "{variance} for {expected}");
}

#[test]
fn the_charge_is_the_multiplier_that_own_noise_and_shares_are_worth() {
    let secrets = Secrets::complete(4).unwrap();
    let choice = choose(1.5, &secrets, 1, 3.0).unwrap();
    let mechanism = Arc::new(PairMechanism::new(choice.pairs, secrets.clone(), 1).unwrap());
    let mut charged = gates(&mechanism, 3, 1.5).remove(0);
    let mut independent = gate(0, 3, 1.5, 3);
    let x = Released::zeros(3);
    charged.answer(0, &Query::gradient(&x)).unwrap();
    independent.answer(0, &Query::gradient(&x)).unwrap();
    assert_eq!(charged.epsilon_spent(), independent.epsilon_spent());

    // More than they are worth is refused, as against a larger coalition.
    let shares = |mechanism: PairMechanism, node| {
        NodeShares::simulated(Arc::new(mechanism), node, &Secret::from_seed(1)).unwrap()
    };
    let against_two = || PairMechanism::new(choice.pairs, secrets.clone(), 2).unwrap();
    let refused = gate(0, 3, 1.5, 3).with_shares(shares(against_two(), 0));
    assert!(matches!(refused.map(|_| ()), Err(GateError::SharesWorth { declared: 1.5, .. })));
    let refused = gate(0, 3, 1.5, 3).with_shares(shares((*mechanism).clone(), 1));
    assert!(matches!(refused.map(|_| ()), Err(GateError::SharesOfAnother { shares: 1, gate: 0 })));
}

#[test]
fn what_would_not_cancel_is_refused_before_anything_is_charged() {
    let secrets = Secrets::complete(3).unwrap();
    let choice = choose(1.5, &secrets, 1, 3.0).unwrap();
    let mechanism = Arc::new(PairMechanism::new(choice.pairs, secrets, 1).unwrap());
    let mut gate = gates(&mechanism, 2, 1.5).remove(0);
    let (x, y) = (Released::zeros(2), Released::start(&Start::ones(2)));
    let refused = gate.answer(0, &Query::moved(&x, &y, 1.0));
    assert!(matches!(refused.map(|_| ()), Err(GateError::SharesUnequal)));
    assert_eq!(gate.ledger().releases(), 0);
    // A checkpoint moves the shares on, and never back.
    let mut later = gates(&mechanism, 2, 1.5).remove(0);
    gate.answer(1, &Query::gradient(&x)).unwrap();
    let history = gate.charged().unwrap();
    later.restore(1, &history).unwrap();
    let (here, there) =
        (gate.answer(4, &Query::gradient(&x)).unwrap(), later.answer(4, &Query::gradient(&x)).unwrap());
    assert_eq!(here.released, there.released);
}

/// Both ends of a pair, and any number of threads, draw the same bits.
#[test]
fn the_same_bits_for_any_number_of_threads() {
    let d = 50_000;
    let secrets = Secrets::complete(3).unwrap();
    let choice = choose(1.5, &secrets, 1, 3.0).unwrap();
    let mechanism = Arc::new(PairMechanism::new(choice.pairs, secrets, 1).unwrap());
    let x = Released::zeros(d);
    let answer = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut gate = gates(&mechanism, d, 1.5).remove(1);
        pool.install(|| gate.answer(2, &Query::gradient(&x)).unwrap().released)
    };
    assert_eq!(answer(1), answer(2));
    assert_eq!(answer(1), answer(3));
}
