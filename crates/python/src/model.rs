//! Models whose gradients a Python function computes.
//!
//! The gate asks for the gradients of a few records at a time and does everything else itself: it samples, clips, adds,
//! charges and draws noise as for every other model. The function sees those few records and the parameters.

use crate::bytes;
use crate::shared::Shared;
use prdo::data::{Feature, Table};
use prdo::privacy::engine::{Differentiator, Engine, Piece, Worker};
use prdo::privacy::{Model, Records};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Coordinates of an engine come in groups of so many.
const LANES: usize = 16;
/// The most records that the gate takes at a time.
const MOST_RECORDS: usize = 63;
/// Records on which a model is tried before it is used.
const TRIED: usize = 8;
/// How far a record's gradient may depend on its company, relative: rounding in single precision does not reach it.
pub const TOLERANCE: f64 = 2e-5;

/// The functions, and where their exceptions go.
pub struct Calls {
    evaluate: Py<PyAny>,
    predict: Option<Py<PyAny>>,
    /// Whether several threads may call at once.
    parallel: bool,
    shared: Arc<Shared>,
}

/// Losses and, record after record, gradients.
type Evaluated = (Vec<f64>, Py<PyBytes>);

impl Calls {
    /// `evaluate(x, X, y)` and `predict(x, X)`, of bytes.
    pub fn new(evaluate: Py<PyAny>, predict: Option<Py<PyAny>>, parallel: bool, shared: Arc<Shared>) -> Self {
        Self { evaluate, predict, parallel, shared }
    }

    /// Calls a function with the interpreter's lock; `None` if it raised, or if the run is to stop.
    fn attached<T>(&self, call: impl FnOnce(Python<'_>) -> PyResult<T>) -> Option<T> {
        let _turn = (!self.parallel).then(|| self.shared.turn());
        let result = match self.shared.stopped() {
            true => None,
            false => Python::attach(call).map_err(|error| self.shared.fail(error)).ok(),
        };
        if result.is_none() {
            self.shared.spoil();
        }
        result
    }

    fn evaluate<F: Feature>(&self, x: &Py<PyBytes>, data: &Table<F>, records: &[u32]) -> Option<Evaluated> {
        self.attached(|py| {
            let (features, labels) = (features(py, data, records), labels(py, data, records));
            let answer = self.evaluate.bind(py).call1((x, features, labels))?;
            let (losses, gradients): (Bound<'_, PyBytes>, Bound<'_, PyBytes>) = answer.extract()?;
            Ok((bytes::f64s(losses.as_bytes()), gradients.unbind()))
        })
    }
}

/// The features of these records as Python reads them.
fn features<'py, F: Feature>(py: Python<'py>, data: &Table<F>, records: &[u32]) -> Bound<'py, PyBytes> {
    let mut rows = Vec::with_capacity(records.len() * data.width());
    records.iter().for_each(|r| rows.extend_from_slice(data.row(*r as usize)));
    let mut flat = Vec::with_capacity(rows.len() * size_of::<F>());
    F::bytes(&rows, &mut |bytes| flat.extend_from_slice(bytes));
    PyBytes::new(py, &flat)
}

fn labels<'py, F: Feature>(py: Python<'py>, data: &Table<F>, records: &[u32]) -> Bound<'py, PyBytes> {
    let labels: Vec<f64> = records.iter().map(|r| data.label(*r as usize)).collect();
    PyBytes::new(py, &bytes::of(&labels))
}

fn listed(records: Records<'_>) -> Vec<u32> {
    let mut list = Vec::with_capacity(records.len());
    records.each(|r| list.push(r as u32));
    list
}

/// A model of records of one kind.
pub struct PythonModel<F: Feature> {
    dimension: usize,
    padded: usize,
    places: Vec<u32>,
    width: usize,
    start: Vec<f64>,
    group: usize,
    calls: Calls,
    tried: Arc<AtomicBool>,
    records: PhantomData<fn(F)>,
}

impl<F: Feature> PythonModel<F> {
    /// A model that starts there, of records of `width` features, of which it is given at most `group` at a time.
    pub fn new(start: &[f64], width: usize, group: usize, calls: Calls, tried: Arc<AtomicBool>) -> Self {
        let dimension = start.len();
        Self {
            dimension,
            padded: dimension.next_multiple_of(LANES),
            places: (0..dimension as u32).collect(),
            width,
            start: start.to_vec(),
            group: group.clamp(1, MOST_RECORDS),
            calls,
            tried,
            records: PhantomData,
        }
    }

