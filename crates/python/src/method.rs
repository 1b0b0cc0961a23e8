//! A `prdo.Method` on its way to the simulator: a definition like those of the built-in methods.
//!
//! A definition lives as long as the process, because everybody knows a method by a reference: a class that is run leaks a
//! few hundred bytes, once, and each audit of it as much again.

use crate::method_class::{Class, ClassHandle, Value};
use crate::method_node::PythonNode;
use prdo::algorithm::methods::{Assigned, Card, Definition};
use prdo::algorithm::{Asks, Exchanges, Method, Node, Settings};
use prdo::privacy::{Protection, Start};
use prdo::runfile::GivenMethod;
use pyo3::prelude::*;
use std::sync::Arc;

/// A class that can be run, and the values that one run gives its parameters.
#[derive(FromPyObject)]
pub struct MethodHandle {
    class: Py<MethodClass>,
    values: Vec<(String, Value)>,
}

/// A class whose definition was made.
#[pyclass(frozen, module = "prdo._prdo")]
pub struct MethodClass {
    definition: &'static PythonMethod,
}

/// The definition; nodes share what it holds.
pub struct PythonMethod(Arc<Class>);

#[pymethods]
impl MethodClass {
    #[new]
    fn new(handle: ClassHandle) -> PyResult<Self> {
        Ok(Self { definition: Box::leak(Box::new(PythonMethod(Arc::new(Class::new(handle)?)))) })
    }
}

impl MethodClass {
    pub fn method(&self) -> Method {
        Method::new(self.definition)
    }

    /// Every node of it fails from now on.
    pub fn stop(&self) {
        self.definition.0.stop();
    }
}

impl MethodHandle {
    /// The method with its parameters' values, for a run of so many rounds. A parameter that is not declared, or a value out
    /// of its range, is refused.
    pub fn given(&self, rounds: u32) -> PyResult<GivenMethod> {
        let class = &self.class.get().definition.0;
        let assign = |(name, value): &(String, Value)| class.assigned(name, value, rounds);
        let parameters: Vec<Assigned> = self.values.iter().map(assign).collect::<PyResult<_>>()?;
        let mut identity = blake3::Hasher::new();
        identity.update(class.identity()).update(format!("{parameters:?}").as_bytes());
        let identity = *identity.finalize().as_bytes();
        Ok(GivenMethod { method: self.class.get().method(), parameters, identity })
    }

    pub fn class(&self) -> &MethodClass {
        self.class.get()
    }
}

impl Definition for PythonMethod {
    fn card(&self) -> &Card {
        self.0.card()
    }

    fn start<P: Protection>(&self, x0: &Start, settings: &Settings) -> Box<dyn Node<P>> {
        Box::new(PythonNode::start(Arc::clone(&self.0), x0, settings))
    }

    fn exchanges(&self, _settings: &Settings) -> Exchanges {
        self.0.exchanges()
    }

    fn asks(&self, settings: &Settings, round: u32) -> Asks {
        self.0.question(&self.0.laws(settings), round).asks()
    }
}
