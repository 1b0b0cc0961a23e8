//! Rust's errors as the package's exceptions.

use prdo::accounting::AccountingError;
use prdo::algorithm::Failure;
use prdo::error::RunError;
use prdo::runfile::{ConfigError, Key};
use prdo::simulator::SimulationError;
use prdo::store::FolderError;
use prdo::trainer::{ResultsError, TrainError};
use pyo3::call::PyCallArgs;
use pyo3::prelude::*;

/// An exception of `prdo.errors`; if even that cannot be made, why.
fn exception<'py>(py: Python<'py>, name: &str, arguments: impl PyCallArgs<'py>) -> PyErr {
    let make = || py.import("prdo.errors")?.getattr(name)?.call1(arguments);
    make().map_or_else(|error| error, PyErr::from_value)
}

/// `InputError`: what was given is wrong; nothing was trained or released.
pub fn input(message: &str, field: Option<&str>, value: Option<&str>, allowed: Option<&str>) -> PyErr {
    Python::attach(|py| exception(py, "InputError", (message, field, value, allowed)))
}

pub fn out_of_range(field: &str, value: &str, allowed: &str) -> PyErr {
    let message = format!("{field} = {value} is not allowed: it must be {allowed}");
    input(&message, Some(field), Some(value), Some(allowed))
}

/// `RunError`: the work failed.
pub fn work(message: &str) -> PyErr {
    Python::attach(|py| exception(py, "RunError", (message,)))
}

/// Something wrong with the settings. Where it stands is shown only if that is a file.
pub fn config(error: &ConfigError, origin: &str) -> PyErr {
    let shown = match &error.place {
        Some(place) if &*place.file == origin => {
            let help = error.help.as_ref().map(|help| format!("\n  = help: {help}"));
            format!("{}{}", error.message, help.unwrap_or_default())
        }
        _ => error.to_string(),
    };
    match error.subject.as_deref() {
        Some(subject) => {
            input(&shown, Some(&subject.field), subject.value.as_deref(), subject.allowed.as_deref())
        }
        None => input(&shown, None, None, None),
    }
}

pub fn run(error: &RunError) -> PyErr {
    if let RunError::Simulation(SimulationError::Method { failure, spent, .. }) = error {
        return method(failure, *spent);
    }
    if error.is_input() {
        input(&error.to_string(), error.field().map(Key::path), None, None)
    } else {
        work(&error.to_string())
    }
}

/// What a program's own method raised, with ε that was spent when it did.
pub fn method(failure: &Failure, spent: Option<f64>) -> PyErr {
    Python::attach(|py| {
        let Some(error) = failure.downcast_ref::<PyErr>() else { return work(&failure.to_string()) };
        // Only prdo's own exceptions have a place for it.
        if error.value(py).hasattr("spent").unwrap_or(false) {
            let _ = error.value(py).setattr("spent", spent);
        }
        error.clone_ref(py)
    })
}

pub fn folder(error: &FolderError) -> PyErr {
    let message = named_here(&error.to_string());
    if error.is_input() { input(&message, Some("out"), None, None) } else { work(&message) }
}

/// The command's options have other names here.
fn named_here(message: &str) -> String {
    let names = [
        ("--out", "folder"),
        ("add --overwrite", "pass overwrite=True"),
        ("--overwrite", "overwrite=True"),
        ("add --resume", "pass resume=True"),
        ("--resume", "resume=True"),
    ];
    names.iter().fold(message.to_string(), |message, (there, here)| message.replace(there, here))
}

pub fn train(error: &TrainError) -> PyErr {
    match error {
        TrainError::Folder(error) => folder(error),
        TrainError::Run(error) => run(error),
        TrainError::Results(error) => results(error),
        other if other.is_input() => input(&named_here(&other.to_string()), Some("out"), None, None),
        other => work(&other.to_string()),
    }
}

pub fn results(error: &ResultsError) -> PyErr {
    match error {
        ResultsError::Folder(error) => folder(error),
        other => work(&other.to_string()),
    }
}

/// A question that the accountant refuses.
pub fn accounting(error: &AccountingError) -> PyErr {
    match error {
        AccountingError::OutOfRange { field, value, allowed } => {
            let field = if *field == "noise_multiplier" { "noise" } else { field };
            out_of_range(field, &value.to_string(), allowed)
        }
        unmet => input(&unmet.to_string(), Some("epsilon"), None, None),
    }
}
