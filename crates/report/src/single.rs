//! The report of one run, from the files in its folder.

use crate::against::{self, against};
use crate::baseline::line_label;
use crate::glossary::{self, meaning};
use crate::network::network_figure;
use crate::page::{Page, table};
use crate::privacy::{StatedPairs, Statement, Tone, features_note, statement};
use crate::run_folder::{Gap, Report, RunFolder, add_gaps, nothing};
use crate::style::{bytes, figure, measured_note, method_style, percent};
use crate::verdict::capitalised;
use crate::wording::short;
use crate::{chart, records};
use prdo_accounting::Method as Accounting;
use prdo_algorithm::Method;
use prdo_plot::{Chart, Figure, LegendPlace, Scale, Series};
use prdo_runfile::{Document, Key, OWN_METHOD, wiring};
use prdo_simulator::Row;
use prdo_store::{Guarantee, OwnClip, Summary, divergence, names};
use std::path::Path;

/// A graph of more nodes is not worked out again for its picture.
const MOST_DRAWN: u64 = 5_000;

/// Builds the page from `run.toml`, `metrics.csv` and (if the run is finished) `summary.json`.
pub(crate) fn from_folder(folder: &Path) -> Result<Report, String> {
    let mut found = RunFolder::read(folder);
    if found.is_nothing() {
        return Err(nothing(folder, &found.gaps));
    }
    let summary = found.summary.clone().unwrap_or_default();
    let method = method(&mut found);
    let title = method.title();
    let name = found.text(Key::Name).or(summary.name.clone());
    let title = name.map_or(title.to_string(), |name| format!("{name}: {title}"));
    let mut page = Page::new(&title, &lead(&found));
    add_state(&mut page, &found, folder);
    // Of a run that diverged only one thing is to be said, and add_state says it.
    let diverged = divergence(&found.rows).is_some();
    let warnings = if diverged { summary.other_warnings() } else { &summary.warnings };
    warnings.iter().for_each(|warning| page.note(warning, true));
    page.explained_cards(&cards(&found.rows, &summary));
    let last: Vec<&Row> = found.rows.last().into_iter().collect();
    glossary::add(&mut page, &last, summary.test_auc.is_some());
    let baseline = summary.most_common_class;
    let figure = (!found.rows.is_empty()).then(|| training_figure(&found.rows, &method, baseline));
    page.heading("Training");
    match &figure {
        Some(figure) => {
            let (name, style) = method.curve();
            page.charts(&chart::of_run(name, style, &found.rows, baseline), figure.clone());
        }
        None => page.note("No measurements yet: metrics.csv is missing or empty.", true),
    }
    if let Some(note) = measured(&found) {
        page.note(&note, false);
    }
    page.heading("Network and data");
    add_network(&mut page, &found);
    records::add(&mut page, &summary, &found.node_names());
    page.heading("Privacy");
    add_privacy(&mut page, &found, &method);
    if let Some(features) = &summary.features {
        page.paragraph(&features_note(features.map, &features.description, &features.hash));
    }
    add_settings(&mut page, folder, &found);
    Ok(Report { html: page.finish(), gaps: found.gaps, figure })
}

/// Whose run it is.
enum Trained {
    By(Method),
    /// By a program's own method, of this name.
    ByOwn(String),
    Unknown,
}

impl Trained {
    fn title(&self) -> &str {
        match self {
            Self::By(method) => method.card().title,
            Self::ByOwn(name) => name,
            Self::Unknown => "a run",
        }
    }

    /// What its curve is called, and how it is drawn.
    fn curve(&self) -> (&str, usize) {
        match self {
            Self::By(method) => (method.card().title, method_style(*method)),
            Self::ByOwn(name) => (name, 0),
            Self::Unknown => ("run", 0),
        }
    }
}

