//! Momentum Tracking (`mt`).
//!
//! ```text
//! u  = βu₋ + (1−β)·(noisy gradient at x),   u⁻¹ = 0
//! y  = Σ_j W_ij (y₋ + u − u₋)_j,            y⁻¹ = 0     first exchange
//! x⁺ = Σ_j W_ij (x − αy)_j                              second exchange
//! ```
//!
//! With `combine = "first"`, the authors' form, both vectors travel in one exchange:
//! y = Σ_j W_ij y₋_j + u − u₋ and x⁺ = Σ_j W_ij x_j − αy.
//!
//! Reference: Takezawa, Bao, Niwa, Sato, Yamada, "Momentum Tracking", 2023. Two vectors a neighbour a round.

use super::edm::BETA;
use super::{COMBINE, Card, Combine, Definition, Settings};
use crate::message::{Inbox, Message};
use crate::node::Node;
use prdo_privacy::{Protection, Query, Released, Start};

const CARD: Card = Card {
    name: "mt",
    title: "Momentum Tracking",
    idea: "tracks the network's momentum with a second vector per round",
    parameters: &[BETA.parameter(), COMBINE.parameter()],
    first_batch: false,
    differences: false,
};

pub struct Mt;

impl Definition for Mt {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn start<P: Protection>(&self, x0: &Start, settings: &Settings) -> Box<dyn Node<P>> {
        let zeros = || Released::zeros(x0.dimension());
        Box::new(State {
            x: Released::start(x0),
            y: zeros(),
            u: zeros(),
            u_change: zeros(),
            tracking: true,
            alpha: settings.step_size,
            beta: BETA.of(settings),
            combine: COMBINE.of(settings),
        })
    }

    fn exchanges(&self, settings: &Settings) -> (u32, u32) {
        match COMBINE.of(settings) {
            Combine::After => (2, 1),
            Combine::First => (1, 2),
        }
    }
}

struct State<P: Protection> {
    x: Released<P>,
    y: Released<P>,
    u: Released<P>,
    u_change: Released<P>,
    tracking: bool,
    alpha: f64,
    beta: f64,
    combine: Combine,
}

impl<P: Protection> Node<P> for State<P> {
    fn query(&self) -> Query<'_, P> {
        Query::gradient(&self.x)
    }

    fn adapt(&mut self, answer: Released<P>) -> Message<P> {
        let u = Released::combine([(self.beta, &self.u), (1.0 - self.beta, &answer)]);
        self.u_change.assign([(1.0, &u), (-1.0, &self.u)]);
        self.u = u;
        match self.combine {
            Combine::After => Message::one(Released::combine([(1.0, &self.y), (1.0, &self.u_change)])),
            Combine::First => Message::two(self.x.clone(), self.y.clone()),
        }
    }

    fn mix(&mut self, inbox: &Inbox<'_, P>) -> Option<Message<P>> {
        if self.combine == Combine::First {
            inbox.mix(0, &mut self.x);
            inbox.mix(1, &mut self.y);
            self.y.blend(1.0, 1.0, &self.u_change);
            self.x.blend(1.0, -self.alpha, &self.y);
            return None;
        }
        self.tracking = !self.tracking;
        if self.tracking {
            inbox.mix(0, &mut self.x);
            return None;
        }
        inbox.mix(0, &mut self.y);
        Some(Message::one(Released::combine([(1.0, &self.x), (-self.alpha, &self.y)])))
    }

    fn model(&self) -> &Released<P> {
        &self.x
    }

    fn direction(&self) -> &Released<P> {
        &self.u
    }

    fn vectors(&self) -> Vec<&Released<P>> {
        vec![&self.x, &self.y, &self.u]
    }

    fn restore(&mut self, _rounds: u32) -> Vec<&mut Released<P>> {
        vec![&mut self.x, &mut self.y, &mut self.u]
    }
}
