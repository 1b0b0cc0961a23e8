//! The runs of a comparison in its folder, before all are finished.

use super::{Labels, Planned};
use prdo::build::{Built, build};
use prdo::parts::{Fate, FileRun, Parts, PartsError};
use prdo::runfile::{Document, Key, Value};
use prdo::simulator::Row;
use prdo::store::Cell;

fn cell(labels: &Labels, document: &Document, built: &Built, (rows, seconds): (Vec<Row>, f64)) -> Cell {
    let method = built.method;
    let outcome = built.prepared.outcome(rows, Vec::new());
    let measured = outcome.last().is_some_and(|row| row.test_accuracy.is_some());
    let shown = |value: &Value| value.to_string().trim_matches('"').to_string();
    Cell {
        method,
        labels: labels
            .iter()
            .filter(|(k, _)| *k != Key::Seed.path())
            .map(|(k, v)| (k.to_string(), shown(v)))
            .collect(),
        seed: document.run_file().seed,
        rows: outcome.rows,
        node_accuracy: outcome.node_accuracy,
        test_auc: outcome.test_auc,
        most_common_class: built.common_class.filter(|_| measured),
        guarantee: outcome.guarantee,
        seconds,
        clip: built.clip,
        gamma: method.card().differences.then_some(method.asks(&built.settings, 1).gamma()),
        rounds: u64::from(built.prepared.schedule.rounds),
    }
}

/// One run of the comparison, by its number.
pub fn part(
    parts: &Parts<'_>,
    number: usize,
    (labels, document): &Planned,
    built: Option<Built>,
) -> Result<Fate<Cell>, PartsError> {
    let again = || Ok(FileRun { document, built: build(document)? });
    let first = built.map_or_else(again, |built| Ok(FileRun { document, built }))?;
    parts.part(&number.to_string(), first, again, |run, trained| {
        cell(labels, document, &run.built, (trained.rows, trained.seconds))
    })
}
