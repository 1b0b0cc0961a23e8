//! A `prdo.PythonModel` on its way to the gate: for whatever records a run has, and tried on a few of them.

use crate::bytes;
use crate::errors;
use crate::model::{Calls, PythonModel, TOLERANCE, dependence};
use crate::records::Arrays;
use crate::shared::Shared;
use prdo::build::{BoxedModel, OwnModel};
use prdo::data::{Feature, ImageShape, Loaded, Table};
use prdo::privacy::Start;
use prdo::store::RecordFacts;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A `prdo.PythonModel`, as `prdo/model.py` hands it over.
#[derive(FromPyObject)]
pub struct ModelHandle {
    dimension: usize,
    start: Py<PyBytes>,
    group: usize,
    check: bool,
    parallel: bool,
    /// `bridge(shape, image_bytes)` → (evaluate, predict or None), for records of that shape.
    bridge: Py<PyAny>,
}

/// The same, ready for records.
pub struct UserModel {
    handle: ModelHandle,
    start: Start,
    shared: Arc<Shared>,
    /// Whether it was tried on a node's records already: one node's are enough.
    tried: Arc<AtomicBool>,
}

impl UserModel {
    /// A model whose exceptions go to `shared`.
    pub fn new(py: Python<'_>, handle: ModelHandle, shared: Arc<Shared>) -> PyResult<Self> {
        let tried = Arc::new(AtomicBool::new(!handle.check));
        let refuse = |why: &str| errors::input(&format!("model: {why}"), Some("model"), None, None);
        let start = bytes::f64s(handle.start.as_bytes(py));
        if start.len() != handle.dimension {
            return Err(refuse("start must have as many values as the model has parameters"));
        }
        let start = Start::declared_public(start).map_err(|e| refuse(&e.to_string()))?;
        Ok(Self { handle, start, shared, tried })
    }

    fn model<F: Feature>(&self, facts: &RecordFacts) -> Result<PythonModel<F>, String> {
        let shape: Vec<u64> = facts.image.map_or_else(|| vec![facts.features], |sides| sides.to_vec());
        let made = Python::attach(|py| -> PyResult<_> {
            let shape = PyTuple::new(py, shape)?;
            let bytes = F::NUMPY == u8::NUMPY;
            let pair = self.handle.bridge.bind(py).call1((shape, bytes))?;
            pair.extract::<(Py<PyAny>, Option<Py<PyAny>>)>()
        });
        let (evaluate, predict) = made.map_err(|error| {
            let message = error.to_string();
            self.shared.fail(error);
            message
        })?;
        let calls = Calls::new(evaluate, predict, self.handle.parallel, Arc::clone(&self.shared));
        let tried = Arc::clone(&self.tried);
        Ok(PythonModel::new(self.start.values(), facts.features as usize, self.handle.group, calls, tried))
    }
}

impl OwnModel for UserModel {
    fn start(&self) -> Start {
        self.start.clone()
    }

    fn numbers(&self, facts: &RecordFacts) -> Result<BoxedModel, String> {
        Ok(Box::new(self.model::<f64>(facts)?))
    }

    fn images(&self, facts: &RecordFacts) -> Result<BoxedModel<u8>, String> {
        Ok(Box::new(self.model::<u8>(facts)?))
    }
}

/// Tries a model on the first records of X and y: how far a record's gradient depends on the others, relative.
#[pyfunction]
pub fn check_model(py: Python<'_>, model: ModelHandle, records: Arrays<'_>) -> PyResult<f64> {
    let shared = Arc::new(Shared::default());
    let own = UserModel::new(py, model, Arc::clone(&shared))?;
    let deviation = match records.load()? {
        Loaded::Numbers(data) => try_on::<f64>(py, &own, &data.table, data.image),
        Loaded::Images(data) => try_on::<u8>(py, &own, &data.table, data.image),
    };
    if let Some(error) = shared.take() {
        return Err(error);
    }
    match deviation {
        Some(deviation) if deviation <= TOLERANCE => Ok(deviation),
        Some(deviation) => {
            Err(errors::input(&format!("model: {}", dependence(deviation)), Some("model"), None, None))
        }
        None => Err(errors::work("the model failed")),
    }
}

fn try_on<F: Feature>(
    py: Python<'_>,
    own: &UserModel,
    table: &Table<F>,
    image: Option<ImageShape>,
) -> Option<f64> {
    let image = image.map(|i| [i.channels as u64, i.height as u64, i.width as u64]);
    let facts = RecordFacts { features: table.width() as u64, image, ..RecordFacts::default() };
    let model = own.model::<F>(&facts).ok()?;
    py.detach(|| if table.is_empty() { Some(0.0) } else { model.deviation(table) })
}
