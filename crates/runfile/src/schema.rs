//! Every key a run file may have: its type, its range, its default and what it means. The one list from which
//! files are checked, `prdo example --keys` is printed and suggestions are made. Names that an enum stands for come from
//! that enum.

use crate::model_kind::{ModelKind, StartLaw};
use crate::value::{Definition, ValueType};
use crate::{names, parameters};
use prdo_accounting::Method as Accounting;
use prdo_algorithm::Method;
use prdo_algorithm::graph::{GraphFamily, Weights};
use prdo_algorithm::methods::Parameter;
use prdo_data::Format;
use std::sync::LazyLock;

const POSITIVE: ValueType = ValueType::Float("above 0", |x| x > 0.0);
const POSITIVE_BY_ROUND: ValueType = ValueType::FloatByRound("above 0", |x| x > 0.0);
const NON_NEGATIVE: ValueType = ValueType::Float("of at least 0", |x| x >= 0.0);
const SEED: ValueType = ValueType::Integer(0, i64::MAX as u64);
const MOST_NODES: u64 = 1_000_000;

macro_rules! keys {
    ($($name:ident: $path:literal, $value_type:expr, $default:expr, $doc:expr;)*) => {
        /// One key of a run file.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Key {
            $(#[doc = concat!("`", $path, "`")] $name,)*
            /// A parameter of methods, described on their cards; the number is its place among them.
            MethodParameter(u8),
        }

        const FIXED: &[Key] = &[$(Key::$name),*];

        impl Key {
            fn definition(self) -> &'static Definition {
                match self {
                    $(Key::$name => {
                        static KNOWN: LazyLock<Definition> = LazyLock::new(|| Definition {
                            path: $path,
                            value_type: $value_type,
                            default: $default,
                            doc: $doc,
                        });
                        &KNOWN
                    })*
                    Key::MethodParameter(place) => parameters::definition(place),
                }
            }
        }
    };
}

/// A choice among the names that an enum or a table has; the list is made once.
fn choice(names: impl IntoIterator<Item = &'static str>) -> ValueType {
    ValueType::Choice(names.into_iter().collect::<Vec<_>>().leak())
}

