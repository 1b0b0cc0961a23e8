//! `model.safetensors` of a network: x̄ as one f32 tensor for each of its parameters' tensors (`conv1.weight`, …), so
//! that other libraries can load it by name.

use crate::artefact;
use prdo_models::network::{Shape, Spec, Tensor};
use safetensors::SafeTensorError;
use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize};
use serde::{Deserialize, Serialize};

/// A file that is no model of the network at hand.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkFileError {
    #[error("it is not a safetensors file: {0}")]
    Format(#[from] SafeTensorError),
    #[error("a model has {found} values, the network has {expected} parameters")]
    Size { found: usize, expected: usize },
    #[error("its tensors are not the network's: {}", differences(missing, extra))]
    Names { missing: Vec<String>, extra: Vec<String> },
    #[error("tensor {name:?} has shape {found:?}; the network's has {expected:?}")]
    Shape { name: String, found: Vec<usize>, expected: Vec<usize> },
    #[error("tensor {name:?} holds {found}; allowed: F64, F32, F16, BF16")]
    Numbers { name: String, found: String },
    #[error("its description is not that of a network: {text:?}")]
    Description { text: String },
    #[error("tensor {name:?}, value {index} is {value}: it must be finite")]
    NotFinite {
        name: String,
        /// Where in it, from 0.
        index: usize,
        value: f64,
    },
}

fn differences(missing: &[String], extra: &[String]) -> String {
    const MOST: usize = 20;
    let list = |what: &str, names: &[String]| {
        let rest = names.len().saturating_sub(MOST);
        let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
        let shown: Vec<&str> = names.iter().take(MOST).map(String::as_str).collect();
        (!names.is_empty()).then(|| format!("{what} {}{more}", shown.join(", ")))
    };
    let parts: Vec<String> =
        [list("missing", missing), list("unknown", extra)].into_iter().flatten().collect();
    parts.join("; ")
}

/// The file's bytes: x̄ by tensor, and with `all` each node's model as `nodes.0.conv1.weight`, … too.
pub fn write_network(
    spec: &Spec,
    average: &[f64],
    nodes: &[&[f64]],
    all: bool,
) -> Result<Vec<u8>, NetworkFileError> {
    let mut named = Vec::new();
    let mut add = |prefix: String, model: &[f64]| {
        for tensor in spec.tensors() {
            let size = NetworkFileError::Size { found: model.len(), expected: spec.parameters() };
            let values =
                model.get(tensor.range()).filter(|_| model.len() == spec.parameters()).ok_or(size)?;
            let bytes: Vec<u8> = values.iter().flat_map(|v| (*v as f32).to_le_bytes()).collect();
            named.push((format!("{prefix}{}", tensor.name), tensor, bytes));
        }
        Ok::<(), NetworkFileError>(())
    };
    add(String::new(), average)?;
    for (node, model) in nodes.iter().enumerate().filter(|_| all) {
        add(format!("nodes.{node}."), model)?;
    }
    let mut views = Vec::with_capacity(named.len());
    for (name, tensor, bytes) in &named {
        views.push((name.as_str(), TensorView::new(Dtype::F32, tensor.shape.clone(), bytes)?));
    }
    Ok(serialize(views, Some([about(spec)].into_iter().collect()))?)
}

/// What the file says about itself. One entry, because safetensors writes several in an order of chance, and the
/// same run must give the same bytes.
fn about(spec: &Spec) -> (String, String) {
    let input = spec.input();
    let about = About {
        format: "prdo network, version 1".to_string(),
        input: [input.channels, input.height, input.width],
        classes: spec.classes(),
        layers: spec.layers().iter().map(ToString::to_string).collect(),
    };
    ("prdo".to_string(), artefact::line(&about))
}

#[derive(Serialize, Deserialize)]
struct About {
    #[serde(default)]
    format: String,
    input: [usize; 3],
    classes: usize,
    layers: Vec<String>,
}

/// The model in a safetensors file as the flat vector of this network. Tensors are found by name; nodes' models, if
/// any, are passed over.
pub fn read_network(spec: &Spec, bytes: &[u8]) -> Result<Vec<f64>, NetworkFileError> {
    let file = SafeTensors::deserialize(bytes)?;
    let known = |name: &str| spec.tensors().iter().any(|tensor| tensor.name == name);
    let found = file.names();
    let missing: Vec<String> = spec
        .tensors()
        .iter()
        .filter(|tensor| !found.contains(&tensor.name.as_str()))
        .map(|tensor| tensor.name.clone())
        .collect();
    let mut extra: Vec<String> =
        found.iter().filter(|name| !known(of_node(name).unwrap_or(name))).map(ToString::to_string).collect();
    extra.sort();
    if !(missing.is_empty() && extra.is_empty()) {
        return Err(NetworkFileError::Names { missing, extra });
    }
    let mut model = Vec::with_capacity(spec.parameters());
    for tensor in spec.tensors() {
        model.extend(values(tensor, &file.tensor(&tensor.name)?)?);
    }
    Ok(model)
}

