//! `prdo.privacy`: the questions of `prdo privacy`, answered by the same code.

use crate::errors;
use prdo::accounting::{Accountant, Bounds, Method, Target};
use prdo::budget::words::{self, plain};
use prdo::budget::{
    Against, Allowed, BUDGET, CurveError, DELTA, EPSILON, NOISE, POINTS, Question, RATE, ROUNDS, Releases,
    lower, ratio,
};
use pyo3::prelude::*;
use pyo3::types::PyFloat;
use std::ops::ControlFlow;

/// A number in its range, or the exception that names the argument.
fn checked(field: &str, allowed: &Allowed, value: &Bound<'_, PyAny>) -> PyResult<f64> {
    let number = match value.extract::<String>() {
        Ok(text) => ratio(&text).filter(|_| allowed.words == RATE.words),
        Err(_) => value.extract::<f64>().ok(),
    };
    allowed.check(number).map_err(|_| {
        let shown = value.repr().map_or_else(|_| "this".to_string(), |text| text.to_string());
        errors::out_of_range(field, &shown, allowed.words)
    })
}

fn optional(field: &str, allowed: &Allowed, value: Option<&Bound<'_, PyAny>>) -> PyResult<Option<f64>> {
    value.map(|value| checked(field, allowed, value)).transpose()
}

fn method(name: &str) -> PyResult<Method> {
    Method::named(name).ok_or_else(|| {
        let names: Vec<String> = Method::NAMES.iter().map(|(name, _)| format!("{name:?}")).collect();
        errors::out_of_range("accountant", &format!("{name:?}"), &format!("one of {}", names.join(", ")))
    })
}

/// A plan from what Python gives.
fn plan(
    rate: &Bound<'_, PyAny>,
    noise: &Bound<'_, PyAny>,
    rounds: &Bound<'_, PyAny>,
    first_rate: Option<&Bound<'_, PyAny>>,
    first_noise: Option<&Bound<'_, PyAny>>,
) -> PyResult<Releases> {
    let (rate, noise) = (checked("rate", &RATE, rate)?, checked("noise", &NOISE, noise)?);
    Ok(Releases {
        rate,
        first_rate: optional("first_rate", &RATE, first_rate)?.unwrap_or(rate),
        noise,
        first_noise: optional("first_noise", &NOISE, first_noise)?.unwrap_or(noise),
        rounds: checked("rounds", &ROUNDS, rounds)? as u64,
    })
}

fn target(epsilon: &Bound<'_, PyAny>, delta: &Bound<'_, PyAny>) -> PyResult<Target> {
    let (epsilon, delta) = (checked("epsilon", &BUDGET, epsilon)?, checked("delta", &DELTA, delta)?);
    Target::new(epsilon, delta).map_err(|e| errors::accounting(&e))
}

/// (lower, upper) of ε at δ.
#[pyfunction]
#[pyo3(signature = (rate, noise, rounds, delta, first_rate=None, first_noise=None, accountant="prv"))]
#[allow(clippy::too_many_arguments)]
pub fn epsilon(
    py: Python<'_>,
    rate: &Bound<'_, PyAny>,
    noise: &Bound<'_, PyAny>,
    rounds: &Bound<'_, PyAny>,
    delta: &Bound<'_, PyAny>,
    first_rate: Option<&Bound<'_, PyAny>>,
    first_noise: Option<&Bound<'_, PyAny>>,
    accountant: &str,
) -> PyResult<(Option<f64>, f64)> {
    let plan = plan(rate, noise, rounds, first_rate, first_noise)?;
    let (method, delta) = (method(accountant)?, checked("delta", &DELTA, delta)?);
    let bounds = py.detach(|| plan.epsilon(&Accountant::new(method), delta));
    let bounds = bounds.map_err(|e| errors::accounting(&e))?;
    Ok((lower(method, &bounds), bounds.upper))
}

/// (lower, upper) of δ at ε.
#[pyfunction]
#[pyo3(signature = (rate, noise, rounds, epsilon, first_rate=None, first_noise=None))]
pub fn delta(
    py: Python<'_>,
    rate: &Bound<'_, PyAny>,
    noise: &Bound<'_, PyAny>,
    rounds: &Bound<'_, PyAny>,
    epsilon: &Bound<'_, PyAny>,
    first_rate: Option<&Bound<'_, PyAny>>,
    first_noise: Option<&Bound<'_, PyAny>>,
) -> PyResult<(f64, f64)> {
    let plan = plan(rate, noise, rounds, first_rate, first_noise)?;
    let epsilon = checked("epsilon", &EPSILON, epsilon)?;
    let bounds = py.detach(|| plan.delta(epsilon)).map_err(|e| errors::accounting(&e))?;
    Ok((bounds.lower, bounds.upper))
}

