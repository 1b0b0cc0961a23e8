//! `prdo privacy rate`: the largest sampling rate for a budget.

use super::words::{down, plain};
use super::{Failure, Fit, Plan, unmet};
use crate::cli::privacy::RateArgs;
use crate::progress::say;
use prdo::accounting::{Accountant, Target, calibrate};
use serde_json::json;

pub fn run(args: &RateArgs) -> Result<(), Failure> {
    let (noise, rounds) = (args.noise, args.rounds);
    let fit = Fit::of(&args.answer, &args.budget, |accountant, target| {
        let rate = largest(accountant, target, args)?;
        Ok(Plan { rate, first_rate: rate, noise, first_noise: noise, rounds })
    })?;
    let rate = fit.plan.rate;
    if args.answer.json {
        say(&fit.json(json!({ "rate": rate })));
        return Ok(());
    }
    say(&format!("sampling rate {} keeps {}", down(rate), fit.words()));
    say(&format!("Plan: {rounds} rounds, noise multiplier {}.", plain(noise)));
    say(&match rate {
        1.0 => "Meaning: every record may be in every batch.".to_string(),
        _ => format!(
            "Meaning: for an expected batch of 100, at least {} records.",
            plain((100.0 / rate).ceil())
        ),
    });
    fit.hint(
        |accountant, target| largest(accountant, target, args),
        |exact| format!("allows a rate of {}", down(exact)),
    )
}

fn largest(accountant: &Accountant, target: &Target, args: &RateArgs) -> Result<f64, Failure> {
    calibrate::rate(accountant, target, args.noise, args.rounds).map_err(unmet(
        "not even a sampling rate of 1e-12",
        target,
        "raise --noise, --epsilon or --delta, or lower --rounds",
    ))
}
