//! What a folder holds, whole or not: everything that can be read, and what is missing or damaged.

use crate::page::{Page, escape};
use prdo_plot::Figure;
use prdo_runfile::{Document, Key};
use prdo_simulator::Row;
use prdo_store::artefact::{self, Damage};
use prdo_store::{Summary, names, salvage_rows};
use serde::de::DeserializeOwned;
use std::fmt;
use std::path::Path;

#[derive(Clone, Debug)]
pub struct Report {
    pub html: String,
    /// What is missing or damaged in the folder; the page lists it too.
    pub gaps: Vec<Gap>,
    /// Its main figure, for papers; nothing where there is nothing to draw.
    pub figure: Option<Figure>,
}

/// So many damaged lines of a file are listed one by one.
const MOST_LINES: usize = 5;

/// Something that a report should show and cannot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The file, by its name in the folder.
    pub file: String,
    /// The line, from 1, where one is to blame.
    pub line: Option<usize>,
    pub what: String,
}

impl Gap {
    pub(crate) fn new(file: &str, what: impl Into<String>) -> Self {
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

pub(crate) struct RunFolder {
    /// `run.toml`, understood.
    pub(crate) document: Option<Document>,
    pub(crate) settings: Option<String>,
    pub(crate) rows: Vec<Row>,
    /// `summary.json`, as far as it can be read.
    pub(crate) summary: Option<Summary>,
    pub(crate) checkpoint: bool,
    pub(crate) gaps: Vec<Gap>,
}

impl RunFolder {
    pub(crate) fn read(folder: &Path) -> Self {
        let mut gaps = Vec::new();
        let settings =
            text(folder, names::RUN_FILE, &mut gaps, "the settings, the network and the privacy statement");
        let document = settings.as_ref().and_then(|_| match Document::read(&folder.join(names::RUN_FILE)) {
            Ok(document) => Some(document),
            Err(error) => {
                gaps.push(Gap::new(names::RUN_FILE, format!("damaged: {error}")));
                None
            }
        });
        let rows = text(folder, names::METRICS, &mut gaps, "the measurements");
        let rows = rows.map_or(Vec::new(), |text| rows_of(&text, &mut gaps));
        let checkpoint = folder.join(names::CHECKPOINT).is_file();
        let holds = "what the data was, who held what and how long it took";
        let summary = read(folder, names::SUMMARY, &mut gaps, holds);
        Self { document, settings, rows, summary, checkpoint, gaps }
    }

    /// Whether there is nothing that a report could show.
    pub(crate) fn is_nothing(&self) -> bool {
        self.document.is_none() && self.rows.is_empty() && self.summary.is_none() && self.settings.is_none()
    }

    pub(crate) fn text(&self, key: Key) -> Option<String> {
        self.document.as_ref()?.text(key)
    }

    /// What the nodes are called, where the data named them.
    pub(crate) fn node_names(&self) -> Vec<String> {
        let resolved = self.document.as_ref().and_then(|document| document.texts(Key::ResolvedNodeNames));
        let listed = || self.summary.as_ref().and_then(|summary| summary.node_names.clone());
        resolved.or_else(listed).unwrap_or_default()
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.summary.as_ref().is_some_and(|summary| summary.finished)
    }

    pub(crate) fn integer(&self, key: Key) -> Option<u64> {
        self.document.as_ref()?.integer(key)
    }

    pub(crate) fn float(&self, key: Key) -> Option<f64> {
        self.document.as_ref()?.float(key)
    }
}

fn rows_of(text: &str, gaps: &mut Vec<Gap>) -> Vec<Row> {
    let (rows, wrong) = salvage_rows(text);
    if rows.is_empty() {
        gaps.push(Gap::new(names::METRICS, "it holds no measurements"));
    }
    for (line, what) in wrong.iter().take(MOST_LINES) {
        let what = format!("{what}; it is left out");
        gaps.push(Gap { file: names::METRICS.into(), line: Some(*line), what });
    }
    if wrong.len() > MOST_LINES {
        let more = wrong.len() - MOST_LINES;
        gaps.push(Gap::new(names::METRICS, format!("{more} further lines cannot be read and are left out")));
    }
    rows
}

/// A file's text, damaged letters replaced; `holds` says what a report lacks without it.
pub(crate) fn text(folder: &Path, name: &str, gaps: &mut Vec<Gap>, holds: &str) -> Option<String> {
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

/// As much of an artefact as can be read; `holds` says what a report lacks without it. That there is none is no damage: a
/// run that is not finished has no summary.
pub(crate) fn read<T: DeserializeOwned>(
    folder: &Path,
    name: &str,
    gaps: &mut Vec<Gap>,
    holds: &str,
) -> Option<T> {
    let bytes = match std::fs::read(folder.join(name)) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        Err(error) => {
            gaps.push(Gap::new(name, format!("cannot be read: {error}")));
            return None;
        }
    };
    match artefact::salvage(&bytes) {
        Ok((artefact, damaged)) => {
            gaps.extend(
                damaged.iter().map(|field| Gap::new(name, format!("damaged: {field}; it is left out"))),
            );
            Some(artefact)
        }
        Err(Damage::Json(error)) => {
            let what = format!("damaged: {error}; without it the report lacks {holds}");
            gaps.push(Gap { file: name.into(), line: Some(error.line()), what });
            None
        }
        Err(damage @ (Damage::NotObject | Damage::Field(_))) => {
            gaps.push(Gap::new(name, format!("damaged: it is {damage}")));
            None
        }
    }
}

/// What to say of a folder that has nothing to show.
pub(crate) fn nothing(folder: &Path, gaps: &[Gap]) -> String {
    let listed: String = gaps.iter().map(|gap| format!("\n  {gap}")).collect();
    format!(
        "{} has nothing to report{listed}\n  a run's folder holds run.toml (settings), metrics.csv (measurements) and, once \
         it is finished, summary.json; a comparison's holds comparison.json",
        folder.display()
    )
}

pub(crate) fn add_gaps(page: &mut Page, gaps: &[Gap]) {
    if gaps.is_empty() {
        return;
    }
    let items: String = gaps.iter().map(|gap| format!("<li>{}</li>", escape(&gap.to_string()))).collect();
    page.add(&format!(
        "<div class=\"note warn\">This report is not complete: some files are missing or damaged.\
         <ul class=\"gaps\">{items}</ul></div>\n"
    ));
}
