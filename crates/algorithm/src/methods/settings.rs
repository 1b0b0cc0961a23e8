//! The numbers a method is run with.

use super::Card;
use super::parameter::{Assigned, Parameter, Value};

/// The step size and whatever parameters were given a value. A method reads those its card names; what was not given has
/// its default.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub step_size: f64,
    given: Vec<Assigned>,
}

#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("method.{field} = {value} is not allowed: it must be a number {allowed}")]
pub struct SettingsError {
    pub field: &'static str,
    pub value: f64,
    pub allowed: &'static str,
}

impl Settings {
    /// α = `step_size`, and every parameter at its default.
    pub fn new(step_size: f64) -> Self {
        Self { step_size, given: Vec::new() }
    }

    /// The same settings with this value of a parameter: `settings.with(GAMMA.is(0.2))`.
    #[must_use]
    pub fn with(mut self, assigned: Assigned) -> Self {
        self.given.retain(|given| given.name != assigned.name);
        self.given.push(assigned);
        self
    }

    pub(super) fn value(&self, name: &str) -> Option<Value> {
        self.given.iter().find(|given| given.name == name).map(|given| given.value)
    }

    pub(super) fn check(&self, card: &Card) -> Result<(), SettingsError> {
        let refuse = |field, value, allowed| Err(SettingsError { field, value, allowed });
        if !(self.step_size.is_finite() && self.step_size > 0.0) {
            return refuse("step_size", self.step_size, "above 0");
        }
        for parameter in card.parameters {
            match parameter {
                Parameter::Number(number) if !(number.is_allowed)(number.of(self)) => {
                    return refuse(number.name, number.of(self), number.allowed);
                }
                Parameter::Number(_) | Parameter::Choice { .. } => {}
            }
        }
        Ok(())
    }
}
