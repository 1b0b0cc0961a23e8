//! The run file's network: `[model]` kind, layers and start, and the constants that its images are scaled by.

use super::document::Document;
use super::place::ConfigError;
use crate::output::read_network;
use prdo_privacy::Start;
use prdo_problem::network::{Fault, Law, Layer, LayerError, NAMES, Shape, Spec, SpecError};

/// The kind whose layers the run file lists.
const LISTED: &str = "network";

/// Whether this `model.kind` is a network.
pub fn is_network(kind: &str) -> bool {
    kind == LISTED || NAMES.contains(&kind)
}

/// The network that the run file describes, for records of shape `input` and labels 0 to `classes`−1; `None` when
/// `model.kind` is no network.
///
/// # Errors
/// A layer that is none or does not fit, at its place; keys of networks where there is no network.
pub fn network(document: &Document, input: Shape, classes: usize) -> Result<Option<Spec>, ConfigError> {
    let kind = document.text("model.kind").unwrap_or_default();
    if !is_network(&kind) {
        return refuse_keys_of_networks(document, &kind).map(|()| None);
    }
    if let Some(spec) = Spec::named(&kind, input, classes) {
        if document.has("model.layers") && !document.is_swept("model.kind") {
            let message =
                format!("model.layers is given but {kind:?} has its own: model.kind must be \"network\"");
            return Err(document.error("model.layers", message));
        }
        return spec.map(Some).map_err(|e| document.error("model.kind", format!("model.kind: {e}")));
    }
    let texts = document.texts("model.layers").ok_or_else(|| document.missing("model.layers"))?;
    let layers: Vec<Layer> =
        texts.iter().enumerate().map(|(k, text)| layer(document, k, text)).collect::<Result<_, _>>()?;
    let last = layers.len().saturating_sub(1);
    Spec::new(input, layers, classes).map(Some).map_err(|e| spec_error(document, last, &e))
}

/// Keys that only a network reads have no effect on other models: better said than silent.
fn refuse_keys_of_networks(document: &Document, kind: &str) -> Result<(), ConfigError> {
    if document.is_swept("model.kind") {
        return Ok(());
    }
    let given = |path: &&str| document.has(path);
    let field = ["model.layers", "model.file", "data.mean", "data.deviation"].into_iter().find(given);
    let law = document.text("model.start").and_then(|name| Law::named(&name));
    let (field, what) = match (field, law) {
        (Some(field), _) => (field, field.to_string()),
        (None, Some(law)) => ("model.start", format!("model.start = {:?}", law.name())),
        (None, None) => return Ok(()),
    };
    let (kind, names) = (if kind.is_empty() { "not given".into() } else { format!("{kind:?}") }, NAMES);
    let known = names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(" or ");
    let message =
        format!("{what} is for networks, but model.kind is {kind}: it must be \"network\", {known}");
    Err(document.error(field, message))
}

