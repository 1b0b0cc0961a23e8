//! The public starting point of a network.

use super::{Layer, Role, Spec};
use prdo_privacy::{Purpose, Secret, Start};
use rand::RngExt;

impl Spec {
    /// A public starting point: weights and biases of convolutions and dense layers uniform in ±1/√fan_in
    /// (PyTorch's default law), group norms 1 and 0. The draws are made in flat order from a public seed and
    /// rounded to f32, in which networks are computed. It depends on no record.
    pub fn start(&self, seed: u64) -> Start {
        let mut stream = Secret::from_seed(seed).stream(Purpose::Start, 0, 0);
        let mut values = Vec::with_capacity(self.parameters());
        let mut bound = 0.0;
        for tensor in self.tensors() {
            let fixed = match (self.layers()[tensor.layer], tensor.role) {
                (Layer::GroupNorm { .. }, Role::Weight) => Some(1.0),
                (Layer::GroupNorm { .. }, Role::Bias) => Some(0.0),
                // A weight's [out, in, …] says what each output sums over; its bias follows and has the same law.
                (_, Role::Weight) => {
                    bound = 1.0 / (tensor.shape[1..].iter().product::<usize>() as f64).sqrt();
                    None
                }
                (_, Role::Bias) => None,
            };
            let mut draw = || f64::from((bound * (2.0 * stream.random::<f64>() - 1.0)) as f32);
            values.extend((0..tensor.len()).map(|_| fixed.unwrap_or_else(&mut draw)));
        }
        // These values are finite and there are some, so this never falls back.
        Start::declared_public(values).unwrap_or_else(|_| Start::zeros(self.parameters()))
    }
}
