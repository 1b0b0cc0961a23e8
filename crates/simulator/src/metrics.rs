//! What is measured during a run.

mod column;

pub use column::{Column, Number, Panel, PanelScale, Section};

use PanelScale::{Linear, Log, Share, WholeShare};
use Section::{Cost, Privacy, Training};
use column::Field;
use prdo_privacy::{Data, Diagnostics, Model, Records};
use rayon::prelude::*;

/// The network after a round: what metrics are computed from.
pub(crate) struct Measured<'a> {
    pub(crate) round: u32,
    pub(crate) models: Vec<&'a [f64]>,
    /// x̄.
    pub(crate) average: &'a [f64],
    /// f(x̄) and ∇f(x̄).
    pub(crate) objective: (f64, Vec<f64>),
    pub(crate) test_accuracy: Option<f64>,
    pub(crate) epsilon_spent: Option<f64>,
    pub(crate) bytes_sent: u64,
    pub(crate) gradient_evaluations: u64,
    /// Counts since the row before, where anything is clipped.
    pub(crate) clipped: Option<Diagnostics>,
    /// The mean over the nodes of what clipping alone does to their gradients at x̄.
    pub(crate) clip_bias: Option<Vec<f64>>,
}

/// Makes [`Row`] and [`COLUMNS`] of a list of metrics: what it is, its name and type, how it is computed, under what
/// TensorBoard shows it and how it is drawn.
macro_rules! metrics {
    ($($(#[$what:meta])* $name:ident: $type:ty = |$measured:ident| $value:expr, $section:expr, $panel:expr;)*) => {
        /// One row of `metrics.csv`: the network after `round` updates. Measured without protection, by whoever runs
        /// the simulation and holds all the data.
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub struct Row {
            $($(#[$what])* pub $name: $type,)*
        }

        impl Row {
            pub(crate) fn of(measured: &Measured<'_>) -> Self {
                Self { $($name: { let $measured = measured; $value },)* }
            }
        }

        /// Every metric, in the order of the file.
        pub const COLUMNS: &[Column] = &[$(Column {
            name: stringify!($name),
            section: $section,
            panel: $panel,
            get: |row| row.$name.number(),
            set: |row, number| Field::of(number).map(|value| row.$name = value),
        },)*];
    };
}

// A new metric comes last: files of earlier versions lack its column.
metrics! {
    /// How many updates were done.
    round: u32 = |m| m.round, None, Panel::axis("rounds");
    /// f(x̄); of the first records of each node only where the run says so ([`crate::Simulation::measure_on`]).
    loss: f64 = |m| m.objective.0, Some(Training), Panel::curve("Loss", "f(x̄)", Linear);
    /// ‖∇f(x̄)‖, of the same records as the loss.
    grad_norm: f64 = |m| squared_norm(&m.objective.1).sqrt(),
        Some(Training), Panel::curve("Gradient norm", "‖∇f(x̄)‖", Log);
    /// (1/n)·Σ‖x_i − x̄‖².
    consensus_error: f64 = |m| {
        let distance: f64 = m.models.iter().map(|x| squared_distance(x, m.average)).sum();
        distance / m.models.len() as f64
    }, Some(Training), Panel::curve("Disagreement of the nodes", "mean ‖x − x̄‖²", Log);
    /// Share of the public held-out records that x̄ gets right.
    test_accuracy: Option<f64> = |m| m.test_accuracy,
        Some(Training), Panel::headline("Test accuracy", "share right", Share);
    /// The largest ε any node has spent; `None` without privacy.
    epsilon_spent: Option<f64> = |m| m.epsilon_spent, Some(Privacy), Panel::curve("Privacy spent", "ε", Linear);
    /// Bytes sent by all nodes so far, 8 per number.
    bytes_sent: u64 = |m| m.bytes_sent, Some(Cost), Panel::axis("bytes sent");
    /// Per-record gradients evaluated by all nodes so far.
    gradient_evaluations: u64 = |m| m.gradient_evaluations, Some(Cost), Panel::axis("gradient evaluations");
    /// Share of gradients clipped since the row before; `None` where nothing is clipped or was sampled.
    clipped_gradient_fraction: Option<f64> = |m| share(m.clipped, |c| (c.clipped_gradients, c.records)),
        Some(Privacy), Panel::curve("Clipped gradients", "share of records", WholeShare);
    /// Share of gradient differences clipped since the row before.
    clipped_difference_fraction: Option<f64> = |m| share(m.clipped, |c| (c.clipped_differences, c.differences)),
        Some(Privacy), Panel::curve("Clipped differences", "share of records", WholeShare);
    /// ‖mean clip(∇ℓ(x̄)) − ∇f(x̄)‖ of the same records as the loss, each clipped where the last round would have shortened it
    /// had nothing moved ([`prdo_algorithm::Asks::threshold`]); `None` with privacy and where nothing is clipped.
    clip_bias: Option<f64> = |m| m.clip_bias.as_deref().map(|bias| squared_norm(bias).sqrt()),
        Some(Training), Panel::curve("Bias of clipping", "‖mean clip(∇ℓ(x̄)) − ∇f(x̄)‖", Log);
}

/// A part of a whole, as counts have them; `None` where there is nothing.
fn share(counts: Option<Diagnostics>, of: fn(&Diagnostics) -> (u64, u64)) -> Option<f64> {
    let (part, whole) = of(&counts?);
    (whole > 0).then(|| part as f64 / whole as f64)
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
