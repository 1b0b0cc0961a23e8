//! `prdo bench accountant`: the time of a proven ε, a calibration and a whole ledger, on one thread.

use super::median;
use crate::commands::Failure;
use crate::commands::compare::print_table;
use crate::progress::{Progress, say};
use prdo::accounting::{
    Accountant, AccountingError, Bounds, Event, History, Method, Target, calibrate, numerical,
};
use serde_json::{Value as Json, json};
use std::hint::black_box;
use std::time::Instant;

/// The paper's point.
const RATE: f64 = 100.0 / 4500.0;
const NOISE: f64 = 2.464143;
const ROUNDS: u64 = 9500;
const DELTA: f64 = 1e-5;
/// The budget that the noise is calibrated for.
const EPSILON: f64 = 4.0;

/// Measured times.
struct Times {
    epsilon: Timed,
    calibration: Timed,
    all_rounds: f64,
    lattice: Timed,
    renyi: Timed,
    paper: Timed,
    bounds: Bounds,
    lattice_bounds: Bounds,
}

/// A median in seconds and over how many calls.
type Timed = (f64, usize);

pub fn run(json: bool) -> Result<(), Failure> {
    // These questions are fixed and valid: a refusal is the accountant's failure.
    let times = measure().map_err(|e| Failure::Work(format!("the accountant: {e}")))?;
    if json {
        say(&answer(&times).to_string());
    } else {
        print(&times);
    }
    Ok(())
}

fn history(rate: f64, noise: f64, rounds: u64) -> Result<History, AccountingError> {
    Ok(History::new().and(Event::sampled_gaussian(rate, noise)?, rounds))
}

fn measure() -> Result<Times, AccountingError> {
    let paper_point = history(RATE, NOISE, ROUNDS)?;
    // Few releases at a tiny rate: nearly atomic losses, which only the lattice handles.
    let atomic = history(1e-4, 0.5, 2)?;
    // A new accountant each time: one that is kept remembers its last answer. Multipliers that were found are remembered for
    // all of them, so that each time another budget is asked for.
    let ask = |method: Method| Accountant::new(method).epsilon(black_box(&paper_point), DELTA);
    let asked = std::cell::Cell::new(0.0);
    let calibrate = || {
        let accountant = Accountant::new(Method::Numerical);
        asked.set(asked.get() + 1.0);
        let target = Target::new(EPSILON * (1.0 + 1e-9 * asked.get()), DELTA)?;
        calibrate::noise_multiplier(&accountant, black_box(&target), &[(RATE, ROUNDS)])
    };
    Ok(Times {
        epsilon: median(|| ask(Method::Numerical))?,
        renyi: median(|| ask(Method::Renyi))?,
        paper: median(|| ask(Method::Paper))?,
        calibration: median(calibrate)?,
        lattice: median(|| numerical::epsilon(black_box(&atomic), 1e-6))?,
        all_rounds: all_rounds()?,
        bounds: numerical::epsilon(&paper_point, DELTA)?,
        lattice_bounds: numerical::epsilon(&atomic, 1e-6)?,
    })
}

/// Seconds for ε after every round, one after another.
fn all_rounds() -> Result<f64, AccountingError> {
    let mut progress = Progress::new(ROUNDS, "rounds");
    let started = Instant::now();
    for round in 1..=ROUNDS {
        let bounds = numerical::epsilon(&history(RATE, NOISE, round)?, DELTA)?;
        if round % 100 == 0 {
            progress.at(round, || format!("ε ≤ {:.4}", bounds.upper));
        }
    }
    let seconds = started.elapsed().as_secs_f64();
    progress.finish();
    Ok(seconds)
}

fn answer(times: &Times) -> Json {
    json!({
        "epsilon_seconds": times.epsilon.0,
        "calibration_seconds": times.calibration.0,
        "all_rounds_seconds": times.all_rounds,
        "lattice_seconds": times.lattice.0,
        "renyi_seconds": times.renyi.0,
        "renyi_paper_seconds": times.paper.0,
        "epsilon_over_renyi": times.epsilon.0 / times.renyi.0,
        "epsilon_over_renyi_paper": times.epsilon.0 / times.paper.0,
        "epsilon_lower": times.bounds.lower,
        "epsilon_upper": times.bounds.upper,
        "lattice_epsilon_lower": times.lattice_bounds.lower,
        "lattice_epsilon_upper": times.lattice_bounds.upper,
        "rate": RATE,
        "noise_multiplier": NOISE,
        "rounds": ROUNDS,
        "delta": DELTA,
        "threads": 1,
    })
}

fn print(times: &Times) {
    let row = |what: &str, (seconds, calls): Timed| {
        vec![what.to_string(), duration(seconds), format!("{calls}"), two_digits(seconds / times.renyi.0)]
    };
    let rows = [
        row("ε with proof, the paper's point", times.epsilon),
        row("noise for ε = 4, with proof", times.calibration),
        row("ε with proof at every round, 1 to 9500", (times.all_rounds, 1)),
        row("ε with proof on the lattice (rate 1e-4, noise 0.5, 2 rounds)", times.lattice),
        row("Rényi ε, all orders, the paper's point", times.renyi),
        row("the paper's Rényi ε, the paper's point", times.paper),
    ];
    print_table(&["question", "median time", "calls", "over Rényi ε"], &rows);
    say("");
    say("The paper's point: rate 100/4500, noise 2.464143, 9500 rounds, δ = 1e-5. One thread.");
}

/// A ratio, whether tiny or large.
fn two_digits(ratio: f64) -> String {
    let decimals = (1.0 - ratio.log10().floor()).clamp(0.0, 9.0) as usize;
    format!("{ratio:.decimals$}")
}

/// A time in its own unit.
fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.1} µs", s * 1e6),
        s if s < 1.0 => format!("{:.2} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}