fn layer(document: &Document, index: usize, text: &str) -> Result<Layer, ConfigError> {
    text.parse().map_err(|e: LayerError| {
        let message = format!("model.layers, layer {}: {e}", index + 1);
        let error = document.item_error("model.layers", index, message);
        match &e {
            LayerError::Unknown { word } => match nearest(word) {
                Some(near) => error.help(format!("did you mean {near:?}?")),
                None => error,
            },
            _ => error,
        }
    })
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

/// The error at the layer it is about, `last` being the last one.
fn spec_error(document: &Document, last: usize, error: &SpecError) -> ConfigError {
    let layer = match &error.fault {
        Fault::Layer { number, .. } => Some(number - 1),
        Fault::Last { .. } => Some(last),
        Fault::Input { .. } | Fault::Classes { .. } => None,
    };
    match layer {
        Some(index) => document.item_error("model.layers", index, error.to_string()),
        None => document.error("model.layers", error.to_string()),
    }
}

/// How the public starting point is made: `model.start`, or the default of this kind of model.
pub fn start_law(document: &Document, kind: &str) -> String {
    let default = if is_network(kind) { Law::default().name() } else { "zeros" };
    document.text("model.start").unwrap_or_else(|| default.to_string())
}

/// The public starting point of a network: read from `model.file`, or made as `model.start` says.
///
/// # Errors
/// A file that cannot be read or holds another network; a file and a law at once.
pub fn network_start(document: &Document, spec: &Spec) -> Result<Start, ConfigError> {
    let seed = document.integer("model.start_seed").unwrap_or(1);
    let Some(path) = document.file("model.file") else {
        let name = start_law(document, LISTED);
        return Ok(match (name.as_str(), Law::named(&name)) {
            (_, Some(law)) => spec.start(law, seed),
            ("normal", _) => {
                let deviation = document.float("model.start_deviation").unwrap_or(0.1);
                Start::normal(spec.parameters(), deviation, seed)
            }
            _ => Start::zeros(spec.parameters()),
        });
    };
    if document.has("model.start") {
        let message = "model.start and model.file are both given: the file is the starting point";
        return Err(document.error("model.start", message));
    }
    let refuse =
        |what: String| document.error("model.file", format!("model.file {}: {what}", path.display()));
    let bytes = std::fs::read(&path).map_err(|e| refuse(format!("cannot read it: {e}")))?;
    let values = read_network(spec, &bytes).map_err(|e| refuse(e.to_string()))?;
    Start::declared_public(values).map_err(|e| refuse(e.to_string()))
}

/// Published mean and deviation of the training images, a channel each, of data sets known by name.
const PUBLISHED: [(&str, &[f32], &[f32]); 3] = [
    ("cifar10", &[0.4914, 0.4822, 0.4465], &[0.2470, 0.2435, 0.2616]),
    ("mnist", &[0.1307], &[0.3081]),
    ("fashion-mnist", &[0.2860], &[0.3530]),
];

/// The constants (mean, deviation) of each channel that images are scaled by: (byte/255 − mean)/deviation. They
/// are public: given in the run file, the published ones of a data set `known` by name, or 0.5 and 0.25. None is
/// ever computed from the records, which would release something about them.
///
/// # Errors
/// Lists of another length than `channels`, or one without the other.
pub fn normalisation(
    document: &Document,
    channels: usize,
    known: Option<&str>,
) -> Result<(Vec<f32>, Vec<f32>), ConfigError> {
    let given = |path: &'static str, other: &str| match document.floats(path) {
        None if document.has(other) => {
            let message = format!("{other} is given but {path} is not: give both, one number a channel each");
            Err(document.error(other, message))
        }
        Some(list) if list.len() != channels => {
            let message =
                format!("{path} has {} numbers: it must have {channels}, one a channel", list.len());
            Err(document.error(path, message))
        }
        list => Ok(list.map(|list| list.into_iter().map(|x| x as f32).collect::<Vec<_>>())),
    };
    let (mean, deviation) = (given("data.mean", "data.deviation")?, given("data.deviation", "data.mean")?);
    if let (Some(mean), Some(deviation)) = (mean, deviation) {
        return Ok((mean, deviation));
    }
    let published = PUBLISHED.iter().find(|(name, mean, _)| Some(*name) == known && mean.len() == channels);
    Ok(match published {
        Some((_, mean, deviation)) => (mean.to_vec(), deviation.to_vec()),
        None => (vec![0.5; channels], vec![0.25; channels]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::write_network;

    const MNIST: Shape = Shape { channels: 1, height: 28, width: 28 };

    fn document(text: &str) -> Document {
        Document::parse("a.toml", text).unwrap()
    }

    fn refusal(text: &str) -> String {
        network(&document(text), MNIST, 10).unwrap_err().to_string()
    }

    #[test]
    fn run_files_describe_networks() {
        let listed = document("[model]\nkind = \"network\"\nlayers = [\"conv 4\", \"tanh\", \"dense 10\"]");
        let spec = network(&listed, MNIST, 10).unwrap().unwrap();
        assert_eq!(spec.to_string(), "[\"conv 4\", \"tanh\", \"dense 10\"]");
        let named = document("[model]\nkind = \"lenet\"");
        assert_eq!(network(&named, MNIST, 10).unwrap().unwrap().parameters(), 61_706);
        for other in ["", "[model]\nkind = \"softmax\"", "[model]\nstart = \"normal\""] {
            assert_eq!(network(&document(other), MNIST, 10).unwrap(), None, "{other}");
        }
        assert_eq!(network_start(&listed, &spec).unwrap(), spec.start(Law::Glorot, 1));
    }

    #[test]
    fn what_does_not_fit_is_shown_at_its_place() {
        let layers = |list: &str| format!("[model]\nkind = \"network\"\nlayers = [\n  {list}\n]");
        for (text, words) in [
            (
                layers("\"conv 8\",\n  \"max-pol 2\",\n  \"dense 10\""),
                &[
                    "layer 2: there is no layer \"max-pol\"",
                    "did you mean \"max-pool\"?",
                    "a.toml:5:3",
                    "^^^^^^^^^^^",
                ][..],
            ),
            (layers("\"linear 10\""), &["did you mean \"dense\"?"]),
            (
                layers("\"conv 8\", \"BatchNorm2d\", \"dense 10\""),
                &["would not bound one record's influence; use group-norm", "a.toml:4:13"],
            ),
            (
                layers("\"conv 8\", \"dense 7\""),
                &[
                    "the last layer is \"dense 7\": the data has 10 classes, so it must be \"dense 10\"",
                    "a.toml:4:13",
                ],
            ),
            (
                layers("\"max-pool 4\", \"max-pool 8\", \"dense 10\""),
                &[
                    "model.layers, layer 2 (\"max-pool 8\"): a window of 8x8 does not fit",
                    "1x7x7",
                    "a.toml:4:17",
                ],
            ),
            ("[model]\nkind = \"network\"".into(), &["model.layers is missing"]),
            (
                "[model]\nkind = \"lenet\"\nlayers = [\"dense 10\"]".into(),
                &["\"lenet\" has its own", "a.toml:3"],
            ),
            (
                "[model]\nlayers = [\"dense 10\"]".into(),
                &["model.layers is for networks, but model.kind is not given", "\"vgg-small\" or \"lenet\""],
            ),
            (
                "[model]\nkind = \"softmax\"\nfile = \"a\"".into(),
                &["model.file is for networks, but model.kind is \"softmax\""],
            ),
            ("[model]\nstart = \"fan-in\"".into(), &["model.start = \"fan-in\" is for networks", "a.toml:2"]),
            ("[model]\nstart = \"glorot\"".into(), &["model.start = \"glorot\" is for networks"]),
            ("[data]\nmean = [0.5]".into(), &["data.mean is for networks"]),
        ] {
            let error = refusal(&text);
            for word in words {
                assert!(error.contains(word), "{text}\n{error}");
            }
        }
        let tiny =
            network(&document("[model]\nkind = \"vgg-small\""), Shape::flat(64), 10).unwrap_err().to_string();
        assert!(
            tiny.contains("model.kind: vgg-small, layer 5 (\"max-pool 2\")") && tiny.contains("32x1x1"),
            "{tiny}"
        );
    }

    #[test]
    fn networks_start_from_a_law_or_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let spec = Spec::new(Shape::flat(3), vec![Layer::Dense { out: 2 }], 2).unwrap();
        let start = |lines: &str| {
            let mut document = document(&format!("[model]\n{lines}"));
            document.folder = folder.path().to_path_buf();
            network_start(&document, &spec)
        };
        assert_eq!(start("").unwrap(), spec.start(Law::Glorot, 1));
        assert_eq!(start("start = \"fan-in\"\nstart_seed = 5").unwrap(), spec.start(Law::FanIn, 5));
        assert_eq!(start("start = \"glorot\"\nstart_seed = 2").unwrap(), spec.start(Law::Glorot, 2));
        assert_eq!(start("start = \"zeros\"").unwrap(), Start::zeros(8));
        assert_eq!(start("start = \"normal\"\nstart_deviation = 2").unwrap(), Start::normal(8, 2.0, 1));
        let values = [0.5, -0.25, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        std::fs::write(folder.path().join("m"), write_network(&spec, &values, &[], false).unwrap()).unwrap();
        assert_eq!(start("file = \"m\"").unwrap().values(), values);
        std::fs::write(folder.path().join("bad"), "nonsense").unwrap();
        for (lines, part) in [
            ("file = \"absent\"", "absent: cannot read it"),
            ("file = \"bad\"", "is not a safetensors file"),
            ("file = \"m\"\nstart = \"zeros\"", "both given"),
        ] {
            let error = start(lines).unwrap_err().to_string();
            assert!(error.contains(part) && error.contains("a.toml:"), "{error}");
        }
    }

    #[test]
    fn constants_are_given_published_or_plain() {
        let scaled = |text: &str, channels, known| normalisation(&document(text), channels, known);
        assert_eq!(scaled("", 1, None).unwrap(), (vec![0.5], vec![0.25]));
        assert_eq!(scaled("", 1, Some("mnist")).unwrap(), (vec![0.1307], vec![0.3081]));
        assert_eq!(scaled("", 3, Some("mnist")).unwrap(), (vec![0.5; 3], vec![0.25; 3]));
        assert_eq!(scaled("", 3, Some("cifar10")).unwrap().1, [0.2470, 0.2435, 0.2616]);
        let both = "[data]\nmean = [0.1, 0.2]\ndeviation = [1, 2]";
        assert_eq!(scaled(both, 2, Some("mnist")).unwrap(), (vec![0.1, 0.2], vec![1.0, 2.0]));
        for (text, part) in [
            (both, "data.mean has 2 numbers: it must have 1, one a channel"),
            ("[data]\nmean = [0.1]", "data.mean is given but data.deviation is not"),
            ("[data]\ndeviation = [0.1]", "data.deviation is given but data.mean is not"),
        ] {
            let error = scaled(text, 1, None).unwrap_err().to_string();
            assert!(error.contains(part) && error.contains("a.toml:2"), "{error}");
        }
        let zero = Document::parse("a.toml", "[data]\ndeviation = [0.0]").unwrap_err().to_string();
        assert!(zero.contains("numbers from 1e-6 to 1e6"), "{zero}");
    }
}
