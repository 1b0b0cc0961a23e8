//! Looking at the objective: for simulations and for a node's own eyes. Never noised, never sent.

use super::{CHUNK, Gate};
use crate::model::{Data, Model, Records};
use crate::protection::{Exposed, Protection};
use crate::released::Released;
use rayon::prelude::*;

/// A node's local objective f_i at a point, computed from its records without protection.
#[derive(Clone, Debug)]
pub struct Measurement {
    pub loss: f64,
    pub gradient: Released<Exposed>,
}

impl<M: Model, P: Protection> Gate<M, P> {
    /// f_i(x) and ∇f_i(x) over all of the node's records.
    ///
    /// # Guarantee
    /// None: this reads every record and adds no noise, which is why the gradient is [`Exposed`].
    pub fn measure(&self, x: &[f64]) -> Measurement {
        self.measure_first(usize::MAX, x)
    }

    /// The same over the node's first `most` records only (all of them where it has no more): an estimate of f_i
    /// and ∇f_i for models whose whole objective takes too long. Records are in the order in which the node got
    /// them, so that it is a fair one only if that order has nothing to do with what they hold.
    ///
    /// # Guarantee
    /// None, as [`Gate::measure`].
    pub fn measure_first(&self, most: usize, x: &[f64]) -> Measurement {
        let (model, data) = (&*self.model, self.shard.data());
        let records = data.len().min(most);
        let part = |k: usize| {
            let mut gradient = vec![0.0; model.dimension()];
            let run = Records::Run(k * CHUNK, ((k + 1) * CHUNK).min(records));
            let loss = model.evaluate(x, data, run, &mut gradient);
            (loss, gradient)
        };
        let chunks = records.div_ceil(CHUNK);
        // Chunks of fixed size added in order: the same bits for any thread count.
        let parts: Vec<(f64, Vec<f64>)> = match chunks {
            0 | 1 => vec![part(0)],
            _ => (0..chunks).into_par_iter().map(part).collect(),
        };
        let (mut loss, mut gradient) = (0.0, vec![0.0; model.dimension()]);
        for (l, g) in parts {
            loss += l;
            gradient.iter_mut().zip(g).for_each(|(sum, g)| *sum += g);
        }
        let count = records.max(1) as f64;
        gradient.iter_mut().for_each(|g| *g /= count);
        Measurement { loss: loss / count, gradient: Released::from_gate(gradient) }
    }
}
