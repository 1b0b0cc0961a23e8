//! A member's own folder (`prdo node run`): what its node last said of itself.

use super::found::{Gap, json};
use super::page::{Page, table};
use super::style::percent;
use super::{Report, add_gaps};
use crate::budget::words::short;
use crate::node::journal::STATUS;
use serde_json::Value as Json;
use std::path::Path;

pub(super) fn from_folder(folder: &Path) -> Result<Report, String> {
    let shown = folder.display();
    let mut gaps = Vec::new();
    let status = match folder.join(STATUS).exists() {
        true => json(folder, STATUS, &mut gaps, "what the node last said of itself"),
        false => Json::Null,
    };
    let summary = match folder.join("summary.json").exists() {
        true => json(folder, "summary.json", &mut gaps, "how the run ended"),
        false => Json::Null,
    };
    if status.is_null() && summary.is_null() {
        let listed: String = gaps.iter().map(|gap| format!("\n  {gap}")).collect();
        return Err(format!(
            "{shown} is the folder of a node that has not trained yet{listed}\n  ask it how it stands: \
             prdo node status {shown}"
        ));
    }
    Ok(page(folder, &status, &summary, gaps))
}

fn page(folder: &Path, status: &Json, summary: &Json, gaps: Vec<Gap>) -> Report {
    // The summary is written last: what it says is newer.
    let value = |key: &str| if summary[key].is_null() { &status[key] } else { &summary[key] };
    let (text, number) = (|key: &str| value(key).as_str().unwrap_or("?"), |key: &str| value(key).as_f64());
    let finished = summary["finished"] == true;
    let done = summary["rounds"].as_u64().or(status["round"].as_u64()).unwrap_or(0);
    let state = if finished { "finished" } else { status["state"].as_str().unwrap_or("not finished") };
    let privacy = match (number("epsilon_spent"), number("delta")) {
        (Some(epsilon), Some(delta)) => {
            format!(" What it sent has cost its records ε = {} at δ = {delta:e}.", short(epsilon, 4))
        }
        _ => String::new(),
    };
    let lead = format!("{}: {state} after {done} rounds of {}.{privacy}", text("member"), text("name"));
    let mut page = Page::new(&format!("{} in {}", text("member"), text("name")), &lead);
    add_gaps(&mut page, &gaps);
    if let Some(words) = value("test_seed").as_str() {
        page.note(words, true);
    }
    let mut cards = vec![(done.to_string(), "rounds done")];
    if let Some(accuracy) = number("test_accuracy") {
        cards.push((percent(accuracy), "test accuracy of its own model"));
    }
    if let (Some(epsilon), Some(budget)) = (number("epsilon_spent"), number("budget")) {
        cards.push((short(epsilon, 4), "ε spent by all runs on these records"));
        cards.push((format!("{budget}"), "ε that its owner allows"));
    }
    if let Some(seconds) = summary["seconds"].as_f64() {
        cards.push((format!("{seconds:.1} s"), "training time"));
    }
    page.cards(&cards);
    let rows: Vec<Vec<String>> = status["neighbours"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|n| ["name", "state", "why"].map(|key| n[key].as_str().unwrap_or("").to_string()).to_vec())
        .collect();
    if !rows.is_empty() {
        page.heading("Neighbours");
        page.add(&table(&["neighbour", "state", "why"], &rows, &[]));
    }
    page.heading("Run");
    let mut terms: Vec<(&str, String)> = ["run", "agreement", "ledger", "started", "updated"]
        .iter()
        .filter_map(|key| Some((*key, value(key).as_str()?.to_string())))
        .collect();
    if let Some(z) = number("noise_multiplier") {
        terms.push(("noise multiplier", format!("{z}")));
    }
    page.terms(&terms);
    page.paragraph("What a node does now, its log and its ledger:");
    page.code(&format!("prdo node status {}", folder.display()));
    Report { html: page.finish(), gaps, figure: None }
}
