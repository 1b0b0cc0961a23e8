//! The report of one run, from the files in its folder.

use super::network::network_figure;
use super::page::{Page, table};
use super::privacy::{Kind, Statement, statement};
use super::style::{bytes, figure, measured_note, method_style, percent};
use crate::config::{Document, wiring};
use crate::output::parse_rows;
use crate::plot::{Chart, Figure, Heat, LegendPlace, Scale, Series};
use crate::run::Guarantee;
use prdo_accounting::Method as Accounting;
use prdo_algorithm::Method;
use prdo_simulator::Row;
use serde_json::Value as Json;
use std::path::Path;

/// Builds the page from `run.toml`, `metrics.csv` and (if the run is finished) `summary.json`.
pub(super) fn from_folder(folder: &Path) -> Result<String, String> {
    let run_file = folder.join("run.toml");
    let document = Document::read(&run_file).map_err(|e| format!("{} has no run: {e}", folder.display()))?;
    let text = std::fs::read_to_string(folder.join("metrics.csv")).unwrap_or_default();
    let rows = parse_rows(&text);
    let summary = std::fs::read(folder.join("summary.json")).ok();
    let summary: Json = summary.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or(Json::Null);
    let method: Method = document.text("method.name").unwrap_or_default().parse()?;

    let name = document.text("name").unwrap_or_default();
    let mut page = Page::new(&format!("{name}: {}", method.card().title), &lead(&document, &rows, &summary));
    if summary.is_null() {
        page.note(
            "This run is not finished (or its summary.json is missing): the report shows what there is.",
            true,
        );
    }
    if rows.is_empty() {
        page.note("metrics.csv is missing or empty: there are no measurements to show.", true);
    }
    for warning in summary["warnings"].as_array().into_iter().flatten().filter_map(Json::as_str) {
        page.note(warning, true);
    }
    page.cards(&cards(&rows, &summary));
    if !rows.is_empty() {
        page.heading("Training");
        page.figure(training_figure(&rows, method));
    }
    if let Some(note) = measured(&document, &summary) {
        page.note(&note, false);
    }
    add_network(&mut page, &document, &summary);
    page.heading("Privacy");
    for (paragraph, kind) in statement(&privacy_of(&document, method)) {
        match kind {
            Kind::Plain => page.paragraph(&paragraph),
            Kind::Warning => page.note(&paragraph, true),
            Kind::Formal => {
                page.add("<details><summary>The formal statement</summary>\n");
                page.paragraph(&paragraph);
                page.add("</details>\n");
            }
        }
    }
    let features = &summary["features"];
    if let (Some(what), Some(hash)) = (features["description"].as_str(), features["hash"].as_str()) {
        page.paragraph(&super::features_note(what, hash));
    }
    add_settings(&mut page, folder, &run_file);
    Ok(page.finish())
}

/// What to say where loss and gradient norm are those of some records only; an unfinished run has no counts yet.
fn measured(document: &Document, summary: &Json) -> Option<String> {
    let most = document.integer("metrics.records")?;
    match (summary["measured_records"].as_u64(), summary["records"].as_u64()) {
        (Some(part), Some(all)) => measured_note(part, all),
        _ => Some(format!(
            "loss and gradient norm: of the first {most} records of each node only (an estimate)"
        )),
    }
}

fn lead(document: &Document, rows: &[Row], summary: &Json) -> String {
    let data = summary["data"].as_str().unwrap_or("the data");
    let rounds = rows.last().map_or(0, |row| row.round);
    let result = match rows.last() {
        Some(Row { test_accuracy: Some(accuracy), .. }) => {
            format!(" The average model gets {} of the held-out records right.", percent(*accuracy))
        }
        Some(row) => format!(" The gradient norm fell to {}.", figure(row.grad_norm)),
        None => String::new(),
    };
    let privacy = match document.float("resolved.epsilon") {
        Some(epsilon) => {
            format!("ε = {epsilon:.3} at δ = {:e}", document.float("privacy.delta").unwrap_or(0.0))
        }
        None => "without privacy (ε = ∞)".to_string(),
    };
    format!("{data}; {rounds} rounds, {privacy}.{result}")
}

fn cards(rows: &[Row], summary: &Json) -> Vec<(String, &'static str)> {
    let Some(last) = rows.last() else { return Vec::new() };
    let mut cards = Vec::new();
    if let Some(accuracy) = last.test_accuracy {
        cards.push((percent(accuracy), "test accuracy of the average model"));
    }
    if let Some(accuracy) = summary["lowest_node_accuracy"].as_f64() {
        cards.push((percent(accuracy), "of the worst node's own model"));
    }
    if let Some(accuracy) = summary["validation_accuracy"].as_f64() {
        cards.push((percent(accuracy), "validation accuracy"));
    }
    match last.epsilon_spent {
        Some(epsilon) => cards.push((format!("{epsilon:.4}"), "ε spent")),
        None => cards.push(("∞".into(), "ε (not private)")),
    }
    cards.push((figure(last.loss), "loss f(x̄)"));
    cards.push((figure(last.grad_norm), "gradient norm ‖∇f(x̄)‖"));
    cards.push((figure(last.consensus_error), "disagreement of the nodes"));
    cards.push((bytes(last.bytes_sent), "sent by all nodes"));
    if let Some(seconds) = summary["seconds"].as_f64() {
        cards.push((format!("{seconds:.2} s"), "training time"));
    }
    cards
}

