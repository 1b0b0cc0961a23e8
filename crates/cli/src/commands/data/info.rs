//! `prdo data info`: what a file holds.

use super::{format, load, wrong};
use crate::cli::data::InfoArgs;
use crate::commands::Failure;
use crate::progress::say;
use prdo::columns::Columns;
use prdo::data::{self, DataError, Dataset, Feature, Format, Loaded, Options};
use serde_json::{Value as Json, json};
use std::path::Path;

/// Labels with more different values than this are numbers, not classes.
const MOST_CLASSES: usize = 1000;
/// As many classes and nodes are listed in words.
const MOST_LISTED: usize = 20;

pub fn run(args: &InfoArgs) -> Result<(), Failure> {
    let format = format(&args.read)?;
    let (label, node) = (args.read.label.as_deref(), args.read.node.as_deref());
    let columns = match format {
        Format::Csv => {
            let found = data::survey(&args.read.path).map_err(wrong)?;
            Some(Columns::new(found, label, node))
        }
        _ => None,
    };
    let texts = columns.as_ref().map_or(Vec::new(), Columns::texts);
    let facts = match (load(&args.read, format, texts), &columns) {
        (Ok(loaded), Some(columns)) => {
            let facts = facts(&loaded, format, &args.read.path)?;
            Ok(Facts { range: columns.range(), texts: columns.texts().len(), ..facts })
        }
        (Ok(loaded), None) => Ok(facts(&loaded, format, &args.read.path)?),
        // Columns can be shown of a file that cannot be trained on as it is.
        (Err(error @ DataError::Cell { .. }), Some(_)) => Err(error),
        (Err(error @ DataError::MissingColumn { .. }), Some(_)) if label.is_none() && node.is_none() => {
            Err(error)
        }
        (Err(error), _) => return Err(wrong(error)),
    };
    if args.json {
        say(&json_of(facts.as_ref(), columns.as_ref(), format).to_string());
        return Ok(());
    }
    match &facts {
        Ok(facts) => facts.lines().iter().for_each(|line| say(line)),
        Err(_) => {
            say(&format!("{}: {} records", format.name(), columns.as_ref().map_or(0, Columns::records)))
        }
    }
    columns.iter().for_each(say_columns);
    if let Err(error) = &facts {
        say(&format!("\nA run would refuse this file as it is: {error}"));
    }
    Ok(())
}

fn say_columns(columns: &Columns) {
    say("columns:");
    columns.lines().iter().for_each(|line| say(line));
    let questions = columns.questions();
    if !questions.is_empty() {
        say("");
    }
    questions.iter().for_each(|question| say(question));
    let Some(section) = columns.section() else { return };
    say("\nFor text, and for numbers of any scale, a run file declares its columns (docs/features.md):\n");
    say(section.trim_end());
    say(
        "\nThese ranges were read from the records, and the extremes of private records are private themselves:",
    );
    say("write public limits instead, such as \"age: 0 to 120\".");
}

fn json_of(facts: Result<&Facts, &DataError>, columns: Option<&Columns>, format: Format) -> Json {
    let mut json = match facts {
        Ok(facts) => facts.json(),
        Err(error) => json!({
            "format": format.name(),
            "records": columns.map(Columns::records),
            "problem": error.to_string(),
        }),
    };
    if let Some(columns) = columns {
        json["columns"] = columns.json().into();
        json["features_section"] = columns.section().into();
        json["maybe_label"] = columns.maybe_label().into();
        json["maybe_node"] = columns.maybe_node().into();
    }
    json
}

fn facts(loaded: &Loaded, format: Format, path: &Path) -> Result<Facts, Failure> {
    let facts = match loaded {
        Loaded::Numbers(data) => Facts::of(data),
        Loaded::Images(data) => Facts::of(data),
    };
    Ok(Facts { format: format.name(), test_records: test_records(path, format)?, ..facts })
}

fn test_records(path: &Path, format: Format) -> Result<Option<usize>, Failure> {
    let Some(part) = format.test_part(path) else {
        return Ok(None);
    };
    let options = Options { format: Some(format), prefix: Some(part.to_owned()), ..Options::default() };
    Ok(Some(match data::load(path, &options).map_err(wrong)? {
        Loaded::Numbers(data) => data.table.len(),
        Loaded::Images(data) => data.table.len(),
    }))
}

struct Facts {
    format: &'static str,
    records: usize,
    test_records: Option<usize>,
    features: usize,
    /// Those that hold text.
    texts: usize,
    feature_names: Option<Vec<String>>,
    image: Option<data::ImageShape>,
    bytes: bool,
    /// Smallest and largest feature.
    range: (f64, f64),
    label_range: (f64, f64),
    /// Name and number of records of each class.
    classes: Option<Vec<(String, usize)>>,
    nodes: Option<Vec<usize>>,
    node_names: Option<Vec<String>>,
}

