//! The gradient itself.
//!
//! ```text
//! v = noisy gradient at x
//! ```

use super::{Direction, DirectionState};
use crate::methods::{Parameter, Settings};
use prdo_privacy::{Protection, Query, Released, Start};

pub struct Gradient;

impl Direction for Gradient {
    const PARAMETERS: &'static [Parameter] = &[];
    type State<P: Protection> = State<P>;

    fn start<P: Protection>(x0: &Start, _settings: &Settings) -> State<P> {
        State { v: Released::zeros(x0.dimension()) }
    }
}

pub struct State<P: Protection> {
    v: Released<P>,
}

impl<P: Protection> DirectionState<P> for State<P> {
    const REMEMBERS: bool = false;

    fn query<'a>(&'a self, _t: u32, x: &'a Released<P>) -> Query<'a, P> {
        Query::gradient(x)
    }

    fn take(&mut self, _t: u32, _x: &Released<P>, answer: Released<P>) {
        self.v = answer;
    }

    fn v(&self) -> &Released<P> {
        &self.v
    }

    fn v_mut(&mut self) -> &mut Released<P> {
        &mut self.v
    }
}
