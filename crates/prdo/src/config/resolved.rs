//! A run's settings written back as a run file, with every default filled in: for its owner, or for an agreement.

use super::build::Built;
use super::document::Document;
use super::features::located as feature_error;
use super::layers;
use super::model::{Form, OWN};
use super::place::ConfigError;
use super::recipe::earlier_texts;
use super::records::{intercept, is_generated};
use super::schema::{KEYS, Value};
use super::terms::Planned;
use crate::run::Guarantee;
use prdo_algorithm::Method;
use prdo_algorithm::graph::Weights;
use prdo_privacy::Sampling;
use std::fmt::Write;

/// The run file of a built run: running it again gives the same bits.
pub fn to_toml(document: &Document, built: &Built) -> String {
    let settled = Settled::of(built);
    let header = "# Written by prdo: every setting of this run. `prdo run` repeats it to the bit.\n";
    write(header.into(), |path| value(path, document, &settled))
}

/// Every setting that was typed or follows from what was: the same for a run file and for the one that
/// [`to_toml`] makes of it.
pub(super) fn settings(document: &Document, settled: &Settled<'_>) -> Vec<(&'static str, Value)> {
    let typed = KEYS.iter().filter(|key| !key.path.starts_with("resolved."));
    typed.filter_map(|key| Some((key.path, value(key.path, document, settled)?))).collect()
}

/// What tells the run file of one run from that of another, in words: key, value here and value there. What a run is
/// called, where its features are kept and which version wrote the file does not count.
pub fn differences(here: &str, there: &str) -> Vec<String> {
    let (Ok(here), Ok(there)) = (Document::parse("run.toml", here), Document::parse("run.toml", there))
    else {
        return vec!["its run.toml cannot be read".into()];
    };
    let apart = ["name", "features.cache", "resolved.prdo", "resolved.node_names"];
    let shown = |document: &Document, path| match document.get(path).filter(|_| document.has(path)) {
        Some(value) => value.to_string(),
        None => "nothing".into(),
    };
    let one = |path: &'static str| {
        let (here, there) = (shown(&here, path), shown(&there, path));
        (here != there).then(|| format!("{path} is {here} here and {there} there"))
    };
    let paths = || KEYS.iter().map(|key| key.path).filter(|path| !apart.contains(path));
    // What follows from settings only counts where they are the same.
    let typed: Vec<String> = paths().filter(|path| !path.starts_with("resolved.")).filter_map(one).collect();
    if typed.is_empty() { paths().filter_map(one).collect() } else { typed }
}

/// The keys that a document has, as a run file that can lie in any folder.
pub fn as_given(document: &Document, header: &str) -> String {
    write(header.into(), |path| match path {
        "graph.file" | "data.path" | "data.test_path" | "model.file" | "privacy.statement" => {
            document.file(path).map(|file| Value::Text(absolute(&file)))
        }
        _ if path.starts_with("resolved.") => None,
        _ => document.get(path).filter(|_| document.has(path)),
    })
}

/// The settings that members agree on, as a run file in which nothing is only one owner's: no data, no partition, no
/// seed of secret draws. The graph is not in it either: the agreement has every row of W.
///
/// # Errors
/// A feature map that cannot be made, or that is not the one the run file speaks of.
pub fn to_agreed_toml(document: &Document, planned: &Planned) -> Result<String, ConfigError> {
    let map = planned.model.features.as_ref().map(|plan| plan.make(document)).transpose();
    let map = map.map_err(|e| feature_error(document, &e))?;
    map.iter().try_for_each(|map| map.check(document))?;
    let facts = Facts {
        guarantee: Some(planned.guarantee),
        lambda: planned.spectrum.lambda,
        records: planned.records,
        least_records: planned.recipe.least,
        parameters: planned.model.dimension,
        features: map.map(|map| map.hash()),
        node_names: None,
    };
    let known = Known {
        model: &planned.model.kind,
        method: planned.recipe.method,
        batch: planned.recipe.batch,
        constants: match &planned.model.form {
            Form::Network { constants, .. } => constants.as_ref(),
            _ => None,
        },
        private: true,
        facts: Some(facts),
    };
    let wiring = &planned.wiring;
    let graph = wiring.kind.map_or("from a file".to_string(), |kind| kind.to_string());
    let header = format!(
        "# What all members use. Graph: {graph}, weights: {}; its rows are the members' weights.\n",
        wiring.weights
    );
    Ok(write(header, |path| agreed_value(path, document, planned, &known)))
}

/// Whether a key may stand in an agreement's settings.
pub fn is_agreed(path: &str) -> bool {
    let section = path.split('.').next().unwrap_or("");
    let whole =
        ["rounds", "method", "batch", "clip", "resolved"].contains(&section) && path != "resolved.node_names";
    let model = section == "model" && path != "model.file";
    let features = section == "features" && path != "features.cache";
    let single = [
        "graph.allow_indefinite",
        "data.mean",
        "data.deviation",
        "privacy.noise_multiplier",
        "privacy.delta",
        "privacy.accountant",
        "privacy.earlier",
    ];
    whole || model || features || single.contains(&path)
}