/// The method, from the settings or else from the summary.
fn method(found: &mut RunFolder) -> Trained {
    let summary = found.summary.as_ref().and_then(|summary| summary.method.clone());
    let named = found.text(Key::MethodName);
    if named.as_deref() == Some(OWN_METHOD) {
        return Trained::ByOwn(summary.unwrap_or_else(|| "a method of its own".into()));
    }
    match named.or(summary).map(|name| name.parse()) {
        Some(Ok(method)) => Trained::By(method),
        Some(Err(error)) => {
            found.gaps.push(Gap::new(names::RUN_FILE, format!("method.name: {error}")));
            Trained::Unknown
        }
        None => Trained::Unknown,
    }
}

/// Whether the run is finished, how to resume if it is not, and what is missing.
fn add_state(page: &mut Page, found: &RunFolder, folder: &Path) {
    add_gaps(page, &found.gaps);
    if let Some(worry) = divergence(&found.rows) {
        page.note(&format!("{}.", capitalised(&worry.words)), true);
    }
    if found.is_finished() {
        return;
    }
    let shown = folder.display();
    if found.gaps.iter().any(|gap| gap.file == names::SUMMARY) {
        page.note(
            "Whether this run finished is unknown: summary.json is damaged. To train it again in another folder:",
            true,
        );
        return page.code(&format!("prdo run {shown}/run.toml --out again"));
    }
    let (words, command) = match (found.document.is_some(), found.checkpoint) {
        (true, true) => (
            "there is a checkpoint. To resume from it, bit for bit:",
            format!("prdo run {shown}/run.toml --out {shown} --resume"),
        ),
        (true, false) if folder.join(names::MODEL).is_file() => (
            "but its model is there: summary.json may have been lost. To train it again in another folder:",
            format!("prdo run {shown}/run.toml --out again"),
        ),
        (true, false) => (
            "it failed, was stopped before its first checkpoint, or is still running. To start over:",
            format!("prdo run {shown}/run.toml --out {shown} --overwrite"),
        ),
        (false, _) => {
            ("and its settings cannot be read: train it again from your own run file.", String::new())
        }
    };
    let reached = found.rows.last().map(|row| row.round).zip(found.integer(Key::Rounds));
    let reached =
        reached.map_or(String::new(), |(done, all)| format!(" (measured up to round {done} of {all})"));
    page.note(&format!("This run is not finished{reached}: {words}"), true);
    if !command.is_empty() {
        page.code(&command);
    }
}

/// What to say where loss and gradient norm are those of some records only; an unfinished run has no counts yet.
fn measured(found: &RunFolder) -> Option<String> {
    let most = found.integer(Key::MetricsRecords)?;
    let counts = found.summary.as_ref().map(|summary| (summary.measured_records, summary.records));
    match counts.unwrap_or_default() {
        (Some(part), Some(all)) => measured_note(part, all),
        _ => Some(format!(
            "loss and gradient norm: of the first {most} records of each node only (an estimate)"
        )),
    }
}

/// What was learned, at what price, in two or three sentences.
fn lead(found: &RunFolder) -> String {
    let summary = found.summary.as_ref();
    let nodes = summary.and_then(|summary| summary.nodes).or(found.integer(Key::GraphNodes));
    let who = match nodes {
        Some(1) => "One organisation".to_string(),
        Some(nodes) => format!("{nodes} organisations"),
        None => "Organisations".to_string(),
    };
    let model = found.text(Key::ModelKind).map_or("one model".to_string(), |kind| format!("a {kind} model"));
    let rounds = found.rows.last().map_or(0, |row| row.round);
    let data = summary.and_then(|summary| summary.data.as_ref());
    let data = data.map_or(String::new(), |data| format!(" on {data}"));
    let trained = match nodes {
        Some(1) => format!("trained {model} alone"),
        _ => format!("trained {model} together without pooling their records"),
    };
    format!("{who} {trained}: {rounds} rounds{data}.{}{}", learned(&found.rows), price(found))
}

