//! What came out of a run, for Python.

use crate::bytes;
use crate::errors;
use prdo::build::Built;
use prdo::plot::{Chart, Figure, LegendPlace, Scale, Series};
use prdo::simulator::{Moments, Row};
use prdo::store::{
    COLUMNS, Folder, FolderError, LinesFile, Number, artefact, format_moments, format_row, header,
    moments_header, names,
};
use prdo::trainer::{Results, ResultsError};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use std::path::PathBuf;

#[pyclass(frozen, module = "prdo._prdo")]
pub struct Trained {
    #[pyo3(get)]
    name: String,
    #[pyo3(get)]
    run_file: String,
    rows: Vec<Row>,
    moments: Vec<Moments>,
    average: Vec<f64>,
    models: Vec<Vec<f64>>,
    /// Held-out accuracy of each node's own model.
    #[pyo3(get)]
    node_accuracy: Vec<f64>,
    results: Results,
}

/// A row's cells, in the order of `metrics.csv`; empty ones are `None`.
type Cells<'py> = Bound<'py, PyTuple>;

pub fn cells<'py>(py: Python<'py>, row: &Row) -> PyResult<Cells<'py>> {
    let cell = |number: Number| match number {
        Number::Whole(count) => count.into_bound_py_any(py),
        Number::Real(value) => value.into_bound_py_any(py),
    };
    PyTuple::new(py, COLUMNS.iter().map(|column| cell(column.number(row))).collect::<PyResult<Vec<_>>>()?)
}

impl Trained {
    pub fn new(
        name: String,
        run_file: String,
        rows: Vec<Row>,
        moments: Vec<Moments>,
        built: &Built,
        results: Results,
    ) -> Self {
        let training = &built.prepared.training;
        let models = training.models().into_iter().map(<[f64]>::to_vec).collect();
        let (average, node_accuracy) = (training.average(), built.prepared.node_accuracy());
        Self { name, run_file, rows, moments, average, models, node_accuracy, results }
    }

    fn write(&self, folder: &Folder) -> Result<(), ResultsError> {
        folder.write(names::RUN_FILE, self.run_file.as_bytes())?;
        let lines: Vec<String> = std::iter::once(header()).chain(self.rows.iter().map(format_row)).collect();
        LinesFile::create(&folder.path().join(names::METRICS), &lines)?;
        if !self.moments.is_empty() {
            let lines = self.moments.iter().map(format_moments);
            let lines: Vec<String> = std::iter::once(moments_header().to_string()).chain(lines).collect();
            LinesFile::create(&folder.path().join(names::MOMENTS), &lines)?;
        }
        self.results.write(folder)
    }
}

#[pymethods]
impl Trained {
    /// `summary.json`.
    #[getter]
    fn summary(&self) -> String {
        artefact::line(&self.results.summary)
    }

    #[getter]
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Vec<Cells<'py>>> {
        self.rows.iter().map(|row| cells(py, row)).collect()
    }

    /// The paper's moments, round by round.
    #[getter]
    fn moments(&self) -> Vec<(u32, f64, f64, f64, f64, f64)> {
        let cells =
            |m: &Moments| (m.round, m.disagreement, m.local_error, m.mean_error, m.direction, m.movement);
        self.moments.iter().map(cells).collect()
    }

    #[getter]
    fn average<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &bytes::of(&self.average))
    }

    /// Each node's model, one after the other.
    #[getter]
    fn models<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &bytes::of(self.models.iter().flatten()))
    }

    /// Loss and, where there is one, accuracy (otherwise the gradient norm) against rounds, as SVG.
    fn figure(&self) -> String {
        let panel = |title: &str, scale: Scale, value: &dyn Fn(&Row) -> Option<f64>| {
            let points: Vec<(f64, f64)> =
                self.rows.iter().filter_map(|row| Some((f64::from(row.round), value(row)?))).collect();
            let series = Series::new(title, points);
            Chart::new(title, "round", "").y_scale(scale).legend(LegendPlace::Hidden).series(series)
        };
        let second = match self.rows.iter().any(|row| row.test_accuracy.is_some()) {
            true => panel("Test accuracy of the average model", Scale::Linear, &|row| row.test_accuracy),
            false => panel("Gradient norm", Scale::Log, &|row| Some(row.grad_norm)),
        };
        let loss = panel("Loss of the average model", Scale::Linear, &|row| Some(row.loss));
        Figure::new("").columns(2).panel(loss).panel(second).panel_size(380.0, 240.0).to_svg()
    }

    /// Writes the folder that `prdo run` writes.
    fn save(&self, py: Python<'_>, folder: PathBuf, overwrite: bool) -> PyResult<PathBuf> {
        py.detach(|| {
            let folder = Folder::create(Some(&folder), &self.name, overwrite)?;
            self.write(&folder).map(|()| folder.path().to_path_buf())
        })
        .map_err(|e: ResultsError| errors::results(&e))
    }

    /// The report, as HTML.
    fn report(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| {
            let work = |what: &'static str| move |e: std::io::Error| format!("{what}: {e}");
            let temporary = tempfile::tempdir().map_err(work("cannot create a temporary folder"))?;
            let create = || -> Result<Folder, FolderError> {
                Folder::create(Some(&temporary.path().join("run")), "run", false)
            };
            let folder = create().map_err(|e| e.to_string())?;
            self.write(&folder).map_err(|e| e.to_string())?;
            std::fs::read_to_string(folder.path().join(names::REPORT)).map_err(work(names::REPORT))
        })
        .map_err(|message: String| errors::work(&message))
    }
}
