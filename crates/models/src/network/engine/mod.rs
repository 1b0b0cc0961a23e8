//! The engine: gradients of networks in single precision, a few records at a time.
//!
//! `program` works out once what is done and where everything lies; `weights` brings the parameters of a point into the
//! forms that kernels read; `pass` goes forward and backward. Weights are read for a few records at once, so that
//! they stay in cache; a record's weight gradient is computed by itself, handed to the gate in pieces and
//! forgotten.

mod direct;
mod image;
mod norm;
mod pass;
mod pooling;
mod program;
mod weights;

use super::Spec;
use pass::{Buffers, Pass};
use prdo_data::{Feature, Table};
use prdo_kernels::Level;
use prdo_kernels::winograd::Tile;
use prdo_privacy::{Differentiator, Engine, Piece, Worker};
use program::{Op, Program, Step};
use rayon::prelude::*;
use std::sync::{Arc, Mutex};
use weights::{Weights, weights};

/// Records that are taken through the network together.
pub(super) const GROUP: usize = 8;

/// The tiles of whatever may be subtracted from one another: as accurate as the definition.
pub(super) const COMPARABLE: Tile = Tile::F2x4;

/// What is subtracted from each channel of a record, and what it is then multiplied by: public constants.
#[derive(Clone, Debug, PartialEq)]
pub struct Normalisation {
    mean: Vec<f32>,
    scale: Vec<f32>,
}

impl Normalisation {
    /// (value − mean)/deviation, one of each per channel.
    pub fn new(mean: &[f32], deviation: &[f32]) -> Self {
        Self { mean: mean.to_vec(), scale: deviation.iter().map(|d| 1.0 / d).collect() }
    }

    /// Nothing is changed.
    pub fn none(channels: usize) -> Self {
        Self { mean: vec![0.0; channels], scale: vec![1.0; channels] }
    }
}

#[derive(Clone)]
pub(super) struct NetworkEngine {
    program: Program,
    classes: usize,
    normalisation: Normalisation,
    level: Level,
    /// Memory of threads that have finished, for the next ones.
    pool: Arc<Mutex<Vec<Buffers>>>,
    /// Weights of points that are gone, for their memory.
    old: Arc<Mutex<Vec<Vec<Weights>>>>,
}

impl std::fmt::Debug for NetworkEngine {
    /// Says nothing of what is in its memory.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "NetworkEngine({} steps, {})", self.program.steps.len(), self.level.name())
    }
}

impl NetworkEngine {
    pub fn new(spec: &Spec, normalisation: Normalisation, level: Level) -> Self {
        let (pool, old) = Default::default();
        Self { program: Program::new(spec), classes: spec.classes(), normalisation, level, pool, old }
    }

    /// Bytes of one thread's memory for one point, without the sums: counted, not estimated.
    pub fn bytes(&self) -> usize {
        let zeros = vec![0.0; self.program.places.len()];
        let weights = weights(&self.program, self.level, Tile::F4, &zeros, Vec::new());
        let weights: usize = weights.iter().map(Weights::len).sum();
        4 * (weights + Buffers::new(&self.program, GROUP).len())
    }

    fn buffers(&self) -> Buffers {
        let free = self.pool.lock().ok().and_then(|mut pool| pool.pop());
        free.unwrap_or_else(|| Buffers::new(&self.program, GROUP))
    }

    /// The engine at these points, with such tiles where they fit. Results that are going to be subtracted from
    /// one another want [`COMPARABLE`] ones.
    pub fn at(&self, points: &[&[f64]], tile: Tile) -> AtPoints<'_> {
        let old = || self.old.lock().ok().and_then(|mut old| old.pop()).unwrap_or_default();
        let at = |x: &&[f64]| weights(&self.program, self.level, tile, x, old());
        AtPoints { engine: self, tile, weights: points.par_iter().map(at).collect() }
    }
}

impl<F: Feature> Engine<Table<F>> for NetworkEngine {
    fn coordinates(&self) -> usize {
        self.program.coordinates
    }

    fn places(&self) -> &[u32] {
        &self.program.places
    }

    fn prepare<'a>(&'a self, points: &[&[f64]]) -> Box<dyn Differentiator<Table<F>> + 'a> {
        // Two points are there for their difference.
        let tile = if points.len() == 1 { Tile::F4 } else { COMPARABLE };
        Box::new(self.at(points, tile))
    }
}

/// The engine at one or two points.
pub(super) struct AtPoints<'a> {
    engine: &'a NetworkEngine,
    tile: Tile,
    weights: Vec<Vec<Weights>>,
}

impl Drop for AtPoints<'_> {
    /// The memory is kept for the next points.
    fn drop(&mut self) {
        if let Ok(mut old) = self.engine.old.lock() {
            old.append(&mut self.weights);
        }
    }
}

impl AtPoints<'_> {
    pub fn runner(&self) -> Runner<'_> {
        let NetworkEngine { program, level, .. } = self.engine;
        let pass = |weights| Pass::new(program, (*level, self.tile), weights, self.engine.buffers());
        let passes = self.weights.iter().map(|weights| pass(weights)).collect();
        Runner { engine: self.engine, passes, losses: Vec::new(), right: 0 }
    }
}

impl<F: Feature> Differentiator<Table<F>> for AtPoints<'_> {
    fn worker<'a>(&'a self) -> Box<dyn Worker<Table<F>> + 'a> {
        Box::new(self.runner())
    }
}

