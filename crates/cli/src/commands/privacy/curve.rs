//! `prdo privacy curve`: ε as one setting changes, by every accountant.

use super::{Failure, failure};
use crate::cli::privacy::CurveArgs;
use crate::commands::table::print_table;
use crate::progress::{Progress, say};
use prdo::budget::words::{down, plain, six_digits, up};
use prdo::budget::{Against, Curve, CurveError, Point, Question};
use prdo::disk::write_atomically;
use prdo::plot::Format;
use serde_json::{Value as Json, json};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

pub fn run(args: &CurveArgs) -> Result<(), Failure> {
    let formats = args.out.iter().map(|path| format_of(path)).collect::<Result<Vec<_>, Failure>>()?;
    let question = question(args);
    let started = Instant::now();
    let curve = compute(&question)?;
    let seconds = started.elapsed().as_secs_f64();
    for (path, format) in args.out.iter().zip(formats) {
        write(&curve, path, format)?;
    }
    if args.json {
        say(&answer(args, &question, &curve, seconds).to_string());
        return Ok(());
    }
    say(&format!("ε against {}: {}", curve.against.title(), curve.fixed));
    say("");
    let head = [name(curve.against), "ε lower", "ε upper", "Rényi ε", "paper's Rényi ε"];
    let x = |p: &Point| if args.against == Against::Rounds { p.x } else { six_digits(p.x) };
    let row = |p: &Point| vec![plain(x(p)), down(p.exact.lower), up(p.exact.upper), up(p.renyi), up(p.paper)];
    print_table(&head, &curve.points.iter().map(row).collect::<Vec<_>>());
    say("");
    say(
        "Quote ε upper: the exact ε is proven to lie between lower and upper. Rényi bounds are valid but looser.",
    );
    for path in &args.out {
        say(&format!("written: {}", path.display()));
    }
    Ok(())
}

fn question(args: &CurveArgs) -> Question {
    Question {
        against: args.against,
        rate: args.rate.as_ref().map(|rate| rate.value),
        first_rate: args.first_rate.as_ref().map(|rate| rate.value),
        noise: args.noise,
        rounds: args.rounds,
        delta: args.delta,
        from: args.from,
        to: args.to,
        points: args.points,
        fixed: fixed(args),
    }
}

fn compute(question: &Question) -> Result<Curve, Failure> {
    let places = question.places().map_err(refuse)?;
    let mut progress = Progress::new(places.len() as u64, "points");
    let mut done = 0;
    let curve = question.compute(&places, |point| {
        done += 1;
        progress.at(done, || format!("ε ≤ {}", up(point.exact.upper)));
        ControlFlow::Continue(())
    });
    progress.finish();
    curve.map_err(refuse)
}

/// A question that has no curve, by the names of its options.
fn refuse(error: CurveError) -> Failure {
    let axis = |against: Against| against.argument();
    Failure::Input(match error {
        CurveError::Missing { setting, against } => format!(
            "--{} is missing: with --against {1} every setting but --{1} must be given",
            axis(setting),
            axis(against)
        ),
        CurveError::NoEnd { end, against } => {
            format!("--{end} is missing: give --{}, or both --from and --to", axis(against))
        }
        CurveError::End { end, value, against, why } => {
            format!("--{end} {} is not allowed as an end of --{}: {why}", plain(value), axis(against))
        }
        CurveError::Empty { from, to } => {
            format!("--from {} is not below --to {}: the axis needs a range", plain(from), plain(to))
        }
        CurveError::Accounting(error) => return failure(error),
    })
}

fn name(against: Against) -> &'static str {
    match against {
        Against::Delta => "δ",
        other => other.argument(),
    }
}

fn fixed(args: &CurveArgs) -> String {
    let others = [
        (Against::Rate, args.rate.as_ref().map(|rate| format!("rate {rate}"))),
        (Against::Noise, args.noise.map(|noise| format!("noise multiplier {}", plain(noise)))),
        (Against::Rounds, args.rounds.map(|rounds| format!("{rounds} rounds"))),
        (Against::Delta, args.delta.map(|delta| format!("δ = {}", plain(delta)))),
    ];
    let shown = others.into_iter().filter(|(setting, _)| *setting != args.against);
    let first = args.first_rate.as_ref().map(|rate| format!("first rate {rate}"));
    shown.filter_map(|(_, words)| words).chain(first).collect::<Vec<_>>().join(", ")
}

fn answer(args: &CurveArgs, asked: &Question, curve: &Curve, seconds: f64) -> Json {
    let point = |p: &Point| {
        json!({
            curve.against.key(): if curve.against == Against::Rounds { json!(p.x as u64) } else { json!(p.x) },
            "epsilon_lower": p.exact.lower,
            "epsilon": p.exact.upper,
            "epsilon_upper": p.exact.upper,
            "epsilon_rdp": p.renyi,
            "epsilon_rdp_paper": p.paper,
        })
    };
    let mut answer = json!({
        "against": curve.against.key(),
        "rate": asked.rate,
        "first_rate": asked.first_rate.or(asked.rate),
        "noise_multiplier": asked.noise,
        "rounds": asked.rounds,
        "delta": asked.delta,
    });
    // What is on the axis varies from point to point.
    answer[curve.against.key()] = Json::Null;
    answer["points"] = curve.points.iter().map(point).collect();
    answer["files"] = args.out.iter().map(|path| path.display().to_string()).collect();
    answer["seconds"] = json!(seconds);
    answer
}

/// What a file's name asks for: a picture, or `None` for CSV.
fn format_of(path: &Path) -> Result<Option<Format>, Failure> {
    let format = Format::of(path);
    if format.is_some() || path.extension().is_some_and(|ending| ending == "csv") {
        return Ok(format);
    }
    Err(Failure::Input(format!("--out {}: it must end in .svg, .png, .pdf or .csv", path.display())))
}

fn write(curve: &Curve, path: &Path, format: Option<Format>) -> Result<(), Failure> {
    let bytes = match format {
        Some(format) => {
            curve.figure().render(format).map_err(|e| Failure::Work(format!("{}: {e}", path.display())))?
        }
        None => csv(curve).into_bytes(),
    };
    Ok(write_atomically(path, &bytes)?)
}

/// A bound that is not finite is left empty.
fn csv(curve: &Curve) -> String {
    let mut text =
        format!("{},epsilon_lower,epsilon_upper,epsilon_rdp,epsilon_rdp_paper\n", curve.against.key());
    let cell = |x: f64| if x.is_finite() { format!("{x:?}") } else { String::new() };
    for p in &curve.points {
        let x = if curve.against == Against::Rounds { format!("{}", p.x) } else { cell(p.x) };
        let rest = [p.exact.lower, p.exact.upper, p.renyi, p.paper].map(cell).join(",");
        text += &format!("{x},{rest}\n");
    }
    text
}
