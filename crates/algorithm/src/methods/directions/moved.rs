//! Gradients followed by their changes, clipped at how far the node moved (DIFF2).
//!
//! ```text
//! every R rounds:  v = noisy gradient at x
//! else:            v = v₋ + noisy (gradient at x − gradient at x₋, same batch; each record's clipped at κ‖x − x₋‖)
//! ```
//!
//! Both points are released, so the bound costs nothing, and the noise shrinks with the steps. κ is at best the largest
//! curvature of a record's loss: smaller clips what should pass, larger only adds noise. Without
//! `[clip]` nothing is clipped, and κ plays no part.

use super::{Direction, DirectionState};
use crate::methods::{Asks, Number, Parameter, Settings, Tuning};
use prdo_privacy::{ByRound, Clips, Protection, Query, Released, Start};

pub const KAPPA: Number = Number {
    name: "kappa",
    symbol: "κ",
    doc: "clip of a gradient's change, per movement: at best the loss's largest curvature",
    allowed: "above 0",
    is_allowed: |x| x > 0.0 && x.is_finite(),
    default: 1.0,
    tuning: Some(Tuning::Factors(0.01, 10.0)),
    by_round: true,
    needs: Some(("clips", "movement")),
    ..Number::PLAIN
};

pub const RESTART: Number = Number {
    name: "restart",
    symbol: "R",
    doc: "rounds from one full gradient to the next",
    allowed: "that is whole, from 1 to 1000000",
    is_allowed: |x| x.fract() == 0.0 && (1.0..=1e6).contains(&x),
    default: 10.0,
    tuning: Some(Tuning::Whole(1.0, 100.0)),
    ..Number::PLAIN
};

fn restart(settings: &Settings) -> u32 {
    RESTART.of(settings).max(1.0) as u32
}

pub struct Moved;

impl Direction for Moved {
    const PARAMETERS: &'static [Parameter] = &[KAPPA.parameter(), RESTART.parameter()];
    type State<P: Protection> = State<P>;

    fn start<P: Protection>(x0: &Start, settings: &Settings) -> State<P> {
        State {
            x_previous: Released::start(x0),
            v: Released::zeros(x0.dimension()),
            kappa: KAPPA.by_round(settings),
            restart: restart(settings),
        }
    }

    fn asks(settings: &Settings, t: u32) -> Asks {
        match t % restart(settings) {
            0 => Asks::Gradient,
            _ => Asks::Recursive {
                gamma: 0.0,
                clips: Clips::Movement { kappa: KAPPA.by_round(settings).at(t) },
            },
        }
    }
}

pub struct State<P: Protection> {
    x_previous: Released<P>,
    v: Released<P>,
    kappa: ByRound,
    restart: u32,
}

impl<P: Protection> State<P> {
    fn restarts(&self, t: u32) -> bool {
        t.is_multiple_of(self.restart)
    }
}

impl<P: Protection> DirectionState<P> for State<P> {
    const REMEMBERS: bool = true;

    fn query<'a>(&'a self, t: u32, x: &'a Released<P>) -> Query<'a, P> {
        match self.restarts(t) {
            true => Query::gradient(x),
            false => Query::moved(x, &self.x_previous, self.kappa.at(t)),
        }
    }

    fn take(&mut self, t: u32, x: &Released<P>, answer: Released<P>) {
        let kept = if self.restarts(t) { 0.0 } else { 1.0 };
        self.v.blend(kept, 1.0, &answer);
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
