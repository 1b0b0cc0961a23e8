//! `prdo export`: a run in the formats of other tools.

use super::{Failure, target};
use crate::cli::export::{Export, Place};
use crate::progress::say;
use prdo::budget::words::short;
use prdo::config::Document;
use prdo::export::{
    EVENTS_FILE, EVENTS_FOLDER, Linear, events, linear_to_onnx, metrics_to_parquet, network_to_onnx,
};
use prdo::output::{NetworkFile, parse_rows, read_models, write_atomically};
use prdo::simulator::Row;
use serde_json::Value as Json;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

pub fn run(what: &Export) -> Result<(), Failure> {
    match what {
        Export::Onnx { place, node } => {
            let target = place.target("model.onnx")?;
            put(&target, &onnx(&place.folder, *node)?)
        }
        Export::Tensorboard { place } => {
            let folder = place.out.clone().unwrap_or_else(|| place.folder.join(EVENTS_FOLDER));
            let target = place.free(folder.join(EVENTS_FILE))?;
            let bytes = events(&rows(&place.folder)?, now());
            std::fs::create_dir_all(&folder).map_err(|e| unwritable(&folder, &e))?;
            put(&target, &bytes)
        }
        Export::Parquet { place } => {
            let target = place.target("metrics.parquet")?;
            put(&target, &metrics_to_parquet(&rows(&place.folder)?))
        }
    }
}

impl Place {
    fn target(&self, name: &str) -> Result<PathBuf, Failure> {
        self.free(self.out.clone().unwrap_or_else(|| self.folder.join(name)))
    }

    fn free(&self, target: PathBuf) -> Result<PathBuf, Failure> {
        target::check(&target, target::of_run(&self.folder), self.overwrite)?;
        Ok(target)
    }
}

fn put(target: &Path, bytes: &[u8]) -> Result<(), Failure> {
    write_atomically(target, bytes)?;
    say(&target.display().to_string());
    Ok(())
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::Work(format!("cannot write {}: {error}", path.display()))
}

/// Seconds since 1970.
pub fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

/// A file of the run's folder.
fn read(folder: &Path, name: &str) -> Result<Vec<u8>, Failure> {
    let path = folder.join(name);
    std::fs::read(&path).map_err(|error| {
        let shown = path.display();
        Failure::Input(format!("cannot read {shown}: {error}; `prdo export` takes the folder of a run"))
    })
}

fn rows(folder: &Path) -> Result<Vec<Row>, Failure> {
    let text = String::from_utf8_lossy(&read(folder, "metrics.csv")?).into_owned();
    match parse_rows(&text) {
        rows if rows.is_empty() => {
            Err(Failure::Input(format!("{} has no rows yet", folder.join("metrics.csv").display())))
        }
        rows => Ok(rows),
    }
}

fn onnx(folder: &Path, node: Option<usize>) -> Result<Vec<u8>, Failure> {
    let bytes = read(folder, "model.safetensors")?;
    let document = Document::read(&folder.join("run.toml"))?;
    let summary: Json = serde_json::from_slice(&read(folder, "summary.json")?)
        .map_err(|e| Failure::Input(format!("{}: {e}", folder.join("summary.json").display())))?;
    let about = about(&document, &summary, node);
    let refuse =
        |error: String| Failure::Input(format!("{}: {error}", folder.join("model.safetensors").display()));
    if let Some(network) = NetworkFile::read(&bytes).map_err(|e| refuse(e.to_string()))? {
        let parameters = network.model(node).map_err(|e| refuse(e.to_string()))?;
        let single =
            |path| document.floats(path).map(|list| list.iter().map(|v| *v as f32).collect::<Vec<_>>());
        let constants = single("data.mean").zip(single("data.deviation"));
        let constants = constants.as_ref().map(|(mean, deviation)| (&mean[..], &deviation[..]));
        return network_to_onnx(&network.spec, constants, &parameters, &about)
            .map_err(|e| refuse(e.to_string()));
    }
    let (average, nodes) = read_models(&bytes).map_err(|e| refuse(e.to_string()))?;
    let parameters = match node {
        None => &average,
        Some(i) => nodes.get(i).ok_or_else(|| {
            Failure::Input(format!(
                "--node {i} is not allowed: it must be from 0 to {}",
                nodes.len().saturating_sub(1)
            ))
        })?,
    };
    if document.has_section("features") {
        let why =
            "the model reads features of a map, which ONNX export does not write: `prdo predict` applies it";
        return Err(Failure::Input(why.into()));
    }
    let linear = linear(&document, &summary, parameters.len())?;
    linear_to_onnx(linear, parameters, &about).map_err(|e| refuse(e.to_string()))
}

/// What the file says about itself.
fn about(document: &Document, summary: &Json, node: Option<usize>) -> String {
    let whose = node.map_or("the average model".to_string(), |i| format!("node {i}'s model"));
    let name = document.text("name").unwrap_or_default();
    match (summary["epsilon_spent"].as_f64(), summary["delta"].as_f64()) {
        (Some(epsilon), Some(delta)) => {
            format!("{whose} of {name:?}: ε = {} at δ = {delta:e} (seeded simulation)", short(epsilon, 4))
        }
        _ => format!("{whose} of {name:?}: not private"),
    }
}

/// What a linear model's parameters are, from its settings.
fn linear(document: &Document, summary: &Json, parameters: usize) -> Result<Linear, Failure> {
    let kind = document.text("model.kind").unwrap_or_default();
    match kind.as_str() {
        "logistic" => {
            let intercept = document.flag("model.intercept").unwrap_or(false);
            Ok(Linear { features: parameters - usize::from(intercept), scores: 1, intercept })
        }
        "softmax" => {
            let counted = summary["class_counts"][0].as_array().map(Vec::len);
            let named = summary["class_names"].as_array().map(Vec::len);
            let typed = document.integer("data.classes").map(|k| k as usize);
            let classes = counted.or(named).or(typed).filter(|k| *k > 0 && parameters.is_multiple_of(*k));
            let scores = classes.ok_or_else(|| {
                Failure::Input("summary.json does not say how many classes there are: it is damaged".into())
            })?;
            Ok(Linear { features: parameters / scores - 1, scores, intercept: true })
        }
        _ => Err(Failure::Input(format!(
            "model.kind = {kind:?} gives no predictions: ONNX is for logistic, softmax and networks"
        ))),
    }
}
