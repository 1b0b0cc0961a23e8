//! The layers that `model.layers` lists.

use crate::model_kind::{ModelKind, StartLaw};
use crate::place::ConfigError;
use crate::run_file::RunFile;
use crate::schema::Key;
use prdo_models::network::Layer;
use prdo_models::network::LayerError;
use prdo_models::network::NAMES as NETWORKS;

impl RunFile {
    /// The layers of a network that the run file lists.
    pub fn layers(&self) -> Result<Vec<Layer>, ConfigError> {
        let texts = self.model.layers.as_ref().ok_or_else(|| self.missing(Key::ModelLayers))?;
        texts.iter().enumerate().map(|(k, text)| self.layer(k, text)).collect()
    }

    fn layer(&self, index: usize, text: &str) -> Result<Layer, ConfigError> {
        text.parse().map_err(|e: LayerError| {
            let message = format!("model.layers, layer {}: {e}", index + 1);
            let error = self.item_error(Key::ModelLayers, index, message);
            match &e {
                LayerError::Unknown { word } => match nearest(word) {
                    Some(near) => error.help(format!("did you mean {near:?}?")),
                    None => error,
                },
                _ => error,
            }
        })
    }

    /// Keys that only a network reads have no effect on other models: better said than silent.
    ///
    /// # Errors
    /// Such a key where the model is no network, unless kinds of models are swept.
    pub fn refuse_keys_of_networks(&self) -> Result<(), ConfigError> {
        if self.document.is_swept(Key::ModelKind) {
            return Ok(());
        }
        let keys = [Key::ModelLayers, Key::ModelFile, Key::DataMean, Key::DataDeviation];
        let (key, what) = match (keys.into_iter().find(|key| self.has(*key)), self.model.start) {
            (Some(key), _) => (key, key.to_string()),
            (None, Some(StartLaw::Network(law))) => {
                (Key::ModelStart, format!("{} = {:?}", Key::ModelStart, law.name()))
            }
            (None, Some(StartLaw::Zeros | StartLaw::Normal) | None) => return Ok(()),
        };
        let kind = self.model.kind.map_or("not given".into(), |kind: ModelKind| format!("{:?}", kind.name()));
        let known = NETWORKS.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(" or ");
        let message =
            format!("{what} is for networks, but model.kind is {kind}: it must be \"network\", {known}");
        Err(self.error(key, message))
    }
}

/// The layer's name nearest to what was typed, or the one that other libraries call so.
fn nearest(word: &str) -> Option<&'static str> {
    let word = word.to_lowercase();
    let elsewhere = match word.as_str() {
        "linear" | "fc" | "fully-connected" => Some("dense"),
        "convolution" | "convolve" => Some("conv"),
        "avg-pool" | "avgpool" | "mean-pool" => Some("average-pool"),
        _ => None,
    };
    let near = Layer::WORDS.iter().map(|name| (strsim::damerau_levenshtein(name, &word), *name)).min();
    elsewhere.or(near.filter(|(distance, _)| *distance <= 2).map(|(_, name)| name))
}