/// Loss, gradient norm, disagreement, and what else there is, against rounds.
fn training_figure(rows: &[Row], method: Method) -> Figure {
    let style = method_style(method);
    let points = |value: &dyn Fn(&Row) -> Option<f64>| -> Vec<(f64, f64)> {
        rows.iter().filter_map(|row| Some((f64::from(row.round), value(row)?))).collect()
    };
    let panel = |title: &str, y: &str, scale: Scale, value: &dyn Fn(&Row) -> Option<f64>| {
        Chart::new(title, "round", y)
            .y_scale(scale)
            .legend(LegendPlace::Hidden)
            .series(Series::new(method.card().title, points(value)).style(style))
    };
    let mut figure = Figure::new("")
        .columns(2)
        .panel(panel("Loss", "f(x̄)", Scale::Linear, &|row| Some(row.loss)))
        .panel(panel("Gradient norm", "‖∇f(x̄)‖", Scale::Log, &|row| Some(row.grad_norm)))
        .panel(panel("Disagreement", "mean ‖x − x̄‖²", Scale::Log, &|row| Some(row.consensus_error)));
    if rows.iter().any(|row| row.test_accuracy.is_some()) {
        figure = figure.panel(panel("Test accuracy", "share right", Scale::Linear, &|row| row.test_accuracy));
    }
    if rows.iter().any(|row| row.epsilon_spent.is_some()) {
        figure = figure.panel(panel("Privacy spent", "ε", Scale::Linear, &|row| row.epsilon_spent));
    }
    if rows.iter().any(|row| row.clipped_gradient_fraction.is_some()) {
        let mut clipping = Chart::new("Clipped records", "round", "share")
            .y_range(0.0, 1.0)
            .series(Series::new("gradients", points(&|row| row.clipped_gradient_fraction)).style(0));
        let differences = points(&|row| row.clipped_difference_fraction);
        if !differences.is_empty() {
            clipping = clipping.series(Series::new("differences", differences).style(1));
        }
        figure = figure.panel(clipping);
    }
    figure.panel_size(460.0, 300.0)
}

fn add_network(page: &mut Page, document: &Document, summary: &Json) {
    page.heading("Network and data");
    match wiring(document, None).map_err(|e| e.to_string()).and_then(|wiring| {
        let spectrum = wiring.mixing.check(true).map_err(|e| e.to_string())?;
        Ok((wiring, spectrum))
    }) {
        Ok((wiring, spectrum)) => page.figure(network_figure(&wiring, &spectrum)),
        Err(error) => page.note(&format!("The network cannot be drawn: {error}"), true),
    }
    let counts: Option<Vec<Vec<u64>>> = summary["class_counts"].as_array().map(|nodes| {
        let row = |node: &Json| node.as_array().into_iter().flatten().filter_map(Json::as_u64).collect();
        nodes.iter().map(row).collect()
    });
    if let Some(counts) = counts.filter(|counts| !counts.is_empty()) {
        let names = summary["class_names"].as_array().into_iter().flatten();
        let names: Vec<String> = names.filter_map(|name| name.as_str().map(String::from)).collect();
        let heat = Heat::new("Records of each class at each node", counts);
        page.figure(Figure::of(if names.is_empty() { heat } else { heat.column_labels(names) }));
    }
}

fn privacy_of(document: &Document, method: Method) -> Statement {
    let guarantee = document.float("resolved.epsilon").map(|epsilon| {
        let records = document.integer("resolved.least_records").unwrap_or(1) as f64;
        let size = document.integer("batch.size").map_or(records, |b| b as f64);
        let first = document.integer("batch.first").map_or(size, |b| b as f64);
        Guarantee {
            epsilon,
            delta: document.float("privacy.delta").unwrap_or(0.0),
            noise_multiplier: document.float("resolved.noise_multiplier").unwrap_or(0.0),
            first_rate: first / records,
            rate: size / records,
            accounting: document
                .text("privacy.accountant")
                .and_then(|name| Accounting::named(&name))
                .unwrap_or_default(),
        }
    });
    let clip = document.float("clip.gradient");
    Statement {
        guarantee,
        rounds: document.integer("rounds").unwrap_or(0),
        seeds: document.integer("seed").into_iter().collect(),
        clip: clip.map(|c| (c, document.float("clip.difference").unwrap_or(c))),
        gamma: method.card().differences.then(|| document.float("method.gamma")).flatten(),
    }
}

fn add_settings(page: &mut Page, folder: &Path, run_file: &Path) {
    page.heading("Settings");
    page.paragraph("Everything this run used. To repeat it to the bit:");
    page.code(&format!("prdo run {} --out again", run_file.display()));
    page.add("<details><summary>run.toml</summary>\n");
    page.code(&std::fs::read_to_string(run_file).unwrap_or_default());
    page.add("</details>\n");
    let files = [
        ("metrics.csv", "a row of measurements every few rounds"),
        ("model.safetensors", "the average model and each node's"),
        ("summary.json", "the figures above, for programs"),
        ("moments.csv", "the paper's moments of every round"),
    ];
    let rows: Vec<Vec<String>> = files
        .iter()
        .filter(|(name, _)| folder.join(name).is_file())
        .map(|(name, about)| vec![name.to_string(), about.to_string()])
        .collect();
    page.add(&table(&["file", "what it holds"], &rows, &[]));
}
