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
//!
//! With `method.local_steps` it exchanges in some rounds only, and with `wire.kind` in fewer bytes: [`Local`] and
//! [`Compressed`] are the same correction then.
//!
//! α may change from round to round, but where it falls the correction, which holds the last step, comes out wrong by the
//! difference: a fixed α is what theory speaks of.

use super::compressed::{BITS, Compressed, KEEP, MEMORY, MIXED, WIRE, Wire, packing};
use super::local::{LOCAL_STEPS, Local, local_steps};
use super::{NetworkStep, StepState};
use crate::message::{Inbox, Message, Shape};
use crate::methods::{Exchanges, Parameter, Settings};
use prdo_privacy::{ByRound, Protection, Released, Start};

pub struct Diffusion;

impl NetworkStep for Diffusion {
    const PARAMETERS: &'static [Parameter] = &[
        LOCAL_STEPS.parameter(),
        WIRE.parameter(),
        BITS.parameter(),
        KEEP.parameter(),
        MIXED.parameter(),
        MEMORY.parameter(),
    ];
    // What it corrects by holds the last step.
    const CONSTANT_STEP: bool = true;
    type State<P: Protection> = Box<dyn StepState<P>>;

    fn start<P: Protection>(x0: &Start, settings: &Settings) -> Box<dyn StepState<P>> {
        match (WIRE.of(settings), local_steps(settings)) {
            (Wire::Plain, 1) => Box::new(State::start(x0, settings)),
            (Wire::Plain, steps) => Box::new(Local::start(x0, settings, steps)),
            (Wire::Bits | Wire::Top, steps) => Box::new(Compressed::start(x0, settings, steps)),
        }
    }

    fn exchanges(settings: &Settings) -> Exchanges {
        let shape = Shape { packing: packing(settings), ..Shape::vectors(1) };
        Exchanges { per_round: 1, every: local_steps(settings), shape }
    }
}

struct State<P: Protection> {
    x: Released<P>,
    psi: Released<P>,
    alpha: ByRound,
}

impl<P: Protection> State<P> {
    fn start(x0: &Start, settings: &Settings) -> Self {
        Self { x: Released::start(x0), psi: Released::start(x0), alpha: settings.step_size.clone() }
    }
}

impl<P: Protection> StepState<P> for State<P> {
    fn x(&self) -> &Released<P> {
        &self.x
    }

    fn adapt(&mut self, t: u32, v: &Released<P>) -> Option<Message<P>> {
        let psi_next = Released::combine([(1.0, &self.x), (-self.alpha.at(t), v)]);
        let phi = Released::combine([(1.0, &psi_next), (1.0, &self.x), (-1.0, &self.psi)]);
        self.psi = psi_next;
        Some(Message::one(phi))
    }

    fn mix(&mut self, _t: u32, _v: &Released<P>, inbox: &Inbox<'_, P>) -> Option<Message<P>> {
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
