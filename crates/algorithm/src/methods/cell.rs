//! A method as a direction and a network step: nearly every published one is such a cell.

use super::directions::{Direction, DirectionState};
use super::steps::{NetworkStep, StepState};
use super::{Asks, Card, Definition, Exchanges, Parameter, Settings, SettingsError};
use crate::message::{Inbox, Message};
use crate::node::Node;
use prdo_privacy::{Protection, Query, Released, Start};
use std::marker::PhantomData;

/// The method that steps along `D` by `S`.
pub struct Cell<D, S> {
    card: Card,
    parts: PhantomData<fn() -> (D, S)>,
}

/// More than any direction and network step have together.
const MOST: usize = 16;

impl<D: Direction, S: NetworkStep> Cell<D, S> {
    /// The parameters of both halves, the direction's first.
    const LIST: &'static [Parameter] = Self::JOINED.split_at(D::PARAMETERS.len() + S::PARAMETERS.len()).0;

    const JOINED: &'static [Parameter; MOST] = &{
        let mut all = [crate::methods::COMBINE.parameter(); MOST];
        let mut k = 0;
        while k < D::PARAMETERS.len() {
            all[k] = D::PARAMETERS[k];
            k += 1;
        }
        while k < D::PARAMETERS.len() + S::PARAMETERS.len() {
            all[k] = S::PARAMETERS[k - D::PARAMETERS.len()];
            k += 1;
        }
        all
    };

    /// A method of this name in run files and title in figures; all else of its card follows from its two halves.
    pub const fn new(name: &'static str, title: &'static str, idea: &'static str) -> Self {
        let card = Card {
            name,
            title,
            idea,
            parameters: Self::LIST,
            first_batch: D::FIRST_BATCH,
            differences: D::DIFFERENCES,
            network: S::NEEDS,
            constant_step: S::CONSTANT_STEP,
        };
        Self { card, parts: PhantomData }
    }
}

impl<D: Direction, S: NetworkStep> Definition for Cell<D, S> {
    fn card(&self) -> &Card {
        &self.card
    }

    fn start<P: Protection>(&self, x0: &Start, settings: &Settings) -> Box<dyn Node<P>> {
        Box::new(CellNode { t: 0, direction: D::start(x0, settings), step: S::start(x0, settings) })
    }

    fn exchanges(&self, settings: &Settings) -> Exchanges {
        S::exchanges(settings)
    }

    fn check(&self, settings: &Settings) -> Result<(), SettingsError> {
        S::check(settings)
    }

    fn asks(&self, settings: &Settings, round: u32) -> Asks {
        D::asks(settings, round)
    }
}

struct CellNode<D, S> {
    /// The round that is worked on.
    t: u32,
    direction: D,
    step: S,
}

impl<P: Protection, D: DirectionState<P>, S: StepState<P>> Node<P> for CellNode<D, S> {
    fn query(&self) -> Query<'_, P> {
        self.direction.query(self.t, self.step.x())
    }

    fn adapt(&mut self, answer: Released<P>) -> Option<Message<P>> {
        self.step.leave(self.direction.v());
        self.direction.take(self.t, self.step.x(), answer);
        let message = self.step.adapt(self.t, self.direction.v());
        self.t += u32::from(message.is_none());
        message
    }

    fn mix(&mut self, inbox: &Inbox<'_, P>) -> Option<Message<P>> {
        let message = self.step.mix(self.t, self.direction.v(), inbox);
        self.t += u32::from(message.is_none());
        message
    }

    fn model(&self) -> &Released<P> {
        self.step.x()
    }

    fn direction(&self) -> &Released<P> {
        self.direction.v()
    }

    fn vectors(&self) -> Vec<&Released<P>> {
        let mut vectors = self.step.vectors();
        vectors.extend(self.direction.vectors());
        if D::REMEMBERS || self.step.needs_last_direction() {
            vectors.push(self.direction.v());
        }
        vectors
    }

    fn restore(&mut self, rounds: u32) -> Vec<&mut Released<P>> {
        self.t = rounds;
        let needed = D::REMEMBERS || self.step.needs_last_direction();
        let mut vectors = self.step.restore();
        vectors.extend(self.direction.restore());
        if !needed {
            // v, which is made anew before it is read.
            vectors.pop();
        }
        vectors
    }
}
