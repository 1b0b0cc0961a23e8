//! `prdo.audit`: the battery of `prdo audit` on a method, a program's own among them.

use crate::errors;
use crate::method::MethodHandle;
use crate::session::each_event;
use prdo::algorithm::{Method, Settings};
use prdo_audit::{Audit, AuditError, Report, Shipped};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::mpsc::channel;

/// The step size of the audit's runs.
const STEP_SIZE: f64 = 0.1;

/// Which method: one of the built-in ones by its name, or a class with its parameters' values.
#[derive(FromPyObject)]
pub enum Audited {
    Own(MethodHandle),
    Named(String),
}

impl Audited {
    fn audit(&self, full: bool) -> PyResult<Audit> {
        let battery = |method| match full {
            true => Audit::full(method),
            false => Audit::quick(method),
        };
        match self {
            Self::Named(name) => {
                let method = name.parse::<Method>();
                let method = method.map_err(|why| errors::input(&why, Some("method"), Some(name), None))?;
                battery(method).map_err(refuse)
            }
            Self::Own(handle) => {
                let mut audit = battery(handle.class().method()).map_err(refuse)?;
                for setting in &mut audit.settings {
                    let given = handle.given(setting.rounds)?.parameters.into_iter();
                    setting.settings =
                        given.fold(Settings::new(STEP_SIZE), Settings::with).over(setting.rounds);
                }
                Ok(audit)
            }
        }
    }

    /// Ends what is under way, of a class that was made for this audit alone.
    fn stop(&self) {
        if let Self::Own(handle) = self {
            handle.class().stop();
        }
    }
}

/// Attacks a method; `each(what)` hears what comes next. `runs` and `pairs` are the battery's unless they are given.
#[pyfunction]
#[pyo3(signature = (method, full, runs, pairs, seed, each=None))]
pub fn audit<'py>(
    py: Python<'py>,
    method: Audited,
    full: bool,
    runs: Option<usize>,
    pairs: Option<usize>,
    seed: u64,
    each: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let mut audit = method.audit(full)?;
    audit.seed = seed;
    audit.runs = runs.unwrap_or(audit.runs).max(1);
    audit.pairs = pairs.unwrap_or(audit.pairs).max(1);
    let (sender, receiver) = channel();
    let work = move || {
        // Nobody listens any more only when the waiting thread is gone, and the process with it.
        audit.run(&Shipped, &mut |what| {
            let _ = sender.send(what.to_string());
        })
    };
    let thread = std::thread::Builder::new().name("prdo-audit".into()).spawn(work);
    let thread = thread.map_err(|e| errors::work(&format!("cannot start a thread: {e}")))?;
    let mut raised = None;
    each_event(py, receiver, |event| {
        let told = match (event, &each) {
            (Some(what), Some(each)) => each.call1(py, (what,)).map(|_| ()),
            _ => Ok(()),
        };
        if let Err(error) = told.and_then(|()| py.check_signals()) {
            method.stop();
            raised.get_or_insert(error);
        }
    });
    let result = py.detach(|| thread.join());
    match (raised, result) {
        (Some(error), _) => Err(error),
        (None, Ok(Ok(report))) => shown(py, &report),
        (None, Ok(Err(error))) => Err(failed(&error)),
        (None, Err(_)) => Err(errors::work("the audit ended unexpectedly")),
    }
}

fn refuse(error: AuditError) -> PyErr {
    errors::work(&error.to_string())
}

fn failed(error: &AuditError) -> PyErr {
    match error {
        AuditError::Method { failure, .. } => errors::method(failure, None),
        other => errors::work(&other.to_string()),
    }
}

type Check = (&'static str, String, bool, f64, String, String);

fn shown<'py>(py: Python<'py>, report: &Report) -> PyResult<Bound<'py, PyDict>> {
    let answer = PyDict::new(py);
    let checks = report.checks.iter().map(|c| -> Check {
        (c.name, c.setting.clone(), c.passed, c.figure, c.allowed.clone(), c.what.clone())
    });
    answer.set_item("checks", checks.collect::<Vec<_>>())?;
    let findings = report.findings.iter();
    let findings =
        findings.map(|f| (f.setting.name.clone(), f.outcome.epsilon, f.claimed.upper, f.setting.delta));
    answer.set_item("findings", findings.collect::<Vec<_>>())?;
    Ok(answer)
}
