//! `prdo.privacy.pairs`: the question of `prdo privacy pairs`, answered by the same code.

use crate::budget::{Settings, method};
use crate::errors;
use prdo::accounting::Accountant;
use prdo::accounting::pairs::{Choice, PairsError, Plan, Proof, Secrets};
use prdo::budget::{Allowed, RATE};
use prdo::report::against::{self as words, at_most, coalition};
use prdo::theory::disagreement::{Exchanges, apart};
use pyo3::prelude::*;
use pyo3::types::PyDict;

const NODES: Allowed = Allowed {
    words: "a whole number from 2 to 1000",
    holds: |n| n.fract() == 0.0 && (2.0..=1e3).contains(&n),
};
const COLLUDERS: Allowed = Allowed {
    words: "a whole number from 0 to two below the nodes",
    holds: |c| c.fract() == 0.0 && (0.0..=1e3).contains(&c),
};
const RATIO: Allowed =
    Allowed { words: "a number from 1e-12 to 1e12", holds: |r| (1e-12..=1e12).contains(&r) };

/// Noise that cancels between nodes, for a budget; `secrets` are the pairs that share one, or all.
#[pyfunction]
pub fn pairs<'py>(
    py: Python<'py>,
    settings: Settings<'py>,
    secrets: Option<Vec<(usize, usize)>>,
    accountant: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let nodes = settings.number("nodes", &NODES)? as usize;
    let colluders = settings.number("colluders", &COLLUDERS)? as usize;
    let ratio = settings.number("ratio", &RATIO)?;
    let rate = settings.number("rate", &RATE)?;
    let first = settings.optional("first_rate", &RATE)?.unwrap_or(rate);
    let rates = [(first, 1), (rate, settings.rounds()? - 1)];
    let (target, method) = (settings.target()?, method(accountant)?);
    let secrets = match secrets {
        Some(listed) => Secrets::between(nodes, listed),
        None => Secrets::complete(nodes),
    };
    let secrets = secrets.map_err(|e| refuse(&e))?;
    let plan = py.detach(|| Plan::new(&Accountant::new(method), &target, &rates, &secrets, colluders, ratio));
    let plan = plan.map_err(|e| refuse(&e))?;
    let answer = PyDict::new(py);
    answer.set_item("noise_multiplier", plan.choice.independent)?;
    answer.set_item("own_multiplier", plan.choice.pairs.own())?;
    answer.set_item("pair_multiplier", plan.choice.pairs.pair())?;
    answer.set_item("gain", plan.choice.gain())?;
    let costs = plan.costs.iter().map(|c| (c.colluders, c.epsilon, c.multiplier, c.proof == Proof::Exact));
    answer.set_item("costs", costs.collect::<Vec<_>>())?;
    answer.set_item("worst", plan.choice.worst.at.clone())?;
    answer.set_item("disagreement", disagreement(&plan.choice, &secrets))?;
    Ok(answer)
}

/// Against whom the ε of noise in pairs is, in words.
#[pyfunction]
pub fn against(colluders: usize) -> String {
    words::against(colluders)
}

/// What coalitions of these sizes learn, the last one being all others: in words.
#[pyfunction]
pub fn coalitions(costs: Vec<(usize, Option<f64>)>) -> Vec<(String, String)> {
    let nodes = costs.last().map_or(0, |(all, _)| all + 1);
    costs.into_iter().map(|(size, epsilon)| (coalition(size, nodes), at_most(epsilon, 4))).collect()
}

/// (exchanges, by Chebyshev, independent, paired), in units of what independent noise needs; nothing for two nodes.
fn disagreement(choice: &Choice, secrets: &Secrets) -> Vec<(u32, bool, f64, f64)> {
    let unit = |multiplier: f64| multiplier / choice.independent;
    let (own, pair) = (unit(choice.pairs.own()), unit(choice.pairs.pair()));
    let rows = apart(secrets.nodes() as u64, secrets.pairs(), own, pair).unwrap_or_default();
    let row = |exchanges| match exchanges {
        Exchanges::Repeated(times) => (times, false),
        Exchanges::Chebyshev(degree) => (degree, true),
    };
    let rows = rows.into_iter().map(|r| (row(r.exchanges), r.independent, r.paired));
    rows.map(|((times, chebyshev), independent, paired)| (times, chebyshev, independent, paired)).collect()
}

fn refuse(error: &PairsError) -> PyErr {
    let field = match error {
        PairsError::Accounting(error) => return errors::accounting(error),
        PairsError::TooFewHonest { .. } | PairsError::TooManyColluders { .. } => "colluders",
        PairsError::OwnNoiseOnly { .. }
        | PairsError::Ends { .. }
        | PairsError::Twice { .. }
        | PairsError::Node { .. }
        | PairsError::Inside { .. } => "secrets",
        PairsError::Nodes { .. } => "nodes",
    };
    errors::input(&error.to_string(), Some(field), None, None)
}
