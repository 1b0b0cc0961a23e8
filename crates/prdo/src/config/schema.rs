//! Every key a run file may have: its type, its range, its default and what it means. The one list from which
//! files are checked, `prdo example --keys` is printed and suggestions are made.

/// A checked value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Text or the name of a choice.
    Text(String),
    /// A whole number.
    Integer(u64),
    /// A number.
    Float(f64),
    /// `true` or `false`.
    Flag(bool),
    /// A list of texts.
    Texts(Vec<String>),
    /// A list of numbers.
    Floats(Vec<f64>),
}

impl std::fmt::Display for Value {
    /// As TOML.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Text(text) => write!(f, "{}", quoted(text)),
            Value::Integer(n) => write!(f, "{n}"),
            Value::Float(x) => write!(f, "{x:?}"),
            Value::Flag(b) => write!(f, "{b}"),
            Value::Texts(list) => {
                write!(f, "[{}]", list.iter().map(|t| quoted(t)).collect::<Vec<_>>().join(", "))
            }
            Value::Floats(list) => write!(f, "{list:?}"),
        }
    }
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_string()).to_string()
}

/// The type and range of a key.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Any text.
    Text,
    /// One of these names.
    Choice(&'static [&'static str]),
    /// A whole number in a range.
    Integer(u64, u64),
    /// A number for which the test holds; the text says which.
    Float(&'static str, fn(f64) -> bool),
    /// `true` or `false`.
    Flag,
    /// A list of texts: one value, not a sweep.
    Texts,
    /// A list of numbers for each of which the test holds; the text says which. One value, not a sweep.
    Floats(&'static str, fn(f64) -> bool),
}

impl Kind {
    /// Whether one value of this kind is a list.
    pub fn is_list(self) -> bool {
        matches!(self, Kind::Texts | Kind::Floats(..))
    }
}

/// One key.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// `section.name`, or `name` at the top.
    pub path: &'static str,
    /// Its type and range.
    pub kind: Kind,
    /// What it is when not given, as TOML; `None`: it depends, or it is needed.
    pub default: Option<&'static str>,
    /// What it means.
    pub doc: &'static str,
}

impl Kind {
    /// What is allowed, in words.
    pub fn allowed(self) -> String {
        match self {
            Kind::Text => "text in quotes".into(),
            Kind::Choice(names) => {
                format!("one of {}", names.iter().map(|n| format!("{n:?}")).collect::<Vec<_>>().join(", "))
            }
            Kind::Integer(least, most) if most == u64::MAX => format!("a whole number of at least {least}"),
            Kind::Integer(least, most) => format!("a whole number from {least} to {most}"),
            Kind::Float(allowed, _) => format!("a number {allowed}"),
            Kind::Flag => "true or false".into(),
            Kind::Texts => "a list of texts, one or more, such as [\"a\", \"b\"]".into(),
            Kind::Floats(allowed, _) => format!("a list of numbers {allowed}, such as [0.5, 0.25]"),
        }
    }
}

const POSITIVE: Kind = Kind::Float("above 0", |x| x > 0.0);
const NON_NEGATIVE: Kind = Kind::Float("of at least 0", |x| x >= 0.0);
const SEED: Kind = Kind::Integer(0, i64::MAX as u64);
const MOST_NODES: u64 = 1_000_000;

const fn key(path: &'static str, kind: Kind, default: Option<&'static str>, doc: &'static str) -> Key {
    Key { path, kind, default, doc }
}

