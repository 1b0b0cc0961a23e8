//! `[model]`: the loss of one record, and where training starts.

use crate::data::{DataSource, Generated, GeneratedLaw};
use crate::document::Document;
use crate::model_kind::{ModelKind, StartLaw};
use crate::schema::{Key, Section};
use prdo_models::network::Law;
use prdo_models::{LINEAR, Labels, LogCosh, Logistic, ModelCard, Quadratic, Softmax};
use std::path::PathBuf;

/// The section. What the kind does not read is there too.
#[derive(Clone, Debug)]
pub struct ModelSection {
    /// What was asked for; otherwise what fits the data.
    pub kind: Option<ModelKind>,
    /// The file that a network starts from.
    pub file: Option<PathBuf>,
    /// How the starting point is made, where it is said.
    pub start: Option<StartLaw>,
    /// The deviation of a normal one.
    pub start_deviation: f64,
    /// The public seed of a random one.
    pub start_seed: u64,
    pub(crate) layers: Option<Vec<String>>,
    /// The parameters of linear models that have a value, typed or not.
    parameters: Vec<(Key, f64)>,
    intercept: Option<bool>,
}

/// Whether the key is that of a linear model's parameter.
pub(crate) fn is_parameter(key: Key) -> bool {
    LINEAR.iter().any(|card| is_of(key, card))
}

fn is_of(key: Key, card: &ModelCard) -> bool {
    key.section() == Some(Section::Model) && key.name() == card.parameter.name
}

/// Whether a model of this kind is made with this parameter. What a program's model does with it, its program knows.
pub(crate) fn reads_parameter(kind: ModelKind, key: Key) -> bool {
    match kind {
        ModelKind::Linear(card) => is_of(key, card),
        ModelKind::Network(_) => false,
        ModelKind::Own => key == Key::ModelRegularization,
    }
}

impl ModelSection {
    pub(crate) fn of(document: &Document) -> Self {
        let (kind, start) = (document.text(Key::ModelKind), document.text(Key::ModelStart));
        let parameter = |card: &&ModelCard| {
            let key = Section::Model.key(card.parameter.name)?;
            Some((key, document.float(key)?))
        };
        Self {
            kind: kind.and_then(|name| ModelKind::all().find(|kind| kind.name() == name)),
            file: document.file(Key::ModelFile),
            start: start.and_then(|name| StartLaw::all().find(|law| law.name() == name)),
            start_deviation: document.float(Key::ModelStartDeviation).unwrap_or_default(),
            start_seed: document.integer(Key::ModelStartSeed).unwrap_or_default(),
            layers: document.texts(Key::ModelLayers),
            parameters: LINEAR.iter().filter_map(parameter).collect(),
            intercept: document.flag(Key::ModelIntercept),
        }
    }

    pub fn is_own(&self) -> bool {
        self.kind == Some(ModelKind::Own)
    }

    /// What a linear model is made with: as given, or its own default.
    pub fn parameter(&self, card: &ModelCard) -> f64 {
        let given = self.parameters.iter().find(|(key, _)| is_of(*key, card));
        given.map_or(card.parameter.default, |(_, value)| *value)
    }

    /// The regulariser's weight, of a model that has one.
    pub(crate) fn regularization(&self, kind: ModelKind) -> Option<f64> {
        match kind {
            ModelKind::Linear(card) if reads_parameter(kind, Key::ModelRegularization) => {
                Some(self.parameter(card))
            }
            ModelKind::Linear(_) | ModelKind::Network(_) | ModelKind::Own => None,
        }
    }

    /// Whether a model that may have an intercept has one.
    pub(crate) fn intercept(&self) -> bool {
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
    let default = match source {
        DataSource::Generated(Generated { law, .. }) => match law {
            GeneratedLaw::Logistic { .. } => &Logistic::CARD,
            GeneratedLaw::Blobs { .. } => &Softmax::CARD,
            GeneratedLaw::Quadratic { .. } => &Quadratic::CARD,
            GeneratedLaw::Coefficients { .. } => &LogCosh::CARD,
        },
        DataSource::Digits | DataSource::File | DataSource::Memory => &Softmax::CARD,
    };
    let linear = LINEAR.iter().copied().filter(|card| card.sources.contains(&source.name()));
    // Networks learn classes.
    let networks = ModelKind::networks().filter(|_| default.labels == Labels::Classes);
    (ModelKind::Linear(default), linear.map(ModelKind::Linear).chain(networks).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_linear_model_has_a_source_and_a_key_with_its_range_and_default() {
        for card in LINEAR {
            let parameter = &card.parameter;
            let key =
                Section::Model.key(parameter.name).unwrap_or_else(|| panic!("model.{}?", parameter.name));
            for value in [-1.0, 0.0, 0.5, 1.0, 2.0, f64::NAN] {
                let typed = Document::parse("a", &format!("{key} = {value:?}"));
                assert!(typed.is_err() || (parameter.fits)(value), "{key} = {value}");
            }
            let section = ModelSection::of(&Document::default());
            assert_eq!(section.parameter(card), parameter.default, "{key}");
            assert!(
                card.sources.iter().all(|source| crate::names::SOURCES.contains(source)),
                "{}",
                card.name
            );
        }
    }
}
