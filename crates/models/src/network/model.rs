//! A network as a model: what the gate and the simulator ask for.

use super::engine::{COMPARABLE, GROUP, NetworkEngine, Normalisation};
use super::{Shape, Spec};
use crate::blocks::each_group;
use prdo_data::{Feature, Table};
use prdo_kernels::Level;
use prdo_privacy::{Engine, Model, Piece, Records, Worker};
use std::marker::PhantomData;

/// Softmax cross-entropy of a network. Parameters are doubles; computing is in single precision.
#[derive(Clone, Debug)]
pub struct Network<F: Feature = f64> {
    spec: Spec,
    engine: NetworkEngine,
    records: PhantomData<fn(F)>,
}

impl<F: Feature> Network<F> {
    /// The network on records normalised by public constants.
    pub fn new(spec: Spec, normalisation: Normalisation) -> Self {
        Self::with_level(spec, normalisation, Level::best())
    }

    /// The same with these instructions instead of the fastest there are: for comparisons.
    pub fn with_level(spec: Spec, normalisation: Normalisation, level: Level) -> Self {
        let engine = NetworkEngine::new(&spec, normalisation, level);
        Self { spec, engine, records: PhantomData }
    }

    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Bytes of memory that one thread needs for gradients at `points` points: parameters as kernels read them,
    /// working memory and sums.
    pub fn bytes(&self, points: usize) -> usize {
        points * self.engine.bytes() + 12 * Engine::<Table<F>>::coordinates(&self.engine)
    }

    /// One score per class of each record, in order: what the softmax is taken of.
    pub fn scores(&self, x: &[f64], data: &Table<F>) -> Vec<Vec<f32>> {
        let at = self.engine.at(&[x], COMPARABLE);
        let mut runner = at.runner();
        let mut scores = Vec::with_capacity(data.len());
        each_group(Records::Run(0, data.len()), GROUP, |group| {
            runner.look(data, group);
            scores.extend((0..group.len()).map(|which| runner.scores(which).to_vec()));
        });
        scores
    }

    /// Losses of `records`, a few at a time, and how many are right.
    fn look(&self, x: &[f64], data: &Table<F>, records: Records<'_>) -> (f64, u64) {
        let at = self.engine.at(&[x], COMPARABLE);
        let mut runner = at.runner();
        let (mut loss, mut right) = (0.0, 0);
        each_group(records, GROUP, |group| {
            let (losses, correct) = runner.look(data, group);
            loss += losses.iter().sum::<f64>();
            right += correct;
        });
        (loss, right)
    }
}

impl<F: Feature> Model for Network<F> {
    type Data = Table<F>;

    fn dimension(&self) -> usize {
        self.spec.parameters()
    }

    fn check(&self, data: &Table<F>) -> Result<(), String> {
        let Shape { channels, height, width } = self.spec.input();
        let values = channels * height * width;
        if data.width() != values {
            return Err(format!(
                "the network reads records of {} = {values} values but these have {}",
                self.spec.input(),
                data.width()
            ));
        }
        crate::check_classes(self.spec.classes(), data)
    }

    fn loss(&self, x: &[f64], data: &Table<F>, record: usize) -> f64 {
        self.look(x, data, Records::List(&[record as u32])).0
    }

    fn gradient(&self, x: &[f64], data: &Table<F>, record: usize, gradient: &mut [f64]) {
        gradient.fill(0.0);
        self.evaluate(x, data, Records::List(&[record as u32]), gradient);
    }

    fn correct(&self, x: &[f64], data: &Table<F>, record: usize) -> Option<bool> {
        Some(self.look(x, data, Records::List(&[record as u32])).1 == 1)
    }

    fn count_correct(&self, x: &[f64], data: &Table<F>, records: Records<'_>) -> Option<u64> {
        Some(self.look(x, data, records).1)
    }

    fn engine(&self) -> Option<&dyn Engine<Table<F>>> {
        Some(&self.engine)
    }

    fn add_gradients(&self, x: &[f64], data: &Table<F>, records: Records<'_>, sum: &mut [f64]) {
        self.evaluate(x, data, records, sum);
    }

    fn sum_losses(&self, x: &[f64], data: &Table<F>, records: Records<'_>) -> f64 {
        self.look(x, data, records).0
    }

    fn evaluate(&self, x: &[f64], data: &Table<F>, records: Records<'_>, sum: &mut [f64]) -> f64 {
        // Callers may subtract what they get at two points.
        let at = self.engine.at(&[x], COMPARABLE);
        let mut runner = at.runner();
        let mut loss = 0.0;
        let mut ordered = vec![0.0_f64; Engine::<Table<F>>::coordinates(&self.engine)];
        each_group(records, GROUP, |group| {
            runner.load(data, group);
            loss += runner.losses().iter().sum::<f64>();
            let worker: &mut dyn Worker<Table<F>> = &mut runner;
            for which in 0..group.len() {
                let mut at = 0;
                for number in 0..worker.pieces() {
                    worker.differentiate(which, number);
                    let piece = worker.piece(0, which, number);
                    add(piece, &mut ordered[at..at + piece.len()]);
                    at += piece.len();
                }
            }
        });
        for (slot, place) in sum.iter_mut().zip(Engine::<Table<F>>::places(&self.engine)) {
            *slot += ordered[*place as usize];
        }
        loss
    }
}

/// Adds a piece in double precision.
fn add(piece: Piece<'_>, sum: &mut [f64]) {
    match piece {
        Piece::Dense(values) => sum.iter_mut().zip(values).for_each(|(s, v)| *s += f64::from(*v)),
        Piece::Outer { rows, columns } => {
            for (row, sums) in rows.iter().zip(sum.chunks_exact_mut(columns.len())) {
                sums.iter_mut().zip(columns).for_each(|(s, c)| *s += f64::from(row * c));
            }
        }
    }
}
