//! One node of a `prdo.Method`: its state is kept here, as released vectors, and each step is a call of Python with the
//! bytes of that state and of what arrived. The object that Python sees is made anew for every call, so there is no state
//! but this one, and a checkpoint holds all of it.

use crate::bytes;
use crate::method_class::Class;
use crate::question::Question;
use prdo::algorithm::{Failure, Inbox, Message, Node, Settings};
use prdo::privacy::{ByRound, ComputedError, Protection, Query, Released, Start};
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};
use std::sync::{Arc, OnceLock};

pub struct PythonNode<P: Protection> {
    class: Arc<Class>,
    /// The step size and every parameter.
    laws: Vec<ByRound>,
    node: u32,
    /// The place of its own message in an inbox.
    own: u32,
    round: u32,
    /// Exchanges of this round that are done.
    exchange: u32,
    /// What Python calls the vectors of the state; `None` if it could not start.
    layout: Option<Py<PyAny>>,
    /// The arrays, each of the model's size, and behind them the plain numbers, if there are any.
    state: Vec<Released<P>>,
    /// Which of them are the model and the direction.
    model: usize,
    direction: usize,
    /// What this round asks, once it was looked at; `None` if that failed.
    question: OnceLock<Option<(Question, Vec<Released<P>>)>>,
    failure: OnceLock<Failure>,
    /// The point of a query that the gate must refuse, and the model of a node that could not start.
    nothing: Released<P>,
}

/// Arguments of a call beside those that all have.
type Extra<'py> = Vec<Bound<'py, PyAny>>;

impl<P: Protection> PythonNode<P> {
    pub fn start(class: Arc<Class>, x0: &Start, settings: &Settings) -> Self {
        let (place, laws) = (settings.neighbourhood(), class.laws(settings));
        let mut node = Self {
            class,
            laws,
            node: place.node,
            own: place.own,
            round: 0,
            exchange: 0,
            layout: None,
            state: Vec::new(),
            model: 0,
            direction: 0,
            question: OnceLock::new(),
            failure: OnceLock::new(),
            nothing: Released::zeros(0),
        };
        if let Err(failure) = node.begin(&Released::start(x0)) {
            node.fail(failure);
        }
        node
    }

    /// The state before the first round.
    fn begin(&mut self, x0: &Released<P>) -> Result<(), Failure> {
        let mut layout = None;
        let state = Released::computed(&[x0], |shown| {
            Python::attach(|py| {
                let x0 = bytes::python(py, shown.first().copied().unwrap_or_default())?;
                let bridge = self.class.bridge().bind(py);
                let answer = bridge.call_method1("start", (self.node, self.numbers(), x0))?;
                let (names, places, vectors): (Py<PyAny>, (usize, usize), Bound<'_, PyList>) =
                    answer.extract()?;
                layout = Some((names, places));
                floats(&vectors)
            })
        });
        self.state = state.map_err(|error| failed("start", error))?;
        if let Some((names, (model, direction))) = layout {
            (self.layout, self.model, self.direction) = (Some(names), model, direction);
        }
        let whole = |place: usize| self.state.get(place).is_some_and(|v| v.dimension() == x0.dimension());
        match whole(self.model) && whole(self.direction) {
            true => Ok(()),
            false => Err(broken("start")),
        }
    }

    fn fail(&self, failure: Failure) {
        // The first one is kept.
        let _ = self.failure.set(failure);
    }

    /// The step size and every parameter in this round.
    fn numbers(&self) -> Vec<f64> {
        self.laws.iter().map(|law| law.at(self.round)).collect()
    }

    /// Calls `bridge.what(node, round, numbers, layout, state, …)`. What comes back was computed from the state, from what
    /// `arrived`, and from public numbers: Python is handed nothing else.
    fn call(
        &self,
        what: &'static str,
        arrived: &[&Released<P>],
        extra: impl FnOnce(Python<'_>) -> PyResult<Extra<'_>>,
    ) -> Result<Vec<Released<P>>, Failure> {
        let shown: Vec<&Released<P>> = self.state.iter().chain(arrived.iter().copied()).collect();
        let computed = Released::computed(&shown, |values| {
            if self.class.is_stopped() {
                return Err(PyKeyboardInterrupt::new_err("stopped"));
            }
            Python::attach(|py| {
                let Some(layout) = &self.layout else {
                    return Err(PyRuntimeError::new_err("it has not started"));
                };
                let list = |values: &[&[f64]]| {
                    let vectors = values.iter().map(|v| bytes::python(py, v)).collect::<PyResult<Vec<_>>>();
                    PyList::new(py, vectors?)
                };
                let (state, arrived) = values.split_at(self.state.len());
                let mut arguments: Extra<'_> = vec![
                    self.node.into_pyobject(py)?.into_any(),
                    self.round.into_pyobject(py)?.into_any(),
                    self.numbers().into_pyobject(py)?.into_any(),
                    layout.bind(py).clone(),
                    list(state)?.into_any(),
                    list(arrived)?.into_any(),
                ];
                arguments.extend(extra(py)?);
                let answer = self.class.bridge().bind(py).call_method1(what, PyTuple::new(py, arguments)?)?;
                floats(answer.cast::<PyList>()?)
            })
        });
        computed.map_err(|error| failed(what, error))
    }

    /// Takes the state that a call gave, and what it sends beside it.
    fn take(
        &mut self,
        what: &'static str,
        mut given: Vec<Released<P>>,
    ) -> Result<Option<Message<P>>, Failure> {
        let d = self.state.get(self.model).map_or(0, Released::dimension);
        let fits = given.len() >= self.state.len()
            && given.iter().zip(&self.state).all(|(new, old)| new.dimension() == old.dimension())
            && given.iter().skip(self.state.len()).all(|sent| sent.dimension() == d);
        if !fits {
            return Err(broken(what));
        }
        let sent = given.split_off(self.state.len());
        self.state = given;
        Ok((!sent.is_empty()).then(|| Message::of(sent)))
    }

    /// What this round asks: as it was declared, at the points of the query, which Python has held against that.
    fn ask(&self) -> Option<(Question, Vec<Released<P>>)> {
        if self.failure.get().is_some() {
            return None;
        }
        let question = self.class.question(&self.laws, self.round);
        let points = self.call("query", &[], |py| {
            let (kind, number) = question.name();
            Ok(vec![kind.into_pyobject(py)?.into_any(), number.into_pyobject(py)?.into_any()])
        });
        let fits = |points: Vec<_>| match question.at(&points).is_some() {
            true => Ok(points),
            false => Err(broken("query")),
        };
        points.and_then(fits).map_err(|failure| self.fail(failure)).ok().map(|points| (question, points))
    }

    fn step(&mut self, what: &'static str, result: Result<Vec<Released<P>>, Failure>) -> Option<Message<P>> {
        match result.and_then(|given| self.take(what, given)) {
            Ok(message) => message,
            Err(failure) => {
                self.fail(failure);
                None
            }
        }
    }
}

impl<P: Protection> Node<P> for PythonNode<P> {
    fn query(&self) -> Query<'_, P> {
        let asked = self.question.get_or_init(|| self.ask()).as_ref();
        let query = asked.and_then(|(question, points)| question.at(points));
        let query = query.unwrap_or(Query::gradient(&self.nothing));
        let first = self.round == 0 && self.class.first_batch();
        if first { query.on_first_batch() } else { query }
    }

