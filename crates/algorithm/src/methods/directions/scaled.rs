//! Gradients, and from time to time gradients in scaled coordinates (DP²).
//!
//! ```text
//! s rounds:  v = noisy gradient at x;   G ← G + v
//! then       A ← βA + (1−β)(G/s)²,   D = √A + ε,   G ← 0
//! s rounds:  v = (α₂/α) · noisy { gradient at x / D, clipped at C₂ there },   and so on
//! ```
//!
//! A is made of answers, so it costs nothing. In the second phase clip and noise are those of the coordinates g/D: rare
//! coordinates, whose D is small, do not drown in noise that is the same for all.

use super::{Direction, DirectionState};
use crate::methods::{Asks, Number, Parameter, Settings, Tuning};
use prdo_privacy::{ByRound, Protection, Query, Released, Start};

pub const INTERVAL: Number = Number {
    name: "interval",
    symbol: "s",
    doc: "rounds of each phase, plain and scaled",
    allowed: "that is whole, from 1 to 1000000",
    is_allowed: |x| x.fract() == 0.0 && (1.0..=1e6).contains(&x),
    default: 10.0,
    tuning: Some(Tuning::Whole(2.0, 50.0)),
    ..Number::PLAIN
};

pub const DECAY: Number = Number {
    name: "decay",
    symbol: "β₂",
    doc: "weight of history in the scale",
    allowed: "of at least 0 and below 1",
    is_allowed: |x| (0.0..1.0).contains(&x),
    default: 0.5,
    tuning: Some(Tuning::Remainder(0.05, 1.0)),
    ..Number::PLAIN
};

pub const FLOOR: Number = Number {
    name: "floor",
    symbol: "ε₂",
    doc: "what is added to the scale of every coordinate",
    allowed: "from 1e-12 to 1e12",
    is_allowed: |x| (1e-12..=1e12).contains(&x),
    default: 0.001,
    tuning: Some(Tuning::Factors(1e-5, 0.1)),
    ..Number::PLAIN
};

pub const SCALED_CLIP: Number = Number {
    name: "scaled_clip",
    symbol: "C₂",
    doc: "clip of a gradient in scaled coordinates",
    allowed: "from 1e-100 to 1e100",
    is_allowed: |x| (1e-100..=1e100).contains(&x),
    default: 1.0,
    tuning: Some(Tuning::Factors(0.1, 30.0)),
    ..Number::PLAIN
};

pub const SCALED_STEP: Number = Number {
    name: "scaled_step",
    symbol: "α₂",
    doc: "step size in scaled coordinates",
    allowed: "above 0",
    is_allowed: |x| x > 0.0 && x.is_finite(),
    default: 0.01,
    tuning: Some(Tuning::Factors(0.001, 1.0)),
    by_round: true,
    ..Number::PLAIN
};

fn interval(settings: &Settings) -> u32 {
    INTERVAL.of(settings).max(1.0) as u32
}

/// Whether round t is one of scaled coordinates.
fn is_scaled(t: u32, interval: u32) -> bool {
    !(t / interval).is_multiple_of(2)
}

pub struct ScaledGradient;

impl Direction for ScaledGradient {
    const PARAMETERS: &'static [Parameter] = &[
        INTERVAL.parameter(),
        DECAY.parameter(),
        FLOOR.parameter(),
        SCALED_CLIP.parameter(),
        SCALED_STEP.parameter(),
    ];
    type State<P: Protection> = State<P>;

    fn start<P: Protection>(x0: &Start, settings: &Settings) -> State<P> {
        let zeros = || Released::zeros(x0.dimension());
        let mut state = State {
            v: zeros(),
            sum: zeros(),
            squares: zeros(),
            scale: zeros(),
            ones: Released::start(&Start::ones(x0.dimension())),
            interval: interval(settings),
            decay: DECAY.of(settings),
            floor: FLOOR.of(settings),
            clip: SCALED_CLIP.of(settings),
            step: SCALED_STEP.by_round(settings),
            alpha: settings.step_size.clone(),
        };
        state.rescale();
        state
    }

    fn asks(settings: &Settings, t: u32) -> Asks {
        match is_scaled(t, interval(settings)) {
            true => Asks::Scaled { clip: SCALED_CLIP.of(settings) },
            false => Asks::Gradient,
        }
    }
}

pub struct State<P: Protection> {
    v: Released<P>,
    /// G.
    sum: Released<P>,
    /// A.
    squares: Released<P>,
    /// D.
    scale: Released<P>,
    ones: Released<P>,
    interval: u32,
    decay: f64,
    floor: f64,
    clip: f64,
    step: ByRound,
    alpha: ByRound,
}

impl<P: Protection> State<P> {
    /// D = √A + ε.
    fn rescale(&mut self) {
        let root = self.squares.map(f64::sqrt);
        self.scale.assign([(1.0, &root), (self.floor, &self.ones)]);
    }

    /// A ← βA + (1−β)(G/s)², G ← 0.
    fn end_plain_phase(&mut self) {
        self.sum.blend(1.0 / f64::from(self.interval), 0.0, &self.ones);
        self.squares.blend(self.decay, 1.0 - self.decay, &self.sum.map(|g| g * g));
        self.sum.clear();
        self.rescale();
    }
}

impl<P: Protection> DirectionState<P> for State<P> {
    const REMEMBERS: bool = false;

    fn query<'a>(&'a self, t: u32, x: &'a Released<P>) -> Query<'a, P> {
        match is_scaled(t, self.interval) {
            true => Query::scaled(x, &self.scale, self.clip),
            false => Query::gradient(x),
        }
    }

    fn take(&mut self, t: u32, _x: &Released<P>, answer: Released<P>) {
        self.v = answer;
        if is_scaled(t, self.interval) {
            self.v.blend(self.step.at(t) / self.alpha.at(t), 0.0, &self.ones);
            return;
        }
        self.sum.add([(1.0, &self.v)]);
        if (t + 1).is_multiple_of(self.interval) {
            self.end_plain_phase();
        }
    }

    fn v(&self) -> &Released<P> {
        &self.v
    }

    fn v_mut(&mut self) -> &mut Released<P> {
        &mut self.v
    }

    fn vectors(&self) -> Vec<&Released<P>> {
        vec![&self.sum, &self.squares, &self.scale]
    }

    fn restore(&mut self) -> Vec<&mut Released<P>> {
        vec![&mut self.sum, &mut self.squares, &mut self.scale, &mut self.v]
    }
}
