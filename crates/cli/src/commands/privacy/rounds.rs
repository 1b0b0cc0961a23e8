//! `prdo privacy rounds`: the most rounds for a budget.

use super::{Failure, Fit, first_words, unmet};
use crate::cli::privacy::RoundsArgs;
use crate::progress::say;
use prdo::accounting::{Accountant, Target, calibrate};
use prdo::budget::Releases;
use prdo::budget::words::plain;
use serde_json::json;

pub fn run(args: &RoundsArgs) -> Result<(), Failure> {
    let one = Releases {
        rate: args.rate.value,
        first_rate: args.first_rate.as_ref().unwrap_or(&args.rate).value,
        noise: args.noise,
        first_noise: args.first_noise.unwrap_or(args.noise),
        rounds: 1,
    };
    let most = |accountant: &Accountant, target: &Target| {
        one.with_most_rounds(accountant, target).map_err(unmet(
            "not even one round",
            target,
            "raise --noise, --epsilon or --delta, or lower --rate (or --first-rate, if given)",
        ))
    };
    let fit = Fit::of(&args.answer, &args.budget, most)?;
    let rounds = fit.plan.rounds;
    let capped = rounds >= calibrate::MOST_ROUNDS;
    if args.answer.json {
        say(&fit.json(json!({ "rounds": rounds, "capped": capped })));
        return Ok(());
    }
    let fits = if rounds == 1 { "1 round fits" } else { &format!("{rounds} rounds fit") };
    say(&format!("{fits} into {}", fit.words()));
    let first = first_words(args.first_rate.as_ref(), args.first_noise);
    say(&format!("Plan: sampling rate {}, noise multiplier {}{first}.", args.rate, plain(args.noise)));
    say(match capped {
        true => "Meaning: more may fit; the search stops here.",
        false => "Meaning: with one round more, this accountant's bound would exceed the budget.",
    });
    fit.hint(most, |exact| format!("allows {} rounds", exact.rounds))
}
