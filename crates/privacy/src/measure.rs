//! Looking at the objective: for simulations and for a node's own eyes. Never noised, never sent.

use crate::gate::{Gate, sum_of_gradients};
use crate::model::{Data, Model, Records};
use crate::protection::{Exposed, Protection};
use crate::released::Released;
use rayon::prelude::*;

/// A node's local objective f_i at a point, computed from its records without protection.
#[derive(Clone, Debug)]
pub struct Measurement {
    /// f_i(x).
    pub loss: f64,
    /// ∇f_i(x).
    pub gradient: Released<Exposed>,
}

impl<M: Model, P: Protection> Gate<M, P> {
    /// f_i(x) and ∇f_i(x) over all of the node's records.
    ///
    /// # Guarantee
    /// None: this reads every record and adds no noise, which is why the gradient is [`Exposed`].
    pub fn measure(&self, x: &[f64]) -> Measurement {
        let (model, data) = (self.model(), self.shard().data());
        let count = data.len().max(1) as f64;
        let mut gradient = sum_of_gradients(model, x, data, Records::Run(0, data.len()));
        gradient.iter_mut().for_each(|g| *g /= count);
        let loss = sum_of_losses(model, x, data) / count;
        Measurement { loss, gradient: Released::from_gate(gradient) }
    }
}

/// Σ ℓ(x; r) over all records, in chunks of fixed size added in order.
fn sum_of_losses<M: Model>(model: &M, x: &[f64], data: &M::Data) -> f64 {
    const CHUNK: usize = 4096;
    let part = |i: usize| {
        let run = Records::Run(i * CHUNK, ((i + 1) * CHUNK).min(data.len()));
        model.sum_losses(x, data, run)
    };
    if data.len() <= CHUNK {
        return part(0);
    }
    let parts: Vec<f64> = (0..data.len().div_ceil(CHUNK)).into_par_iter().map(part).collect();
    parts.iter().sum()
}
