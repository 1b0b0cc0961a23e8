//! `prdo privacy noise`: the least noise for a budget.

use super::words::up;
use super::{Failure, Fit, Plan, first_words, unmet};
use crate::cli::privacy::NoiseArgs;
use crate::progress::say;
use prdo::accounting::{Accountant, Target, calibrate};
use serde_json::json;

pub fn run(args: &NoiseArgs) -> Result<(), Failure> {
    let (rate, first_rate) = (args.rate.value, args.first_rate.as_ref().unwrap_or(&args.rate).value);
    let rates = [(first_rate, 1), (rate, args.rounds - 1)];
    let fit = Fit::of(&args.answer, &args.budget, |accountant, target| {
        let noise = least(accountant, target, &rates)?;
        Ok(Plan { rate, first_rate, noise, first_noise: noise, rounds: args.rounds })
    })?;
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
    fit.hint(
        |accountant, target| least(accountant, target, &rates),
        |exact| format!("needs a noise multiplier of {}", up(exact)),
    )
}

fn least(accountant: &Accountant, target: &Target, rates: &[(f64, u64)]) -> Result<f64, Failure> {
    calibrate::noise_multiplier(accountant, target, rates).map_err(unmet(
        "no noise multiplier up to 1e6",
        target,
        "raise --epsilon or --delta, or lower --rounds or --rate",
    ))
}
