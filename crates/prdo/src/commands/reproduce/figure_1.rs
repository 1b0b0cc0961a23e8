//! The paper's first experiment: non-private heterogeneous logistic regression on a 32-node ring, with full
//! gradients (left) and with minibatches (right).

use crate::cli::ExperimentArgs;
use crate::commands::report::write_figures;
use crate::commands::{Failure, compare};
use crate::progress::{Progress, say};
use prdo::output::Folder;
use prdo::plot::{Chart, Figure, Scale, Series};
use prdo::prelude::*;
use prdo::report::{Page, method_style, table};
use rayon::prelude::*;
use serde_json::{Value as Json, json};
use std::sync::Mutex;
use std::time::Instant;

/// The paper's setting (Appendix "Experimental settings").
#[derive(Clone, Copy)]
struct Setting {
    nodes: usize,
    records: usize,
    dimension: usize,
    rounds: u32,
    batch: usize,
    streams: u64,
    /// Rows of the minibatch panel: every so many rounds.
    minibatch_every: u32,
}

const PAPER: Setting = Setting {
    nodes: 32,
    records: 2000,
    dimension: 20,
    rounds: 600,
    batch: 16,
    streams: 5,
    minibatch_every: 5,
};
const QUICK: Setting = Setting { nodes: 16, records: 200, rounds: 300, streams: 2, ..PAPER };
const HETEROGENEITY: f64 = 0.2;
const REGULARIZATION: f64 = 0.001;
const STEP: f64 = 1.0;
const GAMMA: f64 = 0.1;
const BETA: f64 = 0.9;
const DATA_SEED: u64 = 1;

/// One curve of a panel: a method on one stream.
struct Curve {
    method: Method,
    rows: Vec<Row>,
}

pub fn run(args: &ExperimentArgs) -> Result<(), Failure> {
    let setting = if args.quick { QUICK } else { PAPER };
    let folder = Folder::create(args.out.out.as_deref(), "figure-1", args.out.overwrite)?;
    let started = Instant::now();
    let jobs = 2 + Method::ALL.len() as u64 * (1 + setting.streams);
    let progress = Mutex::new((Progress::new(jobs, "runs"), 0));
    let tick = |what: &str| {
        if let Ok(mut guard) = progress.lock() {
            guard.1 += 1;
            let done = guard.1;
            guard.0.at(done, || what.to_string());
        }
    };
    let full = full_batch(&setting, &tick)?;
    let agreement = prdo_against_ed(&setting)?;
    tick("PRDO against ED");
    let minibatch = minibatch(&setting, &tick)?;
    if let Ok(mut guard) = progress.lock() {
        guard.0.finish();
    }
    let seconds = started.elapsed().as_secs_f64();

    let results = results(&setting, &full, agreement, &minibatch, seconds, args.quick);
    write(&folder, &setting, &full, &minibatch, &results, args.quick)?;
    if args.out.json {
        say(&results.to_string());
    } else {
        print(&setting, &results, &folder, args.quick);
    }
    Ok(())
}

/// A run of one method on the paper's problem.
fn problem(setting: &Setting, method: Method) -> Result<Run<Logistic>, RunError> {
    let Setting { nodes, records, dimension, .. } = *setting;
    let data = prdo::data::generate::logistic(nodes, records, dimension, HETEROGENEITY, DATA_SEED)?;
    let ring = Mixing::new(&Graph::ring(nodes)?, Weights::Paper, false)?;
    let settings = Settings::new(STEP).gamma(GAMMA).beta(BETA);
    let model = Logistic::new(dimension, REGULARIZATION)?;
    Ok(Run::new(model, data, ring, method, settings).rounds(setting.rounds))
}

fn full_batch(setting: &Setting, tick: &(dyn Fn(&str) + Sync)) -> Result<Vec<Curve>, Failure> {
    let curve = |method: &Method| {
        let outcome = problem(setting, *method)?.record_every(1).train()?;
        tick(method.card().title);
        Ok(Curve { method: *method, rows: outcome.rows })
    };
    Method::ALL.iter().map(curve).collect()
}

/// Five paired streams: stream s draws the same batches for every method. PRDO starts from the full gradient.
fn minibatch(setting: &Setting, tick: &(dyn Fn(&str) + Sync)) -> Result<Vec<Curve>, Failure> {
    let jobs: Vec<(Method, u64)> =
        Method::ALL.iter().flat_map(|m| (1..=setting.streams).map(move |s| (*m, s))).collect();
    let curve = |(method, stream): &(Method, u64)| {
        let outcome = problem(setting, *method)?
            .batch(setting.batch, Sampling::WithoutReplacement)
            .first_batch(setting.records)
            .seed(*stream)
            .record_every(setting.minibatch_every)
            .train()?;
        tick(method.card().title);
        Ok(Curve { method: *method, rows: outcome.rows })
    };
    jobs.par_iter().map(curve).collect()
}

