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
use super::{Card, Settings};
use crate::message::{Inbox, Message};
use crate::node::Node;
use prdo_privacy::{Protection, Query, Released, Start};

pub(super) const CARD: Card = Card {
    name: "ed",
    title: "Exact Diffusion",
    idea: "corrects the bias of diffusion with one vector a round",
    vectors_sent: 1,
    parameters: &[],
    first_batch: false,
    differences: false,
};

/// The state of one node.
#[derive(Clone, Debug)]
pub struct Ed<P: Protection> {
    diffusion: ExactDiffusion<P>,
    v: Released<P>,
}

pub(super) fn start<P: Protection>(x0: &Start, settings: &Settings) -> Ed<P> {
    Ed {
        diffusion: ExactDiffusion::start(x0, settings.step_size),
        v: Released::zeros(x0.dimension()),
    }
}

impl<P: Protection> Node<P> for Ed<P> {
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
