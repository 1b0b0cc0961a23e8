//! `prdo.privacy`: the questions of `prdo privacy`, answered by the same code.

use crate::errors;
use prdo::accounting::{Accountant, AccountingError, Method, Target};
use prdo::budget::words::{self, plain};
use prdo::budget::{
    Against, Allowed, BUDGET, CurveError, DELTA, EPSILON, NOISE, POINTS, Question, RATE, ROUNDS, Releases,
    lower, ratio,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ops::ControlFlow;

/// The settings of a question by their Python names: numbers, or for a rate text such as "100/4500"; `None` where not given.
#[derive(FromPyObject)]
pub struct Settings<'py>(Bound<'py, PyDict>);

impl Settings<'_> {
    /// A number in its range, or the exception that names the argument.
    pub(crate) fn number(&self, field: &str, allowed: &Allowed) -> PyResult<f64> {
        let value = self.0.as_any().get_item(field)?;
        let number = match value.extract::<String>() {
            Ok(text) => ratio(&text).filter(|_| allowed.words == RATE.words),
            Err(_) => value.extract::<f64>().ok(),
        };
        allowed.check(number).map_err(|_| {
            let shown = value.repr().map_or_else(|_| "this".to_string(), |text| text.to_string());
            errors::out_of_range(field, &shown, allowed.words)
        })
    }

    pub(crate) fn optional(&self, field: &str, allowed: &Allowed) -> PyResult<Option<f64>> {
        match self.0.as_any().get_item(field)?.is_none() {
            true => Ok(None),
            false => self.number(field, allowed).map(Some),
        }
    }

    pub(crate) fn rounds(&self) -> PyResult<u64> {
        self.number("rounds", &ROUNDS).map(|rounds| rounds as u64)
    }

    fn plan(&self, rounds: u64) -> PyResult<Releases> {
        let (rate, noise) = (self.number("rate", &RATE)?, self.number("noise", &NOISE)?);
        let first_rate = self.optional("first_rate", &RATE)?.unwrap_or(rate);
        let first_noise = self.optional("first_noise", &NOISE)?.unwrap_or(noise);
        Ok(Releases { rate, first_rate, noise, first_noise, rounds })
    }

    pub(crate) fn target(&self) -> PyResult<Target> {
        let (epsilon, delta) = (self.number("epsilon", &BUDGET)?, self.number("delta", &DELTA)?);
        Target::new(epsilon, delta).map_err(|e| errors::accounting(&e))
    }

    /// A setting as it was given.
    fn typed(&self, field: &str) -> Option<String> {
        let value = self.0.as_any().get_item(field).ok().filter(|value| !value.is_none())?;
        Some(value.str().map_or_else(|_| String::new(), |text| text.to_string()))
    }
}

pub(crate) fn method(name: &str) -> PyResult<Method> {
    Method::named(name).ok_or_else(|| {
        let names: Vec<String> = Method::NAMES.iter().map(|(name, _)| format!("{name:?}")).collect();
        errors::out_of_range("accountant", &format!("{name:?}"), &format!("one of {}", names.join(", ")))
    })
}

/// (lower, upper) of ε at δ.
#[pyfunction]
pub fn epsilon(py: Python<'_>, settings: Settings<'_>, accountant: &str) -> PyResult<(Option<f64>, f64)> {
    let plan = settings.plan(settings.rounds()?)?;
    let (method, delta) = (method(accountant)?, settings.number("delta", &DELTA)?);
    let bounds = py.detach(|| plan.epsilon(&Accountant::new(method), delta));
    let bounds = bounds.map_err(|e| errors::accounting(&e))?;
    Ok((lower(method, &bounds), bounds.upper))
}

/// (lower, upper) of δ at ε.
#[pyfunction]
pub fn delta(py: Python<'_>, settings: Settings<'_>) -> PyResult<(f64, f64)> {
    let plan = settings.plan(settings.rounds()?)?;
    let epsilon = settings.number("epsilon", &EPSILON)?;
    let bounds = py.detach(|| plan.delta(epsilon)).map_err(|e| errors::accounting(&e))?;
    Ok((bounds.lower, bounds.upper))
}

/// What was fitted to a budget, and the lower and upper ε of the plan with it.
type Fitted<T> = (T, Option<f64>, f64);

