//! The time of a proven ε, a calibration and a whole ledger, on one thread.

use super::error::Error;
use super::{Block, line, median, table};
use prdo::accounting::{
    Accountant, AccountingError, Bounds, Event, History, Method, Target, calibrate, numerical,
};
use serde_json::{Value as Json, json};
use std::hint::black_box;
use std::time::Instant;

/// The paper's point.
const RATE: f64 = 100.0 / 4500.0;
const NOISE: f64 = 2.464143;
pub const ROUNDS: u64 = 9500;
const DELTA: f64 = 1e-5;
/// The budget that the noise is calibrated for.
const EPSILON: f64 = 4.0;

pub struct Times {
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

fn history(rate: f64, noise: f64, rounds: u64) -> Result<History, AccountingError> {
    Ok(History::new().and(Event::sampled_gaussian(rate, noise)?, rounds))
}

/// Measures everything; `tick` is told after how many of the [`ROUNDS`] ε is known, and what it is.
pub fn measure(tick: &mut dyn FnMut(u64, f64)) -> Result<Times, Error> {
    let paper_point = history(RATE, NOISE, ROUNDS)?;
    // Few releases at a tiny rate: nearly atomic losses, which only the lattice handles.
    let atomic = history(1e-4, 0.5, 2)?;
    // A new accountant each time: one that is kept remembers its last answer.
    let ask = |method: Method| Accountant::new(method).epsilon(black_box(&paper_point), DELTA);
    let calibrate = || {
        let accountant = Accountant::new(Method::Numerical);
        let target = Target::new(EPSILON, DELTA)?;
        calibrate::noise_multiplier(&accountant, black_box(&target), &[(RATE, ROUNDS)])
    };
    Ok(Times {
        epsilon: median(|| ask(Method::Numerical))?,
        renyi: median(|| ask(Method::Renyi))?,
        paper: median(|| ask(Method::Paper))?,
        calibration: median(calibrate)?,
        lattice: median(|| numerical::epsilon(black_box(&atomic), 1e-6))?,
        all_rounds: all_rounds(tick)?,
        bounds: numerical::epsilon(&paper_point, DELTA)?,
        lattice_bounds: numerical::epsilon(&atomic, 1e-6)?,
    })
}

/// Seconds for ε after every round, one after another.
fn all_rounds(tick: &mut dyn FnMut(u64, f64)) -> Result<f64, AccountingError> {
    tick(0, 0.0);
    let started = Instant::now();
    for round in 1..=ROUNDS {
        let bounds = numerical::epsilon(&history(RATE, NOISE, round)?, DELTA)?;
        if round % 100 == 0 {
            tick(round, bounds.upper);
        }
    }
    Ok(started.elapsed().as_secs_f64())
}

impl Times {
    pub fn json(&self) -> Json {
        json!({
            "epsilon_seconds": self.epsilon.0,
            "calibration_seconds": self.calibration.0,
            "all_rounds_seconds": self.all_rounds,
            "lattice_seconds": self.lattice.0,
            "renyi_seconds": self.renyi.0,
            "renyi_paper_seconds": self.paper.0,
            "epsilon_over_renyi": self.epsilon.0 / self.renyi.0,
            "epsilon_over_renyi_paper": self.epsilon.0 / self.paper.0,
            "epsilon_lower": self.bounds.lower,
            "epsilon_upper": self.bounds.upper,
            "lattice_epsilon_lower": self.lattice_bounds.lower,
            "lattice_epsilon_upper": self.lattice_bounds.upper,
            "rate": RATE,
            "noise_multiplier": NOISE,
            "rounds": ROUNDS,
            "delta": DELTA,
            "threads": 1,
        })
    }

    pub fn blocks(&self) -> Vec<Block> {
        let row = |what: &str, (seconds, calls): Timed| {
            vec![what.to_string(), duration(seconds), format!("{calls}"), two_digits(seconds / self.renyi.0)]
        };
        let rows = vec![
            row("ε with proof, the paper's point", self.epsilon),
            row("noise for ε = 4, with proof", self.calibration),
            row("ε with proof at every round, 1 to 9500", (self.all_rounds, 1)),
            row("ε with proof on the lattice (rate 1e-4, noise 0.5, 2 rounds)", self.lattice),
            row("Rényi ε, all orders, the paper's point", self.renyi),
            row("the paper's Rényi ε, the paper's point", self.paper),
        ];
        vec![
            table(&["question", "median time", "calls", "over Rényi ε"], rows),
            line(""),
            line("The paper's point: rate 100/4500, noise 2.464143, 9500 rounds, δ = 1e-5. One thread."),
        ]
    }
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