    fn point(&self, x: &[f64]) -> Py<PyBytes> {
        Python::attach(|py| PyBytes::new(py, &bytes::of(x)).unbind())
    }

    /// Calls `visit` with the losses and gradients of `records`, a few at a time; `false` if it could not.
    fn each_group(
        &self,
        x: &[f64],
        data: &Table<F>,
        records: Records<'_>,
        mut visit: impl FnMut(&[f64], &[u8]),
    ) -> bool {
        let point = self.point(x);
        listed(records).chunks(self.group).all(|group| {
            let evaluated = self.calls.evaluate(&point, data, group);
            if let Some((losses, gradients)) = &evaluated {
                Python::attach(|py| visit(losses, gradients.as_bytes(py)));
            }
            evaluated.is_some()
        })
    }

    /// How far the gradients of some records depend on their company, relative to the largest of them; `None` if a
    /// call failed. A point beside the start is looked at: there more of a model is awake.
    pub fn deviation(&self, data: &Table<F>) -> Option<f64> {
        let step = |(j, x): (usize, &f64)| x + 0.05 * (((j * 7919 + 13) % 101) as f64 / 50.0 - 1.0);
        let x: Vec<f64> = self.start.iter().enumerate().map(step).collect();
        let point = self.point(&x);
        let records: Vec<u32> = (0..data.len().min(TRIED) as u32).collect();
        let numbers = |bytes: &Py<PyBytes>| -> Vec<f32> {
            Python::attach(|py| bytes::f32s(bytes.as_bytes(py)).collect())
        };
        let (_, together) = self.calls.evaluate(&point, data, &records)?;
        let together = numbers(&together);
        let (mut apart, mut largest) = (0.0_f64, 0.0_f64);
        for (record, of_batch) in records.iter().zip(together.chunks(self.dimension)) {
            let (_, alone) = self.calls.evaluate(&point, data, &[*record])?;
            let (mut difference, mut norm) = (0.0, 0.0);
            for (a, b) in numbers(&alone).iter().zip(of_batch) {
                difference += f64::from(a - b).powi(2);
                norm += f64::from(*a).powi(2);
            }
            // What is not a number is left out by the gate, and says nothing about company.
            if difference.is_finite() && norm.is_finite() {
                (apart, largest) = (apart.max(difference.sqrt()), largest.max(norm.sqrt()));
            }
        }
        Some(if largest > 0.0 { apart / largest } else { apart })
    }
}

impl<F: Feature> Model for PythonModel<F> {
    type Data = Table<F>;

    fn dimension(&self) -> usize {
        self.dimension
    }

    fn check(&self, data: &Table<F>) -> Result<(), String> {
        if data.width() != self.width {
            return Err(format!(
                "records have {} features, the model was made for {}",
                data.width(),
                self.width
            ));
        }
        // A record alone has no company to depend on: another node's records are tried then.
        if data.len() < 2 || self.tried.swap(true, Ordering::SeqCst) {
            return Ok(());
        }
        let deviation = self.deviation(data).ok_or("the model failed on the first records")?;
        match deviation <= TOLERANCE {
            true => Ok(()),
            false => Err(dependence(deviation)),
        }
    }

    fn failure(&self) -> Option<String> {
        self.calls.shared.stopped().then(|| "it raised an exception, or was interrupted".to_string())
    }

    fn loss(&self, x: &[f64], data: &Table<F>, record: usize) -> f64 {
        self.sum_losses(x, data, Records::Run(record, record + 1))
    }

    fn gradient(&self, x: &[f64], data: &Table<F>, record: usize, gradient: &mut [f64]) {
        gradient.fill(0.0);
        self.add_gradients(x, data, Records::Run(record, record + 1), gradient);
    }

    fn count_correct(&self, x: &[f64], data: &Table<F>, records: Records<'_>) -> Option<u64> {
        let predict = self.calls.predict.as_ref()?;
        let point = self.point(x);
        let count = |group: &[u32]| {
            let predicted = self.calls.attached(|py| {
                let answer = predict.bind(py).call1((&point, features(py, data, group)))?;
                Ok(bytes::f64s(answer.cast::<PyBytes>()?.as_bytes()))
            })?;
            let right = |(r, p): &(&u32, &f64)| data.label(**r as usize) == **p;
            Some(group.iter().zip(&predicted).filter(right).count() as u64)
        };
        listed(records).chunks(self.group).map(count).sum()
    }