/// A plan that was fitted to a budget, and what it costs.
type Fitted = (f64, Option<f64>, f64);

/// Fits a plan and evaluates it again: what is shown was checked.
fn fit(
    py: Python<'_>,
    method: Method,
    target: Target,
    search: impl FnOnce(&Accountant) -> Result<Releases, prdo::accounting::AccountingError> + Send,
) -> PyResult<(Releases, Option<f64>, f64)> {
    let found = py.detach(|| {
        let accountant = Accountant::new(method);
        let plan = search(&accountant)?;
        Ok((plan, plan.epsilon(&accountant, target.delta())?))
    });
    let (plan, bounds): (Releases, Bounds) = found.map_err(|e| errors::accounting(&e))?;
    Ok((plan, lower(method, &bounds), bounds.upper))
}

/// (noise multiplier, lower and upper ε).
#[pyfunction]
#[pyo3(signature = (rate, epsilon, rounds, delta, first_rate=None, accountant="prv"))]
pub fn noise(
    py: Python<'_>,
    rate: &Bound<'_, PyAny>,
    epsilon: &Bound<'_, PyAny>,
    rounds: &Bound<'_, PyAny>,
    delta: &Bound<'_, PyAny>,
    first_rate: Option<&Bound<'_, PyAny>>,
    accountant: &str,
) -> PyResult<Fitted> {
    let rate = checked("rate", &RATE, rate)?;
    let first_rate = optional("first_rate", &RATE, first_rate)?.unwrap_or(rate);
    let rounds = checked("rounds", &ROUNDS, rounds)? as u64;
    let (method, target) = (method(accountant)?, target(epsilon, delta)?);
    let search = move |a: &Accountant| Releases::with_least_noise(a, &target, (first_rate, rate), rounds);
    let (plan, lower, upper) = fit(py, method, target, search)?;
    Ok((plan.noise, lower, upper))
}

/// (rounds, lower and upper ε).
#[pyfunction]
#[pyo3(signature = (rate, noise, epsilon, delta, first_rate=None, first_noise=None, accountant="prv"))]
#[allow(clippy::too_many_arguments)]
pub fn rounds(
    py: Python<'_>,
    rate: &Bound<'_, PyAny>,
    noise: &Bound<'_, PyAny>,
    epsilon: &Bound<'_, PyAny>,
    delta: &Bound<'_, PyAny>,
    first_rate: Option<&Bound<'_, PyAny>>,
    first_noise: Option<&Bound<'_, PyAny>>,
    accountant: &str,
) -> PyResult<(u64, Option<f64>, f64)> {
    let one = PyFloat::new(py, 1.0).into_any();
    let plan = plan(rate, noise, &one, first_rate, first_noise)?;
    let (method, target) = (method(accountant)?, target(epsilon, delta)?);
    let (plan, lower, upper) = fit(py, method, target, move |a| plan.with_most_rounds(a, &target))?;
    Ok((plan.rounds, lower, upper))
}

/// (sampling rate, lower and upper ε).
#[pyfunction]
#[pyo3(signature = (noise, rounds, epsilon, delta, accountant="prv"))]
pub fn rate(
    py: Python<'_>,
    noise: &Bound<'_, PyAny>,
    rounds: &Bound<'_, PyAny>,
    epsilon: &Bound<'_, PyAny>,
    delta: &Bound<'_, PyAny>,
    accountant: &str,
) -> PyResult<Fitted> {
    let noise = checked("noise", &NOISE, noise)?;
    let rounds = checked("rounds", &ROUNDS, rounds)? as u64;
    let (method, target) = (method(accountant)?, target(epsilon, delta)?);
    let search = move |a: &Accountant| Releases::with_largest_rate(a, &target, noise, rounds);
    let (plan, lower, upper) = fit(py, method, target, search)?;
    Ok((plan.rate, lower, upper))
}

/// The axis' key, a row (x, lower, upper, Rényi, paper's Rényi) a point, and the picture.
type Drawn = (&'static str, Vec<(f64, f64, f64, f64, f64)>, String);

/// ε as one setting changes.
#[pyfunction]
#[pyo3(signature = (against, rate=None, noise=None, rounds=None, delta=None, first_rate=None, start=None, end=None,
                    points=None))]