/// One thread's memory at every point.
pub(super) struct Runner<'a> {
    engine: &'a NetworkEngine,
    passes: Vec<Pass<'a>>,
    /// Of the records taken in last, at the first point.
    losses: Vec<f64>,
    right: u64,
}

impl Drop for Runner<'_> {
    /// The memory goes back to the pool.
    fn drop(&mut self) {
        if let Ok(mut pool) = self.engine.pool.lock() {
            pool.extend(self.passes.drain(..).map(Pass::into_buffers));
        }
    }
}

impl<'a> Runner<'a> {
    /// Takes up to [`GROUP`] records forward at the first point only: their losses, and how many are right.
    pub fn look<F: Feature>(&mut self, data: &Table<F>, records: &[u32]) -> (&[f64], u64) {
        self.forward(0, data, records);
        (&self.losses, self.right)
    }

    /// The scores of one of the records that were looked at last, before the softmax.
    pub fn scores(&mut self, which: usize) -> &[f32] {
        let Some(last) = self.engine.program.steps.last() else { return &[] };
        let memory = self.passes[0].record_mut(which);
        &memory[last.output.range()][..self.engine.classes]
    }

    fn forward<F: Feature>(&mut self, point: usize, data: &Table<F>, records: &[u32]) {
        let program = &self.engine.program;
        let pass = &mut self.passes[point];
        for (which, record) in records.iter().enumerate() {
            let memory = pass.record_mut(which);
            read(&program.input, &self.engine.normalisation, data.row(*record as usize), memory);
        }
        pass.forward(records.len());
        if point == 0 {
            self.losses.clear();
            self.right = 0;
        }
        let Some(last) = program.steps.last() else { return };
        for (which, record) in records.iter().enumerate() {
            let memory = pass.record_mut(which);
            let label = data.label(*record as usize) as usize;
            let (logits, gradient) = image::two(memory, last.output.range(), last.gradient.range());
            let (loss, right) = cross_entropy(&logits[..self.engine.classes], label, gradient);
            if point == 0 {
                self.losses.push(loss);
                self.right += u64::from(right);
            }
        }
    }

    pub fn losses(&self) -> &[f64] {
        &self.losses
    }

    /// The step that piece `number` belongs to; its weight's and its bias's follow one another.
    fn step_of(&self, number: usize) -> Option<&'a Step> {
        self.engine.program.steps.iter().filter(|step| step.tensors.is_some()).nth(number / 2)
    }
}

impl<F: Feature> Worker<Table<F>> for Runner<'_> {
    fn group(&self) -> usize {
        GROUP
    }

    fn load(&mut self, data: &Table<F>, records: &[u32]) {
        for point in 0..self.passes.len() {
            self.forward(point, data, records);
            self.passes[point].backward(records.len());
        }
    }

    fn differentiate(&mut self, which: usize, number: usize) {
        let Some(step) = self.step_of(number) else { return };
        // Each record begins with its first piece: what is left to take back is read again at once.
        if number == 0 {
            self.passes.iter_mut().for_each(|pass| pass.backward_early(which));
        }
        self.passes.iter_mut().for_each(|pass| pass.differentiate(which, step, number % 2));
    }

    fn pieces(&self) -> usize {
        2 * self.engine.program.steps.iter().filter(|step| step.tensors.is_some()).count()
    }

    fn piece(&self, point: usize, which: usize, number: usize) -> Piece<'_> {
        let Some(step) = self.step_of(number) else { return Piece::Dense(&[]) };
        let role = number % 2;
        match (&step.op, role) {
            (Op::Dense { outputs, .. }, _) => {
                let record = self.passes[point].record(which);
                let gradient = &record[step.gradient.range()];
                match role {
                    0 => Piece::Outer { rows: &gradient[..*outputs], columns: &record[step.input.range()] },
                    _ => Piece::Dense(gradient),
                }
            }
            _ => {
                let start = step.dense[role];
                Piece::Dense(&self.passes[point].dense()[start..start + step.coordinates[role].len()])
            }
        }
    }
}

/// Writes a record, normalised, into its place.
fn read<F: Feature>(input: &image::Image, normalisation: &Normalisation, row: &[F], memory: &mut [f32]) {
    let pixels = input.height * input.width;
    // A vector has no channels to speak of: one constant for all of it if there is only one.
    let constant = |values: &[f32], c: usize| values.get(c).or(values.first()).copied().unwrap_or(0.0);
    for (c, channel) in row.chunks_exact(pixels).enumerate() {
        let (mean, scale) = (constant(&normalisation.mean, c), constant(&normalisation.scale, c));
        let start = input.offset + input.channel(c);
        for (y, line) in channel.chunks_exact(input.width).enumerate() {
            let at = start + input.at(y, 0);
            for (slot, value) in memory[at..].iter_mut().step_by(input.pixel()).zip(line) {
                *slot = (value.single() - mean) * scale;
            }
        }
    }
}

/// −log softmax(logits)[label], whether the largest logit is the label's, and p − onehot written to `gradient`.
fn cross_entropy(logits: &[f32], label: usize, gradient: &mut [f32]) -> (f64, bool) {
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let total: f64 = logits.iter().map(|l| f64::from(l - largest).exp()).sum();
    let log = |l: f32| f64::from(l - largest) - total.ln();
    for (k, (g, l)) in gradient.iter_mut().zip(logits).enumerate() {
        *g = (log(*l).exp() - f64::from(u8::from(k == label))) as f32;
    }
    let own = logits.get(label).copied().unwrap_or(f32::NAN);
    let best = logits.iter().position(|l| *l == largest);
    (-log(own), best == Some(label))
}
