//! What a finished training leaves behind: its model, its summary and its report.

use crate::build::Built;
use prdo_runfile::{Document, Key};
use prdo_simulator::Row;
use prdo_store::{
    Features, Folder, FolderError, RecordSpread, Summary, artefact, names, worries, write_models,
    write_network,
};
use std::time::Duration;

#[derive(Clone, Debug, PartialEq)]
pub struct Results {
    /// The bytes of `model.safetensors`.
    pub model: Vec<u8>,
    /// What `summary.json` says.
    pub summary: Summary,
}

#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error("model.safetensors: {0}")]
    Model(String),
    #[error("{0}")]
    Report(String),
    #[error("cannot remove the checkpoint: {0}")]
    Checkpoint(std::io::Error),
}

impl ResultsError {
    /// Whether the input was wrong (exit 2), rather than the work failing (exit 1).
    pub fn is_input(&self) -> bool {
        match self {
            Self::Folder(error) => error.is_input(),
            Self::Model(_) | Self::Report(_) | Self::Checkpoint(_) => false,
        }
    }
}

impl Results {
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
    pub fn write(&self, folder: &Folder) -> Result<(), ResultsError> {
        folder.write(names::MODEL, &self.model)?;
        folder.write(names::SUMMARY, artefact::text(&self.summary).as_bytes())?;
        let report = crate::report::from_folder(folder.path()).map_err(ResultsError::Report)?;
        folder.write(names::REPORT, report.html.as_bytes())?;
        let checkpoint = folder.path().join(names::CHECKPOINTS);
        if checkpoint.is_dir() {
            std::fs::remove_dir_all(&checkpoint).map_err(ResultsError::Checkpoint)?;
        }
        Ok(())
    }
}

/// Of more nodes, what each of them has is not listed.
const MOST_LISTED: usize = 1000;

fn summary(document: &Document, built: &Built, rows: &[Row], elapsed: Duration) -> Summary {
    let (training, facts) = (&*built.prepared.training, &built.prepared.facts);
    let last = rows.last();
    let guarantee = built.prepared.guarantee;
    let own = built.prepared.node_accuracy();
    let lowest = own.iter().copied().enumerate().min_by(|a, b| a.1.total_cmp(&b.1));
    let worry = worries(rows, built.common_class);
    let outcome = worry.as_ref().map(|worry| worry.outcome);
    let count = |count: usize| Some(count as u64);
    let finite = |x: f64| Some(x).filter(|x| x.is_finite());
    let listed = |nodes: usize| nodes <= MOST_LISTED;
    let node_records = &built.prepared.node_records;
    Summary {
        finished: true,
        name: document.text(Key::Name),
        method: Some(built.method.card().name.to_string()),
        rounds: Some(training.round()),
        nodes: count(facts.nodes),
        records: count(facts.records),
        measured_records: count(facts.measured_records),
        test_records: count(built.test_records),
        validation_records: count(built.validation_records),
        parameters: count(facts.parameters),
        lambda: Some(facts.spectrum.lambda),
        data: Some(built.data.clone()),
        features: built.features.as_ref().map(|features| Features {
            description: features.description.to_string(),
            hash: features.hash.clone(),
            map: features.map,
        }),
        private: guarantee.is_some(),
        simulation: true,
        epsilon: guarantee.map(|g| g.epsilon),
        epsilon_spent: last.and_then(|r| r.epsilon_spent),
        delta: guarantee.map(|g| g.delta),
        noise_multiplier: guarantee.map(|g| g.noise_multiplier),
        accountant: guarantee.map(|g| g.accounting.name().to_string()),
        pairs: built.prepared.pairs.clone(),
        loss: last.and_then(|r| finite(r.loss)),
        grad_norm: last.and_then(|r| finite(r.grad_norm)),
        consensus_error: last.and_then(|r| finite(r.consensus_error)),
        test_accuracy: last.and_then(|r| r.test_accuracy),
        test_auc: training.auc(&training.average()),
        most_common_class: last.and_then(|r| r.test_accuracy).and(built.common_class),
        lowest_node_accuracy: lowest.map(|(_, accuracy)| accuracy),
        lowest_node: lowest.map(|(node, _)| node),
        node_accuracy: own,
        validation_accuracy: built.validation.as_ref().and_then(|accuracy| accuracy(&training.average())),
        bytes_sent: last.map(|r| r.bytes_sent),
        gradient_evaluations: last.map(|r| r.gradient_evaluations),
        non_finite_records: Some(training.non_finite()),
        class_counts: built.class_counts.clone().filter(|nodes| listed(nodes.len())),
        class_names: built.facts.class_names.clone(),
        facts: Some(built.facts.clone()),
        node_names: built.node_names.clone().filter(|names| listed(names.len())),
        node_records: listed(node_records.len())
            .then(|| node_records.iter().map(|count| *count as u64).collect()),
        records_per_node: Some(RecordSpread::of(node_records)),
        warnings: built.warnings.iter().cloned().chain(worry.map(|worry| worry.words)).collect(),
        outcome,
        seconds: Some(elapsed.as_secs_f64()),
    }
}
