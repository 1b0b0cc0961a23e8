//! Tracking: a second vector y follows the network's mean direction.
//!
//! ```text
//! after (GT-HSGD):    y = Σ_j W_ij (y₋ + v − v₋)_j;   x⁺ = Σ_j W_ij (x − αy)_j     two exchanges of one vector
//! first (DIGing):     y = Σ_j W_ij y₋_j + v − v₋;     x⁺ = Σ_j W_ij x_j − αy       one exchange of two
//! split (DEEPSTORM):  y = Σ_j W_ij (y₋ + v − v₋)_j;   x⁺ = Σ_j W_ij x_j − αy       one exchange of two
//! ```
//!
//! starting from y⁻¹ = v⁻¹ = 0. The mean of y is the mean of v. W: doubly stochastic; but for the split form it
//! may be directed, and another one in each round.

use super::{NetworkStep, StepState};
use crate::graph::Needs;
use crate::message::{Inbox, Message};
use crate::methods::{COMBINE, Combine, Exchanges, Parameter, Settings};
use prdo_privacy::{ByRound, Protection, Released, Start};

/// In two exchanges after the step, or with `combine = "first"` in one before it.
pub struct Tracking;

/// y is mixed after it took the new direction, x before it steps.
pub struct SplitTracking;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    After,
    First,
    Split,
}

fn form(settings: &Settings) -> Form {
    match COMBINE.of(settings) {
        Combine::After => Form::After,
        Combine::First => Form::First,
    }
}

impl NetworkStep for Tracking {
    const NEEDS: Needs = Needs::DoublyStochastic;
    const PARAMETERS: &'static [Parameter] = &[COMBINE.parameter()];
    type State<P: Protection> = State<P>;

    fn start<P: Protection>(x0: &Start, settings: &Settings) -> State<P> {
        State::start(x0, settings.step_size.clone(), form(settings))
    }

    fn exchanges(settings: &Settings) -> Exchanges {
        match form(settings) {
            Form::After => Exchanges::each_round(2, 1),
            Form::First | Form::Split => Exchanges::each_round(1, 2),
        }
    }
}

impl NetworkStep for SplitTracking {
    const PARAMETERS: &'static [Parameter] = &[];
    type State<P: Protection> = State<P>;

    fn start<P: Protection>(x0: &Start, settings: &Settings) -> State<P> {
        State::start(x0, settings.step_size.clone(), Form::Split)
    }

    fn exchanges(_settings: &Settings) -> Exchanges {
        Exchanges::each_round(1, 2)
    }
}

pub struct State<P: Protection> {
    x: Released<P>,
    y: Released<P>,
    /// v − v₋, within a round.
    change: Released<P>,
    /// Whether the next messages to be mixed are of the first exchange.
    tracking: bool,
    alpha: ByRound,
    form: Form,
}

impl<P: Protection> State<P> {
    fn start(x0: &Start, alpha: ByRound, form: Form) -> Self {
        let zeros = || Released::zeros(x0.dimension());
        Self { x: Released::start(x0), y: zeros(), change: zeros(), tracking: true, alpha, form }
    }
}

impl<P: Protection> StepState<P> for State<P> {
    fn needs_last_direction(&self) -> bool {
        true
    }

    fn x(&self) -> &Released<P> {
        &self.x
    }

    fn leave(&mut self, v: &Released<P>) {
        self.change.assign([(1.0, v)]);
    }

    fn adapt(&mut self, _t: u32, v: &Released<P>) -> Option<Message<P>> {
        self.change.blend(-1.0, 1.0, v);
        let moved = || Released::combine([(1.0, &self.y), (1.0, &self.change)]);
        Some(match self.form {
            Form::After => Message::one(moved()),
            Form::First => Message::two(self.x.clone(), self.y.clone()),
            Form::Split => Message::two(self.x.clone(), moved()),
        })
    }

    fn mix(&mut self, t: u32, _v: &Released<P>, inbox: &Inbox<'_, P>) -> Option<Message<P>> {
        if self.form != Form::After {
            inbox.mix(0, &mut self.x);
            inbox.mix(1, &mut self.y);
            if self.form == Form::First {
                self.y.blend(1.0, 1.0, &self.change);
            }
            self.x.blend(1.0, -self.alpha.at(t), &self.y);
            return None;
        }
        self.tracking = !self.tracking;
        if self.tracking {
            inbox.mix(0, &mut self.x);
            return None;
        }
        inbox.mix(0, &mut self.y);
        Some(Message::one(Released::combine([(1.0, &self.x), (-self.alpha.at(t), &self.y)])))
    }

    fn vectors(&self) -> Vec<&Released<P>> {
        vec![&self.x, &self.y]
    }

    fn restore(&mut self) -> Vec<&mut Released<P>> {
        vec![&mut self.x, &mut self.y]
    }
}
