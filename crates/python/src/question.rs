//! What the rounds of a `prdo.Method` ask.

use crate::errors;
use prdo::algorithm::Asks;
use prdo::privacy::{ByRound, Clips, Protection, Query, Released};
use pyo3::prelude::*;

/// A number, or the parameter that is it.
#[derive(FromPyObject)]
pub enum Quantity {
    Number(f64),
    Parameter(String),
}

/// The kind, its number and every how many rounds there is a gradient, as Python declares it.
pub type Declared = (String, Option<Quantity>, Option<Quantity>);

/// What rounds ask, in parameters.
pub struct Asked {
    /// The kind, with its number, of rounds that are not a gradient's; `None`: all are.
    kind: Option<(Kind, Place)>,
    /// Every how many rounds there is a gradient; `None`: in round 0 only.
    every: Option<Place>,
}

/// What may be asked besides a gradient, by the name that Python has for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Recursive,
    Moved,
    Scaled,
}

/// What one round asks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Question {
    Gradient,
    Recursive { gamma: f64 },
    Moved { kappa: f64 },
    Scaled { clip: f64 },
}

impl Question {
    /// What Python calls it, with its number.
    pub fn name(self) -> (&'static str, Option<f64>) {
        match self {
            Self::Gradient => ("gradient", None),
            Self::Recursive { gamma } => ("recursive", Some(gamma)),
            Self::Moved { kappa } => ("moved", Some(kappa)),
            Self::Scaled { clip } => ("scaled", Some(clip)),
        }
    }

    pub fn asks(self) -> Asks {
        match self {
            Self::Gradient => Asks::Gradient,
            Self::Recursive { gamma } => Asks::Recursive { gamma, clips: Clips::Separate },
            Self::Moved { kappa } => Asks::Recursive { gamma: 0.0, clips: Clips::Movement { kappa } },
            Self::Scaled { clip } => Asks::Scaled { clip },
        }
    }

    /// The query at these points; `None` if they are not as many as it has.
    pub fn at<'a, P: Protection>(self, points: &'a [Released<P>]) -> Option<Query<'a, P>> {
        match (self, points) {
            (Self::Gradient, [at]) => Some(Query::gradient(at)),
            (Self::Recursive { gamma }, [at, before]) => Some(Query::recursive(at, before, gamma)),
            (Self::Moved { kappa }, [at, before]) => Some(Query::moved(at, before, kappa)),
            (Self::Scaled { clip }, [at, by]) => Some(Query::scaled(at, by, clip)),
            _ => None,
        }
    }
}

/// A number, or the place of a parameter.
enum Place {
    Number(f64),
    Parameter(usize),
}

impl Asked {
    /// What was declared, in parameters of these names.
    pub fn of((kind, number, every): &Declared, names: &[&str]) -> PyResult<Self> {
        let place = |quantity: &Quantity| match quantity {
            Quantity::Number(value) => PyResult::Ok(Place::Number(*value)),
            Quantity::Parameter(name) => {
                let place = names.iter().position(|known| known == name);
                let place = place.ok_or_else(|| {
                    errors::out_of_range("asks", &format!("{name:?}"), "a number or the name of a parameter")
                })?;
                Ok(Place::Parameter(place))
            }
        };
        let every = every.as_ref().map(&place).transpose()?;
        let refuse = || errors::out_of_range("asks", &format!("{kind:?}"), ASKS);
        let kind = match kind.as_str() {
            "gradient" => None,
            "recursive" => Some(Kind::Recursive),
            "moved" => Some(Kind::Moved),
            "scaled" => Some(Kind::Scaled),
            _ => return Err(refuse()),
        };
        match (kind, number) {
            (None, None) => Ok(Self { kind: None, every: None }),
            (Some(kind), Some(number)) => Ok(Self { kind: Some((kind, place(number)?)), every }),
            _ => Err(refuse()),
        }
    }

    /// What round t asks, given the step size and every parameter.
    pub fn at(&self, laws: &[ByRound], t: u32) -> Question {
        // The step size comes first.
        let at = |place: &Place| match place {
            Place::Number(value) => *value,
            Place::Parameter(which) => laws.get(which + 1).map_or(f64::NAN, |law| law.at(t)),
        };
        let is_gradient = match &self.every {
            None => t == 0,
            Some(every) => t.is_multiple_of((at(every) as u32).max(1)),
        };
        match &self.kind {
            Some((kind, number)) if !is_gradient => match kind {
                Kind::Recursive => Question::Recursive { gamma: at(number) },
                Kind::Moved => Question::Moved { kappa: at(number) },
                Kind::Scaled => Question::Scaled { clip: at(number) },
            },
            Some(_) | None => Question::Gradient,
        }
    }

    /// Whether same-record differences are asked for that are clipped at C_Δ.
    pub fn reads_difference_clip(&self) -> bool {
        matches!(self.kind, Some((Kind::Recursive, _)))
    }
}

const ASKS: &str =
    "\"gradient\", or \"recursive\", \"moved\" or \"scaled\" with a number or a parameter's name";
