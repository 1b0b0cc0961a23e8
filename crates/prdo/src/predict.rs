//! Predictions of a trained model: the folder of a run, or of a member's node, and new records.

mod scores;
mod threshold;
mod training;

pub use scores::{ClassScores, Scores};
pub use threshold::Threshold;

use crate::build::{Form, Map, PlannedModel, Refused, network_of, plan_model};
use prdo_data::{self as data, DataError, Dataset, Feature, Format, Layout, Loaded, Options, Table};
use prdo_runfile::{ConfigError, Document, Key, RunFile};
use prdo_store::{NetworkFile, RecordFacts, Summary, artefact, names, read_models, read_node_model};
use rayon::prelude::*;
use scores::labels_of;
use std::path::Path;
use training::Training;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PredictError {
    #[error(
        "{folder}: {problem}; predictions need the folder of a finished run, or of a member's finished node"
    )]
    Folder { folder: String, problem: String },
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("a {kind} model predicts no class: logistic, softmax and networks do")]
    Kind { kind: String },
    #[error("node {node} is not allowed: it must be {allowed}")]
    Node { node: String, allowed: String },
    #[error("threshold {typed} is not allowed: it must be {allowed}")]
    Threshold { typed: String, allowed: String },
    #[error("{0}")]
    Data(#[from] DataError),
    #[error("{file}: {problem}")]
    Features { file: String, problem: String },
    #[error("{file} has {found} features, the model was trained on {expected}")]
    Width { file: String, found: usize, expected: usize },
}

pub struct Predictor {
    facts: RecordFacts,
    model: PlannedModel,
    /// What records become before the model reads them.
    map: Option<Map>,
    categories: Vec<String>,
    /// Columns in which numbers may be missing.
    missing: Vec<String>,
    label: Option<String>,
    /// The columns of the run's own file, if that has no header.
    columns: Option<Vec<String>>,
    parameters: Vec<f64>,
    threshold: Threshold,
    training: Option<Training>,
}

pub struct Predictions {
    pub classes: Vec<String>,
    pub probabilities: Vec<Vec<f64>>,
    /// From which probability on which class is predicted, where there are two.
    pub threshold: Option<Threshold>,
    /// How good the predictions are, where the records have labels.
    pub scores: Option<Scores>,
    pub warnings: Vec<String>,
    /// What to say where the records are those that the run was trained on.
    pub trained_on: Option<String>,
}

impl Predictions {
    /// The class that is predicted for each record: the most probable one, or by the threshold where there are two.
    pub fn classes_of_records(&self) -> impl Iterator<Item = usize> + '_ {
        self.probabilities.iter().map(|p| class_of(p, self.threshold))
    }
}

fn class_of(probabilities: &[f64], threshold: Option<Threshold>) -> usize {
    threshold.map_or_else(|| best(probabilities), |threshold| threshold.class_of(probabilities))
}

fn best(values: &[f64]) -> usize {
    let most = values.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(&a.0)));
    most.map_or(0, |(class, _)| class)
}

fn node_number(node: &str, summary: &Summary) -> Result<usize, PredictError> {
    let names = summary.node_names.as_deref().unwrap_or_default();
    let count = summary.nodes.and_then(|count| usize::try_from(count).ok()).unwrap_or(0);
    let named = names.iter().position(|name| name == node);
    let numbered = || node.parse().ok().filter(|number| *number < count);
    named.or_else(numbered).ok_or_else(|| {
        let last = count.saturating_sub(1);
        let listed: Vec<String> = names.iter().take(20).map(|name| format!("{name:?}")).collect();
        let names =
            if names.is_empty() { String::new() } else { format!(", or one of {}", listed.join(", ")) };
        PredictError::Node { node: node.to_string(), allowed: format!("from 0 to {last}{names}") }
    })
}

/// The parameters in a model's file: of a network, or of a `linear` model.
fn parameters(
    bytes: &[u8],
    node: Option<usize>,
    linear: impl FnOnce() -> Result<Vec<f64>, String>,
) -> Result<Vec<f64>, String> {
    match NetworkFile::read(bytes).map_err(|e| e.to_string())? {
        Some(network) => network.model(node).map_err(|e| e.to_string()),
        None => linear(),
    }
}

