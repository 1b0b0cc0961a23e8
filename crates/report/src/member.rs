//! A member's own folder (`prdo node run`): what its node last said of itself.

use crate::page::{Page, table};
use crate::run_folder::{Gap, Report, add_gaps, read};
use crate::style::percent;
use crate::wording::short;
use prdo_store::{MemberSummary, Status, names};
use std::path::Path;

pub(crate) fn from_folder(folder: &Path) -> Result<Report, String> {
    let shown = folder.display();
    let mut gaps = Vec::new();
    let status: Option<Status> = read(folder, names::STATUS, &mut gaps, "what the node last said of itself");
    let summary: Option<MemberSummary> = read(folder, names::SUMMARY, &mut gaps, "how the run ended");
    if status.is_none() && summary.is_none() {
        let listed: String = gaps.iter().map(|gap| format!("\n  {gap}")).collect();
        return Err(format!(
            "{shown} is the folder of a node that has not trained yet{listed}\n  its state: \
             prdo node status {shown}"
        ));
    }
    Ok(page(folder, status.unwrap_or_default(), summary.unwrap_or_default(), gaps))
}

fn page(folder: &Path, status: Status, summary: MemberSummary, gaps: Vec<Gap>) -> Report {
    let done = summary.rounds.or(status.round).unwrap_or(0);
    let state = match (summary.finished, status.state) {
        (true, _) => "finished",
        (false, Some(state)) => state.name(),
        (false, None) => "not finished",
    };
    // The summary is written last: what it says is newer.
    let spent = summary.epsilon_spent.or(status.epsilon_spent);
    let privacy = match (spent, summary.delta.or(status.delta)) {
        (Some(epsilon), Some(delta)) => {
            format!(" What it sent has cost its records ε = {} at δ = {delta:e}.", short(epsilon, 4))
        }
        _ => String::new(),
    };
    let unknown = || "?".to_string();
    let member = summary.member.or(status.member).unwrap_or_else(unknown);
    let name = summary.name.or(status.name).unwrap_or_else(unknown);
    let lead = format!("{member}: {state} after {done} rounds of {name}.{privacy}");
    let mut page = Page::new(&format!("{member} in {name}"), &lead);
    add_gaps(&mut page, &gaps);
    if let Some(words) = summary.test_seed.or(status.test_seed) {
        page.note(&words, true);
    }
    let mut cards = vec![(done.to_string(), "rounds done")];
    if let Some(accuracy) = summary.test_accuracy.or(status.test_accuracy) {
        cards.push((percent(accuracy), "test accuracy of its own model"));
    }
    if let (Some(epsilon), Some(budget)) = (spent, summary.budget.or(status.budget)) {
        cards.push((short(epsilon, 4), "ε spent by all runs on these records"));
        cards.push((format!("{budget}"), "ε that its owner allows"));
    }
    if let Some(seconds) = summary.seconds {
        cards.push((format!("{seconds:.1} s"), "training time"));
    }
    page.cards(&cards);
    let rows: Vec<Vec<String>> =
        status.neighbours.into_iter().map(|n| vec![n.name, n.state, n.why.unwrap_or_default()]).collect();
    if !rows.is_empty() {
        page.heading("Neighbours");
        page.add(&table(&["neighbour", "state", "why"], &rows, &[]));
    }
    page.heading("Run");
    let terms = [
        ("run", summary.run.or(status.run)),
        ("agreement", summary.agreement.or(status.agreement)),
        ("ledger", status.ledger.map(|path| path.display().to_string())),
        ("started", status.started),
        ("updated", status.updated),
    ];
    let mut terms: Vec<(&str, String)> =
        terms.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
    if let Some(z) = summary.noise_multiplier.or(status.noise_multiplier) {
        terms.push(("noise multiplier", format!("{z}")));
    }
    page.terms(&terms);
    page.paragraph("What the node is doing now, its log and its ledger:");
    page.code(&format!("prdo node status {}", folder.display()));
    Report { html: page.finish(), gaps, figure: None }
}
