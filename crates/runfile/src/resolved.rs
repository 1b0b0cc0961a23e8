//! A run's settings written back as a run file, with every default filled in: for its owner, or for an agreement.

use crate::document::Document;
use crate::model::is_parameter;
use crate::model_kind::ModelKind;
use crate::names::sampling_name;
use crate::parameters::{is_option_in, own_default};
use crate::privacy::earlier_texts;
use crate::run_file::RunFile;
use crate::schema::{Key, Section};
use crate::value::Value;
use prdo_accounting::History;
use prdo_algorithm::Method;
use prdo_algorithm::graph::Weights;
use prdo_privacy::Sampling;
use std::fmt::Write;
use std::path::Path;

/// Keys of files, whose names are written so that the run file can lie in any folder.
const FILES: [Key; 7] = [
    Key::GraphFile,
    Key::GraphFiles,
    Key::DataPath,
    Key::DataTestPath,
    Key::ModelFile,
    Key::PrivacyStatement,
    Key::FeaturesCache,
];

/// What a run file and an agreement both know.
pub struct Known<'a> {
    pub model: ModelKind,
    pub method: Method,
    /// b₀ and b, and how batches are drawn.
    pub batch: (usize, usize, Sampling),
    /// Mean and deviation by which a network's input is scaled.
    pub constants: Option<&'a (Vec<f32>, Vec<f32>)>,
    /// Whether there is a budget to keep.
    pub private: bool,
    /// What follows from the settings; nothing before a run is prepared.
    pub facts: Option<Facts<'a>>,
}

/// What is known of a run file's own run besides.
pub struct Settled<'a> {
    /// What an agreement knows too.
    pub known: Known<'a>,
    pub nodes: usize,
    /// How W was made, unless it came from a file.
    pub rule: Option<(Weights, bool)>,
    /// How many held-out records there are.
    pub test_records: usize,
}

/// What is known of an agreement's run besides.
pub struct Agreed<'a> {
    /// What a run file knows too.
    pub known: Known<'a>,
    pub noise_multiplier: f64,
    /// r, where noise is in pairs: also where it is the default.
    pub ratio: Option<f64>,
    /// What the runs that this one continues released.
    pub earlier: &'a History,
}

/// The `[resolved]` section.
pub struct Facts<'a> {
    /// z and ε, where something is promised.
    pub guarantee: Option<(f64, f64)>,
    /// The second largest eigenvalue of W.
    pub lambda: f64,
    pub records: usize,
    pub least_records: usize,
    pub parameters: usize,
    pub features: Option<String>,
    pub node_names: Option<&'a [String]>,
}

/// The run file of a run: running it again gives the same bits.
pub fn to_toml(run: &RunFile, settled: &Settled<'_>) -> String {
    let header = "# Written by prdo: every setting of this run. `prdo run` repeats it to the bit.\n";
    write(header.into(), |key| value(key, run, settled))
}

/// Every setting that the bits of a run depend on, a line each: as they are meant, not as they were typed, and the same
/// for a run file and for the one that [`to_toml`] makes of it. What a run is called does not count, nor where its files
/// lie.
pub fn fingerprint_lines(run: &RunFile, settled: &Settled<'_>) -> String {
    let counts =
        |key: &&Key| **key != Key::Name && !FILES.contains(key) && key.section() != Some(Section::Resolved);
    let line = |key: &Key| Some(format!("{key} = {}\n", value(*key, run, settled)?));
    Key::all().iter().filter(counts).filter_map(line).collect()
}

/// What tells the run file of one run from that of another, in words: key, value here and value there. What a run is
/// called, where its features are kept and which version wrote the file does not count.
pub fn differences(here: &str, there: &str) -> Vec<String> {
    let (Ok(here), Ok(there)) = (Document::parse("here", here), Document::parse("there", there)) else {
        return vec!["its run.toml cannot be read".into()];
    };
    let apart = [Key::Name, Key::FeaturesCache, Key::ResolvedPrdo, Key::ResolvedNodeNames];
    let shown = |document: &Document, key| match document.get(key).filter(|_| document.has(key)) {
        Some(value) => value.to_string(),
        None => "nothing".into(),
    };
    let one = |key: Key| {
        let (here, there) = (shown(&here, key), shown(&there, key));
        (here != there).then(|| format!("{key} is {here} here and {there} there"))
    };
    let keys = || Key::all().iter().copied().filter(|key| !apart.contains(key));
    // What follows from settings only counts where they are the same.
    let typed: Vec<String> =
        keys().filter(|key| key.section() != Some(Section::Resolved)).filter_map(one).collect();
    if typed.is_empty() { keys().filter_map(one).collect() } else { typed }
}