/// The largest relative difference ‖X_PRDO − X_ED‖_F / ‖X_ED‖_F over all rounds, full batch.
fn prdo_against_ed(setting: &Setting) -> Result<f64, Failure> {
    let mut ed = problem(setting, Method::Ed)?.prepare()?.training;
    let mut prdo = problem(setting, Method::Prdo)?.prepare()?.training;
    let mut largest = 0.0_f64;
    for _ in 0..setting.rounds {
        ed.step(false).map_err(RunError::from)?;
        prdo.step(false).map_err(RunError::from)?;
        let (mut difference, mut size) = (0.0, 0.0);
        for (a, b) in ed.models().iter().zip(prdo.models()) {
            for (a, b) in a.iter().zip(b) {
                difference += (a - b) * (a - b);
                size += a * a;
            }
        }
        largest = largest.max((difference / size).sqrt());
    }
    Ok(largest)
}

/// Mean of ‖∇f(x̄)‖ over the last sixth of the rounds (500–600 in the paper's setting).
fn late(rows: &[Row]) -> f64 {
    let last = rows.last().map_or(0, |row| row.round);
    let late: Vec<f64> =
        rows.iter().filter(|row| row.round >= last - last / 6).map(|row| row.grad_norm).collect();
    late.iter().sum::<f64>() / late.len().max(1) as f64
}

fn results(
    setting: &Setting,
    full: &[Curve],
    agreement: f64,
    minibatch: &[Curve],
    seconds: f64,
    quick: bool,
) -> Json {
    let mut finals = serde_json::Map::new();
    let mut lates = serde_json::Map::new();
    let mut spreads = serde_json::Map::new();
    for curve in full {
        let last = curve.rows.last().map(|row| row.grad_norm);
        finals.insert(curve.method.to_string(), json!(last));
    }
    for method in Method::ALL {
        let values: Vec<f64> =
            minibatch.iter().filter(|c| c.method == *method).map(|c| late(&c.rows)).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        lates.insert(method.to_string(), json!(mean));
        spreads.insert(method.to_string(), json!(values));
    }
    let norm = |m: Method| lates[m.card().name].as_f64().unwrap_or(f64::NAN);
    let best =
        Method::ALL.iter().filter(|m| **m != Method::Prdo).map(|m| norm(*m)).fold(f64::INFINITY, f64::min);
    json!({
        "full_batch": {"final_grad_norm": finals, "prdo_vs_ed_max_relative": agreement},
        "minibatch": {"streams": setting.streams, "late_grad_norm": lates, "late_grad_norm_by_stream": spreads,
                      "prdo_over_best_baseline": norm(Method::Prdo) / best},
        "quick": quick,
        "seconds": seconds,
    })
}

/// A panel: every method's mean over its streams, with the range as a band, against a column.
fn panel(title: &str, x_label: &str, curves: &[Curve], x: &dyn Fn(&Row) -> f64) -> Chart {
    let mut chart = Chart::new(title, x_label, "‖∇f(x̄)‖").y_scale(Scale::Log);
    for method in Method::ALL {
        let own: Vec<&Curve> = curves.iter().filter(|c| c.method == *method).collect();
        let Some(first) = own.first() else { continue };
        let (mut points, mut band) = (Vec::new(), Vec::new());
        for (k, row) in first.rows.iter().enumerate() {
            let values: Vec<f64> = own.iter().filter_map(|c| Some(c.rows.get(k)?.grad_norm)).collect();
            points.push((x(row), values.iter().sum::<f64>() / values.len() as f64));
            let low = values.iter().copied().fold(f64::INFINITY, f64::min);
            band.push((low, values.iter().copied().fold(0.0, f64::max)));
        }
        let series = Series::new(method.card().title, points).style(method_style(*method));
        chart = chart.series(if own.len() > 1 { series.band(band) } else { series });
    }
    chart
}

/// The two panels against one of the three axes.
fn figure(setting: &Setting, full: &[Curve], minibatch: &[Curve], axis: &str) -> Figure {
    let links = 2.0 * setting.nodes as f64;
    let per_vector = 8.0 * setting.dimension as f64;
    let nodes = setting.nodes as f64;
    let x = |row: &Row| match axis {
        "vectors" => row.bytes_sent as f64 / per_vector / links,
        "evaluations" => row.gradient_evaluations as f64 / nodes,
        _ => f64::from(row.round),
    };
    let label = match axis {
        "vectors" => "vectors sent to each neighbour",
        "evaluations" => "gradient evaluations a node",
        _ => "round",
    };
    let title = format!("Minibatch {}, {} streams", setting.batch, setting.streams);
    Figure::new("")
        .panel(panel("Full batch", label, full, &x))
        .panel(panel(&title, label, minibatch, &x))
        .columns(2)
        .shared_legend()
}

