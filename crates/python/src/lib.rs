//! The extension module of the Python package.
use pyo3::prelude::*;

/// The module.
#[pymodule]
mod _prdo {}
