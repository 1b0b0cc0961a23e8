//! Exact Diffusion (`ed`).
//!
//! ```text
//! v  = noisy gradient at x
//! ψ⁺ = x − αv;   φ = ψ⁺ + x − ψ;   x⁺ = Σ_j W_ij φ_j
//! ```
//!
//! Reference: Yuan, Ying, Zhao, Sayed, "Exact Diffusion for distributed optimization and learning", 2019.
//! With privacy it is the paper's DP-ED, and PRDO with γ = 1.

use super::exact_diffusion::ExactDiffusion;
use super::{Card, Definition, Settings};
use crate::message::{Inbox, Message};
use crate::node::Node;
use prdo_privacy::{Protection, Query, Released, Start};

const CARD: Card = Card {
    name: "ed",
    title: "Exact Diffusion",
    idea: "corrects the bias of diffusion with one vector per round",
    parameters: &[],
    first_batch: false,
    differences: false,
};

pub struct Ed;

impl Definition for Ed {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn start<P: Protection>(&self, x0: &Start, settings: &Settings) -> Box<dyn Node<P>> {
        Box::new(State {
            diffusion: ExactDiffusion::start(x0, settings.step_size),
            v: Released::zeros(x0.dimension()),
        })
    }
}

struct State<P: Protection> {
    diffusion: ExactDiffusion<P>,
    v: Released<P>,
}

impl<P: Protection> Node<P> for State<P> {
    fn query(&self) -> Query<'_, P> {
        Query::gradient(&self.diffusion.x)
    }

    fn adapt(&mut self, answer: Released<P>) -> Message<P> {
        self.v = answer;
        self.diffusion.adapt(&self.v)
    }

    fn mix(&mut self, inbox: &Inbox<'_, P>) -> Option<Message<P>> {
        self.diffusion.mix(inbox);
        None
    }

    fn model(&self) -> &Released<P> {
        &self.diffusion.x
    }

    fn direction(&self) -> &Released<P> {
        &self.v
    }

    fn vectors(&self) -> Vec<&Released<P>> {
        vec![&self.diffusion.x, &self.diffusion.psi]
    }

    fn restore(&mut self, _rounds: u32) -> Vec<&mut Released<P>> {
        vec![&mut self.diffusion.x, &mut self.diffusion.psi]
    }
}
