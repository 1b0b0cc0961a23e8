//! `prdo privacy rounds`: the most rounds for a budget.

use super::words::plain;
use super::{Failure, Fit, Plan, failure, first_words, unmet};
use crate::cli::privacy::RoundsArgs;
use crate::progress::say;
use prdo::accounting::{Accountant, AccountingError, History, Target, calibrate};
use serde_json::json;

pub fn run(args: &RoundsArgs) -> Result<(), Failure> {
    let one = Plan {
        rate: args.rate.value,
        first_rate: args.first_rate.as_ref().unwrap_or(&args.rate).value,
        noise: args.noise,
        first_noise: args.first_noise.unwrap_or(args.noise),
        rounds: 1,
    };
    let fit = Fit::of(&args.answer, &args.budget, |accountant, target| {
        Ok(Plan { rounds: most(accountant, target, &one)?, ..one })
    })?;
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
        true => "Meaning: more may fit; more are not looked for.",
        false => "Meaning: with one round more, this accountant's bound would exceed the budget.",
    });
    fit.hint(|accountant, target| most(accountant, target, &one), |exact| format!("allows {exact} rounds"))
}

/// The most rounds of a plan; `one` is its first.
fn most(accountant: &Accountant, target: &Target, one: &Plan) -> Result<u64, Failure> {
    let refuse = unmet(
        "not even one round",
        target,
        "raise --noise, --epsilon or --delta, or lower --rate (or --first-rate, if given)",
    );
    let (first, each) = (one.first()?, one.each()?);
    if first == each {
        return calibrate::rounds(accountant, target, &History::new(), each).map_err(refuse);
    }
    // The first round is spent, then as many of the others as fit: none is an answer too.
    let spent = History::new().and(first, 1);
    let (epsilon, delta) = (target.epsilon(), target.delta());
    if accountant.epsilon(&spent, delta).map_err(failure)?.upper > epsilon {
        return Err(refuse(AccountingError::NothingFits { epsilon, delta }));
    }
    match calibrate::rounds(accountant, target, &spent, each) {
        Ok(more) => Ok((1 + more).min(calibrate::MOST_ROUNDS)),
        Err(AccountingError::NothingFits { .. }) => Ok(1),
        Err(error) => Err(refuse(error)),
    }
}
