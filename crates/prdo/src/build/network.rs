//! The run file's network: `[model]` kind, layers and start, and the constants that its images are scaled by.

use prdo_models::network::{Fault, Shape, Spec, SpecError};
use prdo_privacy::Start;
use prdo_runfile::{ConfigError, Key, ModelKind, NetworkKind, RunFile, StartLaw};
use prdo_store::read_network;

/// The network that the run file describes, for records of shape `input` and labels 0 to `classes`−1; `None` when
/// `model.kind` is no network.
pub fn network(run: &RunFile, input: Shape, classes: usize) -> Result<Option<Spec>, ConfigError> {
    let Some(ModelKind::Network(kind)) = run.model.kind else {
        return run.refuse_keys_of_networks().map(|()| None);
    };
    match kind {
        NetworkKind::Named(name) => {
            if run.has(Key::ModelLayers) && !run.document.is_swept(Key::ModelKind) {
                let message =
                    format!("model.layers is given but {name:?} has its own: model.kind must be \"network\"");
                return Err(run.error(Key::ModelLayers, message));
            }
            let spec = Spec::named(name, input, classes).ok_or_else(|| run.missing(Key::ModelKind))?;
            spec.map(Some).map_err(|e| run.error(Key::ModelKind, format!("{}: {e}", Key::ModelKind)))
        }
        NetworkKind::Listed => {
            let layers = run.layers()?;
            let last = layers.len().saturating_sub(1);
            Spec::new(input, layers, classes).map(Some).map_err(|e| spec_error(run, last, &e))
        }
    }
}

/// The error at the layer it is about, `last` being the last one.
fn spec_error(run: &RunFile, last: usize, error: &SpecError) -> ConfigError {
    let layer = match &error.fault {
        Fault::Layer { number, .. } => Some(number - 1),
        Fault::Last { .. } => Some(last),
        Fault::Input { .. } | Fault::Classes { .. } => None,
    };
    let message = format!("{}, {error}", Key::ModelLayers);
    match layer {
        Some(index) => run.item_error(Key::ModelLayers, index, message),
        None => run.error(Key::ModelLayers, message),
    }
}

/// The public starting point of a network: read from `model.file`, or made as `model.start` says.
pub fn network_start(run: &RunFile, spec: &Spec) -> Result<Start, ConfigError> {
    let model = &run.model;
    let Some(path) = &model.file else {
        return Ok(match model.start_law(ModelKind::Network(NetworkKind::Listed)) {
            StartLaw::Network(law) => spec.start(law, model.start_seed),
            StartLaw::Normal => Start::normal(spec.parameters(), model.start_deviation, model.start_seed),
            StartLaw::Zeros => Start::zeros(spec.parameters()),
        });
    };
    if model.start.is_some() {
        let message = "model.start and model.file are both given: the file is the starting point";
        return Err(run.error(Key::ModelStart, message));
    }
    let refuse =
        |what: String| run.error(Key::ModelFile, format!("{} {}: {what}", Key::ModelFile, path.display()));
    let bytes = std::fs::read(path).map_err(|e| refuse(format!("cannot read it: {e}")))?;
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
pub fn normalisation(
    run: &RunFile,
    channels: usize,
    known: Option<&str>,
) -> Result<(Vec<f32>, Vec<f32>), ConfigError> {
    let given = |key: Key, list: &Option<Vec<f64>>, other: Key| match list {
        None if run.has(other) => {
            let message =
                format!("{other} is given but {key} is not: give both, one number per channel each");
            Err(run.error(other, message))
        }
        Some(list) if list.len() != channels => {
            let message =
                format!("{key} has {} numbers: it must have {channels}, one per channel", list.len());
            Err(run.error(key, message))
        }
        list => Ok(list.as_ref().map(|list| list.iter().map(|x| *x as f32).collect::<Vec<_>>())),
    };
    let mean = given(Key::DataMean, &run.data.mean, Key::DataDeviation)?;
    let deviation = given(Key::DataDeviation, &run.data.deviation, Key::DataMean)?;
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
    use prdo_models::network::{Law, Layer};
    use prdo_runfile::Document;
    use prdo_store::write_network;

    const MNIST: Shape = Shape { channels: 1, height: 28, width: 28 };

    fn document(text: &str) -> Document {
        Document::parse("a.toml", text).unwrap()
    }

    fn refusal(text: &str) -> String {
        network(&document(text).run_file(), MNIST, 10).unwrap_err().to_string()
    }

    #[test]
    fn run_files_describe_networks() {
        let listed = document("[model]\nkind = \"network\"\nlayers = [\"conv 4\", \"tanh\", \"dense 10\"]");
        let spec = network(&listed.run_file(), MNIST, 10).unwrap().unwrap();
        assert_eq!(spec.to_string(), "[\"conv 4\", \"tanh\", \"dense 10\"]");
        let named = document("[model]\nkind = \"lenet\"");
        assert_eq!(network(&named.run_file(), MNIST, 10).unwrap().unwrap().parameters(), 61_706);
        for other in ["", "[model]\nkind = \"softmax\"", "[model]\nstart = \"normal\""] {
            assert_eq!(network(&document(other).run_file(), MNIST, 10).unwrap(), None, "{other}");
        }
        assert_eq!(network_start(&listed.run_file(), &spec).unwrap(), spec.start(Law::Glorot, 1));
    }

    #[test]
    fn what_does_not_fit_is_shown_at_its_place() {
        let layers = |list: &str| format!("[model]\nkind = \"network\"\nlayers = [\n  {list}\n]");
        for (text, words) in [
            (
                layers("\"conv 8\",\n  \"max-pol 2\",\n  \"dense 10\""),
                &[
                    "layer 2: unknown layer \"max-pol\"",
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
        let tiny = network(&document("[model]\nkind = \"vgg-small\"").run_file(), Shape::flat(64), 10)
            .unwrap_err()
            .to_string();
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
            network_start(&document.run_file(), &spec)
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
        let scaled = |text: &str, channels, known| normalisation(&document(text).run_file(), channels, known);
        assert_eq!(scaled("", 1, None).unwrap(), (vec![0.5], vec![0.25]));
        assert_eq!(scaled("", 1, Some("mnist")).unwrap(), (vec![0.1307], vec![0.3081]));
        assert_eq!(scaled("", 3, Some("mnist")).unwrap(), (vec![0.5; 3], vec![0.25; 3]));
        assert_eq!(scaled("", 3, Some("cifar10")).unwrap().1, [0.2470, 0.2435, 0.2616]);
        let both = "[data]\nmean = [0.1, 0.2]\ndeviation = [1, 2]";
        assert_eq!(scaled(both, 2, Some("mnist")).unwrap(), (vec![0.1, 0.2], vec![1.0, 2.0]));
        for (text, part) in [
            (both, "data.mean has 2 numbers: it must have 1, one per channel"),
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
