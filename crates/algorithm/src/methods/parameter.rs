//! A method's parameters: each is described once, in a method's file, and read from the settings by that description.

use super::Settings;
use prdo_privacy::ByRound;

/// A parameter, as run files, tuning and reports see it.
#[derive(Clone, Copy, Debug)]
pub enum Parameter {
    Number(Number),
    /// One of these names; the first is the default. [`Choice`] has their values.
    Choice {
        /// The name in run files.
        name: &'static str,
        doc: &'static str,
        names: &'static [&'static str],
        /// As [`Number::option`].
        option: bool,
    },
}

#[derive(Clone, Copy, Debug)]
pub struct Number {
    /// The name in run files.
    pub name: &'static str,
    pub symbol: &'static str,
    pub doc: &'static str,
    /// What is allowed, as it follows "a number".
    pub allowed: &'static str,
    pub is_allowed: fn(f64) -> bool,
    pub default: f64,
    /// Where `prdo tune` looks for it in methods that always read it; `None`: nowhere.
    pub tuning: Option<Tuning>,
    /// Whether it may change from round to round.
    pub by_round: bool,
    /// Whether its default means the method without it, and run files that are written back leave it out then.
    pub option: bool,
    /// Methods (their names in run files) that have another default. There it is no option, and always written.
    pub defaults: &'static [(&'static str, f64)],
    /// The choice (its name and what must be chosen) without which methods that have this choice do not read the number.
    pub needs: Option<(&'static str, &'static str)>,
}

#[derive(Clone, Copy, Debug)]
pub struct Choice<T: 'static> {
    /// The name in run files.
    pub name: &'static str,
    pub doc: &'static str,
    /// What can be chosen; the first is the default.
    pub names: &'static [&'static str],
    pub values: &'static [T],
    /// As [`Number::option`].
    pub option: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Assigned {
    pub(super) name: &'static str,
    pub(super) value: Value,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Number(ByRound),
    Choice(usize),
}

/// The values among which a search looks, each chosen by a share from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tuning {
    /// From low to high, by equal factors.
    Factors(f64, f64),
    /// The same, whole numbers.
    Whole(f64, f64),
    /// 1 − x, x from low to high by equal factors: weights of history.
    Remainder(f64, f64),
}

/// What a parameter is called in run files: `method.…`, unless its name has a section of its own.
pub fn key(name: &str) -> String {
    if name.contains('.') { name.to_string() } else { format!("method.{name}") }
}

impl Parameter {
    /// The name in run files.
    pub const fn name(&self) -> &'static str {
        match self {
            Parameter::Number(number) => number.name,
            Parameter::Choice { name, .. } => name,
        }
    }

    /// The choice without which methods that have it do not read this one.
    pub const fn needs(&self) -> Option<(&'static str, &'static str)> {
        match self {
            Parameter::Number(number) => number.needs,
            Parameter::Choice { .. } => None,
        }
    }

    /// Whether its default means this method (by its name in run files) without it.
    pub fn is_option_in(&self, method: &str) -> bool {
        match self {
            Parameter::Number(number) => number.option && number.own_default(method).is_none(),
            Parameter::Choice { option, .. } => *option,
        }
    }
}

impl Number {
    /// Neither looked for by tuning nor by round, always written, always read: what `..Number::PLAIN` leaves out.
    pub const PLAIN: Number = Number {
        name: "",
        symbol: "",
        doc: "",
        allowed: "",
        is_allowed: |_| true,
        default: 0.0,
        tuning: None,
        by_round: false,
        option: false,
        defaults: &[],
        needs: None,
    };

    /// Its value in the first round, which is that of all rounds unless it may change.
    pub fn of(&self, settings: &Settings) -> f64 {
        self.by_round(settings).at(0)
    }

    /// The default that this method has instead of the usual one.
    fn own_default(&self, method: &str) -> Option<f64> {
        self.defaults.iter().find(|(name, _)| *name == method).map(|(_, value)| *value)
    }

    /// Its default in the method of this name in run files.
    pub fn default_in(&self, method: &str) -> f64 {
        self.own_default(method).unwrap_or(self.default)
    }

    /// Where `prdo tune` looks for it in the method of this name.
    pub fn tuning_in(&self, method: &str) -> Option<Tuning> {
        self.tuning.filter(|_| !self.parameter().is_option_in(method))
    }

    /// Its value, or this where nothing was given.
    pub fn or(&self, settings: &Settings, default: f64) -> f64 {
        Self { default, ..*self }.of(settings)
    }

    pub fn by_round(&self, settings: &Settings) -> ByRound {
        match settings.value(self.name) {
            Some(Value::Number(value)) => value.clone(),
            Some(Value::Choice(_)) | None => ByRound::Constant(self.default),
        }
    }

    pub fn is(&self, value: impl Into<ByRound>) -> Assigned {
        Assigned { name: self.name, value: Value::Number(value.into()) }
    }

    pub const fn parameter(self) -> Parameter {
        Parameter::Number(self)
    }
}

impl<T: Copy + PartialEq> Choice<T> {
    pub fn of(&self, settings: &Settings) -> T {
        match settings.value(self.name) {
            Some(Value::Choice(which)) if *which < self.values.len() => self.values[*which],
            Some(Value::Choice(_) | Value::Number(_)) | None => self.values[0],
        }
    }

    pub fn is(&self, value: T) -> Assigned {
        let which = self.values.iter().position(|known| *known == value).unwrap_or(0);
        Assigned { name: self.name, value: Value::Choice(which) }
    }

    pub const fn parameter(self) -> Parameter {
        assert!(self.names.len() == self.values.len() && !self.names.is_empty(), "each name has a value");
        Parameter::Choice { name: self.name, doc: self.doc, names: self.names, option: self.option }
    }
}

impl Assigned {
    /// The choice of this name; `None` if there is no such name, or the parameter is a number.
    pub fn named(parameter: &Parameter, chosen: &str) -> Option<Self> {
        let Parameter::Choice { name, names, .. } = parameter else { return None };
        let which = names.iter().position(|known| *known == chosen)?;
        Some(Self { name, value: Value::Choice(which) })
    }
}

impl Tuning {
    pub fn at(self, share: f64) -> f64 {
        let between = |low: f64, high: f64| low * (high / low).powf(share.clamp(0.0, 1.0));
        match self {
            Tuning::Factors(low, high) => between(low, high),
            Tuning::Whole(low, high) => between(low, high).round(),
            Tuning::Remainder(low, high) => 1.0 - between(low, high),
        }
    }
}