/// A network and its parameters, from a file that says what it holds.
pub struct NetworkFile<'a> {
    pub spec: Spec,
    file: SafeTensors<'a>,
}

/// Whether a file is a network's model that prdo wrote.
pub fn is_trained_by_prdo(bytes: &[u8]) -> bool {
    matches!(NetworkFile::read(bytes), Ok(Some(_)))
}

impl<'a> NetworkFile<'a> {
    /// The network in a file that prdo wrote; `None` when the file holds another kind of model.
    pub fn read(bytes: &'a [u8]) -> Result<Option<Self>, NetworkFileError> {
        let (_, metadata) = SafeTensors::read_metadata(bytes)?;
        let Some(text) = metadata.metadata().as_ref().and_then(|entries| entries.get("prdo")) else {
            return Ok(None);
        };
        let spec = described(text).ok_or_else(|| NetworkFileError::Description { text: text.clone() })?;
        Ok(Some(Self { spec, file: SafeTensors::deserialize(bytes)? }))
    }

    /// x̄, or the model of one node (from 0), as the flat vector of the network.
    pub fn model(&self, node: Option<usize>) -> Result<Vec<f64>, NetworkFileError> {
        let prefix = node.map_or(String::new(), |node| format!("nodes.{node}."));
        let mut model = Vec::with_capacity(self.spec.parameters());
        for tensor in self.spec.tensors() {
            let name = format!("{prefix}{}", tensor.name);
            let lacks = |_| NetworkFileError::Names { missing: vec![name.clone()], extra: Vec::new() };
            model.extend(values(tensor, &self.file.tensor(&name).map_err(lacks)?)?);
        }
        Ok(model)
    }
}

/// The network of a file's own description.
fn described(text: &str) -> Option<Spec> {
    let about: About = serde_json::from_str(text).ok()?;
    let [channels, height, width] = about.input;
    let layers = about.layers.iter().map(|layer| layer.parse().ok());
    Spec::new(Shape::new(channels, height, width), layers.collect::<Option<_>>()?, about.classes).ok()
}

/// `conv1.weight` of `nodes.7.conv1.weight`.
fn of_node(name: &str) -> Option<&str> {
    let (node, rest) = name.strip_prefix("nodes.")?.split_once('.')?;
    node.parse::<usize>().is_ok().then_some(rest)
}

/// A tensor's values, if they have its shape and are finite.
fn values(tensor: &Tensor, view: &TensorView<'_>) -> Result<Vec<f64>, NetworkFileError> {
    let name = || tensor.name.clone();
    if view.shape() != tensor.shape {
        let (found, expected) = (view.shape().to_vec(), tensor.shape.clone());
        return Err(NetworkFileError::Shape { name: name(), found, expected });
    }
    let data = view.data();
    let values: Vec<f64> = match view.dtype() {
        Dtype::F64 => data.as_chunks().0.iter().map(|b| f64::from_le_bytes(*b)).collect(),
        Dtype::F32 => data.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b).into()).collect(),
        Dtype::F16 => data.as_chunks().0.iter().map(|b| half(u16::from_le_bytes(*b))).collect(),
        Dtype::BF16 => data.as_chunks().0.iter().map(|b| brain(u16::from_le_bytes(*b))).collect(),
        other => return Err(NetworkFileError::Numbers { name: name(), found: format!("{other:?}") }),
    };
    match values.iter().position(|v| !v.is_finite()) {
        Some(index) => Err(NetworkFileError::NotFinite { name: name(), index, value: values[index] }),
        None => Ok(values),
    }
}

/// A bfloat16: the upper half of an f32.
fn brain(bits: u16) -> f64 {
    f32::from_bits(u32::from(bits) << 16).into()
}