/// All keys, in the order in which they are written.
pub const KEYS: &[Key] = &[
    key("name", Kind::Text, Some("\"run\""), "what the run is called; also its folder's name"),
    key("rounds", Kind::Integer(1, 100_000_000), None, "T, the number of communication rounds"),
    key("seed", SEED, Some("1"), "seed of batches and noise; a seeded run is a simulation, not private"),
    key(
        "graph.kind",
        Kind::Choice(&[
            "ring",
            "path",
            "torus",
            "complete",
            "star",
            "hypercube",
            "erdos-renyi",
            "random-regular",
            "exponential",
            "file",
        ]),
        Some("\"ring\""),
        "who talks to whom",
    ),
    key("graph.nodes", Kind::Integer(1, MOST_NODES), None, "n, the number of organisations"),
    key(
        "graph.weights",
        Kind::Choice(&["paper", "metropolis", "max-degree"]),
        None,
        "how W is made: paper (1/2 and 1/4, rings only), metropolis or max-degree; default: paper on a ring, otherwise metropolis",
    ),
    key(
        "graph.lazy",
        Kind::Flag,
        None,
        "replace W by (I+W)/2, which makes it positive semidefinite; default: true unless weights = \"paper\"",
    ),
    key(
        "graph.probability",
        Kind::Float("above 0 and at most 1", |x| x > 0.0 && x <= 1.0),
        None,
        "edge probability of erdos-renyi",
    ),
    key("graph.degree", Kind::Integer(1, MOST_NODES), None, "degree of random-regular"),
    key("graph.seed", SEED, Some("1"), "seed of random graphs (public)"),
    key("graph.file", Kind::Text, None, "edge list or matrix, for kind = \"file\"; relative to the run file"),
    key(
        "graph.allow_indefinite",
        Kind::Flag,
        Some("false"),
        "accept a W with negative eigenvalues, outside the paper's assumption",
    ),
    key(
        "data.source",
        Kind::Choice(&["logistic", "blobs", "quadratic", "coefficients", "digits", "file", "memory"]),
        None,
        "generated data (logistic is the paper's), the bundled digits, a file, or records that a program gives (Python)",
    ),
    key("data.records", Kind::Integer(1, 1 << 28), Some("1000"), "N, generated records a node"),
    key("data.dimension", Kind::Integer(1, 1_000_000), Some("20"), "generated features a record"),
    key(
        "data.classes",
        Kind::Integer(2, 100_000),
        None,
        "number of classes; for a file: labels must be 0 to classes-1",
    ),
    key("data.heterogeneity", NON_NEGATIVE, Some("0.2"), "how far generated nodes differ (the paper's 0.2)"),
    key(
        "data.spread",
        POSITIVE,
        Some("0.4"),
        "deviation of generated blobs around their centres, which are 1 from the origin",
    ),
    key("data.bound", POSITIVE, Some("1.0"), "A, the bound on generated coefficients (log-cosh)"),
    key("data.seed", SEED, Some("1"), "seed of generated data (public)"),
    key("data.path", Kind::Text, None, "the file or folder, for source = \"file\"; relative to the run file"),
    key(
        "data.format",
        Kind::Choice(&["csv", "npz", "libsvm", "idx", "cifar10", "parquet"]),
        None,
        "how to read it; default: by its ending",
    ),
    key("data.label", Kind::Text, None, "label column of a table; default: label or y"),
    key("data.node", Kind::Text, None, "column that says which node holds a record; default: node, if there"),
    key("data.features", Kind::Texts, None, "feature columns; default: all others"),
    key(
        "data.columns",
        Kind::Texts,
        None,
        "names of all columns of a CSV file that has no header, as the UCI repository's have none",
    ),
    key("data.width", Kind::Integer(1, 10_000_000), None, "number of features of a LibSVM file"),
    key(
        "data.mean",
        Kind::Floats("from -1e6 to 1e6", |x| (-1e6..=1e6).contains(&x)),
        None,
        "public constants subtracted from images (bytes/255), one a channel; default: the published ones, or 0.5",
    ),
    key(
        "data.deviation",
        Kind::Floats("from 1e-6 to 1e6", |x| (1e-6..=1e6).contains(&x)),
        None,
        "public constants that images are then divided by, one a channel; default: the published ones, or 0.25",
    ),
    key(
        "data.test",
        NON_NEGATIVE,
        None,
        "public held-out records for accuracy: a share below 1 or a number; default: 0.2 of a file, 2000 of generated data",
    ),
    key(
        "data.validation",
        NON_NEGATIVE,
        Some("0.0"),
        "records set aside for tuning: a share below 1 or a number",
    ),
    key("data.test_path", Kind::Text, None, "a file of its own with the held-out records"),
    key(
        "features.map",
        Kind::Choice(&["scattering", "scattering+patches", "table"]),
        None,
        "public features that softmax or logistic regression reads instead of pixels or columns; nothing in them comes from records",
    ),
    key("features.scales", Kind::Integer(1, 5), None, "scales of the scattering's wavelets; default: 2"),
    key("features.angles", Kind::Integer(1, 16), None, "angles of the scattering's wavelets; default: 8"),
    key(
        "features.grid",
        Kind::Integer(1, 64),
        None,
        "cells a side in which the scattering is averaged; default: 4",
    ),
    key("features.ridge", POSITIVE, None, "how little channels are whitened; default: 0.1"),
    key(
        "features.mirror",
        Kind::Flag,
        None,
        "whether an image and its mirror get the same features, not for letters; default: true for colour images",
    ),
    key("features.filters", Kind::Integer(1, 1024), None, "filters of scattering+patches; default: 200"),
    key("features.patch", Kind::Integer(2, 16), None, "pixels a side of these filters; default: 6"),
    key("features.weight", POSITIVE, None, "weight of their features beside the scattering; default: 0.8"),
    key(
        "features.ranges",
        Kind::Texts,
        None,
        "public ranges of a table's columns, as \"column: low to high\"; values are cut off there and brought to -1 … 1",
    ),
    key("features.categories", Kind::Texts, None, "columns of a table that are categories, by name"),
    key(
        "features.missing",
        Kind::Choice(&["refused", "middle"]),
        None,
        "what a missing number of a CSV table's ranges is: refused, or read as the middle of its range; default: refused",
    ),
    key(
        "features.buckets",
        Kind::Integer(1, 1 << 20),
        None,
        "buckets that categories are hashed to; default: 64",
    ),
    key(
        "features.fourier",
        Kind::Integer(0, 1 << 20),
        None,
        "random Fourier features of a table; default: 0, none",
    ),
    key("features.bandwidth", POSITIVE, None, "distance over which these tell records apart; default: 1"),
    key(
        "features.cache",
        Kind::Text,
        None,
        "folder in which extracted features and constants of maps are kept; default: prdo/features in the user's cache folder",
    ),
    key(
        "partition.kind",
        Kind::Choice(&["iid", "dirichlet", "shards", "column"]),
        None,
        "who holds which record of a file; default: column if the file has one, otherwise iid",
    ),
    key(
        "partition.concentration",
        POSITIVE,
        Some("0.5"),
        "Dirichlet concentration: smaller is more heterogeneous (the paper's 0.1)",
    ),
    key(
        "partition.least",
        Kind::Integer(1, 1 << 32),
        None,
        "with a node column: nodes with fewer records in the file do not take part; default: all do",
    ),
    key("partition.shards", Kind::Integer(1, 1_000_000), Some("2"), "label shards a node"),
    key("partition.seed", SEED, Some("1"), "seed of the partition and of the split (public)"),
    key(
        "model.kind",
        Kind::Choice(&[
            "logistic",
            "softmax",
            "quadratic",
            "log-cosh",
            "network",
            "vgg-small",
            "lenet",
            "own",
        ]),
        None,
        "the loss of one record, own: of a program's model (Python); default: the one that fits the data",
    ),
    key(
        "model.layers",
        Kind::Texts,
        None,
        "layers of kind = \"network\": conv 32 [5x5] [stride 1] [padding 1], max-pool 2, average-pool 2, group-norm 8, tanh, relu, dense 10",
    ),
    key(
        "model.file",
        Kind::Text,
        None,
        "a .safetensors file that a network starts from, declared to be public; relative to the run file",
    ),
    key(
        "model.regularization",
        NON_NEGATIVE,
        None,
        "weight of the regulariser; default: 0.001 for logistic (the paper's), 0 for softmax",
    ),
    key(
        "model.intercept",
        Kind::Flag,
        None,
        "whether logistic regression on a file has an intercept (softmax always has); default: true",
    ),
    key(
        "model.condition",
        Kind::Float("of at least 1", |x| x >= 1.0),
        Some("10.0"),
        "condition number of quadratic",
    ),
    key(
        "model.curvature",
        Kind::Float("above 0 and below 1", |x| x > 0.0 && x < 1.0),
        Some("0.5"),
        "curvature of log-cosh",
    ),
    key(
        "model.start",
        Kind::Choice(&["zeros", "normal", "glorot", "fan-in"]),
        None,
        "the public starting point; for networks glorot: weights uniform within sqrt(6/(inputs + outputs)), biases 0, or fan-in: both uniform within 1/sqrt(inputs); default: glorot for networks, otherwise zeros",
    ),
    key("model.start_deviation", POSITIVE, Some("0.1"), "deviation of a normal starting point"),
    key("model.start_seed", SEED, Some("1"), "seed of a random starting point (public)"),
    key(
        "method.name",
        Kind::Choice(&["prdo", "ed", "edm", "mt", "dsgd"]),
        None,
        "PRDO, Exact Diffusion, EDM, Momentum Tracking or D-SGD",
    ),
    key("method.step_size", POSITIVE, None, "α"),
    key(
        "method.gamma",
        Kind::Float("above 0 and at most 1", |x| x > 0.0 && x <= 1.0),
        Some("0.1"),
        "γ of prdo: weight of the fresh gradient; 1 is Exact Diffusion",
    ),
    key(
        "method.beta",
        Kind::Float("of at least 0 and below 1", |x| (0.0..1.0).contains(&x)),
        Some("0.9"),
        "β of edm and mt: weight of history",
    ),
    key(
        "method.combine",
        Kind::Choice(&["after", "first"]),
        Some("\"after\""),
        "mix after the step, or before it (dsgd, mt)",
    ),
    key(
        "batch.size",
        Kind::Integer(1, 1 << 28),
        None,
        "b, records a round and node (expected, under Poisson sampling); default: as many as the smallest node has",
    ),
    key("batch.first", Kind::Integer(1, 1 << 28), None, "b0, of prdo's first round; default: size"),
    key(
        "batch.sampling",
        Kind::Choice(&["poisson", "without-replacement", "full"]),
        None,
        "private runs: poisson; otherwise default without-replacement, or full when size is not given",
    ),
    key("clip.gradient", POSITIVE, None, "C_g: norm at which a record's gradient is clipped"),
    key(
        "clip.difference",
        POSITIVE,
        None,
        "C_Δ: norm at which a record's gradient difference is clipped; decides whether prdo pays off",
    ),
    key("privacy.epsilon", POSITIVE, None, "ε of the whole run; the noise is calibrated to it"),
    key(
        "privacy.delta",
        Kind::Float("above 0 and below 1", |x| x > 0.0 && x < 1.0),
        Some("1e-5"),
        "δ; keep it well below 1/N",
    ),
    key(
        "privacy.noise_multiplier",
        Kind::Float("from 0.01 to 1e6", |x| (0.01..=1e6).contains(&x)),
        None,
        "z, instead of epsilon: ε follows from it",
    ),
    key(
        "privacy.accountant",
        Kind::Choice(&["prv", "rdp", "rdp-paper"]),
        Some("\"prv\""),
        "how ε is computed: exact with proven bounds, Rényi, or the paper's Rényi sum at integer orders",
    ),
    key(
        "privacy.statement",
        Kind::Text,
        None,
        "a file that lists what runs release about these records: epsilon is then for all of them; relative to the run file",
    ),
    key(
        "privacy.earlier",
        Kind::Texts,
        None,
        "what the runs that this one goes on from released, as \"rate noise count\": epsilon is then for all of it",
    ),
    key("metrics.every", Kind::Integer(1, 100_000_000), Some("10"), "a row of metrics every so many rounds"),
    key(
        "metrics.records",
        Kind::Integer(1, 1 << 28),
        None,
        "measure loss and gradient norm on the first so many records of each node only (an estimate, where all take too \
         long); accuracy is not affected; default: all",
    ),
    key("metrics.moments", Kind::Flag, Some("false"), "also write the paper's moments of every round (slow)"),
    key("resolved.prdo", Kind::Text, None, "version that wrote this file (information only)"),
    key(
        "resolved.noise_multiplier",
        Kind::Float("above 0", |x| x > 0.0),
        None,
        "z that was used (information only)",
    ),
    key(
        "resolved.epsilon",
        Kind::Float("above 0", |x| x > 0.0),
        None,
        "ε of the whole run (information only)",
    ),
    key(
        "resolved.budget",
        Kind::Float("above 0", |x| x > 0.0),
        None,
        "ε that the noise was calibrated to (information only)",
    ),
    key(
        "resolved.lambda",
        Kind::Float("at most 1", |x| x <= 1.0),
        None,
        "second largest eigenvalue of W (information only)",
    ),
    key("resolved.node_names", Kind::Texts, None, "who the nodes are, by number (information only)"),
    key("resolved.records", Kind::Integer(0, u64::MAX), None, "records of all nodes (information only)"),
    key(
        "resolved.least_records",
        Kind::Integer(0, u64::MAX),
        None,
        "records of the smallest node (information only)",
    ),
    key(
        "resolved.features",
        Kind::Text,
        None,
        "hash of the feature map with its constants (checked between peers)",
    ),
    key("resolved.parameters", Kind::Integer(0, u64::MAX), None, "model parameters (information only)"),
];

