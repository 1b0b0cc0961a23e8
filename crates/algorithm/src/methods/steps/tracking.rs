//! Tracking: a second vector y follows the network's mean direction.
//!
//! ```text
//! after (GT-HSGD):    y = Σ_j W_ij (y₋ + v − v₋)_j;   x⁺ = Σ_j W_ij (x − αy)_j     two exchanges of one vector
//! first (DIGing):     y = Σ_j W_ij y₋_j + v − v₋;     x⁺ = Σ_j W_ij x_j − αy       one exchange of two
//! split (DEEPSTORM):  y = Σ_j W_ij (y₋ + v − v₋)_j;   x⁺ = Σ_j W_ij x_j − αy       one exchange of two
//! ```
//!
//! starting from y⁻¹ = v⁻¹ = 0. The mean of y is the mean of v. W: doubly stochastic; but for the split form it
//! may be directed, and another one in each round. With `method.exchanges` = K each exchange above is K, and W a polynomial of
//! one symmetric W: [`super::exchanges`].

use super::exchanges::{EXCHANGES, Mixer, POLYNOMIAL, check_network, exchanges, polynomial};
use super::{NetworkStep, StepState};
use crate::graph::Needs;
use crate::message::{Inbox, Message};
use crate::methods::{COMBINE, Combine, Exchanges, FINAL_MIXINGS, Parameter, Settings, SettingsError};
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
    const PARAMETERS: &'static [Parameter] =
        &[COMBINE.parameter(), EXCHANGES.parameter(), POLYNOMIAL.parameter(), FINAL_MIXINGS.parameter()];
    type State<P: Protection> = State<P>;

    fn start<P: Protection>(x0: &Start, settings: &Settings) -> State<P> {
        State::start(x0, settings, form(settings))
    }

    fn exchanges(settings: &Settings) -> Exchanges {
        match form(settings) {
            Form::After => Exchanges::each_round(2 * exchanges(settings), 1),
            Form::First | Form::Split => Exchanges::each_round(exchanges(settings), 2),
        }
    }

    fn check(settings: &Settings) -> Result<(), SettingsError> {
        check_network(settings)
    }
}

impl NetworkStep for SplitTracking {
    const PARAMETERS: &'static [Parameter] =
        &[EXCHANGES.parameter(), POLYNOMIAL.parameter(), FINAL_MIXINGS.parameter()];
    type State<P: Protection> = State<P>;

    fn start<P: Protection>(x0: &Start, settings: &Settings) -> State<P> {
        State::start(x0, settings, Form::Split)
    }

    fn exchanges(settings: &Settings) -> Exchanges {
        Exchanges::each_round(exchanges(settings), 2)
    }
}

pub struct State<P: Protection> {
    x: Released<P>,
    y: Released<P>,
    /// v − v₋, within a round.
    change: Released<P>,
    /// What mixes x, and y in the same exchanges; one after the other, the first mixes both.
    mix_x: Mixer<P>,
    mix_y: Mixer<P>,
    /// Whether the next messages to be mixed are those of y.
    tracking: bool,
    alpha: ByRound,
    form: Form,
}

impl<P: Protection> State<P> {
    fn start(x0: &Start, settings: &Settings, form: Form) -> Self {
        let zeros = || Released::zeros(x0.dimension());
        let mixer = |used| Mixer::new(polynomial(settings), if used { x0.dimension() } else { 0 });
        Self {
            x: Released::start(x0),
            y: zeros(),
            change: zeros(),
            mix_x: mixer(true),
            mix_y: mixer(form != Form::After),
            tracking: true,
            alpha: settings.step_size.clone(),
            form,
        }
    }

    /// One after the other: y, then x after its step.
    fn mix_after(&mut self, t: u32, inbox: &Inbox<'_, P>) -> Option<Message<P>> {
        let vector = if self.tracking { &mut self.y } else { &mut self.x };
        if !self.mix_x.mix(inbox, 0, vector) {
            return Some(Message::one(vector.clone()));
        }
        self.tracking = !self.tracking;
        if self.tracking {
            return None;
        }
        let stepped = Released::combine([(1.0, &self.x), (-self.alpha.at(t), &self.y)]);
        self.mix_x.begin(&stepped);
        Some(Message::one(stepped))
    }

    /// Both at once, and the step after that.
    fn mix_both(&mut self, t: u32, inbox: &Inbox<'_, P>) -> Option<Message<P>> {
        let done = self.mix_x.mix(inbox, 0, &mut self.x) & self.mix_y.mix(inbox, 1, &mut self.y);
        if !done {
            return Some(Message::two(self.x.clone(), self.y.clone()));
        }
        if self.form == Form::First {
            self.y.blend(1.0, 1.0, &self.change);
        }
        self.x.blend(1.0, -self.alpha.at(t), &self.y);
        None
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
        let y = if self.form == Form::First { self.y.clone() } else { moved() };
        if self.form == Form::After {
            self.mix_x.begin(&y);
            return Some(Message::one(y));
        }
        self.mix_x.begin(&self.x);
        self.mix_y.begin(&y);
        Some(Message::two(self.x.clone(), y))
    }

    fn mix(&mut self, t: u32, _v: &Released<P>, inbox: &Inbox<'_, P>) -> Option<Message<P>> {
        match self.form {
            Form::After => self.mix_after(t, inbox),
            Form::First | Form::Split => self.mix_both(t, inbox),
        }
    }

    fn vectors(&self) -> Vec<&Released<P>> {
        vec![&self.x, &self.y]
    }

    fn restore(&mut self) -> Vec<&mut Released<P>> {
        vec![&mut self.x, &mut self.y]
    }
}