#[rustfmt::skip]
keys! {
    Name: "name", ValueType::Text, Some("\"run\""), "what the run is called; also its folder's name";
    Rounds: "rounds", ValueType::Integer(1, 100_000_000), None, "T, the number of communication rounds";
    Seed: "seed", SEED, Some("1"), "seed of batches and noise; a seeded run is a simulation, not private";
    GraphKind: "graph.kind", choice(GraphFamily::NAMES.into_iter().chain([names::GRAPH_FILE])), Some("\"ring\""), "who talks to whom";
    GraphNodes: "graph.nodes", ValueType::Integer(1, MOST_NODES), None, "n, the number of organisations";
    GraphWeights: "graph.weights", choice(Weights::NAMES), None,
        "how W is made: paper (1/2 and 1/4, rings only), metropolis, max-degree, or out-degree for methods that push; default: paper on a ring, out-degree where links go one way, otherwise metropolis";
    GraphLazy: "graph.lazy", ValueType::Flag, None,
        "replace W by (I+W)/2, which makes it positive semidefinite; default: true with metropolis and max-degree";
    GraphProbability: "graph.probability", ValueType::Float("above 0 and at most 1", |x| x > 0.0 && x <= 1.0), None,
        "edge probability of erdos-renyi";
    GraphDegree: "graph.degree", ValueType::Integer(1, MOST_NODES), None, "degree of random-regular";
    GraphSeed: "graph.seed", SEED, Some("1"), "seed of random graphs (public)";
    GraphFile: "graph.file", ValueType::Text, None,
        "edge list, list of arcs or matrix, for kind = \"file\"; relative to the run file";
    GraphFiles: "graph.files", ValueType::Texts, None,
        "several such files, for kind = \"file\": round t uses number t modulo their count";
    GraphAllowIndefinite: "graph.allow_indefinite", ValueType::Flag, Some("false"),
        "accept a W with negative eigenvalues, outside the paper's assumption";
    DataSource: "data.source", choice(names::SOURCES), None,
        "generated data (logistic is the paper's), the bundled digits, a file, or records that a program gives (Python)";
    DataRecords: "data.records", ValueType::Integer(1, 1 << 28), Some("1000"), "N, generated records per node";
    DataDimension: "data.dimension", ValueType::Integer(1, 1_000_000), Some("20"), "generated features per record";
    DataClasses: "data.classes", ValueType::Integer(2, 100_000), None,
        "number of classes; for a file: labels must be 0 to classes-1";
    DataHeterogeneity: "data.heterogeneity", NON_NEGATIVE, Some("0.2"),
        "how far generated nodes differ (the paper's 0.2)";
    DataSpread: "data.spread", POSITIVE, Some("0.4"),
        "deviation of generated blobs around their centres, which are 1 from the origin";
    DataBound: "data.bound", POSITIVE, Some("1.0"), "A, the bound on generated coefficients (log-cosh)";
    DataSeed: "data.seed", SEED, Some("1"), "seed of generated data (public)";
    DataPath: "data.path", ValueType::Text, None,
        "the file or folder, for source = \"file\"; relative to the run file";
    DataFormat: "data.format", choice(Format::KEYS.iter().copied()), None, "how to read it; default: by its ending";
    DataLabel: "data.label", ValueType::Text, None, "label column of a table; default: label or y";
    DataNode: "data.node", ValueType::Text, None,
        "column that says which node holds a record; default: node, if there";
    DataFeatures: "data.features", ValueType::Texts, None, "feature columns; default: all others";
    DataColumns: "data.columns", ValueType::Texts, None,
        "names of all columns of a CSV file that has no header, as the UCI repository's have none";
    DataWidth: "data.width", ValueType::Integer(1, 10_000_000), None, "number of features of a LibSVM file";
    DataMean: "data.mean", ValueType::Floats("from -1e6 to 1e6", |x| (-1e6..=1e6).contains(&x)), None,
        "public constants subtracted from images (bytes/255), one per channel; default: the published ones, or 0.5";
    DataDeviation: "data.deviation", ValueType::Floats("from 1e-6 to 1e6", |x| (1e-6..=1e6).contains(&x)), None,
        "public constants that images are then divided by, one per channel; default: the published ones, or 0.25";
    DataTest: "data.test", NON_NEGATIVE, None,
        "public held-out records for accuracy: a share below 1 or a number; default: 0.2 of a file, 2000 of generated data";
    DataValidation: "data.validation", NON_NEGATIVE, Some("0.0"),
        "records set aside for tuning: a share below 1 or a number";
    DataTestPath: "data.test_path", ValueType::Text, None, "a file of its own with the held-out records";
    FeaturesMap: "features.map", choice(names::MAPS), None,
        "public features that softmax or logistic regression reads instead of pixels or columns; nothing in them comes from records";
    FeaturesScales: "features.scales", ValueType::Integer(1, 5), None,
        "scales of the scattering's wavelets; default: 2";
    FeaturesAngles: "features.angles", ValueType::Integer(1, 16), None,
        "angles of the scattering's wavelets; default: 8";
    FeaturesGrid: "features.grid", ValueType::Integer(1, 64), None,
        "cells per side in which the scattering is averaged; default: 4";
    FeaturesRidge: "features.ridge", POSITIVE, None, "how little channels are whitened; default: 0.1";
    FeaturesMirror: "features.mirror", ValueType::Flag, None,
        "whether an image and its mirror get the same features, not for letters; default: true for colour images";
    FeaturesFilters: "features.filters", ValueType::Integer(1, 1024), None,
        "filters of scattering+patches; default: 200";
    FeaturesPatch: "features.patch", ValueType::Integer(2, 16), None, "pixels per side of these filters; default: 6";
    FeaturesWeight: "features.weight", POSITIVE, None,
        "weight of their features beside the scattering; default: 0.8";
    FeaturesRanges: "features.ranges", ValueType::Texts, None,
        "public ranges of a table's columns, as \"column: low to high\"; values are cut off there and brought to -1 … 1";
    FeaturesCategories: "features.categories", ValueType::Texts, None,
        "columns of a table that are categories, by name";
    FeaturesMissing: "features.missing", choice(names::MISSING), None,
        "what a missing number of a CSV table's ranges is: refused, or read as the middle of its range; default: refused";
    FeaturesBuckets: "features.buckets", ValueType::Integer(1, 1 << 20), None,
        "buckets that categories are hashed to; default: 64";
    FeaturesFourier: "features.fourier", ValueType::Integer(0, 1 << 20), None,
        "random Fourier features of a table; default: 0, none";
    FeaturesBandwidth: "features.bandwidth", POSITIVE, None,
        "distance over which these tell records apart; default: 1";
    FeaturesCache: "features.cache", ValueType::Text, None,
        "folder in which extracted features and constants of maps are kept; default: prdo/features in the user's cache folder";
    PartitionKind: "partition.kind", choice(names::PARTITIONS), None,
        "who holds which record of a file; default: column if the file has one, otherwise iid";
    PartitionConcentration: "partition.concentration", POSITIVE, Some("0.5"),
        "Dirichlet concentration: smaller is more heterogeneous (the paper's 0.1)";
    PartitionLeast: "partition.least", ValueType::Integer(1, 1 << 32), None,
        "with a node column: nodes with fewer records in the file do not take part; default: all do";
    PartitionShards: "partition.shards", ValueType::Integer(1, 1_000_000), Some("2"), "label shards per node";
    PartitionSeed: "partition.seed", SEED, Some("1"), "seed of the partition and of the split (public)";
    ModelKind: "model.kind", choice(ModelKind::all().map(ModelKind::name)), None,
        "the loss of one record, own: of a program's model (Python); default: the one that fits the data";
    ModelLayers: "model.layers", ValueType::Texts, None,
        "layers of kind = \"network\": conv 32 [5x5] [stride 1] [padding 1], max-pool 2, average-pool 2, group-norm 8, tanh, relu, dense 10";
    ModelFile: "model.file", ValueType::Text, None,
        "a .safetensors file that a network starts from, declared to be public; relative to the run file";
    ModelRegularization: "model.regularization", NON_NEGATIVE, None,
        "weight of the regulariser; default: 0.001 for logistic (the paper's), 0 for softmax";
    ModelIntercept: "model.intercept", ValueType::Flag, None,
        "whether logistic regression on a file has an intercept (softmax always has); default: true";
    ModelCondition: "model.condition", ValueType::Float("of at least 1", |x| x >= 1.0), Some("10.0"),
        "condition number of quadratic";
    ModelCurvature: "model.curvature", ValueType::Float("above 0 and below 1", |x| x > 0.0 && x < 1.0), Some("0.5"),
        "curvature of log-cosh";
    ModelStart: "model.start", choice(StartLaw::all().map(StartLaw::name)), None,
        "the public starting point; for networks glorot: weights uniform within sqrt(6/(inputs + outputs)), biases 0, or fan-in: both uniform within 1/sqrt(inputs); default: glorot for networks, otherwise zeros";
    ModelStartDeviation: "model.start_deviation", POSITIVE, Some("0.1"),
        "deviation of a normal starting point";
    ModelStartSeed: "model.start_seed", SEED, Some("1"), "seed of a random starting point (public)";
    MethodName: "method.name", choice(Method::ALL.iter().map(|method| method.card().name).chain([names::OWN_METHOD])), None,
        parameters::method_titles();
    MethodStepSize: "method.step_size", POSITIVE_BY_ROUND, None, "α";
    BatchSize: "batch.size", ValueType::Integer(1, 1 << 28), None,
        "b, expected batch size per node and round (exact unless sampling is poisson); default: as many as the smallest node has";
    BatchFirst: "batch.first", ValueType::Integer(1, 1 << 28), None, "b0, of prdo's first round; default: size";
    BatchSampling: "batch.sampling", choice(names::SAMPLINGS.map(|(name, _)| name)), None,
        "private runs: poisson; otherwise default without-replacement, or full when size is not given";
    ClipGradient: "clip.gradient", POSITIVE, None, "C_g: norm at which a record's gradient is clipped";
    ClipDifference: "clip.difference", POSITIVE, None,
        "C_Δ: norm at which a record's gradient difference is clipped; decides whether prdo pays off";
    PrivacyEpsilon: "privacy.epsilon", POSITIVE, None, "ε of the whole run; the noise is calibrated to it";
    PrivacyDelta: "privacy.delta", ValueType::Float("above 0 and below 1", |x| x > 0.0 && x < 1.0), Some("1e-5"),
        "δ; keep it well below 1/N";
    PrivacyNoiseMultiplier: "privacy.noise_multiplier", ValueType::Float("from 0.01 to 1e6", |x| (0.01..=1e6).contains(&x)), None,
        "z, instead of epsilon: ε follows from it";
    PrivacyAccountant: "privacy.accountant", choice(Accounting::NAMES.map(|(name, _)| name)), Some("\"prv\""),
        "how ε is computed: exact with proven bounds, Rényi, or the paper's Rényi sum at integer orders";
    PrivacyNoise: "privacy.noise", choice(names::NOISES), Some("\"independent\""),
        "every node its own, or in pairs: shares that cancel in the mean of all nodes, which holds against coalitions of at most colluders members";
    PrivacyColluders: "privacy.colluders", ValueType::Integer(0, 1_000_000), Some("1"),
        "of noise = \"pairs\": ε is against outsiders and any so many members who put together all they know";
    PrivacyRatio: "privacy.ratio", ValueType::Float("from 1e-12 to 1e12", |x| (1e-12..=1e12).contains(&x)), None,
        "of noise = \"pairs\": variance of a share over that of own noise; default: 3, or 10 with three exchanges per round or more";
    PrivacySecrets: "privacy.secrets", choice(names::SECRETS.map(|(name, _)| name)), Some("\"complete\""),
        "of noise = \"pairs\": who has a secret with whom, all members or those who are linked";
    PrivacyStatement: "privacy.statement", ValueType::Text, None,
        "a file that lists what runs release about these records: epsilon is then for all of them; relative to the run file";
    PrivacyEarlier: "privacy.earlier", ValueType::Texts, None,
        "what the runs that this one continues released, as \"rate noise count\": epsilon is then for all of it";
    MetricsEvery: "metrics.every", ValueType::Integer(1, 100_000_000), Some("10"),
        "rounds from one row of metrics to the next";
    MetricsRecords: "metrics.records", ValueType::Integer(1, 1 << 28), None,
        "measure loss and gradient norm on the first so many records of each node only (an estimate, where all take too \
         long); accuracy is not affected; default: all";
    MetricsMoments: "metrics.moments", ValueType::Flag, Some("false"),
        "also write the paper's moments of every round (slow)";
    ResolvedPrdo: "resolved.prdo", ValueType::Text, None, "version that wrote this file (information only)";
    ResolvedNoiseMultiplier: "resolved.noise_multiplier", ValueType::Float("above 0", |x| x > 0.0), None,
        "z that was used (information only)";
    ResolvedEpsilon: "resolved.epsilon", ValueType::Float("above 0", |x| x > 0.0), None,
        "ε of the whole run (information only)";
    ResolvedBudget: "resolved.budget", ValueType::Float("above 0", |x| x > 0.0), None,
        "ε that the noise was calibrated to (information only)";
    ResolvedLambda: "resolved.lambda", ValueType::Float("at most 1", |x| x <= 1.0), None,
        "second largest eigenvalue of W (information only)";
    ResolvedNodeNames: "resolved.node_names", ValueType::Texts, None,
        "who the nodes are, by number (information only)";
    ResolvedRecords: "resolved.records", ValueType::Integer(0, u64::MAX), None,
        "records of all nodes (information only)";
    ResolvedLeastRecords: "resolved.least_records", ValueType::Integer(0, u64::MAX), None,
        "records of the smallest node (information only)";
    ResolvedFeatures: "resolved.features", ValueType::Text, None,
        "hash of the feature map with its constants (checked between peers)";
    ResolvedParameters: "resolved.parameters", ValueType::Integer(0, u64::MAX), None,
        "model parameters (information only)";
}