/// An IEEE half: 1 sign bit, 5 of exponent, 10 of fraction.
fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let size = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -size } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prdo_models::network::Layer;

    fn spec() -> Spec {
        let layers = vec![
            Layer::Conv { out: 2, kernel: 3, stride: 1, padding: 1 },
            Layer::GroupNorm { groups: 1 },
            Layer::Tanh,
            Layer::Dense { out: 3 },
        ];
        Spec::new(Shape::new(1, 2, 2), layers, 3).unwrap()
    }

    fn model(spec: &Spec, shift: f64) -> Vec<f64> {
        (0..spec.parameters()).map(|j| f64::from((j as f32).sin()) + shift).collect()
    }

    type Entry = (&'static str, Dtype, &'static [usize]);

    /// A file of these tensors, all zeros.
    fn file(tensors: &[Entry]) -> Vec<u8> {
        let zeros = vec![0_u8; 4096];
        let view = |(name, dtype, shape): &Entry| {
            let bytes = shape.iter().product::<usize>() * dtype.bitsize() / 8;
            (name.to_string(), TensorView::new(*dtype, shape.to_vec(), &zeros[..bytes]).unwrap())
        };
        serialize(tensors.iter().map(view).collect::<Vec<_>>(), None).unwrap()
    }

    #[test]
    fn networks_come_back_by_name_with_and_without_the_nodes() {
        let spec = spec();
        let (average, other) = (model(&spec, 0.0), model(&spec, 1.0));
        for all in [false, true] {
            let bytes = write_network(&spec, &average, &[&average, &other], all).unwrap();
            assert_eq!(bytes, write_network(&spec, &average, &[&average, &other], all).unwrap());
            assert_eq!(read_network(&spec, &bytes).unwrap(), average);
            let file = SafeTensors::deserialize(&bytes).unwrap();
            assert_eq!(file.len(), if all { 18 } else { 6 });
            let conv = file.tensor("conv1.weight").unwrap();
            assert_eq!((conv.dtype(), conv.shape()), (Dtype::F32, &[2, 1, 3, 3][..]));
            if all {
                let first = file.tensor("nodes.1.conv1.weight").unwrap().data()[..4].try_into().unwrap();
                assert_eq!(f32::from_le_bytes(first), other[0] as f32);
            }
        }
        assert!(write_network(&spec, &average[1..], &[], false).is_err());
        assert!(write_network(&spec, &average, &[&[1.0]], true).is_err());
    }

    #[test]
    fn files_say_which_network_they_hold() {
        let spec = spec();
        let (average, other) = (model(&spec, 0.0), model(&spec, 1.0));
        let single = |model: &[f64]| model.iter().map(|v| f64::from(*v as f32)).collect::<Vec<_>>();
        let bytes = write_network(&spec, &average, &[&average, &other], true).unwrap();
        let file = NetworkFile::read(&bytes).unwrap().unwrap();
        assert_eq!((&file.spec, file.model(None).unwrap()), (&spec, single(&average)));
        assert_eq!(file.model(Some(1)).unwrap(), single(&other));
        let error = file.model(Some(2)).unwrap_err().to_string();
        assert_eq!(error, "its tensors are not the network's: missing nodes.2.conv1.weight");
        let linear = crate::write_models(&[1.0], &[&[1.0]]).unwrap();
        assert!(NetworkFile::read(&linear).unwrap().is_none() && NetworkFile::read(b"nonsense").is_err());
    }

    #[test]
    fn files_of_other_networks_are_refused_by_name() {
        let spec = spec();
        let good: [Entry; 6] = [
            ("conv1.weight", Dtype::F32, &[2, 1, 3, 3]),
            ("conv1.bias", Dtype::F64, &[2]),
            ("norm1.weight", Dtype::F16, &[2]),
            ("norm1.bias", Dtype::BF16, &[2]),
            ("fc1.weight", Dtype::F32, &[3, 8]),
            ("fc1.bias", Dtype::F32, &[3]),
        ];
        assert_eq!(read_network(&spec, &file(&good)).unwrap(), vec![0.0; spec.parameters()]);
        let refusal = |change: &dyn Fn(&mut Vec<Entry>)| {
            let mut tensors = good.to_vec();
            change(&mut tensors);
            read_network(&spec, &file(&tensors)).unwrap_err().to_string()
        };
        assert_eq!(
            refusal(&|t| {
                t[5].0 = "classifier.bias";
                t.push(("nodes.0.fc9.bias", Dtype::F32, &[3]));
            }),
            "its tensors are not the network's: missing fc1.bias; unknown classifier.bias, nodes.0.fc9.bias"
        );
        let shape = refusal(&|t| t[4].2 = &[8, 3]);
        assert_eq!(shape, "tensor \"fc1.weight\" has shape [8, 3]; the network's has [3, 8]");
        let numbers = refusal(&|t| t[1].1 = Dtype::I32);
        assert_eq!(numbers, "tensor \"conv1.bias\" holds I32; allowed: F64, F32, F16, BF16");
        let mut broken = model(&spec, 0.0);
        broken[20] = f64::NAN;
        let error = read_network(&spec, &write_network(&spec, &broken, &[], false).unwrap()).unwrap_err();
        assert_eq!(error.to_string(), "tensor \"norm1.weight\", value 0 is NaN: it must be finite");
        assert!(read_network(&spec, b"nonsense").is_err());
        let whole = file(&good);
        for end in 0..whole.len() {
            assert!(read_network(&spec, &whole[..end]).is_err(), "cut at {end}");
        }
    }

    #[test]
    fn small_floats_have_their_values() {
        // 1, −2, the largest, the smallest and the smallest normal half.
        for (bits, value) in
            [(0x3c00, 1.0), (0xc000, -2.0), (0x7bff, 65504.0), (1, 2f64.powi(-24)), (0x400, 2f64.powi(-14))]
        {
            assert_eq!(half(bits), value, "{bits:#x}");
        }
        assert!(half(0x7c00) == f64::INFINITY && half(0xfc00) == f64::NEG_INFINITY && half(0x7e00).is_nan());
        assert_eq!((brain(0x3f80), brain(0xc049)), (1.0, -3.140625));
    }
}
