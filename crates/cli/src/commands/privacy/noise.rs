//! `prdo privacy noise`: the least noise for a budget.

use super::{Failure, Fit, first_words, unmet};
use crate::cli::privacy::NoiseArgs;
use crate::progress::say;
use prdo::accounting::{Accountant, Target};
use prdo::budget::Releases;
use prdo::budget::words::up;
use serde_json::json;

pub fn run(args: &NoiseArgs) -> Result<(), Failure> {
    let (rate, first_rate) = (args.rate.value, args.first_rate.as_ref().unwrap_or(&args.rate).value);
    let least = |accountant: &Accountant, target: &Target| {
        Releases::with_least_noise(accountant, target, (first_rate, rate), args.rounds).map_err(unmet(
            "no noise multiplier up to 1e6",
            target,
            "raise --epsilon or --delta, or lower --rounds or --rate",
        ))
    };
    let fit = Fit::of(&args.answer, &args.budget, least)?;
    let noise = fit.plan.noise;
    if args.answer.json {
        say(&fit.json(json!({ "noise_multiplier": noise })));
        return Ok(());
    }
    say(&format!("noise multiplier {} keeps {}", up(noise), fit.words()));
    let first = first_words(args.first_rate.as_ref(), None);
    say(&format!("Plan: {} rounds, sampling rate {}{first}.", args.rounds, args.rate));
    say(
        "Meaning: Gaussian noise with a standard deviation of that many times the most one record can contribute.",
    );
    fit.hint(least, |exact| format!("needs a noise multiplier of {}", up(exact.noise)))
}
