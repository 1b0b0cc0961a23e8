//! A tiny run in the simulator, and its checkpoints.

use prdo_accounting::{Accountant, Target};
use prdo_algorithm::graph::{Graph, Mixing, Weights};
use prdo_algorithm::{Method, Settings};
use prdo_privacy::{
    Batches, Clip, Gate, Ledger, Model, OpenRules, PrivateRules, Sampling, Secret, Shard, Start,
};
use prdo_simulator::{Simulation, Training};
use std::sync::{Arc, LazyLock};

/// The settings that checkpoints are of.
pub const FINGERPRINT: [u8; 32] = [4; 32];
const NODES: u32 = 2;
/// One for all: it remembers what it has computed.
static ACCOUNTANT: LazyLock<Arc<Accountant>> = LazyLock::new(Arc::default);

/// ½‖x − c‖² of two parameters.
pub struct Bowl;

impl Model for Bowl {
    type Data = Vec<[f64; 2]>;
    fn dimension(&self) -> usize {
        2
    }
    fn loss(&self, x: &[f64], data: &Self::Data, record: usize) -> f64 {
        x.iter().zip(&data[record]).map(|(x, c)| 0.5 * (x - c).powi(2)).sum()
    }
    fn gradient(&self, x: &[f64], data: &Self::Data, record: usize, gradient: &mut [f64]) {
        x.iter().zip(&data[record]).zip(gradient).for_each(|((x, c), g)| *g = x - c);
    }
}

/// A run at its start; private, or open.
pub fn fresh(private: bool) -> Box<dyn Training> {
    let (model, secret) = (Arc::new(Bowl), Arc::new(Secret::from_seed(1)));
    let shard = |i| Shard::seal(vec![[f64::from(i), 1.0]; 4]).expect("records");
    let graph = Graph::complete(NODES as usize).expect("a graph");
    let mixing = Mixing::new(&graph, Weights::Metropolis, true).expect("weights");
    let (batches, how) = (Batches::new(2, 2), (Method::Prdo, &Settings::new(0.1)));
    let start = Start::zeros(2);
    if private {
        let accountant = &*ACCOUNTANT;
        let gate = |i| {
            let budget = Target::new(1e6, 1e-5).expect("a budget");
            let rules = PrivateRules {
                batches,
                clip: Clip::new(1.0, 0.1).expect("a clip"),
                noise_multiplier: 1.3,
                ledger: Ledger::new(Arc::clone(accountant), budget),
            };
            Gate::private(i, Arc::clone(&model), shard(i), Arc::clone(&secret), rules).expect("a gate")
        };
        let gates = (0..NODES).map(gate).collect();
        Box::new(Simulation::new(Arc::clone(&model), gates, mixing, how, &start, None).expect("a run"))
    } else {
        let gate = |i| {
            let rules = OpenRules { batches, sampling: Sampling::Poisson, clip: None };
            Gate::exposed(i, Arc::clone(&model), shard(i), Arc::clone(&secret), rules).expect("a gate")
        };
        let gates = (0..NODES).map(gate).collect();
        Box::new(Simulation::new(Arc::clone(&model), gates, mixing, how, &start, None).expect("a run"))
    }
}

/// A checkpoint after so many rounds, without the hash at its end.
pub fn body(private: bool, rounds: u32, moments: bool) -> Vec<u8> {
    let mut run = fresh(private);
    (0..rounds).for_each(|_| assert!(run.step(moments).is_ok()));
    let mut bytes = run.save(&FINGERPRINT);
    bytes.truncate(bytes.len() - 32);
    bytes
}

/// A checkpoint from its body.
pub fn sealed(body: &[u8]) -> Vec<u8> {
    [body, blake3::hash(body).as_bytes()].concat()
}
