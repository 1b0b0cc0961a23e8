//! The public starting point of a network.

use super::{Layer, Role, Spec, Tensor};
use prdo_privacy::{Purpose, Secret, Start};
use rand::RngExt;

/// How the weights and biases of convolutions and dense layers are drawn: uniformly, within bounds that follow from
/// how many values each output sums over (fan_in) and how many outputs each value goes to (fan_out).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Law {
    /// Weights within ±√(6/(fan_in + fan_out)), biases 0 (Glorot and Bengio, 2010): values and gradients keep their
    /// size from layer to layer of a network with tanh. Keras's default, PyTorch's `xavier_uniform_`. The
    /// default because private training learned faster from it in most comparisons (docs/networks.md).
    #[default]
    Glorot,
    /// Weights and biases within ±1/√fan_in: PyTorch's default.
    FanIn,
}

impl Law {
    pub const ALL: [Law; 2] = [Law::Glorot, Law::FanIn];

    /// Its name in run files.
    pub const fn name(self) -> &'static str {
        match self {
            Law::Glorot => "glorot",
            Law::FanIn => "fan-in",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Law::ALL.into_iter().find(|law| law.name() == name)
    }

    /// The bounds of a weight of shape `[out, in, …]` and of its bias.
    fn bounds(self, weight: &Tensor) -> [f64; 2] {
        let fan_in = weight.shape[1..].iter().product::<usize>() as f64;
        let fan_out = weight.len() as f64 / weight.shape[1] as f64;
        match self {
            Law::Glorot => [(6.0 / (fan_in + fan_out)).sqrt(), 0.0],
            Law::FanIn => [1.0 / fan_in.sqrt(); 2],
        }
    }
}

impl Spec {
    /// A public starting point: convolutions and dense layers drawn by the law, group norms 1 and 0. The draws are made
    /// in flat order from a public seed and rounded to f32, in which networks are computed. It depends on no record.
    pub fn start(&self, law: Law, seed: u64) -> Start {
        let mut stream = Secret::from_seed(seed).stream(Purpose::Start, 0, 0);
        let mut values = Vec::with_capacity(self.parameters());
        let mut of_bias = 0.0;
        for tensor in self.tensors() {
            let bound = match (self.layers()[tensor.layer], tensor.role) {
                (Layer::GroupNorm { .. }, role) => {
                    let fixed = if role == Role::Weight { 1.0 } else { 0.0 };
                    values.resize(values.len() + tensor.len(), fixed);
                    continue;
                }
                (_, Role::Weight) => {
                    let [own, next] = law.bounds(tensor);
                    of_bias = next;
                    own
                }
                // A bias follows its weight.
                (_, Role::Bias) => of_bias,
            };
            // Added to 0, a product of −0 is 0.
            let draw = |_| f64::from((bound * (2.0 * stream.random::<f64>() - 1.0)) as f32) + 0.0;
            values.extend((0..tensor.len()).map(draw));
        }
        // These values are finite and there are some, so this never falls back.
        Start::declared_public(values).unwrap_or_else(|_| Start::zeros(self.parameters()))
    }
}
