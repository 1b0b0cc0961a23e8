//! What a folder holds, whole or not: everything that can be read, and what is missing or damaged.

use crate::config::Document;
use crate::node::journal::STATUS;
use crate::node::prepare::AGREEMENT;
use crate::output::salvage_rows;
use prdo_simulator::Row;
use serde_json::Value as Json;
use std::fmt;
use std::path::Path;

/// So many damaged lines of a file are listed one by one.
const MOST_LINES: usize = 5;

/// Something that a report should show and cannot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The file, by its name in the folder.
    pub file: String,
    /// The line, from 1, where one is to blame.
    pub line: Option<usize>,
    /// What is wrong and what it means.
    pub what: String,
}

impl Gap {
    pub(super) fn new(file: &str, what: impl Into<String>) -> Self {
        Self { file: file.to_string(), line: None, what: what.into() }
    }
}

impl fmt::Display for Gap {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(out, "{}, line {line}: {}", self.file, self.what),
            None => write!(out, "{}: {}", self.file, self.what),
        }
    }
}

/// What a folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Run,
    Comparison,
    Member,
}

/// By the files in it; nothing if none is known.
pub(super) fn kind(folder: &Path) -> Option<Kind> {
    let has = |name: &str| folder.join(name).exists();
    if has(AGREEMENT) || has(STATUS) {
        return Some(Kind::Member);
    }
    if has("comparison.json") || (has("table.csv") && !has("run.toml") && !has("results.json")) {
        return Some(Kind::Comparison);
    }
    ["run.toml", "metrics.csv", "summary.json", "checkpoint"]
        .iter()
        .any(|file| has(file))
        .then_some(Kind::Run)
}

/// What was found of one run.
pub(super) struct Found {
    /// `run.toml`, understood.
    pub(super) document: Option<Document>,
    /// `run.toml` as it stands.
    pub(super) settings: Option<String>,
    pub(super) rows: Vec<Row>,
    /// `summary.json`; null if it is not there.
    pub(super) summary: Json,
    /// Whether there is a checkpoint to go on from.
    pub(super) checkpoint: bool,
    pub(super) gaps: Vec<Gap>,
}

impl Found {
    pub(super) fn read(folder: &Path) -> Self {
        let mut gaps = Vec::new();
        let settings =
            text(folder, "run.toml", &mut gaps, "the settings, the network and the privacy statement");
        let document = settings.as_ref().and_then(|_| match Document::read(&folder.join("run.toml")) {
            Ok(document) => Some(document),
            Err(error) => {
                gaps.push(Gap::new("run.toml", format!("damaged: {error}")));
                None
            }
        });
        let rows = text(folder, "metrics.csv", &mut gaps, "the measurements");
        let rows = rows.map_or(Vec::new(), |text| rows_of(&text, &mut gaps));
        let checkpoint = folder.join("checkpoint/state").is_file();
        // A run that is not finished has no summary: that is no damage.
        let summary = match folder.join("summary.json").exists() {
            true => json(
                folder,
                "summary.json",
                &mut gaps,
                "what the data was, who held what and how long it took",
            ),
            false => Json::Null,
        };
        Self { document, settings, rows, summary, checkpoint, gaps }
    }

    /// Whether there is nothing that a report could show.
    pub(super) fn is_nothing(&self) -> bool {
        self.document.is_none() && self.rows.is_empty() && self.summary.is_null() && self.settings.is_none()
    }

    /// The settings' value, where they can be read.
    pub(super) fn text(&self, key: &'static str) -> Option<String> {
        self.document.as_ref()?.text(key)
    }

    /// What the nodes are called, where the data named them.
    pub(super) fn node_names(&self) -> Vec<String> {
        let resolved = self.document.as_ref().and_then(|document| document.texts("resolved.node_names"));
        let listed = || {
            let names = self.summary["node_names"].as_array().into_iter().flatten();
            names.filter_map(|name| name.as_str().map(String::from)).collect()
        };
        resolved.unwrap_or_else(listed)
    }

    pub(super) fn integer(&self, key: &'static str) -> Option<u64> {
        self.document.as_ref()?.integer(key)
    }

    pub(super) fn float(&self, key: &'static str) -> Option<f64> {
        self.document.as_ref()?.float(key)
    }
}

fn rows_of(text: &str, gaps: &mut Vec<Gap>) -> Vec<Row> {
    let (rows, wrong) = salvage_rows(text);
    if rows.is_empty() {
        gaps.push(Gap::new("metrics.csv", "it holds no measurements"));
    }
    for (line, what) in wrong.iter().take(MOST_LINES) {
        let what = format!("{what}; it is left out");
        gaps.push(Gap { file: "metrics.csv".into(), line: Some(*line), what });
    }
    if wrong.len() > MOST_LINES {
        let more = wrong.len() - MOST_LINES;
        gaps.push(Gap::new("metrics.csv", format!("{more} further lines cannot be read and are left out")));
    }
    rows
}

/// A file's text, damaged letters replaced; `holds` says what a report lacks without it.
pub(super) fn text(folder: &Path, name: &str, gaps: &mut Vec<Gap>, holds: &str) -> Option<String> {
    match std::fs::read(folder.join(name)) {
        Ok(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) => {
            let why = match error.kind() {
                std::io::ErrorKind::NotFound => "missing".to_string(),
                _ => format!("cannot be read ({error})"),
            };
            gaps.push(Gap::new(name, format!("{why}: without it the report lacks {holds}")));
            None
        }
    }
}

/// A file's JSON object, null if there is none; `holds` says what a report lacks without it.
pub(super) fn json(folder: &Path, name: &str, gaps: &mut Vec<Gap>, holds: &str) -> Json {
    let read = std::fs::read(folder.join(name)).map_err(|e| Gap::new(name, format!("cannot be read: {e}")));
    let parsed = read.and_then(|bytes| {
        serde_json::from_slice::<Json>(&bytes).map_err(|e| Gap {
            file: name.into(),
            line: Some(e.line()),
            what: format!("damaged: {e}; without it the report lacks {holds}"),
        })
    });
    match parsed {
        Ok(json) if json.is_object() => json,
        Ok(_) => {
            gaps.push(Gap::new(name, "damaged: it is not an object"));
            Json::Null
        }
        Err(gap) => {
            gaps.push(gap);
            Json::Null
        }
    }
}
