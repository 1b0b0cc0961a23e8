//! The log-cosh proposition of the sensitivity appendix (`prop:sparse-sensitivity`), checked on every round
//! and every record of a private run: the same gate, noise and method as any other run.

use super::error::Error;
use prdo::export::write_figures;
use prdo::plot::{Chart, Figure, Series};
use prdo::prelude::*;
use prdo::report::{Page, method_style, table};
use prdo::store::{Folder, names};
use serde::Serialize;

const NODES: usize = 8;
const RECORDS: usize = 200;
/// A: the bound on the coefficients.
const BOUND: f64 = 1.0;
/// α: the curvature of the example and the step size of its run.
const ALPHA: f64 = 0.05;
const GAMMA: f64 = 0.1;
const BATCH: usize = 20;
const NOISE: f64 = 1.0;

pub struct Findings {
    pub results: Results,
    /// Round and largest effect of one record on the query, for the figure.
    points: Vec<(f64, f64)>,
}

/// What came out, as it stands in `results.json`.
#[derive(Debug, Serialize)]
pub struct Results {
    pub holds: bool,
    rounds: u32,
    records_checked: u64,
    clipped: u64,
    clipped_fraction_in_run: f64,
    largest_gradient: f64,
    clip_gradient: f64,
    largest_difference: f64,
    clip_difference: f64,
    largest_sensitivity: f64,
    sensitivity_bound: f64,
    s_gamma: f64,
    gamma: f64,
    alpha: f64,
    bound: f64,
    batch: usize,
}

/// Runs PRDO privately and, at every round, evaluates every record of every node at that round's two points:
/// the largest change that adding or removing it could make to the query, over all masks that contain it.
pub fn check(quick: bool) -> Result<Findings, Error> {
    let rounds = if quick { 200 } else { 2000 };
    let data = prdo::data::generate::coefficients(NODES, RECORDS, BOUND, 1).map_err(RunError::from)?;
    let model = LogCosh::new(ALPHA).map_err(RunError::from)?;
    let ring = Mixing::new(&Graph::ring(NODES).map_err(RunError::from)?, Weights::Paper, false)
        .map_err(RunError::from)?;
    let (c_g, c_d) = (BOUND + ALPHA, 2.0 * ALPHA);
    let mut prepared = Run::new(model, data.clone(), ring, Method::Prdo, Settings::new(ALPHA).gamma(GAMMA))
        .batch(BATCH, Sampling::Poisson)
        .clip(c_g, c_d)
        .private(Privacy::Noise { multiplier: NOISE, delta: 1e-5 })
        .rounds(rounds)
        .prepare()?;

    let batch = BATCH as f64;
    let bound = GAMMA * BOUND + (2.0 - GAMMA) * ALPHA;
    let mut found = Results {
        holds: false,
        rounds,
        records_checked: 0,
        clipped: 0,
        clipped_fraction_in_run: 0.0,
        largest_gradient: 0.0,
        clip_gradient: c_g,
        largest_difference: 0.0,
        clip_difference: c_d,
        largest_sensitivity: 0.0,
        sensitivity_bound: bound / batch,
        s_gamma: GAMMA * (BOUND + ALPHA) + (1.0 - GAMMA) * 2.0 * ALPHA,
        gamma: GAMMA,
        alpha: ALPHA,
        bound: BOUND,
        batch: BATCH,
    };
    let clipped =
        |row: Row| row.clipped_gradient_fraction.map(|g| g + row.clipped_difference_fraction.unwrap_or(0.0));
    let mut largest_of_all = 0.0_f64;
    let mut points = Vec::new();
    let mut previous: Vec<f64> = vec![0.0; NODES];
    for round in 0..rounds {
        let x: Vec<f64> = prepared.training.models().iter().map(|x| x[0]).collect();
        let mut largest = 0.0_f64;
        for (node, table) in data.iter().enumerate() {
            for r in 0..table.len() {
                let gradient = |x: f64| {
                    let mut g = [0.0];
                    model.gradient(&[x], table, r, &mut g);
                    g[0]
                };
                let now = gradient(x[node]);
                let difference = now - gradient(previous[node]);
                found.records_checked += 1;
                found.largest_gradient = found.largest_gradient.max(now.abs());
                found.largest_difference = found.largest_difference.max(difference.abs());
                found.clipped += u64::from(now.abs() > c_g) + u64::from(difference.abs() > c_d);
                if round > 0 {
                    largest = largest.max((GAMMA * now + (1.0 - GAMMA) * difference).abs());
                }
            }
        }
        if round > 0 {
            largest_of_all = largest_of_all.max(largest);
            points.push((f64::from(round), largest / batch));
        }
        prepared.training.step(false).map_err(RunError::from)?;
        if (round + 1) % 10 == 0 {
            found.clipped_fraction_in_run += clipped(prepared.training.measure()).unwrap_or(0.0);
        }
        previous = x;
    }
    found.largest_sensitivity = largest_of_all / batch;
    found.holds = found.clipped == 0
        && found.clipped_fraction_in_run == 0.0
        && largest_of_all <= bound * (1.0 + 1e-12)
        && found.s_gamma < BOUND + ALPHA;
    Ok(Findings { results: found, points })
}

