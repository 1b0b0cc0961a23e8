//! `[model]`: the loss of one record, and where training starts.

use crate::data::{DataSource, Generated, GeneratedLaw};
use crate::document::Document;
use crate::model_kind::{ModelKind, StartLaw};
use crate::schema::Key;
use prdo_models::network::Law;
use std::path::PathBuf;

/// The section. What the kind does not read is there too.
#[derive(Clone, Debug)]
pub struct ModelSection {
    /// What was asked for; otherwise what fits the data.
    pub kind: Option<ModelKind>,
    /// The file that a network starts from.
    pub file: Option<PathBuf>,
    /// Condition number of quadratic.
    pub condition: f64,
    /// Curvature of log-cosh.
    pub curvature: f64,
    /// How the starting point is made, where it is said.
    pub start: Option<StartLaw>,
    /// The deviation of a normal one.
    pub start_deviation: f64,
    /// The public seed of a random one.
    pub start_seed: u64,
    pub(crate) layers: Option<Vec<String>>,
    regularization: Option<f64>,
    intercept: Option<bool>,
}

impl ModelSection {
    pub(crate) fn of(document: &Document) -> Self {
        let (kind, start) = (document.text(Key::ModelKind), document.text(Key::ModelStart));
        Self {
            kind: kind.and_then(|name| ModelKind::all().find(|kind| kind.name() == name)),
            file: document.file(Key::ModelFile),
            condition: document.float(Key::ModelCondition).unwrap_or_default(),
            curvature: document.float(Key::ModelCurvature).unwrap_or_default(),
            start: start.and_then(|name| StartLaw::all().find(|law| law.name() == name)),
            start_deviation: document.float(Key::ModelStartDeviation).unwrap_or_default(),
            start_seed: document.integer(Key::ModelStartSeed).unwrap_or_default(),
            layers: document.texts(Key::ModelLayers),
            regularization: document.float(Key::ModelRegularization),
            intercept: document.flag(Key::ModelIntercept),
        }
    }

    /// Whether the model is a program's.
    pub fn is_own(&self) -> bool {
        self.kind == Some(ModelKind::Own)
    }

    /// The regulariser's weight in logistic (the paper's, unless given) or softmax regression.
    pub fn regularization(&self, kind: ModelKind) -> Option<f64> {
        match kind {
            ModelKind::Logistic => Some(self.regularization.unwrap_or(0.001)),
            ModelKind::Softmax => Some(self.regularization.unwrap_or(0.0)),
            ModelKind::Quadratic | ModelKind::LogCosh | ModelKind::Network(_) | ModelKind::Own => None,
        }
    }

    /// Whether logistic regression on somebody's records has an intercept.
    pub fn intercept(&self) -> bool {
        self.intercept.unwrap_or(true)
    }

    /// How the starting point of a model of this kind is made.
    pub fn start_law(&self, kind: ModelKind) -> StartLaw {
        let default = if kind.is_network() { StartLaw::Network(Law::default()) } else { StartLaw::Zeros };
        self.start.unwrap_or(default)
    }
}

/// The kind for records of this source when nobody says, and all that fit them.
pub(crate) fn fitting(source: &DataSource) -> (ModelKind, Vec<ModelKind>) {
    let networks = ModelKind::networks();
    match source {
        DataSource::Generated(Generated { law, .. }) => match law {
            GeneratedLaw::Logistic { .. } => (ModelKind::Logistic, vec![ModelKind::Logistic]),
            GeneratedLaw::Blobs { .. } => {
                (ModelKind::Softmax, [ModelKind::Softmax].into_iter().chain(networks).collect())
            }
            GeneratedLaw::Quadratic { .. } => (ModelKind::Quadratic, vec![ModelKind::Quadratic]),
            GeneratedLaw::Coefficients { .. } => (ModelKind::LogCosh, vec![ModelKind::LogCosh]),
        },
        DataSource::Digits => {
            (ModelKind::Softmax, [ModelKind::Softmax].into_iter().chain(networks).collect())
        }
        DataSource::File | DataSource::Memory => {
            let linear = [ModelKind::Logistic, ModelKind::Softmax, ModelKind::Quadratic];
            (ModelKind::Softmax, linear.into_iter().chain(networks).collect())
        }
    }
}
