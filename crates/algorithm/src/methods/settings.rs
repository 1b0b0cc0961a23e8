//! The numbers a method is run with.

use super::Card;
use super::parameter::{Assigned, Number, Parameter, Value, key};
use super::steps::Ends;
use crate::graph::Mixing;
use prdo_privacy::ByRound;

/// The step size and whatever parameters were given a value. A method reads those its card names; what was not given has
/// its default.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub step_size: ByRound,
    given: Vec<Assigned>,
    /// How long the run is, once it is known.
    rounds: Option<u32>,
    /// Whose they are, once that is known.
    neighbourhood: Option<Neighbourhood>,
    /// Through what they exchange, once that is known.
    network: Option<Network>,
}

/// What several exchanges need to know of a network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Network {
    /// One symmetric W, with its eigenvalues of disagreement between these.
    Symmetric(Ends),
    /// Links that go one way, or matrices that take turns.
    OneWay,
}

/// Which node of a network a method's state belongs to, and whose messages it will mix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neighbourhood {
    pub node: u32,
    /// Messages in an [`Inbox`](crate::Inbox), the node's own among them.
    pub messages: u32,
    /// The place of its own message there.
    pub own: u32,
}

impl Neighbourhood {
    /// Node number `node` of a network, with the members of its row of W in ascending order.
    pub fn new(node: u32, members: impl IntoIterator<Item = u32>) -> Self {
        let (mut messages, mut own) = (0, 0);
        for member in members {
            messages += 1;
            own += u32::from(member < node);
        }
        Self { node, messages, own }
    }

    /// The same of a mixing matrix.
    pub fn of(mixing: &Mixing, node: usize) -> Self {
        Self::new(node as u32, mixing.row(node).0.iter().copied())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum SettingsError {
    #[error("{} = {value} is not allowed: it must be a number {allowed}", key(field))]
    NotAllowed { field: &'static str, value: f64, allowed: &'static str },
    #[error(
        "{} has {known} numbers, but the run has {rounds} rounds: it must have one per round",
        key(field)
    )]
    Short { field: &'static str, known: u32, rounds: u32 },
    #[error("{} may not change from round to round: it must be one number {allowed}", key(field))]
    Fixed { field: &'static str, allowed: &'static str },
    #[error("{} = {value} is not allowed {why}: it must be {allowed}", key(field))]
    Conflict { field: &'static str, value: f64, why: Conflict, allowed: f64 },
}

/// What a setting does not go with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// Vectors that travel packed.
    Wire,
    /// Rounds without a message.
    LocalSteps,
    /// A last round without a message.
    SilentEnd,
    /// A network of other than one symmetric W.
    Network,
    /// A run whose length was not said.
    NoLength,
}

impl std::fmt::Display for Conflict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Wire => "with wire.kind other than \"plain\"",
            Self::LocalSteps => "with method.local_steps above 1",
            Self::SilentEnd => "where rounds is not a multiple of method.local_steps",
            Self::Network => "on a network with links that go one way or take turns",
            Self::NoLength => "before the length of the run is known (`Settings::over`)",
        })
    }
}

impl SettingsError {
    /// The setting that is refused.
    pub fn field(&self) -> &'static str {
        match self {
            Self::NotAllowed { field, .. }
            | Self::Short { field, .. }
            | Self::Fixed { field, .. }
            | Self::Conflict { field, .. } => field,
        }
    }
}

/// What step sizes may be.
const STEP_SIZE: &str = "above 0";

impl Settings {
    /// α = `step_size`, a number or a law by round, and every parameter at its default.
    pub fn new(step_size: impl Into<ByRound>) -> Self {
        Self {
            step_size: step_size.into(),
            given: Vec::new(),
            rounds: None,
            neighbourhood: None,
            network: None,
        }
    }

    /// The same settings with this value of a parameter: `settings.with(GAMMA.is(0.2))`.
    #[must_use]
    pub fn with(mut self, assigned: Assigned) -> Self {
        self.given.retain(|given| given.name != assigned.name);
        self.given.push(assigned);
        self
    }

    /// The same settings for a run of so many rounds: what a law leaves to the length of the run is filled in, and lists
    /// that are too short are refused by [`Method::start`](super::Method::start).
    #[must_use]
    pub fn over(mut self, rounds: u32) -> Self {
        self.rounds = Some(rounds);
        self.step_size = self.step_size.over(rounds);
        for given in &mut self.given {
            if let Value::Number(law) = &mut given.value {
                *law = law.clone().over(rounds);
            }
        }
        self
    }

    /// The same settings for this node of a network: what methods that remember their neighbours need.
    #[must_use]
    pub fn at(self, neighbourhood: Neighbourhood) -> Self {
        Self { neighbourhood: Some(neighbourhood), ..self }
    }

    /// Whose settings they are. A node that nobody placed is alone.
    pub fn neighbourhood(&self) -> Neighbourhood {
        self.neighbourhood.unwrap_or(Neighbourhood { node: 0, messages: 1, own: 0 })
    }

    /// The same settings on this network.
    pub(super) fn on(self, network: Network) -> Self {
        Self { network: Some(network), ..self }
    }

    pub(super) fn network(&self) -> Option<Network> {
        self.network
    }

    /// How many rounds the run has, if that was said.
    pub(super) fn rounds(&self) -> Option<u32> {
        self.rounds
    }

    pub(super) fn value(&self, name: &str) -> Option<&Value> {
        self.given.iter().find(|given| given.name == name).map(|given| &given.value)
    }

    /// Every law by round that a method of this card reads, with what it is called.
    pub fn laws(&self, card: &Card) -> Vec<(&'static str, ByRound)> {
        let numbers = card.parameters.iter().filter_map(|parameter| match parameter {
            Parameter::Number(number) => Some((number.name, number.by_round(self))),
            Parameter::Choice { .. } => None,
        });
        [("step_size", self.step_size.clone())].into_iter().chain(numbers).collect()
    }

    /// Whether a run of these settings has this property of each of its rounds' numbers.
    pub(super) fn check(&self, card: &Card) -> Result<(), SettingsError> {
        self.check_law("step_size", &self.step_size, STEP_SIZE, |x| x.is_finite() && x > 0.0)?;
        for parameter in card.parameters {
            match parameter {
                Parameter::Number(number) => self.check_number(number)?,
                Parameter::Choice { .. } => {}
            }
        }
        Ok(())
    }

    fn check_number(&self, number: &Number) -> Result<(), SettingsError> {
        let law = number.by_round(self);
        if law.varies() && !number.by_round {
            return Err(SettingsError::Fixed { field: number.name, allowed: number.allowed });
        }
        self.check_law(number.name, &law, number.allowed, number.is_allowed)
    }

    fn check_law(
        &self,
        field: &'static str,
        law: &ByRound,
        allowed: &'static str,
        is_allowed: impl Fn(f64) -> bool,
    ) -> Result<(), SettingsError> {
        let rounds = self.rounds.unwrap_or(1);
        if let Some(known) = law.length().filter(|known| *known < rounds) {
            return Err(SettingsError::Short { field, known, rounds });
        }
        match law.refused(rounds, is_allowed) {
            Some(value) => Err(SettingsError::NotAllowed { field, value, allowed }),
            None => Ok(()),
        }
    }
}
