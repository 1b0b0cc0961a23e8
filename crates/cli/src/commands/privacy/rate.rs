//! `prdo privacy rate`: the largest sampling rate for a budget.

use super::{Failure, Fit, unmet};
use crate::cli::privacy::RateArgs;
use crate::progress::say;
use prdo::accounting::{Accountant, Target};
use prdo::budget::Releases;
use prdo::budget::words::{down, plain};
use serde_json::json;

pub fn run(args: &RateArgs) -> Result<(), Failure> {
    let (noise, rounds) = (args.noise, args.rounds);
    let largest = |accountant: &Accountant, target: &Target| {
        Releases::with_largest_rate(accountant, target, noise, rounds).map_err(unmet(
            "not even a sampling rate of 1e-12",
            target,
            "raise --noise, --epsilon or --delta, or lower --rounds",
        ))
    };
    let fit = Fit::of(&args.answer, &args.budget, largest)?;
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
    fit.hint(largest, |exact| format!("allows a rate of {}", down(exact.rate)))
}