fn learned(rows: &[Row]) -> String {
    match (rows.first(), rows.last()) {
        (_, Some(Row { test_accuracy: Some(accuracy), .. })) => {
            format!(" The average model gets {} of the held-out records right.", percent(*accuracy))
        }
        (Some(first), Some(last)) if last.round > first.round => {
            format!(" The gradient norm went from {} to {}.", figure(first.grad_norm), figure(last.grad_norm))
        }
        (_, Some(only)) => format!(" The gradient norm is {}.", figure(only.grad_norm)),
        _ => " Nothing was measured yet.".to_string(),
    }
}

fn price(found: &RunFolder) -> String {
    // Of a run that is not whole, the last row that can be read says little: all its rounds cost this much.
    let finished = found.is_finished();
    let spent = found.rows.last().and_then(|row| row.epsilon_spent).filter(|_| finished);
    let whole = found.float(Key::ResolvedEpsilon).filter(|_| !finished);
    if let Some(epsilon) = whole {
        let delta =
            found.float(Key::PrivacyDelta).map_or(String::new(), |delta| format!(" at δ = {delta:e}"));
        return format!(
            " All its rounds together will cost ε = {}{delta}{}, with secret draws.",
            short(epsilon, 3),
            whom(found)
        );
    }
    let delta = found.float(Key::PrivacyDelta).or_else(|| found.summary.as_ref()?.delta);
    match (spent.or(found.float(Key::ResolvedEpsilon)), delta) {
        // What a seeded run would promise is not what it does promise.
        (Some(epsilon), delta) => format!(
            " With secret draws every single record is protected with ε = {}{}{}; this is a seeded simulation.",
            short(epsilon, 3),
            delta.map_or(String::new(), |delta| format!(" at δ = {delta:e}")),
            whom(found)
        ),
        (None, _) if found.document.is_none() && found.summary.is_none() => String::new(),
        _ => " It was trained without privacy (ε = ∞).".to_string(),
    }
}

/// Against whom, where that is not everybody.
fn whom(found: &RunFolder) -> String {
    found.pairs().map_or(String::new(), |pairs| format!(" against {}", against(pairs.colluders)))
}

type Card = (String, &'static str, Option<&'static str>);

fn cards(rows: &[Row], summary: &Summary) -> Vec<Card> {
    let Some(last) = rows.last() else { return Vec::new() };
    let (epsilon, spent) = match last.epsilon_spent {
        Some(epsilon) if summary.pairs.is_some() => {
            (short(epsilon, 4), "ε spent, against the agreed coalitions")
        }
        Some(epsilon) => (short(epsilon, 4), "ε spent"),
        None => ("∞".to_string(), "ε (not private)"),
    };
    let auc = summary.test_auc.map(|auc| format!("{auc:.4}"));
    let clipped = last.clipped_gradient_fraction.map(percent);
    let clipped_differences = last.clipped_difference_fraction.map(percent);
    let seconds = summary.seconds.map(|seconds| format!("{seconds:.2} s"));
    let majority = summary.most_common_class.map(percent);
    let cards = [
        (last.test_accuracy.map(percent), "test accuracy of the average model", "test_accuracy"),
        (summary.lowest_node_accuracy.map(percent), "accuracy of the worst node's own model", ""),
        (majority, "accuracy of always predicting the majority class", ""),
        (auc, "area under the ROC curve (AUC)", "test_auc"),
        (summary.validation_accuracy.map(percent), "validation accuracy", ""),
        (Some(epsilon), spent, "epsilon_spent"),
        (Some(figure(last.loss)), "loss f(x̄)", "loss"),
        (Some(figure(last.grad_norm)), "gradient norm ‖∇f(x̄)‖", "grad_norm"),
        (Some(figure(last.consensus_error)), "disagreement of the nodes", "consensus_error"),
        (Some(bytes(last.bytes_sent)), "sent by all nodes", ""),
        (clipped, "of gradients clipped", "clipped_gradient_fraction"),
        (clipped_differences, "of differences clipped", "clipped_difference_fraction"),
        (last.clip_bias.map(figure), "bias of clipping", "clip_bias"),
        (seconds, "training time", ""),
    ];
    cards.into_iter().filter_map(|(value, caption, key)| Some((value?, caption, meaning(key)))).collect()
}