#[allow(clippy::too_many_arguments)]
pub fn curve(
    py: Python<'_>,
    against: &str,
    rate: Option<&Bound<'_, PyAny>>,
    noise: Option<&Bound<'_, PyAny>>,
    rounds: Option<&Bound<'_, PyAny>>,
    delta: Option<&Bound<'_, PyAny>>,
    first_rate: Option<&Bound<'_, PyAny>>,
    start: Option<&Bound<'_, PyAny>>,
    end: Option<&Bound<'_, PyAny>>,
    points: Option<&Bound<'_, PyAny>>,
) -> PyResult<Drawn> {
    let axis = Against::ALL.into_iter().find(|a| a.argument() == against).ok_or_else(|| {
        let names: Vec<String> = Against::ALL.iter().map(|a| format!("{:?}", a.argument())).collect();
        errors::out_of_range("against", &format!("{against:?}"), &format!("one of {}", names.join(", ")))
    })?;
    let end_of = |field: &str, value: Option<&Bound<'_, PyAny>>| optional(field, axis.allowed(), value);
    let mut question = Question {
        against: axis,
        rate: optional("rate", &RATE, rate)?,
        first_rate: optional("first_rate", &RATE, first_rate)?,
        noise: optional("noise", &NOISE, noise)?,
        rounds: optional("rounds", &ROUNDS, rounds)?.map(|t| t as u64),
        delta: optional("delta", &DELTA, delta)?,
        from: end_of("start", start)?,
        to: end_of("end", end)?,
        points: optional("points", &POINTS, points)?.unwrap_or(25.0) as usize,
        fixed: String::new(),
    };
    question.fixed = fixed(&question, rate, first_rate);
    let places = question.places().map_err(|e| refuse(&e))?;
    let mut interrupted = None;
    let curve = py.detach(|| {
        question.compute(&places, |_| match Python::attach(|py| py.check_signals()) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                interrupted = Some(error);
                ControlFlow::Break(())
            }
        })
    });
    if let Some(error) = interrupted {
        return Err(error);
    }
    let curve = curve.map_err(|e| refuse(&e))?;
    let row = |p: &prdo::budget::Point| (p.x, p.exact.lower, p.exact.upper, p.renyi, p.paper);
    Ok((axis.key(), curve.points.iter().map(row).collect(), curve.figure().to_svg()))
}

/// The settings that stay, in words.
fn fixed(asked: &Question, rate: Option<&Bound<'_, PyAny>>, first: Option<&Bound<'_, PyAny>>) -> String {
    let typed =
        |value: &Bound<'_, PyAny>| value.str().map_or_else(|_| String::new(), |text| text.to_string());
    let others = [
        (Against::Rate, rate.map(|rate| format!("rate {}", typed(rate)))),
        (Against::Noise, asked.noise.map(|noise| format!("noise multiplier {}", plain(noise)))),
        (Against::Rounds, asked.rounds.map(|rounds| format!("{rounds} rounds"))),
        (Against::Delta, asked.delta.map(|delta| format!("δ = {}", plain(delta)))),
    ];
    let shown = others.into_iter().filter(|(setting, _)| *setting != asked.against);
    let first = first.map(|rate| format!("first rate {}", typed(rate)));
    shown.filter_map(|(_, words)| words).chain(first).collect::<Vec<_>>().join(", ")
}

fn refuse(error: &CurveError) -> PyErr {
    let end = |end: &str| if end == "from" { "start" } else { "end" };
    match error {
        CurveError::Missing { setting, .. } => {
            errors::input(&error.to_string(), Some(setting.argument()), None, None)
        }
        CurveError::NoEnd { end: which, against } => {
            let message =
                format!("{} is missing: give {}, or both start and end", end(which), against.argument());
            errors::input(&message, Some(end(which)), None, None)
        }
        CurveError::End { end: which, value, against, .. } => {
            errors::out_of_range(end(which), &plain(*value), against.allowed().words)
        }
        CurveError::Empty { from, to } => {
            errors::out_of_range("end", &plain(*to), &format!("above start = {}", plain(*from)))
        }
        CurveError::Accounting(error) => errors::accounting(error),
    }
}

/// What an ε means, in a line.
#[pyfunction]
pub fn meaning(epsilon: f64) -> String {
    words::meaning(epsilon)
}