fn write(mut text: String, value: impl Fn(&'static str) -> Option<Value>) -> String {
    let mut section = "";
    for key in KEYS {
        let Some(value) = value(key.path) else { continue };
        let (in_section, name) = key.path.split_once('.').unwrap_or(("", key.path));
        if in_section != section {
            section = in_section;
            let _ = writeln!(text, "\n[{section}]");
        }
        let _ = writeln!(text, "{name} = {value}");
    }
    text
}

/// What a run file and an agreement both know.
pub(super) struct Known<'a> {
    /// The model's kind.
    pub(super) model: &'a str,
    /// The method.
    pub(super) method: Method,
    /// b₀ and b, and how batches are drawn.
    pub(super) batch: (usize, usize, Sampling),
    /// Mean and deviation by which a network's input is scaled.
    pub(super) constants: Option<&'a (Vec<f32>, Vec<f32>)>,
    /// Whether there is a budget to keep.
    pub(super) private: bool,
    /// What follows from the settings; nothing before a run is prepared.
    pub(super) facts: Option<Facts<'a>>,
}

/// What is known of a run file's own run besides.
pub(super) struct Settled<'a> {
    /// What an agreement knows too.
    pub(super) known: Known<'a>,
    /// n.
    pub(super) nodes: usize,
    /// How W was made, unless it came from a file.
    pub(super) rule: Option<(Weights, bool)>,
    /// How many held-out records there are.
    pub(super) test_records: usize,
}

/// The `[resolved]` section.
pub(super) struct Facts<'a> {
    guarantee: Option<Guarantee>,
    lambda: f64,
    records: usize,
    least_records: usize,
    parameters: usize,
    features: Option<String>,
    node_names: Option<&'a [String]>,
}

/// The names of more nodes than this are not written down.
const MOST_NAMES: usize = 1000;

impl<'a> Settled<'a> {
    fn of(built: &'a Built) -> Self {
        let known = Known {
            model: &built.model,
            method: built.method,
            batch: built.batch,
            constants: built.network.as_ref().and_then(|network| network.constants.as_ref()),
            private: built.prepared.guarantee.is_some(),
            facts: Some(Facts::of(built)),
        };
        let (nodes, test_records) = (built.prepared.facts.nodes, built.test_records);
        Self { known, nodes, rule: built.wiring.rule, test_records }
    }
}

impl<'a> Facts<'a> {
    fn of(built: &'a Built) -> Self {
        let facts = &built.prepared.facts;
        Self {
            guarantee: built.prepared.guarantee,
            lambda: facts.spectrum.lambda,
            records: facts.records,
            least_records: facts.least_records,
            parameters: facts.parameters,
            features: built.features.as_ref().map(|features| features.hash.clone()),
            node_names: built.node_names.as_deref().filter(|names| names.len() <= MOST_NAMES),
        }
    }
}

/// The value that was used, or `None` where the key says nothing about this run.
fn value(path: &'static str, document: &Document, settled: &Settled<'_>) -> Option<Value> {
    let model = settled.known.model;
    let source = document.text("data.source").unwrap_or_default();
    let generated = is_generated(&source);
    // A folder of images brings its own test images, and so may a program: then no number of records is set aside.
    let folder = document.file("data.path").is_some_and(|p| p.is_dir());
    let own_test =
        (folder && !document.has("data.test")) || document.given().is_some_and(|given| given.test.is_some());
    let has_accuracy =
        (matches!(model, "logistic" | "softmax" | OWN) || layers::is_network(model)) && !own_test;
    let from_file = |path| document.file(path).map(|p| Value::Text(absolute(&p)));
    match path {
        "graph.nodes" => Some(Value::Integer(settled.nodes as u64)),
        "graph.weights" => settled.rule.map(|(weights, _)| Value::Text(weights.to_string())),
        "graph.lazy" => settled.rule.map(|(_, lazy)| Value::Flag(lazy)),
        "seed" if document.unseeded => None,
        "model.intercept" if ["file", "memory"].contains(&source.as_str()) && model == "logistic" => {
            Some(Value::Flag(document.flag(path).unwrap_or(true)))
        }
        "data.test" if document.file("data.test_path").is_none() && has_accuracy => {
            Some(Value::Float(settled.test_records as f64))
        }
        "graph.file" | "data.path" | "data.test_path" | "model.file" | "privacy.statement"
        | "features.cache" => from_file(path),
        "graph.seed" if !document.has(path) => None,
        "data.records" | "data.dimension" | "data.heterogeneity" | "data.seed" if !generated => None,
        "data.bound" if source != "coefficients" => None,
        "data.spread" if source != "blobs" => None,
        "partition.kind" | "partition.concentration" | "partition.shards" | "partition.seed"
            if generated && !document.has_section("partition") =>
        {
            None
        }
        "partition.concentration" if document.text("partition.kind").as_deref() != Some("dirichlet") => None,
        "partition.shards" if document.text("partition.kind").as_deref() != Some("shards") => None,
        "model.condition" | "model.curvature" if !document.has(path) => None,
        "model.start" | "model.start_seed" if document.has("model.file") || model == OWN => None,
        _ => shared_value(path, document, &settled.known),
    }
}

