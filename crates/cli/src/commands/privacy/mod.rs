//! `prdo privacy`: questions to the accountant.

mod curve;
mod epsilon;
mod noise;
mod pairs;
mod rate;
mod rounds;
mod statement;

use super::Failure;
use crate::cli::privacy::{AnswerArgs, BudgetArgs, Privacy};
use crate::cli::values::Rate;
use crate::progress::say;
use prdo::accounting::{Accountant, AccountingError, Bounds, Method, Target};
use prdo::budget::words::{self, plain};
use prdo::budget::{Releases, lower};
use serde_json::{Value as Json, json};
use std::time::Instant;

pub fn run(question: &Privacy) -> Result<(), Failure> {
    match question {
        Privacy::Epsilon(args) => epsilon::run(args),
        Privacy::Noise(args) => noise::run(args),
        Privacy::Rounds(args) => rounds::run(args),
        Privacy::Rate(args) => rate::run(args),
        Privacy::Curve(args) => curve::run(args),
        Privacy::Pairs(args) => pairs::run(args),
        Privacy::Statement(args) => statement::run(args),
    }
}

fn describe(plan: &Releases, into: &mut Json) {
    into["rate"] = json!(plan.rate);
    into["first_rate"] = json!(plan.first_rate);
    into["noise_multiplier"] = json!(plan.noise);
    into["first_noise_multiplier"] = json!(plan.first_noise);
    into["rounds"] = json!(plan.rounds);
}

struct Fit {
    method: Method,
    target: Target,
    plan: Releases,
    bounds: Bounds,
    seconds: f64,
}

impl Fit {
    /// Times `search`, which gives the fitted plan, and evaluates that plan again: what is shown was checked.
    fn of(
        answer: &AnswerArgs,
        budget: &BudgetArgs,
        search: impl FnOnce(&Accountant, &Target) -> Result<Releases, Failure>,
    ) -> Result<Self, Failure> {
        let target = Target::new(budget.epsilon, budget.delta).map_err(failure)?;
        let started = Instant::now();
        let accountant = Accountant::new(answer.accountant);
        let plan = search(&accountant, &target)?;
        let bounds = plan.epsilon(&accountant, target.delta()).map_err(failure)?;
        Ok(Self { method: answer.accountant, target, plan, bounds, seconds: started.elapsed().as_secs_f64() })
    }

    /// The answer in JSON: what was `found`, then its cost and the plan.
    fn json(&self, found: Json) -> String {
        let mut answer = found;
        let cost = epsilon_keys(self.method, &self.bounds, self.target.delta());
        for (key, value) in cost.as_object().into_iter().flatten() {
            answer[key] = value.clone();
        }
        describe(&self.plan, &mut answer);
        answer["target_epsilon"] = json!(self.target.epsilon());
        answer["seconds"] = json!(self.seconds);
        answer.to_string()
    }

    fn words(&self) -> String {
        let (epsilon, delta) = (plain(self.target.epsilon()), plain(self.target.delta()));
        let proof = words::proof(self.method, "ε", &self.bounds);
        format!("ε ≤ {epsilon} at δ = {delta} ({proof})")
    }

    /// What the exact accountant says, where another was asked; `search` is the same one.
    fn hint<T>(
        &self,
        search: impl FnOnce(&Accountant, &Target) -> Result<T, Failure>,
        says: impl FnOnce(T) -> String,
    ) -> Result<(), Failure> {
        if self.method != Method::Numerical {
            let exact = search(&Accountant::new(Method::Numerical), &self.target)?;
            say(&hint(self.method, &says(exact)));
        }
        Ok(())
    }
}

fn hint(method: Method, exact: &str) -> String {
    format!("Hint: the exact accountant (omit --accountant {}) {exact}.", method.name())
}

/// The keys that every answer about ε has. A bound that is not finite is null: JSON has no ∞.
fn epsilon_keys(method: Method, bounds: &Bounds, delta: f64) -> Json {
    json!({
        "epsilon_lower": lower(method, bounds),
        "epsilon": bounds.upper,
        "epsilon_upper": bounds.upper,
        "delta": delta,
        "accountant": method.name(),
    })
}

/// A question the accountant refuses, by the name of its option.
fn failure(error: AccountingError) -> Failure {
    Failure::Input(match error {
        AccountingError::OutOfRange { field, value, allowed } => {
            let option = if field == "noise_multiplier" { "noise" } else { field };
            format!("--{option} {} is not allowed: it must be {allowed}", plain(value))
        }
        unmet => unmet.to_string(),
    })
}

/// The same, where not `even` that meets the budget: what to change.
fn unmet(even: &str, target: &Target, advice: &str) -> impl FnOnce(AccountingError) -> Failure {
    let budget = format!("keeps ε ≤ {} at δ = {}", plain(target.epsilon()), plain(target.delta()));
    let message = format!("{even} {budget}: {advice}");
    move |error| match error {
        AccountingError::OutOfRange { .. } => failure(error),
        AccountingError::Unreachable { .. } | AccountingError::NothingFits { .. } => Failure::Input(message),
    }
}

/// The end of a sentence about a plan: what the first release has of its own.
fn first_words(rate: Option<&Rate>, noise: Option<f64>) -> String {
    match (rate, noise) {
        (None, None) => String::new(),
        (Some(rate), None) => format!("; the first release at rate {rate}"),
        (None, Some(noise)) => format!("; the first release with noise {}", plain(noise)),
        (Some(rate), Some(noise)) => {
            format!("; the first release at rate {rate} with noise {}", plain(noise))
        }
    }
}