const AXES: [(&str, &str); 3] =
    [("rounds", "figure-1"), ("vectors", "figure-1-vectors"), ("evaluations", "figure-1-evaluations")];

fn write(
    folder: &Folder,
    setting: &Setting,
    full: &[Curve],
    minibatch: &[Curve],
    results: &Json,
    quick: bool,
) -> Result<(), Failure> {
    for (axis, name) in AXES {
        write_figures(folder.path(), name, &figure(setting, full, minibatch, axis))?;
    }
    let (head, rows) = rows(results);
    let mut csv = head.join(",") + "\n";
    rows.iter().for_each(|row| csv += &(row.join(",") + "\n"));
    folder.write("table.csv", csv.as_bytes())?;
    folder.write("curves.csv", curves_csv(full, minibatch).as_bytes())?;

    let mut page = Page::new("Figure 1: heterogeneous logistic regression", &verdict(results));
    page.paragraph(&about(setting, quick));
    page.add(&table(&head, &rows, &[]));
    for (axis, _) in AXES {
        page.figure(figure(setting, full, minibatch, axis));
    }
    page.note("Not private: this experiment uses no noise and no clipping (ε = ∞).", true);
    page.heading("Repeat it");
    page.code(if quick { "prdo reproduce figure-1 --quick" } else { "prdo reproduce figure-1" });
    folder.write("report.html", page.finish().as_bytes())?;
    folder.write("results.json", format!("{results:#}\n").as_bytes())?;
    Ok(())
}

fn curves_csv(full: &[Curve], minibatch: &[Curve]) -> String {
    let mut text = format!("panel,method,stream,{}\n", prdo::output::header());
    let mut add = |panel: &str, curves: &[Curve]| {
        let mut stream = std::collections::BTreeMap::new();
        for curve in curves {
            let number = stream.entry(curve.method).and_modify(|n| *n += 1).or_insert(1);
            for row in &curve.rows {
                let row = prdo::output::format_row(row);
                text.push_str(&format!("{panel},{},{number},{row}\n", curve.method));
            }
        }
    };
    add("full", full);
    add("minibatch", minibatch);
    text
}

fn rows(results: &Json) -> (Vec<&'static str>, Vec<Vec<String>>) {
    let head = vec![
        "method",
        "full batch: final gradient norm",
        "minibatch: late gradient norm",
        "lowest stream",
        "highest stream",
    ];
    let cell = |x: f64| format!("{x:.3e}");
    let row = |method: &Method| {
        let name = method.card().name;
        let streams: Vec<f64> = results["minibatch"]["late_grad_norm_by_stream"][name]
            .as_array()
            .map(|list| list.iter().filter_map(Json::as_f64).collect())
            .unwrap_or_default();
        vec![
            method.card().title.to_string(),
            cell(results["full_batch"]["final_grad_norm"][name].as_f64().unwrap_or(f64::NAN)),
            cell(results["minibatch"]["late_grad_norm"][name].as_f64().unwrap_or(f64::NAN)),
            cell(streams.iter().copied().fold(f64::INFINITY, f64::min)),
            cell(streams.iter().copied().fold(0.0, f64::max)),
        ]
    };
    (head, Method::ALL.iter().map(row).collect())
}

fn verdict(results: &Json) -> String {
    let ratio = results["minibatch"]["prdo_over_best_baseline"].as_f64().unwrap_or(f64::NAN);
    let agreement = results["full_batch"]["prdo_vs_ed_max_relative"].as_f64().unwrap_or(f64::NAN);
    format!(
        "With full gradients PRDO and Exact Diffusion share one trajectory (largest relative difference \
         {agreement:.1e}) while D-SGD keeps its bias; with minibatches PRDO's late gradient norm is {ratio:.2} of \
         the best baseline's."
    )
}

fn about(setting: &Setting, quick: bool) -> String {
    let Setting { nodes, records, dimension, rounds, batch, streams, .. } = setting;
    let which = if quick { "A smaller version of the paper's setting" } else { "The paper's setting" };
    format!(
        "{which}: {nodes} nodes on a ring (weights 1/2, 1/4), {records} records each in dimension {dimension}, \
         heterogeneity {HETEROGENEITY}, step size {STEP}, γ = {GAMMA}, β = {BETA}, {rounds} rounds; minibatches of \
         {batch} without replacement, {streams} paired streams shared by all methods, PRDO started from the full \
         gradient. Late: mean over the last sixth of the rounds."
    )
}

fn print(setting: &Setting, results: &Json, folder: &Folder, quick: bool) {
    say(&about(setting, quick));
    say("");
    let (head, rows) = rows(results);
    compare::print_table(&head, &rows);
    say("");
    say(&verdict(results));
    say(&format!(
        "{:.1} s; figure: {}, report: {}",
        results["seconds"].as_f64().unwrap_or(0.0),
        folder.path().join("figure-1.png").display(),
        folder.path().join("report.html").display()
    ));
}
