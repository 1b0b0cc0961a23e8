//! What joining is worth: one problem trained by all organisations together and by each of them alone, with and without
//! privacy, and measured on the same held-out records.
//!
//! What never happens here: an organisation alone that is given other settings than the network has, or less noise than
//! its own records need.

mod chance;
mod train;
mod verdict;

pub use chance::Gain;
pub use verdict::Verdict;

use crate::build::{AnyHoldings, Outline, Recipe, outline, recipe};
use crate::parts::{Parts, PartsError};
use crate::run::Guarantee;
use crate::trainer::TrainError;
use prdo_runfile::{ConfigError, Document, Key, Section};
use train::Trainer;

/// More organisations than this are not trained one by one.
pub const MOST_NODES: usize = 1000;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorthError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("{who}: {error}{}", help(*open))]
    Run { who: String, open: bool, error: Box<TrainError> },
    #[error(transparent)]
    Parts(#[from] PartsError),
    /// Asked to stop: what is finished is kept.
    #[error("interrupted")]
    Interrupted,
}

fn help(open: bool) -> &'static str {
    match open {
        true => {
            "\n  = help: runs without privacy are not clipped: give them a smaller step by --open method.step_size=…"
        }
        false => "",
    }
}

impl WorthError {
    fn of<E: Into<TrainError>>(who: &str, open: bool) -> impl Fn(E) -> Self + '_ {
        move |error| Self::Run { who: who.to_owned(), open, error: Box::new(error.into()) }
    }
}

/// A model, trained once with each seed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trained {
    /// The share of the held-out records that it gets right, with each seed.
    pub accuracy: Vec<f64>,
    /// The area under its ROC curve, with each seed; empty where there are not two classes.
    pub auc: Vec<f64>,
    /// For each held-out record the share of the seeds with which it is right; empty for networks, where asking for
    /// single records takes long.
    pub right: Vec<f32>,
    /// For each held-out record its part in the area under the ROC curve ([`prdo_simulator::auc_values`]), the mean over
    /// seeds; empty where there is no area.
    pub ranks: Vec<f32>,
    /// How much of its fall the loss fell in the last fifth of the rounds, the mean over seeds; `None` where that was not
    /// measured.
    pub falling: Option<f64>,
    /// What was promised; `None` is ε = ∞.
    pub guarantee: Option<Guarantee>,
    pub batch: usize,
}

impl Trained {
    pub fn mean_accuracy(&self) -> f64 {
        mean(&self.accuracy)
    }

