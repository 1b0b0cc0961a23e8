//! The recursive estimate: the last direction, moved along by how much the batch's gradients changed (STORM, PRDO).
//!
//! ```text
//! t = 0:  v = noisy gradient at x⁰, batch b₀
//! t ≥ 1:  v = (1−γ)v₋ + noisy { γ·gradient at x + (1−γ)·(gradient at x − gradient at x₋, same batch) }
//! ```
//!
//! Equations `eq:main-recursion` and `eq:main-query`. The braces are the fresh query; its noise already has the deviation
//! z·S_γ/b, which the paper writes γν_dp.
//!
//! `method.clips` says how the two terms are clipped: each by itself, the difference at κ‖x − x₋‖ (both points are released, so
//! C_Δ is one knob less), or their sum as one, at the same S_γ.

use super::moved::KAPPA;
use super::{Direction, DirectionState};
use crate::methods::{Asks, Choice, Number, Parameter, Settings, Tuning};
use prdo_privacy::{ByRound, Clips, Protection, Query, Released, Start};

/// How gradients and differences are clipped; [`Clips`] with its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clipping {
    Separate,
    Movement,
    Combined,
}

pub const CLIPS: Choice<Clipping> = Choice {
    name: "clips",
    doc: "clip differences at clip.difference, at kappa times how far the node moved, or gradient and difference together",
    names: &["separate", "movement", "combined"],
    values: &[Clipping::Separate, Clipping::Movement, Clipping::Combined],
    option: true,
};

/// How round t clips.
fn clips(clipping: Clipping, kappa: &ByRound, t: u32) -> Clips {
    match clipping {
        Clipping::Separate => Clips::Separate,
        Clipping::Movement => Clips::Movement { kappa: kappa.at(t) },
        Clipping::Combined => Clips::Combined,
    }
}

pub const GAMMA: Number = Number {
    name: "gamma",
    symbol: "γ",
    doc: "weight of the fresh gradient; 1 is a plain gradient (of prdo: Exact Diffusion)",
    allowed: "above 0 and at most 1",
    is_allowed: |x| x > 0.0 && x <= 1.0,
    default: 0.1,
    tuning: Some(Tuning::Factors(0.03, 1.0)),
    by_round: true,
    ..Number::PLAIN
};

impl Settings {
    #[must_use]
    pub fn gamma(self, gamma: impl Into<ByRound>) -> Self {
        self.with(GAMMA.is(gamma))
    }
}

pub struct Recursive;

impl Direction for Recursive {
    const PARAMETERS: &'static [Parameter] = &[GAMMA.parameter(), CLIPS.parameter(), KAPPA.parameter()];
    const FIRST_BATCH: bool = true;
    const DIFFERENCES: bool = true;
    type State<P: Protection> = State<P>;

    fn start<P: Protection>(x0: &Start, settings: &Settings) -> State<P> {
        State {
            x_previous: Released::start(x0),
            v: Released::zeros(x0.dimension()),
            gamma: GAMMA.by_round(settings),
            clipping: CLIPS.of(settings),
            kappa: KAPPA.by_round(settings),
        }
    }

    fn asks(settings: &Settings, t: u32) -> Asks {
        match t {
            0 => Asks::Gradient,
            _ => Asks::Recursive {
                gamma: GAMMA.by_round(settings).at(t),
                clips: clips(CLIPS.of(settings), &KAPPA.by_round(settings), t),
            },
        }
    }
}

pub struct State<P: Protection> {
    x_previous: Released<P>,
    v: Released<P>,
    gamma: ByRound,
    clipping: Clipping,
    kappa: ByRound,
}

impl<P: Protection> DirectionState<P> for State<P> {
    const REMEMBERS: bool = true;

    fn query<'a>(&'a self, t: u32, x: &'a Released<P>) -> Query<'a, P> {
        match t {
            0 => Query::gradient(x).on_first_batch(),
            _ => Query::recursive(x, &self.x_previous, self.gamma.at(t)).clipped(clips(
                self.clipping,
                &self.kappa,
                t,
            )),
        }
    }

    fn take(&mut self, t: u32, x: &Released<P>, answer: Released<P>) {
        // At t = 0 the old direction is zero, so this is v = answer.
        self.v.blend(1.0 - self.gamma.at(t), 1.0, &answer);
        self.x_previous.assign([(1.0, x)]);
    }

    fn v(&self) -> &Released<P> {
        &self.v
    }

    fn v_mut(&mut self) -> &mut Released<P> {
        &mut self.v
    }

    fn vectors(&self) -> Vec<&Released<P>> {
        vec![&self.x_previous]
    }

    fn restore(&mut self) -> Vec<&mut Released<P>> {
        vec![&mut self.x_previous, &mut self.v]
    }
}