/// The keys that a document has, as a run file that can lie in any folder.
pub fn as_given(document: &Document, header: &str) -> String {
    write(header.into(), |key| match key {
        Key::FeaturesCache => document.text(key).map(Value::Text),
        _ if FILES.contains(&key) => placed(document, key),
        _ if key.section() == Some(Section::Resolved) => None,
        _ => document.get(key).filter(|_| document.has(key)),
    })
}

/// The settings that members agree on, as a run file in which nothing is only one owner's: no data, no partition, no
/// seed of secret draws. The graph is not in it either: the agreement has every row of W.
pub fn to_agreed_toml(run: &RunFile, agreed: &Agreed<'_>, header: String) -> String {
    write(header, |key| agreed_value(key, run, agreed))
}

/// Whether a key may stand in an agreement's settings.
pub fn is_agreed(key: Key) -> bool {
    match key.section() {
        None => key == Key::Rounds,
        Some(Section::Method | Section::Wire | Section::Batch | Section::Clip) => true,
        Some(Section::Resolved) => key != Key::ResolvedNodeNames,
        Some(Section::Model) => key != Key::ModelFile,
        Some(Section::Features) => key != Key::FeaturesCache,
        Some(Section::Graph) => key == Key::GraphAllowIndefinite,
        Some(Section::Data) => matches!(key, Key::DataMean | Key::DataDeviation),
        Some(Section::Privacy) => !matches!(key, Key::PrivacyEpsilon | Key::PrivacyStatement),
        Some(Section::Partition | Section::Metrics) => false,
    }
}

fn write(mut text: String, value: impl Fn(Key) -> Option<Value>) -> String {
    let mut section = None;
    for key in Key::all().iter().copied() {
        let Some(value) = value(key) else { continue };
        if key.section() != section {
            section = key.section();
            let _ = writeln!(text, "\n[{}]", section.map_or("", Section::name));
        }
        let _ = writeln!(text, "{} = {value}", key.name());
    }
    text
}

/// The value that was used, or `None` where the key says nothing about this run.
fn value(key: Key, run: &RunFile, settled: &Settled<'_>) -> Option<Value> {
    let model = settled.known.model;
    let owned = run.data.source.is_some_and(|source| source.is_owned());
    match key {
        Key::GraphNodes => Some(Value::Integer(settled.nodes as u64)),
        Key::GraphWeights => settled.rule.map(|(weights, _)| Value::Text(weights.to_string())),
        Key::GraphLazy => settled.rule.map(|(_, lazy)| Value::Flag(lazy)),
        Key::Seed if run.unseeded => None,
        Key::ModelIntercept if owned && model.has_optional_intercept() => {
            Some(Value::Flag(run.model.intercept()))
        }
        Key::DataTest if run.data.file.test_path.is_none() && sets_test_aside(run, model) => {
            Some(Value::Float(settled.test_records as f64))
        }
        _ if FILES.contains(&key) => placed(&run.document, key),
        Key::GraphSeed if !run.has(key) => None,
        Key::PartitionKind | Key::PartitionConcentration | Key::PartitionShards | Key::PartitionSeed
            if run.data.is_generated() && !run.partition.given =>
        {
            None
        }
        Key::DataRecords
        | Key::DataDimension
        | Key::DataHeterogeneity
        | Key::DataSeed
        | Key::DataBound
        | Key::DataSpread
        | Key::PartitionConcentration
        | Key::PartitionShards
            if run.unread(key, model).is_some() =>
        {
            None
        }
        // Fingerprints have them where they were typed, read or not.
        Key::ModelRegularization => shared_value(key, run, &settled.known),
        _ if is_parameter(key) && !run.has(key) => None,
        Key::ModelStart | Key::ModelStartSeed if run.model.file.is_some() || model == ModelKind::Own => None,
        _ => shared_value(key, run, &settled.known),
    }
}

/// Whether a number of records is held out on which a model of this kind has an accuracy. A folder of images brings its
/// own test images, and so may a program.
fn sets_test_aside(run: &RunFile, model: ModelKind) -> bool {
    let folder = run.data.path().is_some_and(|path| path.is_dir());
    let own_test =
        (folder && run.data.test.is_none()) || run.given().is_some_and(|given| given.test.is_some());
    (model.has_classes() || model == ModelKind::Own) && !own_test
}