impl Predictor {
    /// The model in a run's folder: the average, or the own one of a node, by its name or number.
    pub fn open(folder: &Path, node: Option<&str>) -> Result<Self, PredictError> {
        let broken = |problem: String| PredictError::Folder { folder: folder.display().to_string(), problem };
        let read = |name: &str| std::fs::read(folder.join(name)).map_err(|e| broken(format!("{name}: {e}")));
        if folder.join(names::COMPARISON).is_file() && !folder.join(names::SUMMARY).exists() {
            let problem = "it holds a comparison, which keeps figures and no model: train the run that you want with `prdo \
                           run` (--set gives it the settings of that run) and name its folder";
            return Err(broken(problem.into()));
        }
        let summary = read(names::SUMMARY)?;
        let summary: Summary =
            artefact::parse(&summary).map_err(|e| broken(format!("summary.json is damaged: {e}")))?;
        let undescribed = || broken("summary.json does not describe the records".into());
        let facts = summary.facts.clone().ok_or_else(undescribed)?;
        let document = Document::read(&folder.join(names::RUN_FILE))?;
        let node = node.map(|node| node_number(node, &summary)).transpose()?;
        let bytes = read(names::MODEL)?;
        let run = document.run_file();
        let kind = run.model.kind.ok_or_else(|| run.missing(Key::ModelKind))?;
        // Whether images were scaled is resolved: then their constants are in the run file.
        let model = plan_model(&run, kind, &facts, false)?;
        let damaged = |e: String| broken(format!("model.safetensors is damaged: {e}"));
        let linear = || {
            let (average, nodes) = read_models(&bytes).map_err(|e| e.to_string())?;
            let Some(node) = node else { return Ok(average) };
            nodes.into_iter().nth(node).ok_or_else(|| format!("it has no model of node {node}"))
        };
        let parameters = parameters(&bytes, node, linear).map_err(damaged)?;
        let label = run.data.file.label.clone();
        let training = Training::of(&run, &summary);
        let predictor = Self::checked(facts, model, &run, label, parameters, &broken)?;
        Ok(Self { training, ..predictor })
    }

    /// The model in a member's home: its own one. What all agreed on says what it is and what records look like.
    pub fn of_member(
        home: &Path,
        facts: RecordFacts,
        model: PlannedModel,
        run: &RunFile,
    ) -> Result<Self, PredictError> {
        let broken = |problem: String| PredictError::Folder { folder: home.display().to_string(), problem };
        let bytes = std::fs::read(home.join(names::MODEL));
        let bytes = bytes.map_err(|e| broken(format!("{}: {e}", names::MODEL)))?;
        let damaged = |e: String| broken(format!("model.safetensors is damaged: {e}"));
        let linear = || read_node_model(&bytes).map_err(|e| e.to_string());
        let parameters = parameters(&bytes, None, linear).map_err(damaged)?;
        Self::checked(facts, model, run, None, parameters, &broken)
    }

    fn checked(
        facts: RecordFacts,
        model: PlannedModel,
        run: &RunFile,
        label: Option<String>,
        parameters: Vec<f64>,
        broken: &dyn Fn(String) -> PredictError,
    ) -> Result<Self, PredictError> {
        if !model.kind.has_classes() {
            return Err(PredictError::Kind { kind: model.kind.to_string() });
        }
        if parameters.len() != model.dimension {
            let (found, expected) = (parameters.len(), model.dimension);
            return Err(broken(format!("the model has {found} parameters, its settings mean {expected}")));
        }
        let map = model.features.as_ref().map(|plan| plan.make(run)).transpose();
        let map = map.map_err(|e| broken(format!("its features cannot be made: {e}")))?;
        if let Some(map) = &map {
            map.same_as(run.resolved.features.as_deref()).map_err(|e| broken(e.to_string()))?;
        }
        let categories = run.features.categories.clone();
        let columns = run.data.file.columns.clone();
        let (threshold, training) = (Threshold::default(), None);
        let missing = run.features.missing_numbers();
        Ok(Self { facts, model, map, categories, missing, label, columns, parameters, threshold, training })
    }

    fn classes(&self) -> Vec<String> {
        let count = if self.model.kind.is_binary() { 2 } else { self.facts.classes.unwrap_or(2) };
        let numbers = || (0..count).map(|class| class.to_string()).collect();
        self.facts.class_names.clone().unwrap_or_else(numbers)
    }

    /// The same with a class that is predicted from another probability than ½ on: `0.3` for the second class, or
    /// `NAME=0.3`.
    pub fn with_threshold(self, typed: &str) -> Result<Self, PredictError> {
        let threshold = Threshold::parse(typed, &self.classes())?;
        Ok(Self { threshold, ..self })
    }

    /// Predicts the records of a file. `label` names the column of labels, which may be missing.
    pub fn predict(&self, path: &Path, label: Option<&str>) -> Result<Predictions, PredictError> {
        let trained_on = self.training.as_ref().and_then(|training| training.flattering(path));
        Ok(Predictions { trained_on, ..self.predict_file(path, label)? })
    }

