//! One interface to the three ways of accounting, and the test a ledger asks at every charge.

use crate::error::{AccountingError, require};
use crate::event::{Event, History};
use crate::numerical::{self, Bounds};
use crate::paper::{self, Curve};
use crate::renyi;
use crate::target::Target;
use std::sync::{Arc, Mutex, PoisonError};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Proven bounds on the exact ε ([`crate::numerical`]). The default.
    #[default]
    Numerical,
    /// Rényi divergences at every order with the improved conversion ([`crate::renyi`]).
    Renyi,
    /// The paper's finite sum at integer orders with its conversion ([`crate::paper`]).
    Paper,
}

impl Method {
    /// Every method with its name in run files and on the command line.
    pub const NAMES: [(&'static str, Method); 3] =
        [("prv", Method::Numerical), ("rdp", Method::Renyi), ("rdp-paper", Method::Paper)];

    pub fn name(&self) -> &'static str {
        Self::NAMES.iter().find(|(_, method)| method == self).map_or("prv", |(name, _)| name)
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, method)| *method)
    }
}

/// Answers "what has this history cost?" and "may this be released?". Shared between the nodes of a simulation, so that
/// the same question is computed once.
#[derive(Debug, Default)]
pub struct Accountant {
    method: Method,
    curves: Mutex<Vec<(Event, Arc<Curve>)>>,
    proven: Mutex<Vec<(Target, History)>>,
    last: Mutex<Option<(History, f64, Bounds)>>,
}

impl Accountant {
    pub fn new(method: Method) -> Self {
        Self { method, ..Self::default() }
    }

    pub fn method(&self) -> Method {
        self.method
    }

    /// ε of the whole history at δ: `upper` is the value to quote. The Rényi methods know no lower bound, so theirs is 0.
    ///
    /// # Guarantee
    /// The releases together are (`upper`, δ)-differentially private for add/remove adjacency.
    pub fn epsilon(&self, history: &History, delta: f64) -> Result<Bounds, AccountingError> {
        require("delta", delta, "above 0 and below 1", |d| d > 0.0 && d < 1.0)?;
        if !history.is_private() {
            return Ok(Bounds { lower: f64::INFINITY, upper: f64::INFINITY });
        }
        if let Some(bounds) = self.remembered(history, delta) {
            return Ok(bounds);
        }
        let bounds = match self.method {
            Method::Numerical => numerical::epsilon(history, delta)?,
            Method::Renyi => Bounds { lower: 0.0, upper: renyi::epsilon(history, delta) },
            Method::Paper => Bounds { lower: 0.0, upper: self.paper_epsilon(history, delta)? },
        };
        self.remember(history, delta, bounds);
        Ok(bounds)
    }

    pub(crate) fn remember(&self, history: &History, delta: f64, bounds: Bounds) {
        *lock(&self.last) = Some((history.clone(), delta, bounds));
    }

    fn remembered(&self, history: &History, delta: f64) -> Option<Bounds> {
        let last = lock(&self.last);
        let known = last.as_ref().filter(|(known, at, _)| known == history && *at == delta);
        known.map(|(_, _, bounds)| *bounds)
    }

    fn paper_epsilon(&self, history: &History, delta: f64) -> Result<f64, AccountingError> {
        let curves: Vec<_> = history.entries().iter().map(|(event, n)| (self.curve(event), *n)).collect();
        paper::epsilon_of_curves(curves.iter().map(|(curve, n)| (&**curve, *n)), delta)
    }

    fn curve(&self, event: &Event) -> Arc<Curve> {
        let mut curves = lock(&self.curves);
        if let Some((_, curve)) = curves.iter().find(|(kind, _)| kind == event) {
            return Arc::clone(curve);
        }
        let curve = Arc::new(Curve::of(event));
        curves.push((*event, Arc::clone(&curve)));
        curve
    }

    /// Whether a history keeps within the budget. If it does, that is remembered for [`Accountant::allows`].
    pub fn prove(&self, history: &History, budget: &Target) -> Result<bool, AccountingError> {
        let within = self.epsilon(history, budget.delta())?.upper <= budget.epsilon();
        if within {
            let mut known = lock(&self.proven);
            known.retain(|(target, old)| target != budget || !old.is_within(history));
            known.push((*budget, history.clone()));
            // Ledgers with many different histories each keep one or two.
            let excess = known.len().saturating_sub(4096);
            known.drain(..excess);
        }
        Ok(within)
    }

    /// Whether the history with one more `event` keeps within the budget. Amortised far below a microsecond a round: a
    /// part of what is within the budget is within it too (leaving releases out is post-processing), so one proof
    /// serves for all the rounds up to the longest such history that was found.
    pub fn allows(&self, history: &History, event: Event, budget: &Target) -> Result<bool, AccountingError> {
        let next = history.clone().and(event, 1);
        if lock(&self.proven).iter().any(|(target, proven)| target == budget && next.is_within(proven)) {
            return Ok(true);
        }
        let within = |more: u64| self.prove(&history.clone().and(event, more), budget);
        if !within(1)? {
            return Ok(false);
        }
        // The most further releases of this kind that fit, up to as many again as there are.
        let (mut fits, mut too_many) = (1, history.len().max(8));
        if within(too_many)? {
            fits = too_many;
        }
        while too_many - fits > 1 + fits / 64 {
            let middle = fits + (too_many - fits) / 2;
            if within(middle)? {
                fits = middle;
            } else {
                too_many = middle;
            }
        }
        Ok(true)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
