//! Exchanges after the last release that only mix the models: for every method of a network with one symmetric W.
//!
//! ```text
//! z₀ = x^T;   x = T_F(y(W))z₀ / T_F(y(1))        F exchanges of one vector, by the recurrence of `steps::Polynomial`
//! ```
//!
//! The mean stays, and what the nodes differ in shrinks by T_F(y(1)) at least. All that is sent is made of what was sent before:
//! it costs no privacy. They belong to the last round: a node's [`Node::mix`] asks for F more exchanges there, so whatever drives
//! nodes drives this.

use super::settings::{Conflict, Network, Settings, SettingsError};
use super::steps::{Mixer, Polynomial};
use super::{Exchanges, Method, Number};
use crate::message::{Inbox, Message};
use crate::node::{Failure, Node};
use prdo_privacy::{Protection, Query, Released};

pub const FINAL_MIXINGS: Number = Number {
    name: "final_mixings",
    symbol: "F",
    doc: "exchanges after the last round that only mix the models",
    allowed: "that is whole, from 0 to 100",
    is_allowed: |x| x.fract() == 0.0 && (0.0..=100.0).contains(&x),
    default: 0.0,
    option: true,
    ..Number::PLAIN
};

/// How many this method has with these settings.
pub(super) fn asked(method: Method, settings: &Settings) -> u32 {
    match method.card().reads(&FINAL_MIXINGS.parameter()) {
        true => FINAL_MIXINGS.of(settings) as u32,
        false => 0,
    }
}

/// They need the run's length, an exchange in its last round, and one symmetric W.
pub(super) fn check(method: Method, settings: &Settings) -> Result<(), SettingsError> {
    let exchanges: Exchanges = method.exchanges(settings);
    if exchanges.final_mixings == 0 {
        return Ok(());
    }
    let why = match (settings.network(), settings.rounds()) {
        (Some(Network::OneWay), _) => Conflict::Network,
        (_, None) => Conflict::NoLength,
        (_, Some(rounds)) if exchanges.is_silent(rounds.saturating_sub(1)) => Conflict::SilentEnd,
        _ => return Ok(()),
    };
    let (field, value) = (FINAL_MIXINGS.name, f64::from(exchanges.final_mixings));
    Err(SettingsError::Conflict { field, value, why, allowed: 0.0 })
}

/// The node with its final exchanges, if it has any.
pub(super) fn after<P: Protection>(
    method: Method,
    settings: &Settings,
    node: Box<dyn Node<P>>,
) -> Box<dyn Node<P>> {
    let count = asked(method, settings);
    let (true, Some(rounds)) = (count > 0, settings.rounds()) else { return node };
    let polynomial = match settings.network() {
        Some(Network::Symmetric(ends)) => Polynomial::fastest(count, ends),
        // Of a network that nobody told of nothing is assumed.
        Some(Network::OneWay) | None => Polynomial::power(count),
    };
    let dimension = node.model().dimension();
    let mixer = Mixer::new(polynomial, dimension);
    Box::new(FinallyMixed { node, mixer, x: Released::zeros(dimension), t: 0, rounds, mixing: false })
}

struct FinallyMixed<P: Protection> {
    node: Box<dyn Node<P>>,
    mixer: Mixer<P>,
    /// The model in and after the final exchanges.
    x: Released<P>,
    /// Rounds done.
    t: u32,
    rounds: u32,
    /// Whether the next messages are of a final exchange.
    mixing: bool,
}

impl<P: Protection> FinallyMixed<P> {
    fn is_done(&self) -> bool {
        self.t >= self.rounds
    }
}

impl<P: Protection> Node<P> for FinallyMixed<P> {
    fn query(&self) -> Query<'_, P> {
        self.node.query()
    }

    fn adapt(&mut self, answer: Released<P>) -> Option<Message<P>> {
        let message = self.node.adapt(answer);
        self.t += u32::from(message.is_none());
        message
    }

    fn mix(&mut self, inbox: &Inbox<'_, P>) -> Option<Message<P>> {
        if self.mixing {
            if !self.mixer.mix(inbox, 0, &mut self.x) {
                return Some(Message::one(self.x.clone()));
            }
            self.mixing = false;
            self.t += 1;
            return None;
        }
        let message = self.node.mix(inbox);
        if message.is_some() {
            return message;
        }
        if self.t + 1 != self.rounds {
            self.t += 1;
            return None;
        }
        self.mixing = true;
        self.x.assign([(1.0, self.node.model())]);
        self.mixer.begin(&self.x);
        Some(Message::one(self.x.clone()))
    }

    fn model(&self) -> &Released<P> {
        if self.mixing || self.is_done() { &self.x } else { self.node.model() }
    }

    fn direction(&self) -> &Released<P> {
        self.node.direction()
    }

    /// The node's, and in the end the mixed model.
    fn vectors(&self) -> Vec<&Released<P>> {
        let mut vectors = self.node.vectors();
        vectors.extend(self.is_done().then_some(&self.x));
        vectors
    }

    fn restore(&mut self, rounds: u32) -> Vec<&mut Released<P>> {
        self.t = rounds;
        let done = self.is_done();
        let mut vectors = self.node.restore(rounds);
        vectors.extend(done.then_some(&mut self.x));
        vectors
    }

    fn failure(&self) -> Option<Failure> {
        self.node.failure()
    }
}