impl Key {
    /// All keys, in the order in which they are written.
    pub fn all() -> &'static [Key] {
        static ALL: LazyLock<Vec<Key>> = LazyLock::new(|| {
            let parameters = |key: Key| {
                if key == Key::MethodStepSize { Key::method_parameters().collect() } else { Vec::new() }
            };
            FIXED.iter().flat_map(|key| std::iter::once(*key).chain(parameters(*key))).collect()
        });
        &ALL
    }

    fn method_parameters() -> impl Iterator<Item = Key> {
        (0..parameters::count()).map(Key::MethodParameter)
    }

    /// Every parameter of the built-in methods with its key.
    pub fn parameters() -> impl Iterator<Item = (Key, &'static Parameter)> {
        Key::method_parameters().zip(parameters::all())
    }

    /// `section.name`, or `name` at the top.
    pub fn path(self) -> &'static str {
        self.definition().path
    }

    pub fn name(self) -> &'static str {
        let path = self.path();
        path.split_once('.').map_or(path, |(_, name)| name)
    }

    pub fn value_type(self) -> ValueType {
        self.definition().value_type
    }

    /// What it is when not given, as TOML; `None`: it depends, or it is needed.
    pub fn default(self) -> Option<&'static str> {
        self.definition().default
    }

    pub fn doc(self) -> &'static str {
        self.definition().doc
    }

    /// The section it stands in; `None` at the top.
    pub fn section(self) -> Option<Section> {
        let (section, _) = self.path().split_once('.')?;
        Section::ALL.iter().copied().find(|known| known.name() == section)
    }

    pub fn named(path: &str) -> Option<Key> {
        Key::all().iter().copied().find(|key| key.path() == path)
    }
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.path())
    }
}

