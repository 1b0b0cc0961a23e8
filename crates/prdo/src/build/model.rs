//! The run file's `[model]` section as a model, from what is public about the records.

use super::features::{FeatureDesign, feature_design, located as feature_error};
use super::network::{network, network_start, normalisation};
use crate::error::RunError;
use prdo_data::features::INTERCEPT;
use prdo_data::{Feature, Format, Table};
use prdo_models::network::{Network, Normalisation, Shape, Spec};
use prdo_models::{LinearModel, Sizes};
use prdo_privacy::{Model, Start};
use prdo_runfile::{ConfigError, Key, ModelKind, RunFile, StartLaw};
use prdo_store::RecordFacts;

pub type BoxedModel<F = f64> = Box<dyn Model<Data = Table<F>>>;

/// A model that a program brings, for whatever records a run file names.
pub trait OwnModel {
    /// Where all nodes start; as many values as there are parameters.
    fn start(&self) -> Start;

    fn numbers(&self, facts: &RecordFacts) -> Result<BoxedModel, String>;

    fn images(&self, facts: &RecordFacts) -> Result<BoxedModel<u8>, String>;
}

/// A model that is fixed by public facts: no record was needed to choose it.
#[derive(Clone, Debug)]
pub struct PlannedModel {
    pub kind: ModelKind,
    pub form: Form,
    /// The map that its records go through first.
    pub features: Option<FeatureDesign>,
    pub dimension: usize,
    pub start: Start,
}

#[derive(Clone, Debug)]
pub enum Form {
    Linear(Box<dyn LinearModel>),
    Network {
        spec: Spec,
        /// Mean and deviation by which each channel is scaled, if it is.
        constants: Option<(Vec<f32>, Vec<f32>)>,
    },
}

impl Form {
    fn numbers(&self) -> BoxedModel {
        match self {
            Self::Linear(model) => model.clone(),
            Self::Network { spec, constants } => Box::new(network_of::<f64>(spec, constants.as_ref())),
        }
    }
}

impl PlannedModel {
    /// The model for records of numbers.
    pub fn numbers(&self) -> BoxedModel {
        self.form.numbers()
    }

    pub fn mapped(&self) -> Option<BoxedModel<f32>> {
        match (&self.features, &self.form) {
            (Some(_), Form::Linear(model)) => model.on_features(INTERCEPT).ok()?,
            (None, Form::Linear(_)) | (_, Form::Network { .. }) => None,
        }
    }

    /// What the intercepts of a linear model are multiplied by.
    pub fn constant(&self) -> f64 {
        if self.features.is_some() { INTERCEPT } else { 1.0 }
    }

    /// The model for images as bytes, which only networks read.
    pub fn images(&self) -> Option<BoxedModel<u8>> {
        match &self.form {
            Form::Network { spec, constants } => Some(Box::new(network_of::<u8>(spec, constants.as_ref()))),
            Form::Linear(_) => None,
        }
    }
}

pub fn network_of<F: Feature>(spec: &Spec, constants: Option<&(Vec<f32>, Vec<f32>)>) -> Network<F> {
    let normalisation = match constants {
        Some((mean, deviation)) => Normalisation::new(mean, deviation),
        None => Normalisation::none(spec.input().channels),
    };
    Network::new(spec.clone(), normalisation)
}

/// The model of this kind for records of this shape; `bytes` says that they are images as bytes, which are always
/// scaled.
pub fn plan_model(
    run: &RunFile,
    kind: ModelKind,
    facts: &RecordFacts,
    bytes: bool,
) -> Result<PlannedModel, ConfigError> {
    if kind == ModelKind::Own {
        return Err(run.without_own());
    }
    let (features, classes) = (facts.features as usize, facts.classes.unwrap_or(0) as usize);
    let shape = match facts.image {
        Some([channels, height, width]) if kind.is_network() => {
            Shape { channels: channels as usize, height: height as usize, width: width as usize }
        }
        _ => Shape::flat(features),
    };
    let plan = feature_design(run, kind, facts)?;
    let features = match &plan {
        Some(plan) => plan.dimension().map_err(|e| feature_error(run, &e))?,
        None => features,
    };
    if let Some(spec) = network(run, shape, classes)? {
        let scaled = bytes || run.data.mean.is_some() || run.data.deviation.is_some();
        let constants = match scaled {
            true => Some(normalisation(run, shape.channels, known_data(run, shape))?),
            false => None,
        };
        check_size(run, spec.parameters())?;
        let start = network_start(run, &spec)?;
        return Ok(PlannedModel {
            kind,
            features: None,
            dimension: spec.parameters(),
            form: Form::Network { spec, constants },
            start,
        });
    }
    let width = features + usize::from(run.intercept(kind));
    let model = linear(run, kind, Sizes { width, classes })?;
    let dimension = model.dimension();
    check_size(run, dimension)?;
    let start = start(run, kind, dimension);
    Ok(PlannedModel { kind, form: Form::Linear(model), features: plan, dimension, start })
}

/// The most parameters of a model: 8 GiB a vector.
const MOST_PARAMETERS: usize = 1 << 30;

/// Facts can be typed in, or come from others: better refused than out of memory.
fn check_size(run: &RunFile, dimension: usize) -> Result<(), ConfigError> {
    if dimension <= MOST_PARAMETERS {
        return Ok(());
    }
    let message = format!("the model has {dimension} parameters: it may have at most {MOST_PARAMETERS}");
    Err(run.error(Key::ModelKind, message))
}

fn linear(run: &RunFile, kind: ModelKind, sizes: Sizes) -> Result<Box<dyn LinearModel>, ConfigError> {
    match kind {
        ModelKind::Linear(card) => {
            (card.make)(sizes, run.model.parameter(card)).map_err(|e| located(run, &e.into()))
        }
        ModelKind::Network(_) => Err(run.missing(Key::ModelKind)),
        ModelKind::Own => Err(run.without_own()),
    }
}

fn start(run: &RunFile, kind: ModelKind, dimension: usize) -> Start {
    match run.model.start_law(kind) {
        StartLaw::Normal => Start::normal(dimension, run.model.start_deviation, run.model.start_seed),
        StartLaw::Zeros | StartLaw::Network(_) => Start::zeros(dimension),
    }
}

/// The name of a data set whose constants are published: CIFAR-10 by its format, the others by the name of the
/// folder that their files are in.
fn known_data(run: &RunFile, shape: Shape) -> Option<&'static str> {
    let path = run.data.path()?;
    if shape.channels == 3 && matches!(Format::of(path), Ok(Format::Cifar10)) {
        return Some("cifar10");
    }
    let folder = if path.is_dir() { Some(path) } else { path.parent() };
    match folder?.file_name()?.to_string_lossy().to_lowercase().as_str() {
        "fashion-mnist" => Some("fashion-mnist"),
        "mnist" => Some("mnist"),
        _ => None,
    }
}

pub fn located(run: &RunFile, error: &RunError) -> ConfigError {
    match (error, error.field()) {
        (RunError::OutOfRange { field, value, allowed }, _) => {
            run.error(*field, error.to_string()).about_value(field.path(), value, allowed)
        }
        (_, Some(field)) => run.error(field, error.to_string()),
        (_, None) => ConfigError::anywhere(error.to_string()),
    }
}
