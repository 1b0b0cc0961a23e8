//! `prdo export`: a run in the formats of other tools.

use super::{Failure, target};
use crate::cli::export::{Export, ExportArgs};
use crate::progress::say;
use prdo::budget::words::short;
use prdo::disk::{DiskError, write_atomically};
use prdo::export::{Linear, events, linear_to_onnx, metrics_to_parquet, network_to_onnx, now};
use prdo::models::Labels;
use prdo::runfile::{Document, Key, ModelKind, Section};
use prdo::simulator::Row;
use prdo::store::{NetworkFile, Summary, artefact, names, parse_rows, read_models};
use std::path::{Path, PathBuf};

pub fn run(what: &Export) -> Result<(), Failure> {
    match what {
        Export::Onnx { args, node } => {
            let target = args.target(names::ONNX)?;
            put(&target, &onnx(&args.folder, *node)?)
        }
        Export::Tensorboard { args } => {
            let folder = args.out.clone().unwrap_or_else(|| args.folder.join(names::TENSORBOARD));
            let target = args.free(folder.join(names::EVENTS))?;
            let bytes = events(&rows(&args.folder)?, now());
            std::fs::create_dir_all(&folder).map_err(DiskError::of("cannot write", &folder))?;
            put(&target, &bytes)
        }
        Export::Parquet { args } => {
            let target = args.target(names::PARQUET)?;
            let bytes = metrics_to_parquet(&rows(&args.folder)?);
            put(&target, &bytes.map_err(|e| Failure::Input(e.to_string()))?)
        }
    }
}

impl ExportArgs {
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

fn read(folder: &Path, name: &str) -> Result<Vec<u8>, Failure> {
    let path = folder.join(name);
    std::fs::read(&path).map_err(|error| {
        let shown = path.display();
        Failure::Input(format!("cannot read {shown}: {error}; `prdo export` takes the folder of a run"))
    })
}

fn rows(folder: &Path) -> Result<Vec<Row>, Failure> {
    let text = String::from_utf8_lossy(&read(folder, names::METRICS)?).into_owned();
    match parse_rows(&text) {
        rows if rows.is_empty() => {
            Err(Failure::Input(format!("{} has no rows yet", folder.join(names::METRICS).display())))
        }
        rows => Ok(rows),
    }
}

fn onnx(folder: &Path, node: Option<usize>) -> Result<Vec<u8>, Failure> {
    let bytes = read(folder, names::MODEL)?;
    let document = Document::read(&folder.join(names::RUN_FILE))?;
    let summary: Summary = artefact::parse(&read(folder, names::SUMMARY)?)
        .map_err(|e| Failure::Input(format!("{}: {e}", folder.join(names::SUMMARY).display())))?;
    let about = about(&document, &summary, node);
    let refuse = |error: String| Failure::Input(format!("{}: {error}", folder.join(names::MODEL).display()));
    if let Some(network) = NetworkFile::read(&bytes).map_err(|e| refuse(e.to_string()))? {
        let parameters = network.model(node).map_err(|e| refuse(e.to_string()))?;
        let single =
            |key| document.floats(key).map(|list| list.iter().map(|v| *v as f32).collect::<Vec<_>>());
        let constants = single(Key::DataMean).zip(single(Key::DataDeviation));
        let constants = constants.as_ref().map(|(mean, deviation)| (&mean[..], &deviation[..]));
        return network_to_onnx(&network.spec, constants, &parameters, &about)
            .map_err(|e| refuse(e.to_string()));
    }
    let (average, nodes) = read_models(&bytes).map_err(|e| refuse(e.to_string()))?;
    let parameters = match node {
        None => &average,
        Some(i) => nodes.get(i).ok_or_else(|| {
            let last = nodes.len().saturating_sub(1);
            Failure::Input(format!("--node {i} is not allowed: it must be from 0 to {last}"))
        })?,
    };
    if document.has_section(Section::Features) {
        let why = "the model reads features of a map, which ONNX export does not write: use `prdo predict`, which applies it";
        return Err(Failure::Input(why.into()));
    }
    let linear = linear(&document, &summary, parameters.len())?;
    linear_to_onnx(linear, parameters, &about).map_err(|e| refuse(e.to_string()))
}

fn about(document: &Document, summary: &Summary, node: Option<usize>) -> String {
    let whose = node.map_or("the average model".to_string(), |i| format!("node {i}'s model"));
    let name = document.name();
    match (summary.epsilon_spent, summary.delta) {
        (Some(epsilon), Some(delta)) => {
            format!("{whose} of {name:?}: ε = {} at δ = {delta:e} (seeded simulation)", short(epsilon, 4))
        }
        _ => format!("{whose} of {name:?}: not private"),
    }
}

/// What a linear model's parameters are, from its settings.
fn linear(document: &Document, summary: &Summary, parameters: usize) -> Result<Linear, Failure> {
    let run = document.run_file();
    let kind = run.model.kind;
    match kind.and_then(ModelKind::labels) {
        Some(Labels::Two) => {
            let intercept = kind.is_some_and(|kind| run.intercept(kind));
            Ok(Linear { features: parameters - usize::from(intercept), scores: 1, intercept })
        }
        Some(Labels::Classes) => {
            let counted = summary.class_counts.as_ref().and_then(|nodes| nodes.first()).map(Vec::len);
            let named = summary.class_names.as_ref().map(Vec::len);
            let classes =
                counted.or(named).or(run.data.classes).filter(|k| *k > 0 && parameters.is_multiple_of(*k));
            let scores = classes.ok_or_else(|| {
                Failure::Input("summary.json does not say how many classes there are: it is damaged".into())
            })?;
            Ok(Linear { features: parameters / scores - 1, scores, intercept: true })
        }
        Some(Labels::Unread) | None => Err(Failure::Input(format!(
            "model.kind = {:?} makes no predictions: ONNX is for logistic, softmax and networks",
            kind.map_or("", ModelKind::name)
        ))),
    }
}
