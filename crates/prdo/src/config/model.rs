//! The run file's `[model]` section as a model, from what is public about the records.

use super::document::Document;
use super::features::{FeaturePlan, feature_plan, located as feature_error};
use super::layers::{is_network, network, network_start, normalisation};
use super::place::ConfigError;
use super::records::intercept;
use crate::error::RunError;
use prdo_peer::agreement::Facts;
use prdo_privacy::{Model, Start};
use prdo_problem::data::{Feature, Format, Table};
use prdo_problem::features::INTERCEPT;
use prdo_problem::models::{FeatureLogistic, LogCosh, Logistic, ModelError, Quadratic, Softmax};
use prdo_problem::network::{Network, Normalisation, Shape, Spec};

/// A model of tables, whichever it is.
pub type BoxedModel<F = f64> = Box<dyn Model<Data = Table<F>>>;

/// The kind of a model that a program brings: no run file alone describes it.
pub const OWN: &str = "own";

/// A model that a program brings, for whatever records a run file names.
pub trait OwnModel {
    /// Where all nodes start; as many values as there are parameters.
    fn start(&self) -> Start;

    /// The model for records of numbers of this shape.
    ///
    /// # Errors
    /// Records that it cannot read, in words.
    fn numbers(&self, facts: &Facts) -> Result<BoxedModel, String>;

    /// The model for images as bytes of this shape.
    ///
    /// # Errors
    /// Records that it cannot read, in words.
    fn images(&self, facts: &Facts) -> Result<BoxedModel<u8>, String>;
}

/// A model that is fixed by public facts: no record was needed to choose it.
#[derive(Clone, Debug)]
pub struct PlannedModel {
    /// Its kind in run files.
    pub kind: String,
    /// What it is.
    pub form: Form,
    /// The map that its records go through first.
    pub features: Option<FeaturePlan>,
    /// d.
    pub dimension: usize,
    /// Where all nodes start.
    pub start: Start,
}

/// What a model is.
#[derive(Clone, Debug)]
pub enum Form {
    /// Two classes.
    Logistic(Logistic),
    /// Any number of classes.
    Softmax(Softmax),
    /// Least squares.
    Quadratic(Quadratic),
    /// The paper's example of a sensitivity.
    LogCosh(LogCosh),
    /// Layers.
    Network {
        /// Which.
        spec: Spec,
        /// Mean and deviation by which each channel is scaled, if it is.
        constants: Option<(Vec<f32>, Vec<f32>)>,
    },
}

impl PlannedModel {
    /// The model for records of numbers.
    pub fn numbers(&self) -> BoxedModel {
        match &self.form {
            Form::Logistic(model) => Box::new(*model),
            Form::Softmax(model) => Box::new(*model),
            Form::Quadratic(model) => Box::new(model.clone()),
            Form::LogCosh(model) => Box::new(*model),
            Form::Network { spec, constants } => Box::new(network_of::<f64>(spec, constants.as_ref())),
        }
    }

    /// The model for records that went through a feature map.
    pub fn mapped(&self) -> Option<BoxedModel<f32>> {
        match (&self.features, &self.form) {
            (Some(_), Form::Softmax(model)) => {
                Some(Box::new(model.for_records::<f32>().with_constant(INTERCEPT).ok()?))
            }
            (Some(_), Form::Logistic(model)) => {
                Some(Box::new(FeatureLogistic::<f32>::new(*model, INTERCEPT).ok()?))
            }
            _ => None,
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
            _ => None,
        }
    }
}

/// The network of these layers, whose input is scaled by these constants.
pub fn network_of<F: Feature>(spec: &Spec, constants: Option<&(Vec<f32>, Vec<f32>)>) -> Network<F> {
    let normalisation = match constants {
        Some((mean, deviation)) => Normalisation::new(mean, deviation),
        None => Normalisation::none(spec.input().channels),
    };
    Network::new(spec.clone(), normalisation)
}

/// The model of this kind for records of this shape; `bytes` says that they are images as bytes, which are always
/// scaled.
///
/// # Errors
/// Settings that do not fit, at their place in the run file.
pub fn plan_model(
    document: &Document,
    kind: &str,
    facts: &Facts,
    bytes: bool,
) -> Result<PlannedModel, ConfigError> {
    if kind == OWN {
        return Err(without_own(document));
    }
    let (features, classes) = (facts.features as usize, facts.classes.unwrap_or(0) as usize);
    let shape = match facts.image {
        Some([channels, height, width]) if is_network(kind) => {
            Shape { channels: channels as usize, height: height as usize, width: width as usize }
        }
        _ => Shape::flat(features),
    };
    let plan = feature_plan(document, kind, facts)?;
    let features = match &plan {
        Some(plan) => plan.dimension().map_err(|e| feature_error(document, &e))?,
        None => features,
    };
    let kind = kind.to_owned();
    if let Some(spec) = network(document, shape, classes)? {
        let scaled = bytes || document.has("data.mean") || document.has("data.deviation");
        let constants = match scaled {
            true => Some(normalisation(document, shape.channels, known_data(document, shape))?),
            false => None,
        };
        check_size(document, spec.parameters())?;
        let start = network_start(document, &spec)?;
        return Ok(PlannedModel {
            kind,
            features: None,
            dimension: spec.parameters(),
            form: Form::Network { spec, constants },
            start,
        });
    }
    let width = features + usize::from(intercept(document, kind == "logistic"));
    let form = form(document, &kind, width, classes).map_err(|e| located(document, &e.into()))?;
    let dimension = match &form {
        Form::Logistic(model) => model.dimension(),
        Form::Softmax(model) => model.dimension(),
        Form::Quadratic(model) => model.dimension(),
        Form::LogCosh(model) => model.dimension(),
        Form::Network { spec, .. } => spec.parameters(),
    };
    check_size(document, dimension)?;
    Ok(PlannedModel { kind, form, features: plan, dimension, start: start(document, dimension) })
}

