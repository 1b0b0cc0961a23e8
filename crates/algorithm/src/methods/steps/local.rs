//! Diffusion that exchanges in every τ-th round only (LED: Alghunaim 2024).
//!
//! ```text
//! τ times:  φ ← φ − αv − s/τ,  v taken at φ
//! x⁺ = Σ_j W_ij φ_j;   s⁺ = s + φ − x⁺
//! ```
//!
//! starting from s = 0; φ begins at x. With τ = 1 it is Exact Diffusion. Every one of the τ answers is a release of its own. One
//! vector per τ rounds. W: symmetric, doubly stochastic, positive semidefinite.

use super::StepState;
use crate::message::{Inbox, Message};
use crate::methods::{Number, Settings};
use prdo_privacy::{ByRound, Protection, Released, Start};

pub const LOCAL_STEPS: Number = Number {
    name: "local_steps",
    symbol: "τ",
    doc: "rounds from one exchange to the next",
    allowed: "that is whole, from 1 to 1000",
    is_allowed: |x| x.fract() == 0.0 && (1.0..=1000.0).contains(&x),
    default: 1.0,
    option: true,
    ..Number::PLAIN
};

pub fn local_steps(settings: &Settings) -> u32 {
    LOCAL_STEPS.of(settings).max(1.0) as u32
}

pub struct Local<P: Protection> {
    phi: Released<P>,
    s: Released<P>,
    mixed: Released<P>,
    alpha: ByRound,
    steps: u32,
}

impl<P: Protection> Local<P> {
    pub fn start(x0: &Start, settings: &Settings, steps: u32) -> Self {
        let zeros = || Released::zeros(x0.dimension());
        let alpha = settings.step_size.clone();
        Self { phi: Released::start(x0), s: zeros(), mixed: zeros(), alpha, steps }
    }
}

impl<P: Protection> StepState<P> for Local<P> {
    fn x(&self) -> &Released<P> {
        &self.phi
    }

    fn adapt(&mut self, t: u32, v: &Released<P>) -> Option<Message<P>> {
        let share = 1.0 / f64::from(self.steps);
        self.phi.add([(-self.alpha.at(t), v), (-share, &self.s)]);
        (t + 1).is_multiple_of(self.steps).then(|| Message::one(self.phi.clone()))
    }

    fn mix(&mut self, _t: u32, _v: &Released<P>, inbox: &Inbox<'_, P>) -> Option<Message<P>> {
        inbox.mix(0, &mut self.mixed);
        self.s.add([(1.0, &self.phi), (-1.0, &self.mixed)]);
        self.phi.assign([(1.0, &self.mixed)]);
        None
    }

    fn vectors(&self) -> Vec<&Released<P>> {
        vec![&self.phi, &self.s]
    }

    fn restore(&mut self) -> Vec<&mut Released<P>> {
        vec![&mut self.phi, &mut self.s]
    }
}
