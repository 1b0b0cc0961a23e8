// expect: E0063 E0308
//! Rules without noise give exposed answers: a private gate cannot be built from them, and private rules do not
//! exist without a ledger.
use prdo_privacy::{Batches, Clip, Gate, Model, OpenRules, PrivateRules, Sampling, Secret, Shard};
use std::sync::Arc;

fn silent<M: Model<Data = Vec<f64>>>(model: Arc<M>) {
    let secret = Arc::new(Secret::from_seed(1));
    let rules = OpenRules { batches: Batches::new(1, 1), sampling: Sampling::Full, clip: None };
    let _silent = Gate::private(0, model, Shard::seal(vec![1.0]).unwrap(), secret, rules);
    let _no_ledger = PrivateRules {
        batches: Batches::new(1, 1),
        clip: Clip::new(1.0, 1.0).unwrap(),
        noise_multiplier: 0.0,
    };
}

fn main() {}
