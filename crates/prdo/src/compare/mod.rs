//! Every combination of the lists in run files, side by side: checked before anything is trained, then trained several at a
//! time, with the finished ones and the checkpoints of the others kept until all are in.

#[cfg(feature = "raster")]
mod folder;
mod planned;

#[cfg(feature = "raster")]
pub use folder::{WriteError, write_comparison};
pub use planned::{Labels, Planned, described, expanded, planned};

use crate::build::{Built, build};
use crate::error::RunError;
use crate::parts::{Fate, FileRun, Parts, PartsError};
use prdo_plot::Theme;
use prdo_report::{ComparisonReport, measured_note, network_figure};
use prdo_runfile::{ConfigError, Document, Key, Value};
use prdo_simulator::Row;
use prdo_store::{Cell, OwnClip};
use rayon::prelude::*;
use std::sync::{Mutex, PoisonError};

/// Runs that were checked are kept for training as long as their records take no more bytes than this.
const KEPT_BYTES: u64 = 1 << 28;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("{error}{}", within(.labels))]
    Run { error: Box<ConfigError>, labels: Labels },
    /// It would count as two seeds.
    #[error(
        "the same run is asked for twice{}\n  = help: give each value of a list, and each file, once",
        if .labels.is_empty() { String::new() } else { format!(": {}", described(.labels)) }
    )]
    Twice { labels: Labels },
    #[error("{}{error}", if .labels.is_empty() { String::new() } else { format!("the run with {}: ", described(.labels)) })]
    AllFailed { labels: Labels, error: Box<RunError> },
    #[error(transparent)]
    Parts(#[from] PartsError),
    /// Asked to stop: what is finished is kept.
    #[error("interrupted")]
    Interrupted,
}

fn within(labels: &Labels) -> String {
    if labels.is_empty() { String::new() } else { format!("\n  in the run with {}", described(labels)) }
}

impl CompareError {
    /// Whether the input was wrong (exit 2), rather than the work failing (exit 1).
    pub fn is_input(&self) -> bool {
        match self {
            Self::Config(_) | Self::Run { .. } | Self::Twice { .. } => true,
            Self::Parts(error) => error.is_input(),
            Self::AllFailed { .. } | Self::Interrupted => false,
        }
    }
}

/// What a comparison is called, and what repeats it.
#[derive(Clone, Debug)]
pub struct Named {
    /// The report's headline.
    pub title: String,
    pub command: String,
    /// The text of the run files.
    pub run_files: String,
}

/// Runs of which each could be trained.
pub struct Comparison {
    planned: Vec<Planned>,
    data: String,
    /// The network's picture.
    network: String,
    /// The runs that were built and kept.
    built: Vec<Mutex<Option<Built>>>,
    warnings: Vec<String>,
}

/// What was found, and which runs failed.
pub struct Compared {
    pub report: ComparisonReport,
    pub failed: Vec<(Labels, RunError)>,
}

impl Comparison {
    /// Builds every run without training it, so that nothing starts when one of them is wrong. Those that take little
    /// memory are kept, and not built again.
    pub fn check(planned: Vec<Planned>) -> Result<Self, CompareError> {
        planned::refuse_twins(&planned)?;
        let built = planned.iter().map(|_| Mutex::default()).collect();
        let mut all =
            Self { planned, data: String::new(), network: String::new(), built, warnings: Vec::new() };
        let mut bytes = 0;
        // Runs that differ in their seed only need one check.
        let apart = |labels: &Labels| -> Labels {
            labels.iter().filter(|(key, _)| *key != Key::Seed.path()).cloned().collect()
        };
        for k in 0..all.planned.len() {
            let (labels, document) = &all.planned[k];
            if k > 0 && !labels.is_empty() && apart(&all.planned[k - 1].0) == apart(labels) {
                continue;
            }
            let built = build_one(labels, document)?;
            let facts = &built.prepared.facts;
            bytes += 8
                * (facts.records as u64 * built.facts.features
                    + 4 * facts.nodes as u64 * facts.parameters as u64);
            all.describe(&built);
            if bytes <= KEPT_BYTES {
                all.built[k] = Mutex::new(Some(built));
            }
        }
        Ok(all)
    }

