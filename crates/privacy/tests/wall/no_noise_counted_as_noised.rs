// expect: E0063 E0308
//! Rules without noise give exposed answers: a private gate cannot be built from them and
//! private rules do not exist without a ledger.
use prdo_privacy::{Batches, Clip, Gate, Noised, OpenRules, PrivateRules, Sampling, Secret, Shard};
use std::sync::Arc;

fn main() {
    let secret = Arc::new(Secret::from_seed(1));
    let rules = OpenRules { batches: Batches::full(1), sampling: Sampling::Full, clip: None };
    let _silent = Gate::<Vec<f64>, Noised>::new(0, Shard::seal(vec![1.0]).unwrap(), secret, rules);
    let _no_ledger = PrivateRules {
        batches: Batches::full(1),
        clip: Clip::new(1.0, 1.0).unwrap(),
        noise_multiplier: 0.0,
    };
}
