//! Exact Diffusion with Momentum (`edm`).
//!
//! ```text
//! m  = βm₋ + (1−β)·(noisy gradient at x),   m⁻¹ = 0
//! ψ⁺ = x − αm;   φ = ψ⁺ + x − ψ;   x⁺ = Σ_j W_ij φ_j
//! ```
//!
//! Reference: `hu2025edm` in the paper. With privacy it is the paper's DP-EDM.

use super::exact_diffusion::ExactDiffusion;
use super::{Card, Parameter, Settings};
use crate::message::{Inbox, Message};
use crate::node::Node;
use prdo_privacy::{Protection, Query, Released, Start};

pub(super) const CARD: Card = Card {
    name: "edm",
    title: "EDM",
    idea: "Exact Diffusion along a running average of gradients",
    vectors_sent: 1,
    parameters: &[Parameter::Beta],
    first_batch: false,
    differences: false,
};

/// The state of one node.
#[derive(Clone, Debug)]
pub struct Edm<P: Protection> {
    diffusion: ExactDiffusion<P>,
    m: Released<P>,
    beta: f64,
}

pub(super) fn start<P: Protection>(x0: &Start, settings: &Settings) -> Edm<P> {
    Edm {
        diffusion: ExactDiffusion::start(x0, settings.step_size),
        m: Released::zeros(x0.dimension()),
        beta: settings.beta,
    }
}

impl<P: Protection> Node<P> for Edm<P> {
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
