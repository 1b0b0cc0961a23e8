//! Exact Diffusion with Momentum (`edm`).
//!
//! ```text
//! m  = βm₋ + (1−β)·(noisy gradient at x),   m⁻¹ = 0
//! ψ⁺ = x − αm;   φ = ψ⁺ + x − ψ;   x⁺ = Σ_j W_ij φ_j
//! ```
//!
//! Reference: `hu2025edm` in the paper. With privacy it is the paper's DP-EDM.

use super::exact_diffusion::ExactDiffusion;
use super::{Card, Definition, Number, Settings, Tuning};
use crate::message::{Inbox, Message};
use crate::node::Node;
use prdo_privacy::{Protection, Query, Released, Start};

pub const BETA: Number = Number {
    name: "beta",
    symbol: "β",
    doc: "weight of history",
    allowed: "of at least 0 and below 1",
    is_allowed: |x| (0.0..1.0).contains(&x),
    default: 0.9,
    tuning: Some(Tuning::Remainder(0.02, 1.0)),
};

const CARD: Card = Card {
    name: "edm",
    title: "EDM",
    idea: "Exact Diffusion along a running average of gradients",
    parameters: &[BETA.parameter()],
    first_batch: false,
    differences: false,
};

pub struct Edm;

impl Definition for Edm {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn start<P: Protection>(&self, x0: &Start, settings: &Settings) -> Box<dyn Node<P>> {
        Box::new(State {
            diffusion: ExactDiffusion::start(x0, settings.step_size),
            m: Released::zeros(x0.dimension()),
            beta: BETA.of(settings),
        })
    }
}

impl Settings {
    #[must_use]
    pub fn beta(self, beta: f64) -> Self {
        self.with(BETA.is(beta))
    }
}

struct State<P: Protection> {
    diffusion: ExactDiffusion<P>,
    m: Released<P>,
    beta: f64,
}

impl<P: Protection> Node<P> for State<P> {
    fn query(&self) -> Query<'_, P> {
        Query::gradient(&self.diffusion.x)
    }

    fn adapt(&mut self, answer: Released<P>) -> Message<P> {
        self.m.blend(self.beta, 1.0 - self.beta, &answer);
        self.diffusion.adapt(&self.m)
    }

    fn mix(&mut self, inbox: &Inbox<'_, P>) -> Option<Message<P>> {
        self.diffusion.mix(inbox);
        None
    }

    fn model(&self) -> &Released<P> {
        &self.diffusion.x
    }

    fn direction(&self) -> &Released<P> {
        &self.m
    }

    fn vectors(&self) -> Vec<&Released<P>> {
        vec![&self.diffusion.x, &self.diffusion.psi, &self.m]
    }

    fn restore(&mut self, _rounds: u32) -> Vec<&mut Released<P>> {
        vec![&mut self.diffusion.x, &mut self.diffusion.psi, &mut self.m]
    }
}