/// The most parameters of a model: 8 GiB a vector.
const MOST_PARAMETERS: usize = 1 << 30;

/// Facts can be typed in, or come from others: better refused than out of memory.
fn check_size(document: &Document, dimension: usize) -> Result<(), ConfigError> {
    match dimension <= MOST_PARAMETERS {
        true => Ok(()),
        false => {
            let message =
                format!("the model has {dimension} parameters: it may have at most {MOST_PARAMETERS}");
            Err(document.error("model.kind", message))
        }
    }
}

fn form(document: &Document, kind: &str, width: usize, classes: usize) -> Result<Form, ModelError> {
    let regularization = document.float("model.regularization");
    Ok(match kind {
        "logistic" => Form::Logistic(Logistic::new(width, regularization.unwrap_or(0.001))?),
        "softmax" => Form::Softmax(Softmax::new(width, classes, regularization.unwrap_or(0.0))?),
        "quadratic" => {
            Form::Quadratic(Quadratic::new(width, document.float("model.condition").unwrap_or(10.0))?)
        }
        _ => Form::LogCosh(LogCosh::new(document.float("model.curvature").unwrap_or(0.5))?),
    })
}

/// The kind of model that is asked for, or the one that fits the data.
///
/// # Errors
/// No data, or a kind that does not fit it.
pub fn model_kind(document: &Document) -> Result<String, ConfigError> {
    let (source, given) = (document.text("data.source"), document.text("model.kind"));
    // An agreement speaks of nobody's data: there the kind is given.
    let source = match (source, given) {
        (None, Some(kind)) => return Ok(kind),
        (source, _) => source.ok_or_else(|| document.missing("data.source"))?,
    };
    // The model of a program reads whatever its author says.
    if document.text("model.kind").as_deref() == Some(OWN) {
        return Ok(OWN.to_string());
    }
    let (default, fits): (&str, &[&str]) = match source.as_str() {
        "logistic" => ("logistic", &["logistic"]),
        "blobs" | "digits" => ("softmax", &["softmax", "network", "vgg-small", "lenet"]),
        "quadratic" => ("quadratic", &["quadratic"]),
        "coefficients" => ("log-cosh", &["log-cosh"]),
        _ => ("softmax", &["logistic", "softmax", "quadratic", "network", "vgg-small", "lenet"]),
    };
    let kind = document.text("model.kind").unwrap_or_else(|| default.to_string());
    if fits.contains(&kind.as_str()) {
        return Ok(kind);
    }
    let message = format!(
        "model.kind = {kind:?} does not fit data.source = {source:?}: it must be {}",
        fits.iter().map(|f| format!("{f:?}")).collect::<Vec<_>>().join(" or ")
    );
    Err(document.error("model.kind", message))
}

/// The error for a program's model where there is no program.
pub fn without_own(document: &Document) -> ConfigError {
    let message = "model.kind = \"own\" means the model of a program: this run file alone does not have it";
    let help = "in Python: prdo.Run(\"run.toml\", model=prdo.PythonModel(...))";
    document.error("model.kind", message).help(help)
}

fn start(document: &Document, dimension: usize) -> Start {
    match document.text("model.start").as_deref() {
        Some("normal") => {
            let deviation = document.float("model.start_deviation").unwrap_or(0.1);
            Start::normal(dimension, deviation, document.integer("model.start_seed").unwrap_or(1))
        }
        _ => Start::zeros(dimension),
    }
}

/// The name of a data set whose constants are published: CIFAR-10 by its format, the others by the name of the
/// folder that their files are in.
fn known_data(document: &Document, shape: Shape) -> Option<&'static str> {
    let path = document.file("data.path")?;
    if shape.channels == 3 && matches!(Format::of(&path), Ok(Format::Cifar10)) {
        return Some("cifar10");
    }
    let folder = if path.is_dir() { Some(path.as_path()) } else { path.parent() };
    match folder?.file_name()?.to_string_lossy().to_lowercase().as_str() {
        "fashion-mnist" => Some("fashion-mnist"),
        "mnist" => Some("mnist"),
        _ => None,
    }
}

/// An error at the key it is about.
pub fn located(document: &Document, error: &RunError) -> ConfigError {
    match (error, error.field()) {
        (RunError::OutOfRange { field, value, allowed }, _) => {
            document.error(field, error.to_string()).about_value(field, value, allowed)
        }
        (_, Some(field)) => document.error(field, error.to_string()),
        (_, None) => ConfigError::anywhere(error.to_string()),
    }
}