    fn engine(&self) -> Option<&dyn Engine<Table<F>>> {
        Some(self)
    }

    fn add_gradients(&self, x: &[f64], data: &Table<F>, records: Records<'_>, sum: &mut [f64]) {
        self.evaluate(x, data, records, sum);
    }

    fn sum_losses(&self, x: &[f64], data: &Table<F>, records: Records<'_>) -> f64 {
        let mut sum = 0.0;
        let done = self.each_group(x, data, records, |losses, _| sum += losses.iter().sum::<f64>());
        if done { sum } else { f64::NAN }
    }

    fn evaluate(&self, x: &[f64], data: &Table<F>, records: Records<'_>, sum: &mut [f64]) -> f64 {
        let mut total = 0.0;
        let done = self.each_group(x, data, records, |losses, gradients| {
            total += losses.iter().sum::<f64>();
            for gradient in gradients.chunks(4 * self.dimension) {
                sum.iter_mut().zip(bytes::f32s(gradient)).for_each(|(s, g)| *s += f64::from(g));
            }
        });
        if done { total } else { f64::NAN }
    }
}

/// What is wrong with a model whose gradients depend on more than their record.
pub fn dependence(deviation: f64) -> String {
    format!(
        "the gradient of a record changes by {:.2} % when other records are in the batch, or from call to call: \
         clipping then bounds nothing and the run would not be private. Batch normalisation, a loss that is a mean over \
         the batch, and dropout do this: return one gradient per record, of that record's own loss (check=False skips this \
         test, on your own responsibility)",
        100.0 * deviation
    )
}

impl<F: Feature> Engine<Table<F>> for PythonModel<F> {
    fn coordinates(&self) -> usize {
        self.padded
    }

    fn places(&self) -> &[u32] {
        &self.places
    }

    fn prepare<'a>(&'a self, points: &[&[f64]]) -> Box<dyn Differentiator<Table<F>> + 'a> {
        Box::new(Ready { model: self, points: points.iter().map(|x| self.point(x)).collect() })
    }
}

/// A model at one or two points.
struct Ready<'a, F: Feature> {
    model: &'a PythonModel<F>,
    points: Vec<Py<PyBytes>>,
}

impl<F: Feature> Differentiator<Table<F>> for Ready<'_, F> {
    fn worker<'a>(&'a self) -> Box<dyn Worker<Table<F>> + 'a> {
        Box::new(Group { ready: self, gradients: vec![Vec::new(); self.points.len()] })
    }
}

/// The gradients of a few records, at every point, padded with zeros.
struct Group<'a, F: Feature> {
    ready: &'a Ready<'a, F>,
    gradients: Vec<Vec<f32>>,
}

impl<F: Feature> Worker<Table<F>> for Group<'_, F> {
    fn group(&self) -> usize {
        self.ready.model.group
    }

    fn load(&mut self, data: &Table<F>, records: &[u32]) {
        let model = self.ready.model;
        for (point, into) in self.ready.points.iter().zip(&mut self.gradients) {
            into.clear();
            let evaluated = model.calls.evaluate(point, data, records);
            let Some((_, gradients)) = evaluated else {
                // Counts as zero, and the gate releases nothing of this round: see `Model::failure`.
                into.resize(records.len() * model.padded, f32::NAN);
                continue;
            };
            Python::attach(|py| {
                for gradient in gradients.as_bytes(py).chunks(4 * model.dimension) {
                    into.extend(bytes::f32s(gradient));
                    into.resize(into.len().next_multiple_of(model.padded), 0.0);
                }
            });
        }
    }

    fn differentiate(&mut self, _: usize, _: usize) {}

    fn pieces(&self) -> usize {
        1
    }

    fn piece(&self, point: usize, which: usize, _: usize) -> Piece<'_> {
        let padded = self.ready.model.padded;
        let gradients = self.gradients.get(point).map_or(&[][..], Vec::as_slice);
        Piece::Dense(gradients.get(which * padded..(which + 1) * padded).unwrap_or(&[]))
    }
}
