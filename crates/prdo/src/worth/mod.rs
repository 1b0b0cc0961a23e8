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

use crate::config::{Holdings, Kept, Outline, Recipe, outline, recipe};
use crate::error::RunError;
use crate::run::Guarantee;
use prdo_data::{Feature, Table};
use prdo_runfile::{ConfigError, Document, Key, Section};
use train::Trainer;

/// More organisations than this are not trained one by one.
pub const MOST_NODES: usize = 1000;

/// Why the question has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorthError {
    /// The run file.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A run that cannot be prepared, or fails.
    #[error("{who}: {error}{}", help(*open))]
    Run {
        /// Who trained.
        who: String,
        /// Whether it was a run without privacy.
        open: bool,
        /// Why it failed.
        error: Box<RunError>,
    },
}

/// What may help a run that failed.
fn help(open: bool) -> &'static str {
    match open {
        true => {
            "\n  = help: runs without privacy are not clipped: give them a smaller step by --open method.step_size=…"
        }
        false => "",
    }
}

impl WorthError {
    fn of(who: &str, open: bool) -> impl Fn(RunError) -> Self + '_ {
        move |error| Self::Run { who: who.to_owned(), open, error: Box::new(error) }
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
    /// b.
    pub batch: usize,
}

impl Trained {
    /// The mean accuracy over seeds.
    pub fn mean_accuracy(&self) -> f64 {
        mean(&self.accuracy)
    }

    /// The mean area under the ROC curve, where there is one.
    pub fn mean_auc(&self) -> Option<f64> {
        (!self.auc.is_empty()).then(|| mean(&self.auc))
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// One organisation.
#[derive(Clone, Debug, PartialEq)]
pub struct Organisation {
    /// Its name, or its number where it has none.
    pub name: String,
    /// How many records it has.
    pub records: usize,
    /// What it gets from its own records alone, with privacy.
    pub alone: Trained,
    /// The same without privacy.
    pub open: Trained,
}

/// The answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Worth {
    /// The average model of all, with privacy.
    pub together: Trained,
    /// The same without privacy.
    pub open: Trained,
    /// Each organisation alone.
    pub organisations: Vec<Organisation>,
    /// The share of the held-out records' most common class.
    pub most_common_class: Option<f64>,
    /// How many held-out records there are.
    pub test_records: usize,
    /// T of the runs without privacy.
    pub open_rounds: u32,
}

/// A run file about which the question can be asked.
pub struct Question {
    outline: Outline,
    /// How runs without privacy train.
    open: Recipe,
    /// What the run of all promises.
    joint: Option<Guarantee>,
    allow_indefinite: bool,
    /// What should be thought about.
    warnings: Vec<String>,
}

/// What runs without privacy may have of their own.
const OPEN: [&str; 4] = ["rounds", "method", "batch", "clip"];

impl Question {
    /// Checks everything before anything is trained. `open` are assignments for the runs without privacy, which
    /// otherwise have the run file's settings without noise and clipping.
    ///
    /// # Errors
    /// A run file that does not say how to train privately, in which accuracy has no meaning, or that has one node.
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
        let (least, test) = match &outline.records {
            Kept::Numbers(holdings) => counts(holdings),
            Kept::Images(holdings) => counts(holdings),
            Kept::Features(holdings) => counts(holdings),
        };
        if test == 0 {
            let message = "there are no held-out records (data.test, data.test_path) to measure accuracy on";
            return Err(document.error(Key::DataTest, message).into());
        }
        let open = recipe(&without_privacy(document, open)?.run_file(), outline.model.kind, least)?;
        let run = document.run_file();
        let joint = outline.recipe.guarantee(&run, &outline.spent)?;
        let allow_indefinite = run.graph.allow_indefinite;
        let mut warnings = outline.recipe.warnings.clone();
        warnings.extend(match &outline.records {
            Kept::Numbers(holdings) => holdings.warnings.clone(),
            Kept::Images(holdings) => holdings.warnings.clone(),
            Kept::Features(holdings) => holdings.warnings.clone(),
        });
        Ok(Self { outline, open, joint, allow_indefinite, warnings })
    }

    /// What should be thought about.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// How the run file trains.
    pub fn recipe(&self) -> &Recipe {
        &self.outline.recipe
    }

    /// How the runs without privacy train.
    pub fn open_recipe(&self) -> &Recipe {
        &self.open
    }

    /// What the data is, in words.
    pub fn data(&self) -> &str {
        match &self.outline.records {
            Kept::Numbers(holdings) => &holdings.title,
            Kept::Images(holdings) => &holdings.title,
            Kept::Features(holdings) => &holdings.title,
        }
    }

    /// How many runs an answer with so many seeds takes.
    pub fn runs(&self, seeds: usize) -> usize {
        2 * seeds * (self.outline.wiring.graph.nodes() + 1)
    }

    /// Trains everything, several runs at a time; `told` hears of every run that is done.
    ///
    /// # Errors
    /// A budget that no noise keeps, or a run that diverges.
    pub fn answer(&self, seeds: &[u64], told: &(dyn Fn(&str) + Sync)) -> Result<Worth, WorthError> {
        let model = &self.outline.model;
        match &self.outline.records {
            Kept::Numbers(holdings) => {
                Trainer { question: self, holdings, model: &|| Some(model.numbers()) }.answer(seeds, told)
            }
            Kept::Images(holdings) => {
                Trainer { question: self, holdings, model: &|| model.images() }.answer(seeds, told)
            }
            Kept::Features(holdings) => {
                Trainer { question: self, holdings, model: &|| model.mapped() }.answer(seeds, told)
            }
        }
    }
}

/// Refuses what cannot be asked about, before any record is read.
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

/// The run file without noise and clipping, and with these assignments.
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

/// Records of the smallest node, and held-out ones.
fn counts<F: Feature>(holdings: &Holdings<F>) -> (usize, usize) {
    let least = holdings.nodes.iter().map(Table::len).min().unwrap_or(0);
    (least, holdings.held_out.as_ref().map_or(0, Table::len))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_without_privacy_that_fail_come_with_what_may_help() {
        let failed =
            |open| WorthError::of("north alone", open)(RunError::missing(Key::Seed, "why")).to_string();
        assert!(failed(true).contains("--open method.step_size"));
        assert!(!failed(false).contains("--open"));
    }
}