    pub fn mean_auc(&self) -> Option<f64> {
        (!self.auc.is_empty()).then(|| mean(&self.auc))
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

#[derive(Clone, Debug, PartialEq)]
pub struct Organisation {
    /// Its name, or its number where it has none.
    pub name: String,
    pub records: usize,
    /// What it gets from its own records alone, with privacy.
    pub alone: Trained,
    /// The same without privacy.
    pub open: Trained,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Worth {
    /// The average model of all, with privacy.
    pub together: Trained,
    /// The same without privacy.
    pub open: Trained,
    pub organisations: Vec<Organisation>,
    pub most_common_class: Option<f64>,
    pub test_records: usize,
    /// T of the runs without privacy.
    pub open_rounds: u32,
}

/// A run file about which the question can be asked.
pub struct Question {
    outline: Outline,
    open: Recipe,
    /// What the run of all promises.
    joint: Option<Guarantee>,
    allow_indefinite: bool,
    /// The run file's settings, and those of the runs without privacy.
    settings: [String; 2],
    warnings: Vec<String>,
}

/// What runs without privacy may have of their own.
const OPEN: [&str; 4] = ["rounds", "method", "batch", "clip"];

impl Question {
    /// Checks everything before anything is trained. `open` are assignments for the runs without privacy, which
    /// otherwise have the run file's settings without noise and clipping.
    pub fn new(document: &Document, open: &[String]) -> Result<Self, WorthError> {
        refuse(document)?;
        let outline = outline(document)?;
        let nodes = outline.wiring.graph.nodes();
        if !(2..=MOST_NODES).contains(&nodes) {
            let message =
                format!("there are {nodes} organisations: joining is worth something to 2 to {MOST_NODES}");
            return Err(document.error(Key::GraphNodes, message).into());
        }
        if !outline.model.kind.has_classes() {
            let message = format!(
                "model.kind = {:?} has no accuracy: what joining is worth is measured on classes",
                outline.model.kind.name()
            );
            return Err(document.error(Key::ModelKind, message).into());
        }
        if outline.records.test_records() == 0 {
            let message = "there are no held-out records (data.test, data.test_path) to measure accuracy on";
            return Err(document.error(Key::DataTest, message).into());
        }
        let without = without_privacy(document, open)?;
        let settings = [document.settings(), without.settings()];
        let open = recipe(&without.run_file(), outline.model.kind, outline.records.least())?;
        let run = document.run_file();
        let joint = outline.recipe.guarantee(&run, &outline.spent)?;
        let allow_indefinite = run.graph.allow_indefinite;
        let mut warnings = outline.recipe.warnings.clone();
        warnings.extend_from_slice(outline.records.warnings());
        Ok(Self { outline, open, joint, allow_indefinite, settings, warnings })
    }

    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    pub fn recipe(&self) -> &Recipe {
        &self.outline.recipe
    }

    pub fn open_recipe(&self) -> &Recipe {
        &self.open
    }

    pub fn data(&self) -> &str {
        self.outline.records.title()
    }

    /// How many runs an answer with so many seeds takes.
    pub fn runs(&self, seeds: usize) -> usize {
        2 * seeds * (self.outline.wiring.graph.nodes() + 1)
    }

    /// The settings of all runs.
    pub fn settings(&self) -> &[String; 2] {
        &self.settings
    }

    /// Trains everything, several runs at a time; `on_run` is called after each. Runs are kept as `parts`, until they are
    /// removed: those that were finished before are not trained again.
    pub fn answer(
        &self,
        seeds: &[u64],
        parts: &Parts<'_>,
        on_run: &(dyn Fn(&str) + Sync),
    ) -> Result<Worth, WorthError> {
        let (question, model) = (self, &self.outline.model);
        match &self.outline.records {
            AnyHoldings::Numbers(holdings) => {
                Trainer { question, holdings, parts, model: &|| Some(model.numbers()) }.answer(seeds, on_run)
            }
            AnyHoldings::Images(holdings) => {
                Trainer { question, holdings, parts, model: &|| model.images() }.answer(seeds, on_run)
            }
            AnyHoldings::Features(holdings) => {
                Trainer { question, holdings, parts, model: &|| model.mapped() }.answer(seeds, on_run)
            }
        }
    }
}

fn refuse(document: &Document) -> Result<(), ConfigError> {
    if !document.has_section(Section::Privacy) {
        let message = "[privacy] is missing: the question is what joining is worth under privacy";
        return Err(document.error(Key::PrivacyEpsilon, message).help("give an epsilon and a delta there"));
    }
    if document.has(Key::PrivacyStatement) {
        let message =
            "privacy.statement is for single runs: every run that is compared would be another release";
        return Err(document.error(Key::PrivacyStatement, message).help("train with `prdo run`"));
    }
    Ok(())
}

fn without_privacy(document: &Document, open: &[String]) -> Result<Document, ConfigError> {
    let mut other = document.clone().without(Section::Privacy).without(Section::Clip);
    for assignment in open {
        let section = assignment.split(['.', '=']).next().unwrap_or("").trim();
        if !OPEN.contains(&section) {
            let message = format!(
                "--open {assignment} is not allowed: runs without privacy may differ in {} only",
                OPEN.join(", ")
            );
            return Err(ConfigError::anywhere(message));
        }
        other.set(assignment)?;
    }
    Ok(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::RunError;

    #[test]
    fn runs_without_privacy_that_fail_come_with_what_may_help() {
        let failed =
            |open| WorthError::of("north alone", open)(RunError::missing(Key::Seed, "why")).to_string();
        assert!(failed(true).contains("--open method.step_size"));
        assert!(!failed(false).contains("--open"));
    }
}