/// Loss, gradient norm, disagreement, and what else there is, against rounds.
fn training_figure(rows: &[Row], method: &Trained, baseline: Option<f64>) -> Figure {
    let (name, style) = method.curve();
    let points = |value: &dyn Fn(&Row) -> Option<f64>| -> Vec<(f64, f64)> {
        rows.iter().filter_map(|row| Some((f64::from(row.round), value(row)?))).collect()
    };
    let panel = |title: &str, y: &str, scale: Scale, value: &dyn Fn(&Row) -> Option<f64>| {
        Chart::new(title, "round", y)
            .y_scale(scale)
            .legend(LegendPlace::Hidden)
            .series(Series::new(name, points(value)).style(style))
    };
    let mut figure = Figure::new("")
        .columns(2)
        .panel(panel("Loss", "f(x̄)", Scale::Linear, &|row| Some(row.loss)))
        .panel(panel("Gradient norm", "‖∇f(x̄)‖", Scale::Log, &|row| Some(row.grad_norm)))
        .panel(panel("Disagreement", "mean ‖x − x̄‖²", Scale::Log, &|row| Some(row.consensus_error)));
    if rows.iter().any(|row| row.test_accuracy.is_some()) {
        let mut accuracy = panel("Test accuracy", "share right", Scale::Linear, &|row| row.test_accuracy);
        if let Some(share) = baseline {
            accuracy = accuracy.reference(share, line_label(share));
        }
        figure = figure.panel(accuracy);
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

fn add_network(page: &mut Page, found: &RunFolder) {
    let Some(document) = &found.document else {
        return page.note("The network cannot be drawn: run.toml is missing or damaged.", true);
    };
    if document.integer(Key::GraphNodes).is_some_and(|nodes| nodes > MOST_DRAWN) {
        let lambda = document
            .float(Key::ResolvedLambda)
            .map_or(String::new(), |l| format!(" Its λ is {l:.6}, its spectral gap {:.2e}.", 1.0 - l));
        return page.paragraph(&format!("The network has too many nodes to be drawn.{lambda}"));
    }
    match wiring(&document.run_file(), None).map_err(|e| e.to_string()).and_then(|wiring| {
        let spectrum = wiring.mixing.spectrum().map_err(|e| e.to_string())?;
        Ok((wiring, spectrum))
    }) {
        Ok((wiring, spectrum)) => {
            let names = found.node_names();
            page.figure(network_figure(&wiring, &spectrum, Some(&names)));
        }
        Err(error) => page.note(&format!("The network cannot be drawn: {error}"), true),
    }
}

fn add_privacy(page: &mut Page, found: &RunFolder, method: &Trained) {
    let (Some(document), Trained::By(_) | Trained::ByOwn(_)) = (&found.document, method) else {
        return page.note(
            "There is no privacy statement: run.toml is missing or damaged, and it has the settings that the statement \
             is about. Treat the run as not private.",
            true,
        );
    };
    let stated = Statement { pairs: found.pairs(), ..privacy_of(document, method) };
    for (paragraph, kind) in statement(&stated) {
        match kind {
            Tone::Plain => page.paragraph(&paragraph),
            Tone::Coalitions => {
                page.paragraph(&paragraph);
                if let Some(facts) = stated.pairs.as_ref().and_then(|pairs| pairs.facts.as_ref()) {
                    page.add(&table(&against::HEAD, &against::rows(facts), &[]));
                    page.add(&format!("<p class=\"soft\">{}</p>\n", against::EACH_ROW));
                }
            }
            Tone::Warning => page.note(&paragraph, true),
            Tone::Formal => page.folded("The formal statement", |page| page.paragraph(&paragraph)),
        }
    }
}

fn privacy_of(document: &Document, method: &Trained) -> Statement {
    let guarantee = document.float(Key::ResolvedEpsilon).map(|epsilon| {
        let records = document.integer(Key::ResolvedLeastRecords).unwrap_or(1) as f64;
        let size = document.integer(Key::BatchSize).map_or(records, |b| b as f64);
        let first = document.integer(Key::BatchFirst).map_or(size, |b| b as f64);
        Guarantee {
            epsilon,
            delta: document.float(Key::PrivacyDelta).unwrap_or(0.0),
            noise_multiplier: document.float(Key::ResolvedNoiseMultiplier).unwrap_or(0.0),
            first_rate: first / records,
            rate: size / records,
            accounting: document
                .text(Key::PrivacyAccountant)
                .and_then(|name| Accounting::named(&name))
                .unwrap_or_default(),
        }
    });
    let clip = document.float(Key::ClipGradient);
    let rounds = document.integer(Key::Rounds).unwrap_or(0);
    let (gamma, own_clip) = match method {
        Trained::By(method) => asked(document, *method, rounds as u32),
        Trained::ByOwn(_) | Trained::Unknown => (None, None),
    };
    Statement {
        guarantee,
        rounds,
        seeds: document.integer(Key::Seed).into_iter().collect(),
        clip: clip.map(|c| (c, document.float(Key::ClipDifference).unwrap_or(c))),
        gamma,
        own_clip,
        own_method: matches!(method, Trained::ByOwn(_)),
        pairs: None,
    }
}

impl RunFolder {
    /// Against whom noise in pairs is, from the summary or, before it is written, from the settings.
    fn pairs(&self) -> Option<StatedPairs> {
        let facts = self.summary.as_ref().and_then(|summary| summary.pairs.clone());
        let asked = || Some(self.document.as_ref()?.run_file().privacy?.pairs?.colluders);
        let colluders = facts.as_ref().map(|facts| facts.colluders).or_else(asked)?;
        Some(StatedPairs { colluders, facts })
    }
}

/// γ, of methods that use same-record differences, and what a method clips in another way.
fn asked(document: &Document, method: Method, rounds: u32) -> (Option<f64>, Option<OwnClip>) {
    let settings = document.run_file().settings_of(method);
    let gamma = method.card().differences.then(|| method.asks(&settings, 1).gamma());
    (gamma, OwnClip::of(method, &settings, rounds))
}

fn add_settings(page: &mut Page, folder: &Path, found: &RunFolder) {
    page.heading("Settings");
    if found.text(Key::MethodName).as_deref() == Some(OWN_METHOD) {
        page.paragraph("run.toml holds every setting of this run but its method, which a program brought.");
    } else if found.document.is_some() {
        page.paragraph("run.toml holds every setting of this run. To repeat it bit for bit, in this folder:");
        page.code("prdo run run.toml --out again");
    }
    if let Some(settings) = &found.settings {
        page.folded(names::RUN_FILE, |page| page.code(settings));
    }
    let by = found.text(Key::ResolvedPrdo).map(|version| ("trained by", format!("prdo {version}")));
    let made = ("report by", format!("prdo {}", env!("CARGO_PKG_VERSION")));
    let seed = found.integer(Key::Seed).map(|seed| ("seed", seed.to_string()));
    let private = found.float(Key::ResolvedEpsilon).is_some();
    let accountant = found.text(Key::PrivacyAccountant).filter(|_| private).map(|name| ("accountant", name));
    page.terms(&by.into_iter().chain([made]).chain(seed).chain(accountant).collect::<Vec<_>>());
    let files = [
        (names::METRICS, "measurements, a row every few rounds"),
        (names::MODEL, "the average model and each node's"),
        (names::SUMMARY, "the figures above, for programs"),
        (names::MOMENTS, "the paper's moments of every round"),
    ];
    let rows: Vec<Vec<String>> = files
        .iter()
        .filter(|(name, _)| folder.join(name).is_file())
        .map(|(name, about)| vec![name.to_string(), about.to_string()])
        .collect();
    page.add(&table(&["file", "what it holds"], &rows, &[]));
}