impl Results {
    pub fn verdict(&self) -> &'static str {
        match self.holds {
            true => {
                "The proposition holds: clipping was never active, every record's effect stays within \
                 (γA + (2−γ)α)/b, and S_γ < C_g."
            }
            false => "The proposition does NOT hold on this run.",
        }
    }

    pub fn table(&self) -> (Vec<&'static str>, Vec<Vec<String>>) {
        let row = |what: &str, measured: f64, bound: f64| {
            vec![what.to_string(), format!("{measured:.6}"), format!("{bound:.6}")]
        };
        let rows = vec![
            row("|gradient| ≤ C_g = A + α", self.largest_gradient, self.clip_gradient),
            row("|difference| ≤ C_Δ = 2α", self.largest_difference, self.clip_difference),
            row("one record's effect ≤ (γA + (2−γ)α)/b", self.largest_sensitivity, self.sensitivity_bound),
            row("S_γ < C_g", self.s_gamma, self.clip_gradient),
        ];
        (vec!["claim", "largest measured", "bound"], rows)
    }
}

pub fn write(folder: &Folder, Findings { results, points }: &Findings) -> Result<(), Error> {
    let chart = Chart::new("Effect of one record on the query", "round", "largest effect")
        .series(Series::new("largest over all records", points.clone()).style(method_style(Method::Prdo)))
        .reference(results.sensitivity_bound, "bound (γA + (2−γ)α)/b")
        .reference((BOUND + ALPHA) / BATCH as f64, "private Exact Diffusion: (A + α)/b")
        .y_range(0.0, 1.1 * (BOUND + ALPHA) / BATCH as f64);
    let figure = Figure::of(chart).panel_size(760.0, 380.0);
    write_figures(folder.path(), names::FIGURE, &figure)?;
    let mut page = Page::new("The sensitivity example", results.verdict());
    page.paragraph(&format!(
        "Losses a·x + α·log cosh x with |a| ≤ A = {BOUND}, α = {ALPHA}, γ = {GAMMA}; {NODES} nodes on a ring with \
         {RECORDS} records each, Poisson batches of {BATCH}, noise multiplier {NOISE}, {} rounds of private PRDO. \
         At every round every record of every node was evaluated at that round's two points: {} evaluations.",
        results.rounds, results.records_checked
    ));
    let (head, rows) = results.table();
    page.add(&table(&head, &rows, &[]));
    page.figure(figure);
    page.heading("Repeat it");
    page.code("prdo reproduce sensitivity-example");
    folder.write(names::REPORT, page.finish().as_bytes())?;
    folder.write(names::RESULTS, (serde_json::to_string_pretty(results)? + "\n").as_bytes())?;
    Ok(())
}
