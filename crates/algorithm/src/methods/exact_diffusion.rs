//! The Exact Diffusion step shared by `ed`, `edm` and `prdo`: adaptation, correction, mixing.
//!
//! ```text
//! ψ⁺ = x − αv            adaptation
//! φ  = ψ⁺ + x − ψ        correction: removes the bias that heterogeneous data put into diffusion
//! x⁺ = Σ_j W_ij φ_j      mixing
//! ```
//!
//! starting from ψ⁰ = x⁰ (Algorithm `alg:storm-ed`; Yuan, Ying, Zhao, Sayed 2019).

use crate::message::{Inbox, Message};
use prdo_privacy::{Protection, Released, Start};

#[derive(Clone, Debug)]
pub(super) struct ExactDiffusion<P: Protection> {
    pub(super) x: Released<P>,
    pub(super) psi: Released<P>,
    alpha: f64,
}

impl<P: Protection> ExactDiffusion<P> {
    pub(super) fn start(x0: &Start, alpha: f64) -> Self {
        Self { x: Released::start(x0), psi: Released::start(x0), alpha }
    }

    /// Steps along −v and gives φ.
    pub(super) fn adapt(&mut self, v: &Released<P>) -> Message<P> {
        let psi_next = Released::combine([(1.0, &self.x), (-self.alpha, v)]);
        let phi = Released::combine([(1.0, &psi_next), (1.0, &self.x), (-1.0, &self.psi)]);
        self.psi = psi_next;
        Message::one(phi)
    }

    pub(super) fn mix(&mut self, inbox: &Inbox<'_, P>) {
        inbox.mix(0, &mut self.x);
    }
}
