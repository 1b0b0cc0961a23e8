//! `prdo plan`: what to expect of a run before it is trained.

mod advice;
mod figures;
mod json;
mod read;
mod words;

use super::Failure;
use super::graph::draw;
use crate::cli::plan::PlanArgs;
use crate::progress::say;
use prdo::accounting::AccountingError;
use prdo::plan::{PlanError, answer};
use prdo::plot::{Bar, Bars, Color, Figure};
use prdo::runfile::{Key, Section};
use prdo::theory::{Bounds, TheoryError};

pub fn run(args: &PlanArgs) -> Result<(), Failure> {
    let asked = match &args.file {
        Some(file) => read::from_file(file, args)?,
        None => read::from_flags(args)?,
    };
    let answer = answer(&asked.question).map_err(|e| refused(&e, args.file.is_some()))?;
    if let Some(path) = &args.picture {
        let shown = answer.own.as_ref().filter(|_| answer.about_own).unwrap_or(&answer.schedule);
        match shown.bounds.filter(|_| asked.uncovered.is_none()) {
            Some(bounds) => draw(path, &figure(&bounds, shown.conditions.hold()))?,
            None => return Err(Failure::Input("--picture: no bound to draw (see the text)".into())),
        }
    }
    match args.json {
        true => say(&json::object(&asked, &answer).to_string()),
        false => words::show(&asked, &answer),
    }
    Ok(())
}

/// The bound by cause, or what stands in its place where the theorem does not hold.
fn figure(bounds: &Bounds, holds: bool) -> Figure {
    let title = match holds {
        true => "The bound on the average squared gradient norm, by cause",
        false => "A condition fails: no bound, only the value of its formula, by cause",
    };
    let mut bars = Bars::new(title, "part");
    for (k, (name, part)) in parts(bounds).into_iter().enumerate() {
        bars = bars.bar(Bar::new(name, part).color(Color::palette(k)));
    }
    Figure::of(bars).panel_size(640.0, 220.0)
}

/// The four parts by the names that are shown.
fn parts(bounds: &Bounds) -> [(&'static str, f64); 4] {
    bounds.stationarity.parts().map(|(name, part)| (shown(name), part))
}

fn shown(name: &'static str) -> &'static str {
    if name == "optimisation" { "optimization" } else { name }
}

/// A question without an answer, by the name of its option.
fn refused(error: &PlanError, from_file: bool) -> Failure {
    Failure::Input(match error {
        PlanError::Theory(e) if !from_file => flagged(e.field, e.value, e.allowed),
        PlanError::Theory(TheoryError { field, value, allowed }) => {
            format!("{} = {value} is not allowed: it must be {allowed}", key(field))
        }
        PlanError::TooLarge { field, value, slots } if !from_file => {
            flagged(field, *value as f64, &format!("at most {slots}, the records per node (--records)"))
        }
        PlanError::Accounting(AccountingError::OutOfRange { field, value, allowed }) if !from_file => {
            flagged(field, *value, allowed)
        }
        PlanError::SlotsMissing => "--records is missing: the noise for a budget depends on it".into(),
        other => other.to_string(),
    })
}

fn flagged(field: &str, value: f64, allowed: &str) -> String {
    format!("--{} {value} is not allowed: it must be {allowed}", flag(field))
}

/// The option that sets a number of the theory.
fn flag(field: &str) -> String {
    match field {
        "step_size" => "step".into(),
        "gamma" => "momentum".into(),
        "gradient_clip" => "clip-gradient".into(),
        "difference_clip" => "clip-difference".into(),
        "noise_multiplier" => "noise".into(),
        "slots" => "records".into(),
        "lambda" => "graph: λ".into(),
        other => other.replace('_', "-"),
    }
}

/// The run file's key that sets a number of the theory, or its option.
fn key(field: &str) -> String {
    let key = match field {
        "step_size" | "gamma" => return format!("{}.{field}", Section::Method.name()),
        "gradient_clip" => Key::ClipGradient,
        "difference_clip" => Key::ClipDifference,
        "batch" => Key::BatchSize,
        "first_batch" => Key::BatchFirst,
        "noise_multiplier" => Key::PrivacyNoiseMultiplier,
        "rounds" => Key::Rounds,
        other => return format!("--{}", flag(other)),
    };
    key.to_string()
}
