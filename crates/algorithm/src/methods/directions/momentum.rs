//! A running average of gradients.
//!
//! ```text
//! v = βv₋ + (1−β)·(noisy gradient at x),   v⁻¹ = 0
//! ```

use super::{Direction, DirectionState};
use crate::methods::{Number, Parameter, Settings, Tuning};
use prdo_privacy::{ByRound, Protection, Query, Released, Start};

pub const BETA: Number = Number {
    name: "beta",
    symbol: "β",
    doc: "weight of history",
    allowed: "of at least 0 and below 1",
    is_allowed: |x| (0.0..1.0).contains(&x),
    default: 0.9,
    tuning: Some(Tuning::Remainder(0.02, 1.0)),
    by_round: true,
    ..Number::PLAIN
};

impl Settings {
    #[must_use]
    pub fn beta(self, beta: impl Into<ByRound>) -> Self {
        self.with(BETA.is(beta))
    }
}

pub struct Momentum;

impl Direction for Momentum {
    const PARAMETERS: &'static [Parameter] = &[BETA.parameter()];
    type State<P: Protection> = State<P>;

    fn start<P: Protection>(x0: &Start, settings: &Settings) -> State<P> {
        State { v: Released::zeros(x0.dimension()), beta: BETA.by_round(settings) }
    }
}

pub struct State<P: Protection> {
    v: Released<P>,
    beta: ByRound,
}

impl<P: Protection> DirectionState<P> for State<P> {
    const REMEMBERS: bool = true;

    fn query<'a>(&'a self, _t: u32, x: &'a Released<P>) -> Query<'a, P> {
        Query::gradient(x)
    }

    fn take(&mut self, t: u32, _x: &Released<P>, answer: Released<P>) {
        let beta = self.beta.at(t);
        self.v.blend(beta, 1.0 - beta, &answer);
    }

    fn v(&self) -> &Released<P> {
        &self.v
    }

    fn v_mut(&mut self) -> &mut Released<P> {
        &mut self.v
    }
}
