//! Private Recursive Decentralized Optimization (`prdo`): the paper's Algorithm `alg:storm-ed`.
//!
//! ```text
//! t = 0:  v = noisy gradient at x⁰, batch b₀
//! t ≥ 1:  v = (1−γ)v₋ + noisy { γ·gradient at x + (1−γ)·(gradient at x − gradient at x₋, same batch) }
//! ψ⁺ = x − αv;   φ = ψ⁺ + x − ψ;   x⁺ = Σ_j W_ij φ_j
//! ```
//!
//! Equations `eq:main-recursion` and `eq:main-query`. The braces are the fresh query; its noise already has
//! the deviation z·S_γ/b, which the paper writes γν_dp. γ = 1 with b₀ = b is Exact Diffusion, bit for bit.

use super::exact_diffusion::ExactDiffusion;
use super::{Asks, Card, Definition, Number, Settings, Tuning};
use crate::message::{Inbox, Message};
use crate::node::Node;
use prdo_privacy::{Protection, Query, Released, Start};

pub const GAMMA: Number = Number {
    name: "gamma",
    symbol: "γ",
    doc: "weight of the fresh gradient; 1 is Exact Diffusion",
    allowed: "above 0 and at most 1",
    is_allowed: |x| x > 0.0 && x <= 1.0,
    default: 0.1,
    tuning: Some(Tuning::Factors(0.03, 1.0)),
};

const CARD: Card = Card {
    name: "prdo",
    title: "PRDO",
    idea: "Exact Diffusion along a recursive estimate that reuses the last direction",
    parameters: &[GAMMA.parameter()],
    first_batch: true,
    differences: true,
};

pub struct Prdo;

impl Definition for Prdo {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn start<P: Protection>(&self, x0: &Start, settings: &Settings) -> Box<dyn Node<P>> {
        Box::new(State {
            t: 0,
            diffusion: ExactDiffusion::start(x0, settings.step_size),
            x_previous: Released::start(x0),
            v: Released::zeros(x0.dimension()),
            gamma: GAMMA.of(settings),
        })
    }

    fn asks(&self, settings: &Settings, round: u32) -> Asks {
        match round {
            0 => Asks::Gradient,
            _ => Asks::Recursive { gamma: GAMMA.of(settings) },
        }
    }
}

impl Settings {
    #[must_use]
    pub fn gamma(self, gamma: f64) -> Self {
        self.with(GAMMA.is(gamma))
    }
}

struct State<P: Protection> {
    t: u32,
    diffusion: ExactDiffusion<P>,
    x_previous: Released<P>,
    v: Released<P>,
    gamma: f64,
}

impl<P: Protection> Node<P> for State<P> {
    fn query(&self) -> Query<'_, P> {
        match self.t {
            0 => Query::gradient(&self.diffusion.x).on_first_batch(),
            _ => Query::recursive(&self.diffusion.x, &self.x_previous, self.gamma),
        }
    }

    fn adapt(&mut self, answer: Released<P>) -> Message<P> {
        // At t = 0 the old direction is zero, so this is v = answer.
        self.v.blend(1.0 - self.gamma, 1.0, &answer);
        self.diffusion.adapt(&self.v)
    }

    fn mix(&mut self, inbox: &Inbox<'_, P>) -> Option<Message<P>> {
        std::mem::swap(&mut self.x_previous, &mut self.diffusion.x);
        self.diffusion.mix(inbox);
        self.t += 1;
        None
    }

    fn model(&self) -> &Released<P> {
        &self.diffusion.x
    }

    fn direction(&self) -> &Released<P> {
        &self.v
    }

    fn vectors(&self) -> Vec<&Released<P>> {
        vec![&self.diffusion.x, &self.diffusion.psi, &self.x_previous, &self.v]
    }

    fn restore(&mut self, rounds: u32) -> Vec<&mut Released<P>> {
        self.t = rounds;
        vec![&mut self.diffusion.x, &mut self.diffusion.psi, &mut self.x_previous, &mut self.v]
    }
}
