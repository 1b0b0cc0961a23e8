//! `prdo.graph`: who talks to whom, and how fast the network mixes.

use crate::bytes;
use crate::errors;
use crate::session::ORIGIN;
use prdo::algorithm::graph::{Needs, NetworkError};
use prdo::build::wiring;
use prdo::report::network_figure;
use prdo::runfile::{Document, Key};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

/// Above so many nodes W is not written out.
const DENSE_NODES: usize = 4096;

/// The graph of these `graph.*` keys: its figures, W row after row, and its picture.
#[pyfunction]
pub fn graph<'py>(py: Python<'py>, settings: Vec<(String, String)>) -> PyResult<Bound<'py, PyDict>> {
    let wrong = |e| errors::config(&e, ORIGIN);
    let mut document = Document::parse(ORIGIN, "").map_err(wrong)?;
    settings.iter().try_for_each(|(key, value)| document.give(ORIGIN, key, value)).map_err(wrong)?;
    let wiring = wiring(&document.run_file(), None).map_err(wrong)?;
    let refuse =
        |e: NetworkError| errors::input(&format!("graph: {e}"), Some(Key::GraphKind.path()), None, None);
    let spectrum = wiring.mixing.spectrum().map_err(refuse)?;
    let semidefinite = match wiring.mixing.check(Needs::Symmetric, false) {
        Ok(_) => Some(true),
        Err(NetworkError::Indefinite { .. }) => Some(false),
        // Links go one way, or change: a word that does not apply.
        Err(_) => None,
    };
    let nodes = wiring.graph.nodes();
    let answer = PyDict::new(py);
    answer.set_item("nodes", nodes)?;
    answer.set_item("edges", wiring.graph.edges())?;
    answer.set_item("eigenvalue", spectrum.lambda)?;
    answer.set_item("spectral_gap", spectrum.spectral_gap)?;
    answer.set_item("smallest_eigenvalue", spectrum.smallest)?;
    answer.set_item("positive_semidefinite", semidefinite)?;
    answer.set_item("weights", &wiring.weights)?;
    answer.set_item("degrees", (0..nodes).map(|i| wiring.graph.degree(i)).collect::<Vec<_>>())?;
    if nodes <= DENSE_NODES {
        let mut matrix = vec![0.0; nodes * nodes];
        for i in 0..nodes {
            for (j, w) in wiring.mixing.at(0).row_entries(i) {
                if let Some(entry) = matrix.get_mut(i * nodes + j) {
                    *entry = w;
                }
            }
        }
        answer.set_item("matrix", PyBytes::new(py, &bytes::of(&matrix)))?;
    }
    answer.set_item("svg", network_figure(&wiring, &spectrum, None).to_svg())?;
    Ok(answer)
}
