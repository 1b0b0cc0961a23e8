//! What the class of a `prdo.Method` declares.

use crate::errors;
use crate::question::{Asked, Declared, Question};
use prdo::algorithm::graph::Needs;
use prdo::algorithm::methods::{Assigned, Card, Number, Parameter};
use prdo::algorithm::{Exchanges, Settings};
use prdo::privacy::ByRound;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a class declares, checked by `prdo/_method.py`.
#[derive(FromPyObject)]
pub struct ClassHandle {
    name: String,
    title: String,
    idea: String,
    exchanges: u32,
    vectors: u32,
    network: String,
    first_batch: bool,
    asks: Declared,
    /// Name, default, least, most and a description.
    parameters: Vec<(String, f64, f64, f64, String)>,
    /// Of the class as it is written.
    identity: [u8; 32],
    /// `start`, `query`, `adapt` and `mix` of bytes.
    bridge: Py<PyAny>,
}

/// What a run gives a parameter.
#[derive(FromPyObject)]
pub enum Value {
    Number(f64),
    /// A law by round.
    Text(String),
}

/// A class, as it declares itself.
pub struct Class {
    card: Card,
    exchanges: Exchanges,
    asks: Asked,
    /// Least and most, parameter by parameter.
    ranges: Vec<(f64, f64)>,
    identity: [u8; 32],
    bridge: Py<PyAny>,
    stopped: AtomicBool,
}

impl Class {
    pub fn new(handle: ClassHandle) -> PyResult<Self> {
        let names: Vec<&str> = handle.parameters.iter().map(|(name, ..)| name.as_str()).collect();
        let asks = Asked::of(&handle.asks, &names)?;
        let parameters = handle.parameters.iter().map(|(name, default, least, most, doc)| {
            Number {
                name: name.clone().leak(),
                symbol: "",
                doc: doc.clone().leak(),
                allowed: between(*least, *most).leak(),
                // The range itself is no function: values are held against it where they are given.
                is_allowed: f64::is_finite,
                default: *default,
                by_round: true,
                ..Number::PLAIN
            }
            .parameter()
        });
        let card = Card {
            name: handle.name.leak(),
            title: handle.title.leak(),
            idea: handle.idea.leak(),
            parameters: parameters.collect::<Vec<Parameter>>().leak(),
            first_batch: handle.first_batch,
            differences: asks.reads_difference_clip(),
            network: needs(&handle.network)?,
            constant_step: false,
        };
        Ok(Self {
            card,
            exchanges: Exchanges::each_round(handle.exchanges, handle.vectors),
            asks,
            ranges: handle.parameters.iter().map(|(_, _, least, most, _)| (*least, *most)).collect(),
            identity: handle.identity,
            bridge: handle.bridge,
            stopped: AtomicBool::new(false),
        })
    }

    pub fn bridge(&self) -> &Py<PyAny> {
        &self.bridge
    }

    pub fn vectors(&self) -> usize {
        self.exchanges.shape.vectors as usize
    }

    pub fn first_batch(&self) -> bool {
        self.card.first_batch
    }

    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    /// The step size and every parameter, law by law.
    pub fn laws(&self, settings: &Settings) -> Vec<ByRound> {
        settings.laws(&self.card).into_iter().map(|(_, law)| law).collect()
    }

    /// What round t asks, given the step size and every parameter.
    pub fn question(&self, laws: &[ByRound], t: u32) -> Question {
        self.asks.at(laws, t)
    }

    /// Every node of it fails from now on.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
    }

    pub fn card(&self) -> &Card {
        &self.card
    }

    pub fn exchanges(&self) -> Exchanges {
        self.exchanges
    }

    /// Of the class as it is written.
    pub fn identity(&self) -> &[u8; 32] {
        &self.identity
    }

    /// A parameter's value, in its range in each of so many rounds.
    pub fn assigned(&self, name: &str, value: &Value, rounds: u32) -> PyResult<Assigned> {
        let declared =
            self.card.parameters.iter().zip(&self.ranges).find_map(|(parameter, range)| match parameter {
                Parameter::Number(number) if number.name == name => Some((number, *range)),
                Parameter::Number(_) | Parameter::Choice { .. } => None,
            });
        let field = format!("method.{name}");
        let Some((number, (least, most))) = declared else {
            let names: Vec<_> = self.card.parameters.iter().map(Parameter::name).collect();
            let names = if names.is_empty() { "none".into() } else { names.join(", ") };
            let message = format!("{field} is no parameter of {}; it declares {names}", self.card.name);
            return Err(errors::input(&message, Some(&field), None, Some(&names)));
        };
        let allowed = format!("a number {}, or such numbers by round", number.allowed);
        let refuse = |shown: &str| errors::out_of_range(&field, shown, &allowed);
        let law: ByRound = match value {
            Value::Number(value) => (*value).into(),
            Value::Text(text) => text.parse().map_err(|_| refuse(&format!("{text:?}")))?,
        };
        let law = law.over(rounds);
        let is_allowed = |value: f64| value.is_finite() && (least..=most).contains(&value);
        match law.refused(rounds, is_allowed) {
            Some(value) => Err(refuse(&value.to_string())),
            None => Ok(number.is(law)),
        }
    }
}

fn needs(name: &str) -> PyResult<Needs> {
    match name {
        "symmetric" => Ok(Needs::Symmetric),
        "doubly-stochastic" => Ok(Needs::DoublyStochastic),
        "column-stochastic" => Ok(Needs::ColumnStochastic),
        other => Err(errors::out_of_range(
            "network",
            &format!("{other:?}"),
            "\"symmetric\", \"doubly-stochastic\" or \"column-stochastic\"",
        )),
    }
}

/// A range as it follows "a number".
fn between(least: f64, most: f64) -> String {
    match (least.is_finite(), most.is_finite()) {
        (true, true) => format!("from {least} to {most}"),
        (true, false) => format!("of at least {least}"),
        (false, true) => format!("of at most {most}"),
        (false, false) => "that is finite".into(),
    }
}