impl Facts {
    fn of<F: Feature>(data: &Dataset<F>) -> Self {
        let table = &data.table;
        let range = |values: &mut dyn Iterator<Item = f64>| {
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)))
        };
        Self {
            format: "",
            records: table.len(),
            test_records: None,
            features: table.width(),
            texts: 0,
            feature_names: data.feature_names.clone(),
            image: data.image,
            bytes: size_of::<F>() == 1,
            range: range(&mut table.features().iter().map(|f| f.value())),
            label_range: range(&mut table.labels().iter().copied()),
            classes: classes(table.labels(), data.class_names.as_deref()),
            nodes: data.node.as_deref().map(counts),
            node_names: data.node_names.clone(),
        }
    }

    fn json(&self) -> Json {
        let classes = self.classes.as_ref().map(|classes| {
            classes
                .iter()
                .map(|(name, records)| json!({"class": name, "records": records}))
                .collect::<Vec<_>>()
        });
        let image = self.image.map(|i| json!({"channels": i.channels, "height": i.height, "width": i.width}));
        json!({
            "format": self.format,
            "records": self.records,
            "test_records": self.test_records,
            "features": self.features,
            "feature_names": self.feature_names,
            "image": image,
            "bytes": self.bytes,
            "text_features": self.texts,
            "feature_min": self.range.0,
            "feature_max": self.range.1,
            "label_min": self.label_range.0,
            "label_max": self.label_range.1,
            "classes": classes,
            "nodes": self.nodes.as_ref().map(Vec::len),
            "node_records": self.nodes,
            "node_names": self.node_names,
        })
    }

    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let test = self.test_records.map_or(String::new(), |n| format!(", and {n} to test on"));
        lines.push(format!("{}: {} records{test}", self.format, self.records));
        let range = format!("from {} to {}", self.range.0, self.range.1);
        lines.push(match (self.image, self.bytes) {
            (Some(image), true) => format!(
                "images of {image} (channels x rows x columns): {} features of a byte each, {range}",
                self.features
            ),
            (Some(image), false) => {
                format!("images of {image} (channels x rows x columns): {} features {range}", self.features)
            }
            (None, _) if self.texts == self.features => format!("{} features, all text", self.features),
            (None, _) if self.texts > 0 => {
                format!("{} features: {} text, the others {range}", self.features, self.texts)
            }
            (None, _) => format!("{} features {range}", self.features),
        });
        if let Some(names) = self.feature_names.as_ref().filter(|_| self.image.is_none()) {
            lines.push(format!("features: {}", listed(names.iter().cloned(), names.len())));
        }
        lines.push(match &self.classes {
            Some(classes) => {
                let each = classes.iter().map(|(name, records)| format!("{name} {records}"));
                format!("{} classes: {}", classes.len(), listed(each, classes.len()))
            }
            None => format!("labels from {} to {}", self.label_range.0, self.label_range.1),
        });
        lines.push(match &self.nodes {
            Some(nodes) => {
                let name = |node: usize| match self.node_names.as_ref().and_then(|names| names.get(node)) {
                    Some(name) => name.clone(),
                    None => node.to_string(),
                };
                let each =
                    nodes.iter().enumerate().map(|(node, records)| format!("{}: {records}", name(node)));
                format!("{} nodes, with records: {}", nodes.len(), listed(each, nodes.len()))
            }
            None => "no node column: a run file's [partition] says who holds what".to_owned(),
        });
        lines
    }
}

fn listed(items: impl Iterator<Item = String>, count: usize) -> String {
    let mut shown: Vec<String> = items.take(MOST_LISTED).collect();
    if count > MOST_LISTED {
        shown.push(format!("and {} more", count - MOST_LISTED));
    }
    shown.join(", ")
}

/// The classes and how often each occurs; `None` where labels are not classes.
fn classes(labels: &[f64], names: Option<&[String]>) -> Option<Vec<(String, usize)>> {
    let mut sorted = labels.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let runs = || sorted.chunk_by(|a, b| a == b);
    if runs().take(MOST_CLASSES + 1).count() > MOST_CLASSES || sorted.iter().any(|label| label.fract() != 0.0)
    {
        return None;
    }
    let name = |label: f64| match names {
        Some(names) if label >= 0.0 => names.get(label as usize).cloned(),
        _ => None,
    };
    let mut counted: Vec<(String, usize)> =
        runs().map(|run| (name(run[0]).unwrap_or_else(|| run[0].to_string()), run.len())).collect();
    // Classes that are named but do not occur are worth knowing about.
    for named in names.unwrap_or_default() {
        if !counted.iter().any(|(name, _)| name == named) {
            counted.push((named.clone(), 0));
        }
    }
    Some(counted)
}

fn counts(node: &[u32]) -> Vec<usize> {
    let mut seen = std::collections::BTreeMap::new();
    node.iter().for_each(|node| *seen.entry(*node).or_insert(0usize) += 1);
    // Numbers may be far apart: only as many are listed as a run could have.
    let last = seen.keys().next_back().map_or(0, |last| *last as usize + 1);
    if last > node.len() {
        seen.into_values().collect()
    } else {
        (0..last).map(|node| seen.get(&(node as u32)).copied().unwrap_or(0)).collect()
    }
}
