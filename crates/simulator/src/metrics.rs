//! What is measured during a run.

use prdo_privacy::{Data, Model, Records};
use rayon::prelude::*;

/// One row of `metrics.csv`: the network after `round` updates. Measured without protection, by whoever runs
/// the simulation and holds all the data.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Row {
    pub round: u32,
    /// f(x̄); of the first records of each node only where the run says so ([`crate::Simulation::measure_on`]).
    pub loss: f64,
    /// ‖∇f(x̄)‖, of the same records as the loss.
    pub grad_norm: f64,
    /// (1/n)·Σ‖x_i − x̄‖².
    pub consensus_error: f64,
    /// Share of the public held-out records that x̄ gets right.
    pub test_accuracy: Option<f64>,
    pub epsilon_spent: Option<f64>,
    /// Bytes sent by all nodes so far, 8 per number.
    pub bytes_sent: u64,
    /// Per-record gradients evaluated by all nodes so far.
    pub gradient_evaluations: u64,
    /// Share of gradients clipped since the row before; `None` where nothing is clipped or was sampled.
    pub clipped_gradient_fraction: Option<f64>,
    /// Share of gradient differences clipped since the row before.
    pub clipped_difference_fraction: Option<f64>,
}

/// The paper's moments at round t, for one realisation (equation `cv:moment-definitions`): expectations are
/// averages of these over seeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    pub round: u32,
    /// ‖PX^t‖²_F, whose mean is C_t.
    pub disagreement: f64,
    /// ‖E^t‖²_F, whose mean is H_t: Σ_i ‖v_i − ∇f_i(x_i)‖².
    pub local_error: f64,
    /// ‖ē^t‖², whose mean is h_t.
    pub mean_error: f64,
    /// ‖v̄^t‖², whose mean is U_t.
    pub direction: f64,
    /// ‖X^t − X^{t−1}‖²_F; 0 at t = 0.
    pub movement: f64,
}

/// The share of `records` that the model with parameters `x` gets right; `None` where that has no meaning.
pub fn accuracy<M: Model>(model: &M, x: &[f64], records: &M::Data) -> Option<f64> {
    const CHUNK: usize = 512;
    let count = |k: usize| {
        let chunk = Records::Run(k * CHUNK, ((k + 1) * CHUNK).min(records.len()));
        model.count_correct(x, records, chunk)
    };
    let right: Option<u64> = (0..records.len().div_ceil(CHUNK)).into_par_iter().map(count).sum();
    (!records.is_empty()).then_some(right? as f64 / records.len() as f64)
}

pub(crate) fn mean<'a>(vectors: impl ExactSizeIterator<Item = &'a [f64]>, dimension: usize) -> Vec<f64> {
    let count = vectors.len().max(1) as f64;
    let mut sum = vec![0.0; dimension];
    for vector in vectors {
        sum.iter_mut().zip(vector).for_each(|(s, v)| *s += v);
    }
    sum.iter_mut().for_each(|s| *s /= count);
    sum
}

pub(crate) fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

pub(crate) fn squared_norm(a: &[f64]) -> f64 {
    a.iter().map(|a| a * a).sum()
}
