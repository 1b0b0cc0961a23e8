//! `prdo privacy curve`: ε as one setting changes, by every accountant.

mod files;

use super::words::{down, plain, up};
use super::{Failure, Plan};
use crate::cli::privacy::{Against, CurveArgs};
use crate::commands::compare::print_table;
use crate::progress::{Progress, say};
use prdo::accounting::{Accountant, Bounds, Method};
use serde_json::{Value as Json, json};
use std::time::Instant;

/// One point of the curve.
struct Point {
    x: f64,
    exact: Bounds,
    renyi: f64,
    paper: f64,
}

/// A curve and what it was computed for.
struct Curve {
    against: Against,
    /// The settings that stay, in words.
    fixed: String,
    /// What was given for the setting on the axis.
    given: Option<f64>,
    points: Vec<Point>,
}

pub fn run(args: &CurveArgs) -> Result<(), Failure> {
    let kinds = args.out.iter().map(|path| files::Kind::of(path)).collect::<Result<Vec<_>, Failure>>()?;
    let settings = Settings::of(args)?;
    let places = places(args, &settings)?;
    let started = Instant::now();
    let points = compute(args, &settings, &places)?;
    let curve = Curve { against: args.against, fixed: fixed(args), given: settings.at(args.against), points };
    let seconds = started.elapsed().as_secs_f64();
    for (path, kind) in args.out.iter().zip(&kinds) {
        files::write(&curve, path, kind)?;
    }
    if args.json {
        say(&answer(args, &settings, &curve, seconds).to_string());
        return Ok(());
    }
    say(&format!("ε against {}: {}", curve.title(), curve.fixed));
    say("");
    let head = [curve.name(), "ε lower", "ε upper", "Rényi ε", "paper's Rényi ε"];
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

/// The settings as given; the one on the axis may be missing.
struct Settings {
    rate: Option<f64>,
    first_rate: Option<f64>,
    noise: Option<f64>,
    rounds: Option<u64>,
    delta: Option<f64>,
}

impl Settings {
    fn of(args: &CurveArgs) -> Result<Self, Failure> {
        let settings = Self {
            rate: args.rate.as_ref().map(|rate| rate.value),
            first_rate: args.first_rate.as_ref().map(|rate| rate.value),
            noise: args.noise,
            rounds: args.rounds,
            delta: args.delta,
        };
        for setting in [Against::Rate, Against::Noise, Against::Rounds, Against::Delta] {
            if setting != args.against && settings.at(setting).is_none() {
                let missing = setting.option();
                let axis = args.against.option();
                return Err(Failure::Input(format!(
                    "{missing} is missing: with --against {} every setting but {axis} must be given",
                    axis.trim_start_matches('-')
                )));
            }
        }
        Ok(settings)
    }

    /// What was given for a setting.
    fn at(&self, setting: Against) -> Option<f64> {
        match setting {
            Against::Rounds => self.rounds.map(|n| n as f64),
            Against::Noise => self.noise,
            Against::Rate => self.rate,
            Against::Delta => self.delta,
        }
    }

    /// The plan and the δ at a place of the axis.
    fn plan(&self, against: Against, x: f64) -> (Plan, f64) {
        let at = |setting: Against| if setting == against { x } else { self.at(setting).unwrap_or(x) };
        let (rate, noise) = (at(Against::Rate), at(Against::Noise));
        let first_rate = self.first_rate.unwrap_or(rate);
        let plan = Plan { rate, first_rate, noise, first_noise: noise, rounds: at(Against::Rounds) as u64 };
        (plan, at(Against::Delta))
    }
}

/// The axis' range: as given, or around the given setting.
fn range(args: &CurveArgs, given: Option<f64>) -> Result<(f64, f64), Failure> {
    let axis = args.against;
    let around = |x: f64| match axis {
        Against::Rounds => ((x / 100.0).max(1.0), (x * 10.0).min(1e12)),
        Against::Noise => ((x / 4.0).max(0.01), (x * 4.0).min(1e6)),
        Against::Rate => ((x / 10.0).max(1e-12), (x * 10.0).min(1.0)),
        Against::Delta => (x / 1e3, (x * 1e3).min(0.5)),
    };
    let end = |option: &str, typed: Option<f64>, default: Option<f64>| {
        let Some(x) = typed.or(default) else {
            let setting = axis.option();
            return Err(Failure::Input(format!(
                "{option} is missing: give {setting}, or both --from and --to"
            )));
        };
        axis.allowed().check(Some(if axis == Against::Rounds { x.round() } else { x })).map_err(|why| {
            Failure::Input(format!(
                "{option} {} is not allowed as an end of {}: {why}",
                plain(x),
                axis.option()
            ))
        })
    };
    let from = end("--from", args.from, given.map(|x| around(x).0))?;
    let to = end("--to", args.to, given.map(|x| around(x).1))?;
    if from >= to {
        let (from, to) = (plain(from), plain(to));
        return Err(Failure::Input(format!("--from {from} is not below --to {to}: the axis needs a range")));
    }
    Ok((from, to))
}

/// Where the curve is computed: equal factors, and the given setting itself where it is one of them.
fn places(args: &CurveArgs, settings: &Settings) -> Result<Vec<f64>, Failure> {
    let given = settings.at(args.against);
    let (from, to) = range(args, given)?;
    let last = args.points - 1;
    let place = |k: usize| {
        let x = from * (to / from).powf(k as f64 / last as f64);
        let x = if args.against == Against::Rounds { x.round() } else { six_digits(x) };
        match given {
            Some(given) if (x / given - 1.0).abs() < 1e-5 => given,
            _ => x.clamp(from, to),
        }
    };
    let mut places: Vec<f64> = (0..=last).map(place).collect();
    places.dedup();
    Ok(places)
}

/// Settings that people can read and type again.
fn six_digits(x: f64) -> f64 {
    format!("{x:.5e}").parse().unwrap_or(x)
}

fn compute(args: &CurveArgs, settings: &Settings, places: &[f64]) -> Result<Vec<Point>, Failure> {
    let accountants = [Method::Numerical, Method::Renyi, Method::Paper].map(Accountant::new);
    let mut progress = Progress::new(places.len() as u64, "points");
    let mut points = Vec::with_capacity(places.len());
    for (k, &x) in places.iter().enumerate() {
        let (plan, delta) = settings.plan(args.against, x);
        let [exact, renyi, paper] = &accountants;
        let point = Point {
            x,
            exact: plan.epsilon(exact, delta)?,
            renyi: plan.epsilon(renyi, delta)?.upper,
            paper: plan.epsilon(paper, delta)?.upper,
        };
        progress.at(k as u64 + 1, || format!("ε ≤ {}", up(point.exact.upper)));
        points.push(point);
    }
    progress.finish();
    Ok(points)
}

impl Curve {
    /// The axis' name in JSON and CSV.
    fn key(&self) -> &'static str {
        match self.against {
            Against::Rounds => "rounds",
            Against::Noise => "noise_multiplier",
            Against::Rate => "rate",
            Against::Delta => "delta",
        }
    }

    /// The axis' name in the table.
    fn name(&self) -> &'static str {
        match self.against {
            Against::Rounds => "rounds",
            Against::Noise => "noise",
            Against::Rate => "rate",
            Against::Delta => "δ",
        }
    }

    /// A place of the axis, in words.
    fn at(&self, x: f64) -> String {
        match self.against {
            Against::Rounds => format!("{} rounds", plain(x)),
            Against::Noise => format!("noise multiplier {}", plain(x)),
            Against::Rate => format!("rate {}", plain(six_digits(x))),
            Against::Delta => format!("δ = {}", plain(x)),
        }
    }

    /// The axis' name in full.
    fn title(&self) -> &'static str {
        match self.against {
            Against::Rounds => "rounds",
            Against::Noise => "noise multiplier",
            Against::Rate => "sampling rate",
            Against::Delta => "δ",
        }
    }
}

/// The settings that stay, in words.
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

fn answer(args: &CurveArgs, settings: &Settings, curve: &Curve, seconds: f64) -> Json {
    let point = |p: &Point| {
        json!({
            curve.key(): if curve.against == Against::Rounds { json!(p.x as u64) } else { json!(p.x) },
            "epsilon_lower": p.exact.lower,
            "epsilon": p.exact.upper,
            "epsilon_upper": p.exact.upper,
            "epsilon_rdp": p.renyi,
            "epsilon_rdp_paper": p.paper,
        })
    };
    let mut answer = json!({
        "against": curve.key(),
        "rate": settings.rate,
        "first_rate": settings.first_rate.or(settings.rate),
        "noise_multiplier": settings.noise,
        "rounds": settings.rounds,
        "delta": settings.delta,
    });
    // What is on the axis varies from point to point.
    answer[curve.key()] = Json::Null;
    answer["points"] = curve.points.iter().map(point).collect();
    answer["files"] = args.out.iter().map(|path| path.display().to_string()).collect();
    answer["seconds"] = json!(seconds);
    answer
}
