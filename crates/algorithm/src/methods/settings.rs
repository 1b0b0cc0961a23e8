//! The numbers a method is run with.

use super::Method;

/// Whether a method mixes before or after it steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Combine {
    /// Adapt, then combine: X ← W(X − αV).
    #[default]
    After,
    /// Combine first: X ← WX − αV.
    First,
}

/// A setting that only some methods read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// γ, the weight of the fresh gradient in PRDO.
    Gamma,
    /// β, the weight of history in normalized momentum.
    Beta,
    /// Mix before or after the step.
    Combine,
}

impl Parameter {
    /// The name in run files.
    pub fn name(self) -> &'static str {
        match self {
            Parameter::Gamma => "gamma",
            Parameter::Beta => "beta",
            Parameter::Combine => "combine",
        }
    }
}

/// The settings of all methods. A method reads those its card names.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// α.
    pub step_size: f64,
    /// γ in (0, 1].
    pub gamma: f64,
    /// β in [0, 1).
    pub beta: f64,
    /// When mixing happens.
    pub combine: Combine,
}

/// A setting outside its range.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("method.{field} = {value} is not allowed: it must be {allowed}")]
pub struct SettingsError {
    /// Which setting.
    pub field: &'static str,
    /// What was given.
    pub value: f64,
    /// What is allowed, in words.
    pub allowed: &'static str,
}

impl Settings {
    /// α = `step_size`, with the paper's γ = 0.1 and β = 0.9, adapt-then-combine.
    pub fn new(step_size: f64) -> Self {
        Self { step_size, gamma: 0.1, beta: 0.9, combine: Combine::After }
    }

    /// The same settings with this γ.
    #[must_use]
    pub fn gamma(self, gamma: f64) -> Self {
        Self { gamma, ..self }
    }

    /// The same settings with this β.
    #[must_use]
    pub fn beta(self, beta: f64) -> Self {
        Self { beta, ..self }
    }

    /// The same settings, mixing at this point.
    #[must_use]
    pub fn combine(self, combine: Combine) -> Self {
        Self { combine, ..self }
    }

    pub(super) fn check(&self, method: Method) -> Result<(), SettingsError> {
        let refuse = |field, value, allowed| Err(SettingsError { field, value, allowed });
        let reads = |p| method.card().parameters.contains(&p);
        if !(self.step_size.is_finite() && self.step_size > 0.0) {
            return refuse("step_size", self.step_size, "above 0");
        }
        if reads(Parameter::Gamma) && !(self.gamma > 0.0 && self.gamma <= 1.0) {
            return refuse("gamma", self.gamma, "above 0 and at most 1");
        }
        if reads(Parameter::Beta) && !(0.0..1.0).contains(&self.beta) {
            return refuse("beta", self.beta, "at least 0 and below 1");
        }
        Ok(())
    }
}
