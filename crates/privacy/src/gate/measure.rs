//! Looking at the objective: for simulations and for a node's own eyes. Never noised, never sent.

use super::{CHUNK, Gate, average};
use crate::clip::Clip;
use crate::model::{Data, Model, Records};
use crate::protection::{Exposed, Protection};
use crate::query::Query;
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

    /// What clipping at `norm` alone does to f_i's gradient: mean clip(∇ℓ(x; r)) − mean ∇ℓ(x; r) over the records that
    /// `measured` is of, the node's first `most`. Zeros where no record is clipped; `None` if this is no norm to clip at.
    ///
    /// # Guarantee
    /// None, as [`Gate::measure`].
    pub fn clip_bias(
        &self,
        most: usize,
        x: &[f64],
        measured: &Measurement,
        norm: f64,
    ) -> Option<Released<Exposed>> {
        let clip = Clip::new(norm, norm).ok()?;
        let records: Vec<u32> = (0..self.shard.data().len().min(most) as u32).collect();
        let at = Released::<Exposed>::from_gate(x.to_vec());
        let query = Query::gradient(&at);
        let (grid, _) = self.arithmetic(&query, &clip, 0.0);
        let (sum, counts) = self.clipped_sum(&query, &clip, grid, &records);
        // Nothing clipped: what is left of the difference is rounding.
        if counts.clipped_gradients == 0 && counts.non_finite == 0 {
            return Some(Released::zeros(x.len()));
        }
        let clipped = average::<Exposed>(sum, grid, records.len().max(1) as f64);
        Some(Released::combine([(1.0, &clipped), (-1.0, &measured.gradient)]))
    }
}