    fn adapt(&mut self, answer: Released<P>) -> Option<Message<P>> {
        if self.failure.get().is_some() {
            return None;
        }
        self.exchange = 0;
        let given = self.call("adapt", &[&answer], |_| Ok(Vec::new()));
        self.step("adapt", given)
    }

    fn mix(&mut self, inbox: &Inbox<'_, P>) -> Option<Message<P>> {
        if self.failure.get().is_some() {
            return None;
        }
        let vectors = (0..self.class.vectors()).flat_map(|which| inbox.vectors(which));
        let arrived: Vec<&Released<P>> = vectors.collect();
        let given = self.call("mix", &arrived, |py| {
            Ok(vec![
                bytes::python(py, inbox.weights())?.into_any(),
                self.own.into_pyobject(py)?.into_any(),
                self.exchange.into_pyobject(py)?.into_any(),
            ])
        });
        let message = self.step("mix", given);
        self.exchange += 1;
        if message.is_none() {
            self.round += 1;
            self.question = OnceLock::new();
        }
        message
    }

    fn model(&self) -> &Released<P> {
        self.state.get(self.model).unwrap_or(&self.nothing)
    }

    fn direction(&self) -> &Released<P> {
        self.state.get(self.direction).unwrap_or(&self.nothing)
    }

    fn vectors(&self) -> Vec<&Released<P>> {
        self.state.iter().collect()
    }

    fn restore(&mut self, rounds: u32) -> Vec<&mut Released<P>> {
        self.round = rounds;
        self.question = OnceLock::new();
        self.state.iter_mut().collect()
    }

    fn failure(&self) -> Option<Failure> {
        self.failure.get().cloned()
    }
}

fn floats(vectors: &Bound<'_, PyList>) -> PyResult<Vec<Vec<f64>>> {
    vectors.iter().map(|vector| Ok(bytes::f64s(vector.cast::<PyBytes>()?.as_bytes()))).collect()
}

/// What Python raised, as it was raised.
fn failed(what: &'static str, error: ComputedError<PyErr>) -> Failure {
    match error {
        ComputedError::Program(error) => Failure::new(error),
        ComputedError::NotFinite { .. } | ComputedError::NothingShown => broken(what),
    }
}

/// `prdo/_bridge.py` checks what a class returns; should it let something through, nothing is made of it.
fn broken(what: &'static str) -> Failure {
    Failure::new(format!("{what}: the arrays are not those that were declared (a bug in prdo)"))
}
