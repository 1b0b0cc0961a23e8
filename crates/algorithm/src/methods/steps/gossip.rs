//! Gossip: a step, and averaging with the neighbours once or several times.
//!
//! ```text
//! x⁺ = Σ_j W_ij (x − αv)_j          (`combine = "first"`: x⁺ = Σ_j W_ij x_j − αv)
//!
//! of Muffliato:  z₀ = x − αv;   z₁ = Wz₀;   z_{k+1} = ωWz_k + (1−ω)z_{k−1};   x⁺ = z_K
//! ```
//!
//! With ω = 1 that is W^K; with ω = 2(1−√(g(1−g/4)))/(1−g/2)², g = 1 − λ₂(W), the Chebyshev-like recursion of Muffliato
//! (Cyffers, Even, Bellet, Massoulié 2022), whose polynomial of W contracts disagreement faster. All of it keeps the mean. W:
//! doubly stochastic, with K exchanges symmetric as well; one exchange bears links that go one way, and a W of each round.
//! Without Muffliato's recursion, K exchanges are those of every other step: [`super::exchanges`].

use super::exchanges::{EXCHANGES, MUFFLIATO, Mixer, POLYNOMIAL, check_network, exchanges, polynomial};
use super::{NetworkStep, StepState};
use crate::graph::Needs;
use crate::message::{Inbox, Message};
use crate::methods::{
    COMBINE, Combine, Exchanges, FINAL_MIXINGS, Number, Parameter, Settings, SettingsError,
};
use prdo_privacy::{ByRound, Protection, Released, Start};

/// Exchanges after the step or before it.
pub struct Gossip;

/// Muffliato's K exchanges after the step.
pub struct ManyGossip;

pub const OMEGA: Number = Number {
    name: "omega",
    symbol: "ω",
    doc: "acceleration of the exchanges: 1 is none, 0 Muffliato's choice for the network",
    allowed: "of at least 1 and below 2, or 0",
    is_allowed: |x| x == 0.0 || (1.0..2.0).contains(&x),
    default: 0.0,
    ..Number::PLAIN
};

/// Muffliato's ω for a network of this spectral gap: from 1.07 at a gap of 1 towards 2.
pub(super) fn omega(gap: f64) -> f64 {
    let gap = gap.clamp(1e-12, 1.0);
    2.0 * (1.0 - (gap * (1.0 - gap / 4.0)).sqrt()) / (1.0 - gap / 2.0).powi(2)
}

impl NetworkStep for Gossip {
    const NEEDS: Needs = Needs::DoublyStochastic;
    const PARAMETERS: &'static [Parameter] =
        &[COMBINE.parameter(), EXCHANGES.parameter(), POLYNOMIAL.parameter(), FINAL_MIXINGS.parameter()];
    type State<P: Protection> = State<P>;

    fn start<P: Protection>(x0: &Start, settings: &Settings) -> State<P> {
        State {
            x: Released::start(x0),
            mixer: Mixer::new(polynomial(settings), x0.dimension()),
            alpha: settings.step_size.clone(),
            combine: COMBINE.of(settings),
        }
    }

    fn exchanges(settings: &Settings) -> Exchanges {
        Exchanges::each_round(exchanges(settings), 1)
    }

    fn check(settings: &Settings) -> Result<(), SettingsError> {
        check_network(settings)
    }
}

pub struct State<P: Protection> {
    x: Released<P>,
    mixer: Mixer<P>,
    alpha: ByRound,
    combine: Combine,
}

impl<P: Protection> StepState<P> for State<P> {
    fn x(&self) -> &Released<P> {
        &self.x
    }

    fn adapt(&mut self, t: u32, v: &Released<P>) -> Option<Message<P>> {
        let sent = match self.combine {
            Combine::After => Released::combine([(1.0, &self.x), (-self.alpha.at(t), v)]),
            Combine::First => self.x.clone(),
        };
        self.mixer.begin(&sent);
        Some(Message::one(sent))
    }

    fn mix(&mut self, t: u32, v: &Released<P>, inbox: &Inbox<'_, P>) -> Option<Message<P>> {
        if !self.mixer.mix(inbox, 0, &mut self.x) {
            return Some(Message::one(self.x.clone()));
        }
        if self.combine == Combine::First {
            self.x.blend(1.0, -self.alpha.at(t), v);
        }
        None
    }

    fn vectors(&self) -> Vec<&Released<P>> {
        vec![&self.x]
    }

    fn restore(&mut self) -> Vec<&mut Released<P>> {
        vec![&mut self.x]
    }
}

impl NetworkStep for ManyGossip {
    const PARAMETERS: &'static [Parameter] =
        &[EXCHANGES.parameter(), OMEGA.parameter(), FINAL_MIXINGS.parameter()];
    type State<P: Protection> = Many<P>;

    fn start<P: Protection>(x0: &Start, settings: &Settings) -> Many<P> {
        Many {
            x: Released::start(x0),
            now: Released::zeros(x0.dimension()),
            before: Released::zeros(x0.dimension()),
            exchange: 0,
            alpha: settings.step_size.clone(),
            exchanges: EXCHANGES.or(settings, MUFFLIATO) as u32,
            // Left to a network that nobody told of: plain gossip.
            omega: OMEGA.of(settings).max(1.0),
        }
    }

    fn exchanges(settings: &Settings) -> Exchanges {
        Exchanges::each_round(EXCHANGES.or(settings, MUFFLIATO) as u32, 1)
    }
}

pub struct Many<P: Protection> {
    x: Released<P>,
    /// z_k and z_{k−1}, within a round.
    now: Released<P>,
    before: Released<P>,
    exchange: u32,
    alpha: ByRound,
    exchanges: u32,
    omega: f64,
}

impl<P: Protection> StepState<P> for Many<P> {
    fn x(&self) -> &Released<P> {
        &self.x
    }

    fn adapt(&mut self, t: u32, v: &Released<P>) -> Option<Message<P>> {
        self.now.assign([(1.0, &self.x), (-self.alpha.at(t), v)]);
        self.exchange = 0;
        Some(Message::one(self.now.clone()))
    }

    fn mix(&mut self, _t: u32, _v: &Released<P>, inbox: &Inbox<'_, P>) -> Option<Message<P>> {
        inbox.mix(0, &mut self.x);
        // The first exchange has no z before it.
        if self.exchange > 0 && self.omega != 1.0 {
            self.x.blend(self.omega, 1.0 - self.omega, &self.before);
        }
        self.exchange += 1;
        if self.exchange == self.exchanges {
            return None;
        }
        std::mem::swap(&mut self.before, &mut self.now);
        self.now.assign([(1.0, &self.x)]);
        Some(Message::one(self.now.clone()))
    }

    fn vectors(&self) -> Vec<&Released<P>> {
        vec![&self.x]
    }

    fn restore(&mut self) -> Vec<&mut Released<P>> {
        vec![&mut self.x]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn omega_is_that_of_the_gap() {
        // `accounting` of tests/fixtures/family.json.
        assert!((omega(0.172_745_751_406_263_03) - 1.421_915_677_742_316_8).abs() < 1e-14);
        assert!((1.0..2.0).contains(&omega(0.0)) && (1.0..2.0).contains(&omega(1.0)));
    }
}
