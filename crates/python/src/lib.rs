//! The extension module of the Python package `prdo`: the façade's functions, and nothing else.
//!
//! Arrays cross as `bytes` of little-endian numbers, which NumPy makes and reads without copying an element by hand and
//! which needs neither NumPy's interface nor `unsafe` here. What people call is in `python/prdo`, which checks types,
//! makes arrays and wraps the answers; every range is checked on this side, by the code that the command uses.
//!
//! What never happens here: a figure of its own, training that holds the interpreter's lock, a panic across the border
//! (PyO3 turns one into an exception all the same).
// PyO3's macros write `unsafe` themselves; none is written by hand.
#![allow(unsafe_code)]

mod audit;
mod budget;
mod bytes;
mod errors;
mod graph;
mod method;
mod method_class;
mod method_node;
mod model;
mod pairs;
mod plot;
mod question;
mod records;
mod session;
mod shared;
mod trained;
mod user_model;

use pyo3::prelude::*;

#[pymodule]
mod _prdo {
    #[pymodule_export]
    use crate::audit::audit;
    #[pymodule_export]
    use crate::budget::{curve, delta, epsilon, meaning, noise, rate, rounds};
    #[pymodule_export]
    use crate::graph::graph;
    #[pymodule_export]
    use crate::method::MethodClass;
    #[pymodule_export]
    use crate::pairs::{against, coalitions, pairs};
    #[pymodule_export]
    use crate::plot::plot;
    #[pymodule_export]
    use crate::session::Session;
    #[pymodule_export]
    use crate::trained::Trained;
    #[pymodule_export]
    use crate::user_model::check_model;
    use prdo::simulator::COLUMNS;
    use pyo3::prelude::*;
    use pyo3::types::PyTuple;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("COLUMNS", PyTuple::new(module.py(), COLUMNS.iter().map(|column| column.name))?)?;
        let methods = prdo::algorithm::Method::ALL.iter().map(|method| method.card().name);
        module.add("METHODS", PyTuple::new(module.py(), methods)?)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
