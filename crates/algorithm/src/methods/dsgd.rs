//! Decentralized (stochastic) gradient descent (`dsgd`).
//!
//! ```text
//! v  = noisy gradient at x
//! x⁺ = Σ_j W_ij (x − αv)_j          (`combine = "first"`: x⁺ = Σ_j W_ij x_j − αv)
//! ```
//!
//! The simplest baseline. On heterogeneous data its fixed point is biased by the step size.

use super::{COMBINE, Card, Combine, Definition, Settings};
use crate::message::{Inbox, Message};
use crate::node::Node;
use prdo_privacy::{Protection, Query, Released, Start};

const CARD: Card = Card {
    name: "dsgd",
    title: "D-SGD",
    idea: "steps and averages; biased when nodes' data differ",
    parameters: &[COMBINE.parameter()],
    first_batch: false,
    differences: false,
};

pub struct Dsgd;

impl Definition for Dsgd {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn start<P: Protection>(&self, x0: &Start, settings: &Settings) -> Box<dyn Node<P>> {
        Box::new(State {
            x: Released::start(x0),
            v: Released::zeros(x0.dimension()),
            alpha: settings.step_size,
            combine: COMBINE.of(settings),
        })
    }
}

struct State<P: Protection> {
    x: Released<P>,
    v: Released<P>,
    alpha: f64,
    combine: Combine,
}

impl<P: Protection> Node<P> for State<P> {
    fn query(&self) -> Query<'_, P> {
        Query::gradient(&self.x)
    }

    fn adapt(&mut self, answer: Released<P>) -> Message<P> {
        self.v = answer;
        match self.combine {
            Combine::After => Message::one(Released::combine([(1.0, &self.x), (-self.alpha, &self.v)])),
            Combine::First => Message::one(self.x.clone()),
        }
    }

    fn mix(&mut self, inbox: &Inbox<'_, P>) -> Option<Message<P>> {
        inbox.mix(0, &mut self.x);
        if self.combine == Combine::First {
            self.x.blend(1.0, -self.alpha, &self.v);
        }
        None
    }

    fn model(&self) -> &Released<P> {
        &self.x
    }

    fn direction(&self) -> &Released<P> {
        &self.v
    }

    fn vectors(&self) -> Vec<&Released<P>> {
        vec![&self.x]
    }

    fn restore(&mut self, _rounds: u32) -> Vec<&mut Released<P>> {
        vec![&mut self.x]
    }
}
