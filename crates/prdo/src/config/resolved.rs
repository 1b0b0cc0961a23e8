//! A run's settings written back as a run file, with every default filled in: for its owner, or for an agreement.

use super::build::Built;
use super::document::Document;
use super::layers;
use super::model::{Form, OWN};
use super::recipe::earlier_texts;
use super::records::{intercept, is_generated};
use super::schema::{KEYS, Value};
use super::terms::Planned;
use crate::run::Guarantee;
use prdo_algorithm::Method;
use prdo_privacy::Sampling;
use std::fmt::Write;

/// The run file of a built run: running it again gives the same bits.
pub fn to_toml(document: &Document, built: &Built) -> String {
    let known = Known::of(built);
    let header = "# Written by prdo: every setting of this run. `prdo run` repeats it to the bit.\n";
    write(header.into(), |path| value(path, document, built, &known))
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
pub fn to_agreed_toml(document: &Document, planned: &Planned) -> String {
    let known = Known {
        model: &planned.model.kind,
        method: planned.recipe.method,
        batch: planned.recipe.batch,
        constants: match &planned.model.form {
            Form::Network { constants, .. } => constants.as_ref(),
            _ => None,
        },
        guarantee: Some(planned.guarantee),
        lambda: planned.spectrum.lambda,
        records: planned.records,
        least_records: planned.recipe.least,
        parameters: planned.model.dimension,
        features: planned
            .model
            .features
            .as_ref()
            .and_then(|plan| plan.make(document).ok())
            .map(|map| map.hash()),
        node_names: None,
    };
    let wiring = &planned.wiring;
    let graph = wiring.kind.map_or("from a file".to_string(), |kind| kind.to_string());
    let header = format!(
        "# What all members use. Graph: {graph}, weights: {}; its rows are the members' weights.\n",
        wiring.weights
    );
    write(header, |path| agreed_value(path, document, planned, &known))
}

/// Whether a key may stand in an agreement's settings.
pub fn is_agreed(path: &str) -> bool {
    let section = path.split('.').next().unwrap_or("");
    let whole = ["rounds", "method", "batch", "clip", "resolved"].contains(&section)
        && path != "resolved.node_names";
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
struct Known<'a> {
    model: &'a str,
    method: Method,
    batch: (usize, usize, Sampling),
    constants: Option<&'a (Vec<f32>, Vec<f32>)>,
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

impl<'a> Known<'a> {
    fn of(built: &'a Built) -> Self {
        let facts = &built.prepared.facts;
        Self {
            model: &built.model,
            method: built.method,
            batch: built.batch,
            constants: built.network.as_ref().and_then(|network| network.constants.as_ref()),
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
fn value(path: &'static str, document: &Document, built: &Built, known: &Known<'_>) -> Option<Value> {
    let source = document.text("data.source").unwrap_or_default();
    let generated = is_generated(&source);
    // A folder of images brings its own test images, and so may a program: then no number of records is set aside.
    let own_test = document.file("data.path").is_some_and(|p| p.is_dir())
        || document.given().is_some_and(|given| given.test.is_some());
    let has_accuracy = (matches!(built.model.as_str(), "logistic" | "softmax" | OWN)
        || layers::is_network(&built.model))
        && !own_test;
    let from_file = |path| document.file(path).map(|p| Value::Text(absolute(&p)));
    match path {
        "graph.nodes" => Some(Value::Integer(built.prepared.facts.nodes as u64)),
        "graph.weights" => built.wiring.rule.map(|(weights, _)| Value::Text(weights.to_string())),
        "graph.lazy" => built.wiring.rule.map(|(_, lazy)| Value::Flag(lazy)),
        "seed" if document.unseeded => None,
        "model.intercept" if ["file", "memory"].contains(&source.as_str()) && built.model == "logistic" => {
            Some(Value::Flag(document.flag(path).unwrap_or(true)))
        }
        "data.test" if document.file("data.test_path").is_none() && has_accuracy => {
            Some(Value::Float(built.test_records as f64))
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
        "model.start" | "model.start_seed" if document.has("model.file") || built.model == OWN => None,
        _ => shared_value(path, document, known),
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
        _ if path.starts_with("privacy.") && known.guarantee.is_none() => None,
        "resolved.prdo" => text(env!("CARGO_PKG_VERSION")),
        "resolved.noise_multiplier" => known.guarantee.map(|g| Value::Float(g.noise_multiplier)),
        "resolved.epsilon" => known.guarantee.map(|g| Value::Float(g.epsilon)),
        "resolved.lambda" => Some(Value::Float(known.lambda)),
        "resolved.records" => number(known.records),
        "resolved.least_records" => number(known.least_records),
        "resolved.parameters" => number(known.parameters),
        "resolved.features" => known.features.as_deref().and_then(text),
        "resolved.budget" => None,
        "resolved.node_names" => known.node_names.map(|names| Value::Texts(names.to_vec())),
        _ => document.get(path),
    }
}

/// Single-precision numbers as short as they can be written.
fn floats(values: &[f32]) -> Value {
    Value::Floats(values.iter().map(|v| v.to_string().parse().unwrap_or(f64::from(*v))).collect())
}

fn absolute(path: &std::path::Path) -> String {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf()).display().to_string()
}
