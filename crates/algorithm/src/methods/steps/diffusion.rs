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
//! With `method.exchanges` = K it mixes K times, and W above is a polynomial of W: [`super::exchanges`]. With
//! `method.local_steps` it exchanges in some rounds only, and with `wire.kind` in fewer bytes: [`Local`] and
//! [`Compressed`] are the same correction then.
//!
//! α may change from round to round, but where it falls the correction, which holds the last step, comes out wrong by the
//! difference: a fixed α is what theory speaks of.

use super::compressed::{BITS, Compressed, KEEP, MEMORY, MIXED, WIRE, Wire, packing};
use super::exchanges::{EXCHANGES, Mixer, POLYNOMIAL, exchanges, polynomial, refuse};
use super::local::{LOCAL_STEPS, Local, local_steps};
use super::{NetworkStep, StepState};
use crate::message::{Inbox, Message, Shape};
use crate::methods::{Conflict, Exchanges, FINAL_MIXINGS, Parameter, Settings, SettingsError};
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
        EXCHANGES.parameter(),
        POLYNOMIAL.parameter(),
        FINAL_MIXINGS.parameter(),
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
        Exchanges { every: local_steps(settings), shape, ..Exchanges::each_round(exchanges(settings), 1) }
    }

    /// What is packed, or corrected for by local steps, is corrected for W itself.
    fn check(settings: &Settings) -> Result<(), SettingsError> {
        match (WIRE.of(settings), local_steps(settings)) {
            (Wire::Plain, 1) => Ok(()),
            (Wire::Plain, _) => refuse(settings, Conflict::LocalSteps),
            (Wire::Bits | Wire::Top, _) => refuse(settings, Conflict::Wire),
        }
    }
}

struct State<P: Protection> {
    x: Released<P>,
    psi: Released<P>,
    mixer: Mixer<P>,
    alpha: ByRound,
}

impl<P: Protection> State<P> {
    fn start(x0: &Start, settings: &Settings) -> Self {
        let mixer = Mixer::new(polynomial(settings), x0.dimension());
        let alpha = settings.step_size.clone();
        Self { x: Released::start(x0), psi: Released::start(x0), mixer, alpha }
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
        self.mixer.begin(&phi);
        Some(Message::one(phi))
    }

    fn mix(&mut self, _t: u32, _v: &Released<P>, inbox: &Inbox<'_, P>) -> Option<Message<P>> {
        let done = self.mixer.mix(inbox, 0, &mut self.x);
        (!done).then(|| Message::one(self.x.clone()))
    }

    fn vectors(&self) -> Vec<&Released<P>> {
        vec![&self.x, &self.psi]
    }

    fn restore(&mut self) -> Vec<&mut Released<P>> {
        vec![&mut self.x, &mut self.psi]
    }
}