/// By path: what a sweep varies, and in which order, does not depend on the order in which keys are written.
impl Ord for Key {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.path().cmp(other.path())
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

macro_rules! sections {
    ($($section:ident: $name:literal,)*) => {
        /// A section of a run file.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Section {
            $($section,)*
        }

        impl Section {
            const ALL: &[Section] = &[$(Section::$section),*];

            pub fn name(self) -> &'static str {
                match self {
                    $(Section::$section => $name,)*
                }
            }
        }
    };
}

sections! {
    Graph: "graph",
    Data: "data",
    Features: "features",
    Partition: "partition",
    Model: "model",
    Method: "method",
    Wire: "wire",
    Batch: "batch",
    Clip: "clip",
    Privacy: "privacy",
    Metrics: "metrics",
    Resolved: "resolved",
}

impl Section {
    /// Its keys, in the order in which they are written.
    pub fn keys(self) -> impl Iterator<Item = Key> {
        Key::all().iter().copied().filter(move |key| key.section() == Some(self))
    }

    pub fn key(self, name: &str) -> Option<Key> {
        self.keys().find(|key| key.name() == name)
    }
}

/// The known key nearest to what was typed, if it is near: a slip of the pen, or the right name in the wrong
/// section.
pub fn nearest(path: &str) -> Option<Key> {
    let typed = path.rsplit('.').next().unwrap_or(path);
    let distance = |key: &Key| (strsim::damerau_levenshtein(key.path(), path), *key);
    // Of several sections that have the name, the one that is written most alike.
    let of_name = Key::all().iter().filter(|key| key.name() == typed);
    let same_name = of_name.map(distance).min().map(|(_, key)| key);
    let nearest = Key::all()
        .iter()
        .map(distance)
        .min()
        .filter(|(distance, _)| *distance <= 2 + path.len() / 6)
        .map(|(_, key)| key);
    let nearest_name = || {
        let by_name = Key::all().iter().map(|key| (strsim::damerau_levenshtein(key.name(), typed), *key));
        by_name.min().filter(|(distance, _)| *distance <= 2).map(|(_, key)| key)
    };
    let prefix = || Key::all().iter().copied().find(|key| typed.len() >= 3 && key.name().starts_with(typed));
    same_name.or(nearest).or_else(nearest_name).or_else(prefix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised() {
        for (typed, meant) in [
            ("method.stepsize", "method.step_size"),
            ("modle.kind", "model.kind"),
            ("partitoin.kind", "partition.kind"),
            ("method.step_sise", "method.step_size"),
            ("step_size", "method.step_size"),
            ("batch.szie", "batch.size"),
            ("privacy.epsilom", "privacy.epsilon"),
            ("round", "rounds"),
            ("privacy.eps", "privacy.epsilon"),
        ] {
            assert_eq!(nearest(typed).map(Key::path), Some(meant), "{typed}");
        }
        assert_eq!(nearest("zzzzzzzzzzzz"), None);
    }

    #[test]
    fn every_section_is_named_once_and_has_keys() {
        for key in Key::all() {
            assert_eq!(Key::named(key.path()), Some(*key));
            assert_eq!(key.section().is_some(), key.path().contains('.'), "{key}");
        }
        assert!(Section::ALL.iter().all(|section| section.keys().count() > 0));
    }

    fn choices(key: Key) -> Vec<&'static str> {
        match key.value_type() {
            ValueType::Choice(names) => names.to_vec(),
            other => panic!("{key} is {other:?}"),
        }
    }

    #[test]
    fn names_of_choices_are_what_run_files_have_always_said() {
        for (key, names) in [
            (
                Key::GraphKind,
                "ring path torus complete star hypercube erdos-renyi random-regular exponential directed-ring \
                 directed-exponential one-peer-exponential file",
            ),
            (Key::GraphWeights, "paper metropolis max-degree out-degree"),
            (Key::DataSource, "logistic blobs quadratic coefficients digits file memory"),
            (Key::DataFormat, "csv npz libsvm idx cifar10 parquet"),
            (Key::FeaturesMap, "scattering scattering+patches table"),
            (Key::FeaturesMissing, "refused middle"),
            (Key::PartitionKind, "iid dirichlet shards column"),
            (Key::ModelKind, "logistic softmax quadratic log-cosh network vgg-small lenet own"),
            (Key::ModelStart, "zeros normal glorot fan-in"),
            (
                Key::MethodName,
                "prdo ed edm mt dsgd gt-hsgd deepstorm gt muffliato diff2 dp2 sgp push-prdo own",
            ),
            (Key::BatchSampling, "poisson without-replacement full"),
            (Key::PrivacyAccountant, "prv rdp rdp-paper"),
            (Key::PrivacyNoise, "independent pairs"),
            (Key::PrivacySecrets, "complete graph"),
        ] {
            assert_eq!(choices(key).join(" "), names, "{key}");
        }
    }

    #[test]
    fn keys_of_methods_say_what_they_are() {
        let said = |path| {
            let key = Key::named(path)?;
            Some((key.doc(), key.default().unwrap_or("none"), key.value_type().allowed()))
        };
        let names = "one of \"prdo\", \"ed\", \"edm\", \"mt\", \"dsgd\", \"gt-hsgd\", \"deepstorm\", \"gt\", \"muffliato\", \"diff2\", \"dp2\", \"sgp\", \"push-prdo\", \"own\"".to_string();
        let titles = "PRDO, Exact Diffusion, EDM, Momentum Tracking, D-SGD, GT-HSGD, DEEPSTORM, Gradient Tracking, Muffliato-SGD, DIFF2, DP², SGP or Push-PRDO; own: of a program's method (Python)";
        assert_eq!(said("method.name"), Some((titles, "none", names)));
        let history = "a number of at least 0 and below 1, or by round such as \"0.1, 0.05 from 100\" or \"cosine 0.1 0.01\"";
        assert_eq!(
            said("method.beta"),
            Some(("β of edm and mt: weight of history", "0.9", history.to_string()))
        );
        let combine = ("mix after the step, or before it (diff2, dsgd, gt, gt-hsgd, mt)", "\"after\"");
        let names = "one of \"after\", \"first\"".to_string();
        assert_eq!(said("method.combine"), Some((combine.0, combine.1, names)));
    }
}
