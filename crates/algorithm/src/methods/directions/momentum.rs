//! A running average of gradients.
//!
//! ```text
//! v = βv₋ + (1−β)·(noisy gradient at x),   v⁻¹ = 0
//! ```

use super::{Direction, DirectionState};
use crate::methods::{Number, Parameter, Settings, Tuning};
use prdo_privacy::{Protection, Query, Released, Start};

pub const BETA: Number = Number {
    name: "beta",
    symbol: "β",
    doc: "weight of history",
    allowed: "of at least 0 and below 1",
    is_allowed: |x| (0.0..1.0).contains(&x),
    default: 0.9,
    tuning: Some(Tuning::Remainder(0.02, 1.0)),
};

impl Settings {
    #[must_use]
    pub fn beta(self, beta: f64) -> Self {
        self.with(BETA.is(beta))
    }
}

pub struct Momentum;

impl Direction for Momentum {
    const PARAMETERS: &'static [Parameter] = &[BETA.parameter()];
    type State<P: Protection> = State<P>;

    fn start<P: Protection>(x0: &Start, settings: &Settings) -> State<P> {
        State { v: Released::zeros(x0.dimension()), beta: BETA.of(settings) }
    }
}

pub struct State<P: Protection> {
    v: Released<P>,
    beta: f64,
}

impl<P: Protection> DirectionState<P> for State<P> {
    const REMEMBERS: bool = true;

    fn query<'a>(&'a self, x: &'a Released<P>) -> Query<'a, P> {
        Query::gradient(x)
    }

    fn take(&mut self, _x: &Released<P>, answer: Released<P>) {
        self.v.blend(self.beta, 1.0 - self.beta, &answer);
    }

    fn v(&self) -> &Released<P> {
        &self.v
    }

    fn v_mut(&mut self) -> &mut Released<P> {
        &mut self.v
    }
}
