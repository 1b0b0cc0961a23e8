//! A run's settings written back as a run file, with every default filled in.

use super::build::Built;
use super::document::Document;
use super::layers;
use super::schema::{KEYS, Value};
use prdo_privacy::Sampling;
use std::fmt::Write;

/// The run file of a built run: running it again gives the same bits.
pub fn to_toml(document: &Document, built: &Built) -> String {
    let mut text =
        String::from("# Written by prdo: every setting of this run. `prdo run` repeats it to the bit.\n");
    let mut section = "";
    for key in KEYS {
        let Some(value) = value(key.path, document, built) else { continue };
        let (in_section, name) = key.path.split_once('.').unwrap_or(("", key.path));
        if in_section != section {
            section = in_section;
            let _ = writeln!(text, "\n[{section}]");
        }
        let _ = writeln!(text, "{name} = {value}");
    }
    text
}

/// The value that was used, or `None` where the key says nothing about this run.
fn value(path: &'static str, document: &Document, built: &Built) -> Option<Value> {
    let (facts, guarantee) = (&built.prepared.facts, built.prepared.guarantee);
    let text = |t: &str| Some(Value::Text(t.to_string()));
    let number = |n: usize| Some(Value::Integer(n as u64));
    let source = document.text("data.source").unwrap_or_default();
    let generated = source != "file" && source != "digits";
    // A folder of images brings its own test images: then no number of records is set aside.
    let own_test = document.file("data.path").is_some_and(|p| p.is_dir());
    let has_accuracy = (matches!(built.model.as_str(), "logistic" | "softmax")
        || layers::is_network(&built.model))
        && !own_test;
    let from_file = |path| document.file(path).map(|p| Value::Text(absolute(&p)));
    match path {
        "graph.nodes" => number(facts.nodes),
        "graph.weights" => built.wiring.rule.map(|(weights, _)| Value::Text(weights.to_string())),
        "graph.lazy" => built.wiring.rule.map(|(_, lazy)| Value::Flag(lazy)),
        "model.kind" => text(&built.model),
        "model.regularization" => match built.model.as_str() {
            "logistic" => Some(Value::Float(document.float(path).unwrap_or(0.001))),
            "softmax" => Some(Value::Float(document.float(path).unwrap_or(0.0))),
            _ => None,
        },
        "model.intercept" if source == "file" && built.model == "logistic" => {
            Some(Value::Flag(document.flag(path).unwrap_or(true)))
        }
        "data.test" if document.file("data.test_path").is_none() && has_accuracy => {
            Some(Value::Float(built.test_records as f64))
        }
        "graph.file" | "data.path" | "data.test_path" | "model.file" | "privacy.statement" => from_file(path),
        "data.mean" => built.network.as_ref()?.constants.as_ref().map(|(mean, _)| floats(mean)),
        "data.deviation" => {
            built.network.as_ref()?.constants.as_ref().map(|(_, deviation)| floats(deviation))
        }
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
        "model.start" | "model.start_seed" if document.has("model.file") => None,
        "model.start" => text(&layers::start_law(document, &built.model)),
        "model.start_deviation" if layers::start_law(document, &built.model) != "normal" => None,
        "model.start_seed" if layers::start_law(document, &built.model) == "zeros" => None,
        "method.gamma" | "method.beta" | "method.combine" => {
            let name = path.trim_start_matches("method.");
            let read = built.method.card().parameters.iter().any(|p| p.name() == name);
            if read { document.get(path) } else { None }
        }
        "batch.sampling" => match built.batch.2 {
            Sampling::Poisson => text("poisson"),
            Sampling::WithoutReplacement => text("without-replacement"),
            Sampling::Full => text("full"),
        },
        "batch.size" if built.batch.2 != Sampling::Full => number(built.batch.1),
        "batch.first" if built.method.card().first_batch && built.batch.2 != Sampling::Full => {
            number(built.batch.0)
        }
        "batch.size" | "batch.first" => None,
        _ if path.starts_with("privacy.") && guarantee.is_none() => None,
        "resolved.prdo" => text(env!("CARGO_PKG_VERSION")),
        "resolved.noise_multiplier" => guarantee.map(|g| Value::Float(g.noise_multiplier)),
        "resolved.epsilon" => guarantee.map(|g| Value::Float(g.epsilon)),
        "resolved.lambda" => Some(Value::Float(facts.spectrum.lambda)),
        "resolved.records" => number(facts.records),
        "resolved.least_records" => number(facts.least_records),
        "resolved.parameters" => number(facts.parameters),
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