/// The key of this path.
pub fn find(path: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.path == path)
}

/// The known path nearest to what was typed, if it is near: a slip of the pen, or the right name in the wrong
/// section.
pub fn nearest(path: &str) -> Option<&'static str> {
    let name = |p: &'static str| p.rsplit('.').next().unwrap_or(p);
    let typed = path.rsplit('.').next().unwrap_or(path);
    let distance = |key: &Key| (strsim::damerau_levenshtein(key.path, path), key.path);
    // Of several sections that have the name, the one that is written most alike.
    let of_name = KEYS.iter().filter(|key| name(key.path) == typed);
    let same_name = of_name.map(distance).min().map(|(_, path)| path);
    let nearest = KEYS
        .iter()
        .map(distance)
        .min()
        .filter(|(distance, _)| *distance <= 2 + path.len() / 6)
        .map(|(_, path)| path);
    let nearest_name = || {
        let by_name = KEYS.iter().map(|key| (strsim::damerau_levenshtein(name(key.path), typed), key.path));
        by_name.min().filter(|(distance, _)| *distance <= 2).map(|(_, path)| path)
    };
    let prefix =
        || KEYS.iter().find(|key| typed.len() >= 3 && name(key.path).starts_with(typed)).map(|key| key.path);
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
            assert_eq!(nearest(typed), Some(meant), "{typed}");
        }
        assert_eq!(nearest("zzzzzzzzzzzz"), None);
    }

    #[test]
    fn networks_in_the_schema_are_the_networks_there_are() {
        let Some(Key { kind: Kind::Choice(names), .. }) = find("model.kind") else { panic!("no model.kind") };
        let known = prdo_problem::network::NAMES;
        assert!(known.iter().all(|name| names.contains(name)));
        let networks: Vec<_> =
            names.iter().filter(|name| crate::config::layers::is_network(name)).copied().collect();
        assert_eq!(networks, [&["network"], known].concat());
    }

    #[test]
    fn graphs_in_the_schema_are_the_graphs_there_are_and_a_file() {
        let Some(Key { kind: Kind::Choice(names), .. }) = find("graph.kind") else { panic!("no graph.kind") };
        let mut known = prdo_algorithm::graph::Kind::NAMES.to_vec();
        known.push("file");
        assert_eq!(*names, known);
    }

    #[test]
    fn methods_in_the_schema_are_the_methods_there_are() {
        let Some(Key { kind: Kind::Choice(names), .. }) = find("method.name") else {
            panic!("no method.name")
        };
        let methods: Vec<_> = prdo_algorithm::Method::ALL.iter().map(|m| m.card().name).collect();
        assert_eq!(*names, methods);
    }
}
