//! The step of Exact Diffusion: adaptation, correction, mixing.
//!
//! ```text
//! ψ⁺ = x − αv            adaptation
//! φ  = ψ⁺ + x − ψ        correction: removes the bias that heterogeneous data put into diffusion
//! x⁺ = Σ_j W_ij φ_j      mixing
//! ```
//!
//! starting from ψ⁰ = x⁰ (Algorithm `alg:storm-ed`; Yuan, Ying, Zhao, Sayed 2019). One vector a neighbour a round. W: symmetric,
//! doubly stochastic, positive semidefinite.

use super::{NetworkStep, StepState};
use crate::message::{Inbox, Message};
use crate::methods::{Parameter, Settings};
use prdo_privacy::{Protection, Released, Start};

pub struct Diffusion;

impl NetworkStep for Diffusion {
    const PARAMETERS: &'static [Parameter] = &[];
    type State<P: Protection> = State<P>;

    fn start<P: Protection>(x0: &Start, settings: &Settings) -> State<P> {
        State { x: Released::start(x0), psi: Released::start(x0), alpha: settings.step_size }
    }
}

pub struct State<P: Protection> {
    x: Released<P>,
    psi: Released<P>,
    alpha: f64,
}

impl<P: Protection> StepState<P> for State<P> {
    fn x(&self) -> &Released<P> {
        &self.x
    }

    fn adapt(&mut self, v: &Released<P>) -> Message<P> {
        let psi_next = Released::combine([(1.0, &self.x), (-self.alpha, v)]);
        let phi = Released::combine([(1.0, &psi_next), (1.0, &self.x), (-1.0, &self.psi)]);
        self.psi = psi_next;
        Message::one(phi)
    }

    fn mix(&mut self, _v: &Released<P>, inbox: &Inbox<'_, P>) -> Option<Message<P>> {
        inbox.mix(0, &mut self.x);
        None
    }

    fn vectors(&self) -> Vec<&Released<P>> {
        vec![&self.x, &self.psi]
    }

    fn restore(&mut self) -> Vec<&mut Released<P>> {
        vec![&mut self.x, &mut self.psi]
    }
}