    fn predict_file(&self, path: &Path, label: Option<&str>) -> Result<Predictions, PredictError> {
        let format = Format::of(path)?;
        let columns = format.layout() == Layout::Columns;
        // New records may come with a header, whatever the run's own had.
        let names = self.facts.feature_names.as_deref().unwrap_or_default();
        let bare =
            self.columns.clone().filter(|_| format == Format::Csv && !data::csv::has_header(path, names));
        let options = Options {
            format: Some(format),
            columns: bare,
            label: label.map(String::from).or(self.label.clone()).filter(|_| columns || label.is_some()),
            features: self.facts.feature_names.clone().filter(|_| columns),
            width: (format.layout() == Layout::Sparse).then_some(self.facts.features as usize),
            prefix: data::test_part(path).map(String::from),
            unlabelled: true,
            categories: self.categories.clone(),
            missing: self.missing.clone(),
            ..Options::default()
        };
        let file = path.display().to_string();
        let loaded = data::load(path, &options)?;
        if let Some(map) = &self.map {
            self.check_width(&file, loaded.width())?;
            let refuse = |e: Refused| PredictError::Features { file: file.clone(), problem: e.to_string() };
            let cut_off = map.cut_off(&loaded);
            let mut warnings = Vec::new();
            let mapped = map.apply(loaded, &|_, _| (), &mut warnings).map_err(refuse)?;
            warnings.extend(far_outside(&cut_off, mapped.table.len()));
            warnings.extend(mapped.blanks.iter().cloned());
            return Ok(Predictions { warnings, ..self.answer(&mapped, |table| self.linear(table)) });
        }
        match (loaded, &self.model.form) {
            (Loaded::Images(images), Form::Network { spec, constants }) => {
                let network = network_of::<u8>(spec, constants.as_ref());
                self.check_width(&file, images.table.width())?;
                Ok(self.answer(&images, |table| wide(&network.scores(&self.parameters, table))))
            }
            (loaded, form) => {
                let numbers = loaded.into_numbers(&file)?;
                self.check_width(&file, numbers.table.width())?;
                Ok(self.answer(&numbers, |table| self.scores(form, table)))
            }
        }
    }

    fn scores(&self, form: &Form, table: &Table) -> Vec<Vec<f64>> {
        if let Form::Network { spec, constants } = form {
            let network = network_of::<f64>(spec, constants.as_ref());
            return wide(&network.scores(&self.parameters, table));
        }
        self.linear(table)
    }

    fn linear<F: Feature>(&self, table: &Table<F>) -> Vec<Vec<f64>> {
        let classes = if self.model.kind.is_binary() { 1 } else { self.facts.classes.unwrap_or(2) as usize };
        let stride = self.parameters.len() / classes.max(1);
        let product = |w: &[f64], row: &[F]| {
            let constant = if w.len() > row.len() { self.model.constant() * w[row.len()] } else { 0.0 };
            w.iter().zip(row).map(|(w, a)| w * a.value()).sum::<f64>() + constant
        };
        let of_row = |row: &[F]| -> Vec<f64> {
            let scores = self.parameters.chunks(stride.max(1)).map(|w| product(w, row));
            // Of two classes only the second has a score; the first one's is 0.
            (classes == 1).then_some(0.0).into_iter().chain(scores).collect()
        };
        (0..table.len()).into_par_iter().map(|r| of_row(table.row(r))).collect()
    }

    fn check_width(&self, file: &str, found: usize) -> Result<(), PredictError> {
        match self.facts.features as usize {
            expected if expected != found => Err(PredictError::Width { file: file.into(), found, expected }),
            _ => Ok(()),
        }
    }

    fn answer<F: Feature>(
        &self,
        dataset: &Dataset<F>,
        scores: impl Fn(&Table<F>) -> Vec<Vec<f64>>,
    ) -> Predictions {
        let scores = scores(&dataset.table);
        let probabilities: Vec<Vec<f64>> = scores.iter().map(|s| softmax(s)).collect();
        let classes = self.classes();
        let threshold = Some(self.threshold).filter(|_| classes.len() == 2);
        let labels = dataset.labelled.then(|| labels_of(dataset, &classes)).flatten();
        let predicted: Vec<usize> = probabilities.iter().map(|p| class_of(p, threshold)).collect();
        let scores = labels.and_then(|labels| Scores::of(&classes, &labels, &predicted, &scores));
        Predictions { classes, probabilities, threshold, scores, warnings: Vec::new(), trained_on: None }
    }
}

/// What to say of values that the model never saw the like of.
fn far_outside(cut_off: &[(String, usize)], records: usize) -> Vec<String> {
    let say = |(column, count): &(String, usize)| {
        format!(
            "{column}: {count} of {records} values lie outside the range of training and were cut off at its ends; are they \
             in the same unit?"
        )
    };
    cut_off.iter().map(say).collect()
}

fn wide(scores: &[Vec<f32>]) -> Vec<Vec<f64>> {
    scores.iter().map(|row| row.iter().map(|s| f64::from(*s)).collect()).collect()
}

fn softmax(scores: &[f64]) -> Vec<f64> {
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let powers: Vec<f64> = scores.iter().map(|s| (s - largest).exp()).collect();
    let total: f64 = powers.iter().sum();
    powers.iter().map(|p| p / total).collect()
}
