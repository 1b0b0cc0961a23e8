//! A method as a direction and a network step: nearly every published one is such a cell.

use super::directions::{Direction, DirectionState};
use super::steps::{NetworkStep, StepState};
use super::{Asks, Card, Definition, Settings};
use crate::message::{Inbox, Message};
use crate::node::Node;
use prdo_privacy::{Protection, Query, Released, Start};
use std::marker::PhantomData;

/// The method that steps along `D` by `S`.
pub struct Cell<D, S> {
    card: Card,
    parts: PhantomData<fn() -> (D, S)>,
}

impl<D: Direction, S: NetworkStep> Cell<D, S> {
    /// A method of this name; its parameters are those of its two halves, in the order in which reports have them.
    pub const fn new(card: Card) -> Self {
        assert!(
            card.first_batch == D::FIRST_BATCH && card.differences == D::DIFFERENCES,
            "a card says what its direction asks for"
        );
        assert!(
            card.parameters.len() == D::PARAMETERS.len() + S::PARAMETERS.len(),
            "a card has the parameters of its halves"
        );
        Self { card, parts: PhantomData }
    }
}

impl<D: Direction, S: NetworkStep> Definition for Cell<D, S> {
    fn card(&self) -> &Card {
        &self.card
    }

    fn start<P: Protection>(&self, x0: &Start, settings: &Settings) -> Box<dyn Node<P>> {
        Box::new(CellNode { direction: D::start(x0, settings), step: S::start(x0, settings) })
    }

    fn exchanges(&self, settings: &Settings) -> (u32, u32) {
        S::exchanges(settings)
    }

    fn asks(&self, settings: &Settings, round: u32) -> Asks {
        D::asks(settings, round)
    }
}

struct CellNode<D, S> {
    direction: D,
    step: S,
}

impl<P: Protection, D: DirectionState<P>, S: StepState<P>> Node<P> for CellNode<D, S> {
    fn query(&self) -> Query<'_, P> {
        self.direction.query(self.step.x())
    }

    fn adapt(&mut self, answer: Released<P>) -> Message<P> {
        self.step.leave(self.direction.v());
        self.direction.take(self.step.x(), answer);
        self.step.adapt(self.direction.v())
    }

    fn mix(&mut self, inbox: &Inbox<'_, P>) -> Option<Message<P>> {
        self.step.mix(self.direction.v(), inbox)
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
        if D::REMEMBERS || S::NEEDS_LAST_DIRECTION {
            vectors.push(self.direction.v());
        }
        vectors
    }

    fn restore(&mut self, rounds: u32) -> Vec<&mut Released<P>> {
        let mut vectors = self.step.restore();
        let direction = self.direction.restore(rounds);
        if D::REMEMBERS || S::NEEDS_LAST_DIRECTION {
            vectors.extend(direction);
        }
        vectors
    }
}
