//! `prdo privacy epsilon`: what a plan costs.

use super::{Failure, describe, epsilon_keys, failure, first_words, hint};
use crate::cli::privacy::EpsilonArgs;
use crate::progress::say;
use prdo::accounting::{Accountant, Method};
use prdo::budget::Releases;
use prdo::budget::words::{self, down, plain, up};
use serde_json::json;
use std::time::Instant;

pub fn run(args: &EpsilonArgs) -> Result<(), Failure> {
    let plan = Releases {
        rate: args.rate.value,
        first_rate: args.first_rate.as_ref().unwrap_or(&args.rate).value,
        noise: args.noise,
        first_noise: args.first_noise.unwrap_or(args.noise),
        rounds: args.rounds,
    };
    match (args.delta, args.epsilon) {
        (Some(delta), None) => epsilon_at(args, &plan, delta),
        (None, Some(epsilon)) => delta_at(args, &plan, epsilon),
        (None, None) => Err(Failure::Input(
            "neither --delta nor --epsilon was given: give --delta D to get ε, such as --delta 1e-5 (well below one \
             over the number of records), or --epsilon E to get δ"
                .into(),
        )),
        (Some(delta), Some(epsilon)) => Err(Failure::Input(format!(
            "--delta {} and --epsilon {} were both given: omit the one to be computed",
            plain(delta),
            plain(epsilon)
        ))),
    }
}

fn epsilon_at(args: &EpsilonArgs, plan: &Releases, delta: f64) -> Result<(), Failure> {
    let method = args.answer.accountant;
    let started = Instant::now();
    let bounds = plan.epsilon(&Accountant::new(method), delta).map_err(failure)?;
    let seconds = started.elapsed().as_secs_f64();
    if args.answer.json {
        let mut answer = epsilon_keys(method, &bounds, delta);
        describe(plan, &mut answer);
        answer["seconds"] = json!(seconds);
        say(&answer.to_string());
        return Ok(());
    }
    let proof = words::proof(method, "ε", &bounds);
    say(&format!("ε ≤ {} at δ = {} ({proof})", up(bounds.upper), plain(delta)));
    say(&settings(args));
    say(&words::meaning(bounds.upper));
    if method != Method::Numerical {
        let exact = plan.epsilon(&Accountant::new(Method::Numerical), delta).map_err(failure)?;
        say(&hint(method, &format!("proves {} ≤ ε ≤ {}", down(exact.lower), up(exact.upper))));
    }
    Ok(())
}

fn delta_at(args: &EpsilonArgs, plan: &Releases, epsilon: f64) -> Result<(), Failure> {
    let method = args.answer.accountant;
    if method != Method::Numerical {
        return Err(Failure::Input(format!(
            "--accountant {} does not give δ at an ε: omit it (prv does), or give --delta to get ε",
            method.name()
        )));
    }
    let started = Instant::now();
    let bounds = plan.delta(epsilon).map_err(failure)?;
    let seconds = started.elapsed().as_secs_f64();
    if args.answer.json {
        let mut answer = json!({
            "delta_lower": bounds.lower,
            "delta": bounds.upper,
            "delta_upper": bounds.upper,
            "epsilon": epsilon,
            "accountant": method.name(),
        });
        describe(plan, &mut answer);
        answer["seconds"] = json!(seconds);
        say(&answer.to_string());
        return Ok(());
    }
    let (low, high) = (down(bounds.lower), up(bounds.upper));
    say(&format!("δ ≤ {high} at ε = {} (proven: {low} ≤ δ ≤ {high})", plain(epsilon)));
    say(&settings(args));
    say(&words::meaning(epsilon));
    Ok(())
}

fn settings(args: &EpsilonArgs) -> String {
    let rounds = if args.rounds == 1 { "1 round".to_string() } else { format!("{} rounds", args.rounds) };
    let first = first_words(args.first_rate.as_ref(), args.first_noise);
    format!("Plan: {rounds}, sampling rate {}, noise multiplier {}{first}.", args.rate, plain(args.noise))
}