/// The same for an agreement.
fn agreed_value(key: Key, run: &RunFile, agreed: &Agreed<'_>) -> Option<Value> {
    let model = agreed.known.model;
    match key {
        _ if !is_agreed(key) => None,
        Key::GraphAllowIndefinite => run.graph.allow_indefinite.then_some(Value::Flag(true)),
        Key::ModelIntercept => model.has_optional_intercept().then(|| Value::Flag(run.intercept(model))),
        _ if is_parameter(key) && run.unread(key, model).is_some() => None,
        Key::PrivacyNoiseMultiplier => Some(Value::Float(agreed.noise_multiplier)),
        Key::PrivacyRatio => agreed.ratio.map(Value::Float),
        Key::PrivacyEarlier if agreed.earlier.is_empty() => None,
        Key::PrivacyEarlier => Some(Value::Texts(earlier_texts(agreed.earlier))),
        Key::ResolvedBudget => {
            let epsilon = run.privacy.as_ref().and_then(|privacy| privacy.epsilon);
            epsilon.or(run.resolved.budget).map(Value::Float)
        }
        _ => shared_value(key, run, &agreed.known),
    }
}

/// What is written in the same way whoever reads it.
fn shared_value(key: Key, run: &RunFile, known: &Known<'_>) -> Option<Value> {
    let text = |t: &str| Some(Value::Text(t.to_string()));
    let number = |n: usize| Some(Value::Integer(n as u64));
    let drawn = known.batch.2 != Sampling::Full;
    match key {
        Key::ModelKind => text(known.model.name()),
        Key::ModelRegularization => run.model.regularization(known.model).map(Value::Float),
        Key::DataMean => known.constants.map(|(mean, _)| floats(mean)),
        Key::DataDeviation => known.constants.map(|(_, deviation)| floats(deviation)),
        Key::ModelStart => text(run.model.start_law(known.model).name()),
        Key::ModelStartDeviation | Key::ModelStartSeed | Key::MethodParameter(_)
            if run.unread(key, known.model).is_some() =>
        {
            None
        }
        // Files and fingerprints from before there was the option do not have it.
        Key::PrivacyNoise if run.document.is_default(key) => None,
        Key::PrivacyColluders | Key::PrivacyRatio | Key::PrivacySecrets
            if run.unread(key, known.model).is_some() =>
        {
            None
        }
        Key::MethodParameter(place) if is_option_in(known.method, place) && run.document.is_default(key) => {
            None
        }
        Key::MethodParameter(place) if !run.has(key) => match own_default(known.method, place) {
            Some(value) => Some(Value::Float(value)),
            None => run.document.get(key),
        },
        Key::BatchSampling => text(sampling_name(known.batch.2)),
        Key::BatchSize if drawn => number(known.batch.1),
        Key::BatchFirst if drawn && known.method.card().first_batch => number(known.batch.0),
        Key::BatchSize | Key::BatchFirst => None,
        _ => match key.section() {
            Some(Section::Privacy) if !known.private => None,
            Some(Section::Resolved) => resolved_value(key, known.facts.as_ref()?),
            _ => run.document.get(key),
        },
    }
}

fn resolved_value(key: Key, facts: &Facts<'_>) -> Option<Value> {
    let number = |n: usize| Some(Value::Integer(n as u64));
    match key {
        Key::ResolvedPrdo => Some(Value::Text(env!("CARGO_PKG_VERSION").into())),
        Key::ResolvedNoiseMultiplier => facts.guarantee.map(|(multiplier, _)| Value::Float(multiplier)),
        Key::ResolvedEpsilon => facts.guarantee.map(|(_, epsilon)| Value::Float(epsilon)),
        Key::ResolvedLambda => Some(Value::Float(facts.lambda)),
        Key::ResolvedRecords => number(facts.records),
        Key::ResolvedLeastRecords => number(facts.least_records),
        Key::ResolvedParameters => number(facts.parameters),
        Key::ResolvedFeatures => facts.features.clone().map(Value::Text),
        Key::ResolvedNodeNames => facts.node_names.map(|names| Value::Texts(names.to_vec())),
        _ => None,
    }
}

/// Single-precision numbers as short as they can be written.
fn floats(values: &[f32]) -> Value {
    Value::Floats(values.iter().map(|v| v.to_string().parse().unwrap_or(f64::from(*v))).collect())
}

/// Where the files of a key lie, whatever folder the run file is in.
fn placed(document: &Document, key: Key) -> Option<Value> {
    match key {
        Key::GraphFiles => {
            Some(Value::Texts(document.files(key)?.iter().map(|file| absolute(file)).collect()))
        }
        _ => document.file(key).map(|file| Value::Text(absolute(&file))),
    }
}

fn absolute(path: &Path) -> String {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf()).display().to_string()
}
