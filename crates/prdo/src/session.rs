//! What a finished training leaves behind: its model and its summary, as the command and the Python package write them.

use crate::config::{Built, Document};
use crate::output::{Folder, FolderError, write_models, write_network};
use crate::predict::facts_to_json;
use prdo_simulator::Row;
use serde_json::{Value as Json, json};
use std::time::Duration;

/// The results of a finished training.
#[derive(Clone, Debug, PartialEq)]
pub struct Results {
    /// The bytes of `model.safetensors`.
    pub model: Vec<u8>,
    /// What `summary.json` says.
    pub summary: Json,
}

/// Results that cannot be put down.
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    /// The folder.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The model's file.
    #[error("model.safetensors: {0}")]
    Model(String),
    /// The report.
    #[error("{0}")]
    Report(String),
    /// A checkpoint that is not needed any more.
    #[error("cannot remove the checkpoint: {0}")]
    Checkpoint(std::io::Error),
}

impl Results {
    /// The results of a run with these rows.
    ///
    /// # Errors
    /// A model that cannot be written as tensors.
    pub fn of(
        document: &Document,
        built: &Built,
        rows: &[Row],
        elapsed: Duration,
    ) -> Result<Self, ResultsError> {
        let training = &*built.prepared.training;
        let (average, nodes) = (training.average(), training.models());
        let model = match &built.network {
            Some(network) => write_network(&network.spec, &average, &nodes, true).map_err(|e| e.to_string()),
            None => write_models(&average, &nodes).map_err(|e| e.to_string()),
        };
        let model = model.map_err(ResultsError::Model)?;
        Ok(Self { model, summary: summary(document, built, rows, elapsed) })
    }

    /// Writes the model, the summary and the report into a folder that has `run.toml` and `metrics.csv`; the summary
    /// after the model, because it marks the run as finished.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn write(&self, folder: &Folder) -> Result<(), ResultsError> {
        folder.write("model.safetensors", &self.model)?;
        folder.write("summary.json", format!("{:#}\n", self.summary).as_bytes())?;
        let report = crate::report::from_folder(folder.path()).map_err(ResultsError::Report)?;
        folder.write("report.html", report.html.as_bytes())?;
        let checkpoint = folder.path().join("checkpoint");
        if checkpoint.is_dir() {
            std::fs::remove_dir_all(&checkpoint).map_err(ResultsError::Checkpoint)?;
        }
        Ok(())
    }
}

/// What to say where loss or gradient norm is no number any more: one thing helps, and nothing else does.
pub fn ran_away(rows: &[Row]) -> Option<String> {
    let row = rows.iter().find(|row| !row.loss.is_finite() || !row.grad_norm.is_finite())?;
    Some(format!(
        "the model ran away: loss or gradient norm is no finite number from round {} on. The step size is too large for this \
         problem: train again with a smaller method.step_size (a third of it, and a third of that if need be)",
        row.round
    ))
}

/// What should worry whoever looks at these figures; `common` is the share of the held-out records' most common class.
pub fn worries(rows: &[Row], common: Option<f64>) -> Option<String> {
    let (first, last) = (rows.first()?, rows.last()?);
    if last.round == 0 {
        return None;
    }
    if let Some(away) = ran_away(rows) {
        return Some(away);
    }
    if last.loss >= first.loss {
        return Some(format!(
            "the model did not learn: its loss is {:.3} after {} rounds and was {:.3} at the start; the noise or the \
             features' scale dominates. Centre and scale the features by limits you know (to about -1 … 1; [features] map = \"table\" does it, docs/features.md), or use \
             fewer rounds, a smaller step size, more records or a larger ε",
            last.loss, last.round, first.loss
        ));
    }
    let (accuracy, common) = (last.test_accuracy?, common?);
    (accuracy <= common).then(|| {
        format!(
            "the model is right no more often than whoever always says the most common class ({:.1} %), though it may rank \
             records better than chance (where there is an AUC, it says how well). A shorter or a longer step, more rounds, more \
             to learn from or a larger ε may help",
            100.0 * common
        )
    })
}

fn summary(document: &Document, built: &Built, rows: &[Row], elapsed: Duration) -> Json {
    let (training, facts) = (&*built.prepared.training, &built.prepared.facts);
    let last = rows.last();
    let guarantee = built.prepared.guarantee;
    let validation = built.validation.as_ref().and_then(|accuracy| accuracy(&training.average()));
    let own = built.prepared.node_accuracy();
    let lowest = own.iter().copied().enumerate().min_by(|a, b| a.1.total_cmp(&b.1));
    json!({
        "finished": true,
        "name": document.text("name"),
        "method": built.method.card().name,
        "rounds": training.round(),
        "nodes": facts.nodes,
        "records": facts.records,
        "measured_records": facts.measured_records,
        "test_records": built.test_records,
        "validation_records": built.validation_records,
        "parameters": facts.parameters,
        "lambda": facts.spectrum.lambda,
        "data": built.data,
        "features": built.features.as_ref().map(|f| json!({"description": f.description, "hash": f.hash})),
        "private": guarantee.is_some(),
        "simulation": true,
        "epsilon": guarantee.map(|g| g.epsilon),
        "epsilon_spent": last.and_then(|r| r.epsilon_spent),
        "delta": guarantee.map(|g| g.delta),
        "noise_multiplier": guarantee.map(|g| g.noise_multiplier),
        "accountant": guarantee.map(|g| g.accounting.name()),
        "loss": last.map(|r| r.loss),
        "grad_norm": last.map(|r| r.grad_norm),
        "consensus_error": last.map(|r| r.consensus_error),
        "test_accuracy": last.and_then(|r| r.test_accuracy),
        "test_auc": training.auc(&training.average()),
        "most_common_class": last.and_then(|r| r.test_accuracy).and(built.common_class),
        "lowest_node_accuracy": lowest.map(|(_, accuracy)| accuracy),
        "lowest_node": lowest.map(|(node, _)| node),
        "node_accuracy": own,
        "validation_accuracy": validation,
        "bytes_sent": last.map(|r| r.bytes_sent),
        "gradient_evaluations": last.map(|r| r.gradient_evaluations),
        "non_finite_records": training.non_finite(),
        "class_counts": built.class_counts.as_ref().filter(|counts| counts.len() <= 1000),
        "class_names": built.facts.class_names,
        "facts": facts_to_json(&built.facts),
        "node_names": built.node_names.as_ref().filter(|names| names.len() <= 1000),
        "node_records": Some(&built.prepared.node_records).filter(|records| records.len() <= 1000),
        "records_per_node": records_per_node(&built.prepared.node_records),
        "warnings": built.warnings.iter().cloned().chain(worries(rows, built.common_class)).collect::<Vec<_>>(),
        "seconds": elapsed.as_secs_f64(),
    })
}

/// Least, median and most records of a node.
fn records_per_node(records: &[usize]) -> Json {
    let mut sorted = records.to_vec();
    sorted.sort_unstable();
    json!({"least": sorted.first(), "median": sorted.get(sorted.len() / 2), "most": sorted.last()})
}