/// The same for an agreement.
fn agreed_value(
    path: &'static str,
    document: &Document,
    planned: &Planned,
    known: &Known<'_>,
) -> Option<Value> {
    let (model, earlier) = (known.model, &planned.recipe.earlier);
    match path {
        _ if !is_agreed(path) => None,
        "graph.allow_indefinite" => document.flag(path).filter(|allowed| *allowed).map(Value::Flag),
        "model.intercept" if model == "logistic" => Some(Value::Flag(intercept(document, true))),
        "model.intercept" => None,
        "model.condition" if model != "quadratic" => None,
        "model.curvature" if model != "log-cosh" => None,
        "privacy.noise_multiplier" => Some(Value::Float(planned.guarantee.noise_multiplier)),
        "privacy.earlier" if earlier.is_empty() => None,
        "privacy.earlier" => Some(Value::Texts(earlier_texts(earlier))),
        "resolved.budget" => document.float("privacy.epsilon").or(document.float(path)).map(Value::Float),
        _ => shared_value(path, document, known),
    }
}

/// What is written in the same way whoever reads it.
fn shared_value(path: &'static str, document: &Document, known: &Known<'_>) -> Option<Value> {
    let text = |t: &str| Some(Value::Text(t.to_string()));
    let number = |n: usize| Some(Value::Integer(n as u64));
    let law = || layers::start_law(document, known.model);
    match path {
        "model.kind" => text(known.model),
        "model.regularization" => match known.model {
            "logistic" => Some(Value::Float(document.float(path).unwrap_or(0.001))),
            "softmax" => Some(Value::Float(document.float(path).unwrap_or(0.0))),
            _ => None,
        },
        "data.mean" => known.constants.map(|(mean, _)| floats(mean)),
        "data.deviation" => known.constants.map(|(_, deviation)| floats(deviation)),
        "model.start" => text(&law()),
        "model.start_deviation" if law() != "normal" => None,
        "model.start_seed" if law() == "zeros" => None,
        "method.gamma" | "method.beta" | "method.combine" => {
            let name = path.trim_start_matches("method.");
            let read = known.method.card().parameters.iter().any(|p| p.name() == name);
            if read { document.get(path) } else { None }
        }
        "batch.sampling" => match known.batch.2 {
            Sampling::Poisson => text("poisson"),
            Sampling::WithoutReplacement => text("without-replacement"),
            Sampling::Full => text("full"),
        },
        "batch.size" if known.batch.2 != Sampling::Full => number(known.batch.1),
        "batch.first" if known.method.card().first_batch && known.batch.2 != Sampling::Full => {
            number(known.batch.0)
        }
        "batch.size" | "batch.first" => None,
        _ if path.starts_with("privacy.") && !known.private => None,
        _ if path.starts_with("resolved.") => resolved_value(path, known.facts.as_ref()?),
        _ => document.get(path),
    }
}

/// What follows from the settings.
fn resolved_value(path: &'static str, facts: &Facts<'_>) -> Option<Value> {
    let number = |n: usize| Some(Value::Integer(n as u64));
    match path {
        "resolved.prdo" => Some(Value::Text(env!("CARGO_PKG_VERSION").into())),
        "resolved.noise_multiplier" => facts.guarantee.map(|g| Value::Float(g.noise_multiplier)),
        "resolved.epsilon" => facts.guarantee.map(|g| Value::Float(g.epsilon)),
        "resolved.lambda" => Some(Value::Float(facts.lambda)),
        "resolved.records" => number(facts.records),
        "resolved.least_records" => number(facts.least_records),
        "resolved.parameters" => number(facts.parameters),
        "resolved.features" => facts.features.clone().map(Value::Text),
        "resolved.node_names" => facts.node_names.map(|names| Value::Texts(names.to_vec())),
        _ => None,
    }
}

/// Single-precision numbers as short as they can be written.
fn floats(values: &[f32]) -> Value {
    Value::Floats(values.iter().map(|v| v.to_string().parse().unwrap_or(f64::from(*v))).collect())
}

fn absolute(path: &std::path::Path) -> String {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf()).display().to_string()
}
