//! How α, γ and b₀ are chosen: by the paper's schedule, or given one by one.

use super::PlanError;
use super::case::Case;
use prdo_theory::{Conditions, Parameters, Schedule, Setting, Setup, TheoryError, schedule};

/// Which c_α the schedule uses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Multiplier {
    /// The largest that satisfies the conditions at this T and λ.
    Largest,
    /// The one of the paper's proof, which satisfies them for every T and λ.
    Sufficient,
    Given(f64),
}

/// How the parameters are chosen. What is given replaces what the schedule says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// c_γ of the schedule.
    pub c_gamma: f64,
    /// c_α of the schedule.
    pub c_alpha: Multiplier,
    pub step_size: Option<f64>,
    /// γ.
    pub gamma: Option<f64>,
    /// b₀.
    pub first_batch: Option<u64>,
}

impl Default for Choice {
    /// The paper's schedule with c_γ = 1 and the largest c_α.
    fn default() -> Self {
        Self { c_gamma: 1.0, c_alpha: Multiplier::Largest, step_size: None, gamma: None, first_batch: None }
    }
}

impl Choice {
    /// Nothing left to the schedule.
    pub fn fixed(step_size: f64, gamma: f64, first_batch: u64) -> Self {
        Self {
            step_size: Some(step_size),
            gamma: Some(gamma),
            first_batch: Some(first_batch),
            ..Self::default()
        }
    }

    pub fn is_given(&self) -> bool {
        self.step_size.is_some() || self.gamma.is_some() || self.first_batch.is_some()
    }
}

/// The parameters of a case. A b₀ that the schedule says is at most N, where N is known; without a given α, a given γ
/// gets the largest α that satisfies the conditions.
pub fn choose(case: &Case, choice: &Choice) -> Result<Setting, PlanError> {
    case.check()?;
    let setup = case.setup();
    let scheduled = match (choice.c_alpha, choice.gamma) {
        (Multiplier::Largest, None) => Schedule::largest(&setup, choice.c_gamma)?,
        (Multiplier::Largest, Some(_)) => Schedule::new(&setup, 1.0, 1.0)?,
        (Multiplier::Sufficient, _) => Schedule::sufficient(&setup, choice.c_gamma)?,
        (Multiplier::Given(c_alpha), _) => Schedule::new(&setup, c_alpha, choice.c_gamma)?,
    };
    let scheduled = scheduled.setting();
    let gamma = choice.gamma.unwrap_or(scheduled.gamma());
    let step_size = match (choice.step_size, choice.gamma, choice.c_alpha) {
        (Some(step_size), ..) => step_size,
        (None, Some(gamma), Multiplier::Largest) => largest_step(&setup, gamma)?,
        _ => scheduled.step_size(),
    };
    let first_batch = first_batch(case, choice.first_batch)?;
    Ok(Setting::new(setup, Parameters { step_size, gamma, first_batch })?)
}

/// The given b₀ if it fits, or the schedule's, at most N.
pub(super) fn first_batch(case: &Case, given: Option<u64>) -> Result<u64, PlanError> {
    match (given, case.slots) {
        (Some(value), Some(slots)) if value > slots => {
            Err(PlanError::TooLarge { field: "first_batch", value, slots })
        }
        (Some(value), _) => Ok(value),
        (None, slots) => {
            let scheduled = schedule::first_batch(case.batch, case.rounds)?;
            Ok(slots.map_or(scheduled, |slots| scheduled.min(slots)))
        }
    }
}

/// The largest α that satisfies `cv:stability` at this γ. All four left sides grow with α.
pub fn largest_step(setup: &Setup, gamma: f64) -> Result<f64, TheoryError> {
    let setting = |step_size: f64| Setting::new(*setup, Parameters { step_size, gamma, first_batch: 1 });
    let holds = |ln: f64| setting(ln.exp()).is_ok_and(|setting| Conditions::of(&setting).hold());
    let top = 0.25 * setup.root_gap() / setup.smoothness;
    if Conditions::of(&setting(top)?).hold() {
        return Ok(top);
    }
    let (mut low, mut high) = (1e-30_f64.ln(), top.ln());
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if holds(middle) { low = middle } else { high = middle }
    }
    let found = low.exp();
    setting(found).map(|_| found)
}