/// Fits a plan and evaluates it again: what is shown was checked.
fn fit<T>(
    py: Python<'_>,
    accountant: &str,
    target: Target,
    search: impl FnOnce(&Accountant) -> Result<Releases, AccountingError> + Send,
    fitted: fn(&Releases) -> T,
) -> PyResult<Fitted<T>> {
    let method = method(accountant)?;
    let found = py.detach(|| {
        let accountant = Accountant::new(method);
        let plan = search(&accountant)?;
        Ok((plan, plan.epsilon(&accountant, target.delta())?))
    });
    let (plan, bounds) = found.map_err(|e| errors::accounting(&e))?;
    Ok((fitted(&plan), lower(method, &bounds), bounds.upper))
}

/// The least noise multiplier.
#[pyfunction]
pub fn noise(py: Python<'_>, settings: Settings<'_>, accountant: &str) -> PyResult<Fitted<f64>> {
    let rate = settings.number("rate", &RATE)?;
    let rates = (settings.optional("first_rate", &RATE)?.unwrap_or(rate), rate);
    let (rounds, target) = (settings.rounds()?, settings.target()?);
    let search = move |a: &Accountant| Releases::with_least_noise(a, &target, rates, rounds);
    fit(py, accountant, target, search, |plan| plan.noise)
}

/// The most rounds.
#[pyfunction]
pub fn rounds(py: Python<'_>, settings: Settings<'_>, accountant: &str) -> PyResult<Fitted<u64>> {
    let (plan, target) = (settings.plan(1)?, settings.target()?);
    fit(py, accountant, target, move |a| plan.with_most_rounds(a, &target), |plan| plan.rounds)
}

/// The largest sampling rate.
#[pyfunction]
pub fn rate(py: Python<'_>, settings: Settings<'_>, accountant: &str) -> PyResult<Fitted<f64>> {
    let (noise, rounds) = (settings.number("noise", &NOISE)?, settings.rounds()?);
    let target = settings.target()?;
    let search = move |a: &Accountant| Releases::with_largest_rate(a, &target, noise, rounds);
    fit(py, accountant, target, search, |plan| plan.rate)
}

/// The axis' key, a row (x, lower, upper, Rényi, paper's Rényi) for each point, and the picture.
type Drawn = (&'static str, Vec<(f64, f64, f64, f64, f64)>, String);

/// ε as one setting changes.
#[pyfunction]
pub fn curve(py: Python<'_>, against: &str, settings: Settings<'_>) -> PyResult<Drawn> {
    let axis = Against::ALL.into_iter().find(|a| a.argument() == against).ok_or_else(|| {
        let names: Vec<String> = Against::ALL.iter().map(|a| format!("{:?}", a.argument())).collect();
        errors::out_of_range("against", &format!("{against:?}"), &format!("one of {}", names.join(", ")))
    })?;
    let mut question = Question {
        against: axis,
        rate: settings.optional("rate", &RATE)?,
        first_rate: settings.optional("first_rate", &RATE)?,
        noise: settings.optional("noise", &NOISE)?,
        rounds: settings.optional("rounds", &ROUNDS)?.map(|t| t as u64),
        delta: settings.optional("delta", &DELTA)?,
        from: settings.optional("start", axis.allowed())?,
        to: settings.optional("end", axis.allowed())?,
        points: settings.optional("points", &POINTS)?.unwrap_or(25.0) as usize,
        fixed: String::new(),
    };
    question.fixed = fixed(&question, &settings);
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
fn fixed(asked: &Question, settings: &Settings<'_>) -> String {
    let others = [
        (Against::Rate, settings.typed("rate").map(|rate| format!("rate {rate}"))),
        (Against::Noise, asked.noise.map(|noise| format!("noise multiplier {}", plain(noise)))),
        (Against::Rounds, asked.rounds.map(|rounds| format!("{rounds} rounds"))),
        (Against::Delta, asked.delta.map(|delta| format!("δ = {}", plain(delta)))),
    ];
    let shown = others.into_iter().filter(|(setting, _)| *setting != asked.against);
    let first = settings.typed("first_rate").map(|rate| format!("first rate {rate}"));
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