    fn describe(&mut self, built: &Built) {
        let new: Vec<_> = built.warnings.iter().filter(|warning| !self.warnings.contains(warning)).collect();
        let new: Vec<String> = new.into_iter().cloned().collect();
        self.warnings.extend(new);
        let facts = &built.prepared.facts;
        self.data = built.data.clone();
        if let Some(note) = measured_note(facts.measured_records as u64, facts.records as u64) {
            self.data = format!("{}; {note}", self.data);
        }
        if self.network.is_empty() {
            let figure = network_figure(&built.wiring, &facts.spectrum, built.node_names.as_deref());
            self.network = figure.theme(Theme::Page).to_svg();
        }
    }

    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// How many runs there are.
    pub fn runs(&self) -> usize {
        self.planned.len()
    }

    /// The settings of all runs: finished ones are kept for a comparison with the same.
    pub fn settings(&self) -> String {
        self.planned.iter().map(|(_, document)| document.settings() + "\n").collect()
    }

    /// Trains all runs, several at a time; `on_run` is called after each. Runs that were finished before it was interrupted
    /// are taken from `parts`, which stay until they are removed.
    pub fn train(
        self,
        named: Named,
        parts: &Parts<'_>,
        on_run: &(dyn Fn(&Cell) + Sync),
    ) -> Result<Compared, CompareError> {
        let fates = self.planned.par_iter().enumerate().map(|(k, planned)| {
            let built = self.built[k].lock().unwrap_or_else(PoisonError::into_inner).take();
            let fate = one(parts, k, planned, built)?;
            if let Fate::Finished(cell) = &fate {
                on_run(cell);
            }
            Ok(fate)
        });
        let fates = fates.collect::<Result<Vec<_>, CompareError>>()?;
        let (mut cells, mut failed) = (Vec::new(), Vec::new());
        for (fate, (labels, _)) in fates.into_iter().zip(&self.planned) {
            match fate {
                Fate::Finished(cell) => cells.push(cell),
                Fate::Failed(error) => failed.push((labels.clone(), error)),
                Fate::Stopped => return Err(CompareError::Interrupted),
            }
        }
        if cells.is_empty() && !failed.is_empty() {
            let (labels, error) = failed.swap_remove(0);
            return Err(CompareError::AllFailed { labels, error: Box::new(error) });
        }
        let data = left_out(self.data, &failed);
        let Named { title, command, run_files } = named;
        let report = ComparisonReport { title, data, command, run_files, network: self.network, cells };
        Ok(Compared { report, failed })
    }
}

fn build_one(labels: &Labels, document: &Document) -> Result<Built, CompareError> {
    if document.has(Key::PrivacyStatement) {
        let message =
            "privacy.statement is for single runs: every run of a comparison would be another release";
        return Err(document.error(Key::PrivacyStatement, message).help("train with `prdo run`").into());
    }
    build(document).map_err(|error| CompareError::Run { error: Box::new(error), labels: labels.clone() })
}

/// Adds the runs that failed to what the data is: tables and report have the others.
fn left_out(data: String, failed: &[(Labels, RunError)]) -> String {
    if failed.is_empty() {
        return data;
    }
    let which: Vec<String> = failed.iter().map(|(labels, _)| described(labels)).collect();
    format!("{data}; left out because they failed: the runs with {}", which.join("; "))
}

/// One run of the comparison, by its number.
fn one(
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

fn cell(labels: &Labels, document: &Document, built: &Built, (rows, seconds): (Vec<Row>, f64)) -> Cell {
    let method = built.method;
    let outcome = built.prepared.outcome(rows, Vec::new());
    let measured = outcome.last().is_some_and(|row| row.test_accuracy.is_some());
    let shown = |value: &Value| value.to_string().trim_matches('"').to_string();
    Cell {
        method,
        labels: labels
            .iter()
            .filter(|(key, _)| *key != Key::Seed.path())
            .map(|(key, value)| (key.to_string(), shown(value)))
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
        pairs: built.prepared.pairs.clone(),
        own_clip: OwnClip::of(method, &built.settings, built.prepared.schedule.rounds),
        rounds: u64::from(built.prepared.schedule.rounds),
    }
}
