//! `prdo new`: a run file for one's own table, ready to run.

use super::data::{column_named, wrong};
use super::{Failure, target};
use crate::cli::new::NewArgs;
use crate::progress::say;
use prdo::columns::{Columns, one_line};
use prdo::data::{self, ColumnSurvey, DataError, Options, slips};
use prdo::disk::write_atomically;
use prdo::runfile::Value;
use std::path::{Path, PathBuf};

/// Labels with more different values than this are numbers, not classes.
const MOST_CLASSES: usize = 20;
/// An organisation with fewer records takes no part, if enough others have more: its batches would be smaller than the
/// noise.
const LEAST: usize = 100;
/// Up to so many organisations each talks to every other.
const SMALL: usize = 6;
/// Without a column that says who holds a record.
const NODES: usize = 5;
const TEST: f64 = 0.2;

pub fn run(args: &NewArgs) -> Result<(), Failure> {
    let out = args.out.clone().unwrap_or_else(|| {
        PathBuf::from(args.table.file_stem().unwrap_or("mine".as_ref())).with_extension("toml")
    });
    let found = data::survey(&args.table).map_err(wrong)?;
    let start = Start::new(args, &found)?;
    // After what is wrong with the question, which another --out would not mend.
    target::check(&out, [("the table itself", args.table.clone())], args.overwrite)?;
    write_atomically(&out, start.text(&path_in(&args.table, &out)).as_bytes())?;
    start.lines(&out).iter().for_each(|line| say(line));
    Ok(())
}

/// How a run would read the columns.
fn roles(args: &NewArgs, found: &[ColumnSurvey]) -> Options {
    let taken = |name: &String| {
        name.is_empty() || Some(name) == args.label.as_ref() || Some(name) == args.node.as_ref()
    };
    let features = found.iter().map(|column| column.name.clone()).filter(|name| !taken(name)).collect();
    let (label, node) = (args.label.clone(), args.node.clone());
    Options { label, node, features: Some(features), ..Options::default() }
}

struct Start {
    name: String,
    columns: Columns,
    label: String,
    classes: Vec<(String, usize)>,
    /// The column that says who holds a record, and the organisations with their records.
    node: Option<(String, Vec<(String, usize)>)>,
    nodes: usize,
    epsilon: f64,
}

impl Start {
    fn new(args: &NewArgs, found: &[ColumnSurvey]) -> Result<Self, Failure> {
        let file = args.table.display().to_string();
        if found.iter().all(|column| column.records == 0) {
            return Err(wrong(DataError::NoRecords { file }));
        }
        let Some(label) = &args.label else {
            let few = few_values(found, None);
            return Err(Failure::Input(format!(
                "--label is missing: which column is to be predicted? {few}"
            )));
        };
        let label = column(found, "--label", label)?;
        let node = args.node.as_ref().map(|name| column(found, "--node", name)).transpose()?;
        // Before all else: of two columns with one name it cannot be told which is meant.
        data::check_columns(&file, found, &roles(args, found)).map_err(wrong)?;
        check_label(label, found)?;
        let organisations = node.map(organisations).transpose()?;
        let columns = Columns::new(found.to_vec(), Some(&label.name), node.map(|node| node.name.as_str()));
        if columns.used().is_empty() {
            let label = &label.name;
            return Err(Failure::Input(format!("{file}: no column is left to learn from besides {label:?}")));
        }
        let taking_part =
            |all: &Vec<(String, usize)>| all.iter().filter(|(_, n)| *n >= least(all).unwrap_or(0)).count();
        let start = Self {
            name: args.table.file_stem().map_or("mine".into(), |name| name.to_string_lossy().into_owned()),
            label: label.name.clone(),
            classes: counted(label),
            nodes: match &organisations {
                Some(all) => taking_part(all),
                None => args.nodes.map_or(NODES, |nodes| nodes as usize),
            },
            node: node.map(|node| node.name.clone()).zip(organisations),
            columns,
            epsilon: args.epsilon,
        };
        start.check_nodes()?;
        Ok(start)
    }

    /// Refuses more organisations than there are records to train on.
    fn check_nodes(&self) -> Result<(), Failure> {
        let all = self.columns.records();
        let records = all - (TEST * all as f64).round() as usize;
        if self.node.is_some() || self.nodes <= records {
            return Ok(());
        }
        let few = DataError::TooFewRecords { nodes: self.nodes, per_node: 1, records };
        Err(Failure::Input(format!(
            "--nodes {}: {few}; of {all} records {} are held out to measure accuracy",
            self.nodes,
            all - records
        )))
    }

    fn text(&self, path: &str) -> String {
        let (name, epsilon) = (quoted(&self.name), Value::Float(self.epsilon));
        let (graph, data) = (self.graph(), self.data(path));
        let features = self.columns.table().unwrap_or_default();
        let model = if self.classes.len() == 2 { "logistic" } else { "softmax" };
        format!(
            "# Written by `prdo new`. Every key: `prdo example --keys`.\n\
            name = {name}\n\
            rounds = 60                  # more rounds need more noise in each\n\
            seed = 1\n\n\
            {graph}\n{data}\n\
            # READ FROM YOUR RECORDS: before you train with others, write public limits, such as\n\
            # \"age: 0 to 120\": the extremes of private records are private themselves.\n\
            {features}\n\
            [model]\n\
            kind = \"{model}\"\n\n\
            {TRAINING}\n\
            [privacy]\n\
            epsilon = {epsilon}                # of the whole training: smaller is more private\n\
            delta = 1e-5\n"
        )
    }

    fn graph(&self) -> String {
        let kind = match self.nodes <= SMALL {
            true => {
                "kind = \"complete\"            # everyone exchanges with everyone; ring, path, … for fewer links"
            }
            false => "kind = \"ring\"                # who exchanges with whom; complete, torus, … also work",
        };
        let nodes = match &self.node {
            Some(_) => String::new(),
            None => format!("nodes = {}\n", self.nodes),
        };
        format!("[graph]\n{kind}\n{nodes}")
    }

    /// The records, and who holds them.
    fn data(&self, path: &str) -> String {
        let (path, label, choice) = (quoted(path), quoted(&self.label), self.columns.choice());
        let (node, partition) = match &self.node {
            None => (
                String::new(),
                "\n[partition]\nkind = \"iid\"                 # at random; dirichlet or shards for organisations that differ\n".into(),
            ),
            Some((name, all)) => {
                let least = least(all).map(|least| {
                    format!("\n[partition]\nleast = {least}                  # smaller ones take no part: {}\n", small(all))
                });
                (format!("node = {}\n", quoted(name)), least.unwrap_or_default())
            }
        };
        format!(
            "[data]\nsource = \"file\"\npath = {path}\nlabel = {label}\n{node}{choice}\
            test = {TEST}                   # this share of the records is held out, to measure accuracy\n{partition}"
        )
    }

    fn lines(&self, out: &Path) -> Vec<String> {
        let records = self.columns.records();
        let classes: Vec<String> = self.classes.iter().map(|(name, n)| format!("{name} {n}")).collect();
        let mut lines = vec![format!(
            "{}: {records} records, {} to be predicted: {}",
            out.display(),
            self.label,
            classes.join(", ")
        )];
        if let Some((name, all)) = &self.node {
            let each: Vec<String> = all.iter().map(|(name, n)| format!("{name} {n}")).collect();
            lines.push(format!("{} organisations (column {name}): {}", all.len(), each.join(", ")));
            lines.extend(maybe_slips(all));
            if least(all).is_some() {
                lines.push(format!("with fewer than {LEAST} records, these take no part: {}", small(all)));
            }
        } else {
            lines.push(format!(
                "distributed at random to {} organisations: --node names a column that says who holds a record",
                self.nodes
            ));
        }
        lines.push(format!("columns to learn from: {}", self.columns.used().join(", ")));
        lines.extend(self.columns.left_out().iter().map(|(name, why)| format!("left out: {name} ({why})")));
        lines.extend(self.columns.gaps());
        lines.extend(self.columns.doubts());
        lines.extend(self.columns.questions());
        lines.push("its ranges were read from your records: before you train with others, replace them with public limits".into());
        lines.push(format!("next: prdo run {}", out.display()));
        lines
    }
}

/// How to train on records that are brought to length one: good on several tables (docs/tutorial/own-data.md), best on none.
const TRAINING: &str = "[method]
name = \"edm\"                 # ed, mt, dsgd, or prdo with its two lines below; `prdo compare` compares methods
step_size = 20.0
beta = 0.8                   # how long edm and mt remember
# gamma = 0.3                # for prdo: the share of the fresh gradient (without the first #)

[batch]                      # without a size: as many records per round as the smallest organisation has

[clip]
gradient = 0.5               # the most that one record adds to a sum
# difference = 0.05          # for prdo: the same of a record's change (without the first #)
";

fn quoted(text: &str) -> String {
    Value::Text(text.to_owned()).to_string()
}

fn column<'a>(found: &'a [ColumnSurvey], flag: &str, name: &str) -> Result<&'a ColumnSurvey, Failure> {
    let names: Vec<String> = found.iter().map(|column| column.name.clone()).collect();
    Ok(&found[column_named(&names, flag, name)?])
}

/// Refuses a column that cannot be a label.
fn check_label(label: &ColumnSurvey, found: &[ColumnSurvey]) -> Result<(), Failure> {
    let name = &label.name;
    let wrong = |why: String| Err(Failure::Input(format!("--label {name:?}: {why}")));
    let slips = maybe_slips(&counted(label));
    match label.distinct() {
        _ if label.missing > 0 => {
            let line = label.first_missing.unwrap_or(0);
            wrong(format!(
                "{} records have no label, the first in line {line}: fill them in or remove them",
                label.missing
            ))
        }
        _ if !slips.is_empty() => wrong(format!("{}: correct it first", slips.join("; "))),
        Some(0 | 1) => wrong("every record has the same value: there is nothing to learn".into()),
        Some(2..=MOST_CLASSES) => Ok(()),
        distinct => {
            let many = distinct.map_or("very many".into(), |n| n.to_string());
            let few = few_values(found, Some(name));
            wrong(format!("it has {many} different values; a label is one of a few classes. {few}"))
        }
    }
}

fn few_values(found: &[ColumnSurvey], but: Option<&str>) -> String {
    let fits = |column: &&ColumnSurvey| column.distinct().is_some_and(|n| (2..=MOST_CLASSES).contains(&n));
    let names: Vec<&str> = found
        .iter()
        .filter(fits)
        .map(|column| column.name.as_str())
        .filter(|name| Some(*name) != but)
        .collect();
    match names.is_empty() {
        true => format!("No column has 2 to {MOST_CLASSES} different values"),
        false => format!("Columns with 2 to {MOST_CLASSES} different values: {}", names.join(", ")),
    }
}

fn organisations(node: &ColumnSurvey) -> Result<Vec<(String, usize)>, Failure> {
    let name = &node.name;
    let wrong = |why: String| Err(Failure::Input(format!("--node {name:?}: {why}")));
    match node.distinct() {
        _ if node.missing > 0 => {
            let line = node.first_missing.unwrap_or(0);
            wrong(format!(
                "{} records belong to nobody, the first in line {line}: fill them in or remove them",
                node.missing
            ))
        }
        // Codes of branches, as 101 to 104, are as good as names; what every record has its own of, or a measurement, is not.
        Some(n)
            if !node.is_text()
                && node.range != Some((0.0, n as f64 - 1.0))
                && (n == node.records || !node.is_codes()) =>
        {
            wrong(
                "it holds numbers that are not 0, 1, 2, … without gaps, nor codes that several records share: \
                 organisations' names, or such numbers, are needed"
                    .into(),
            )
        }
        Some(1) => {
            wrong("one organisation holds all records: omit --node to distribute them to several".into())
        }
        Some(n) if n < node.records => Ok(counted(node)),
        _ => wrong("every record has a value of its own: it does not say who holds what".into()),
    }
}

/// Values of hardly any record that are nearly another's, in words.
fn maybe_slips(all: &[(String, usize)]) -> Vec<String> {
    let counted: Vec<(&str, usize)> = all.iter().map(|(name, n)| (name.as_str(), *n)).collect();
    slips(&counted).iter().map(|(rare, common)| format!("{rare:?} may be a slip for {common:?}")).collect()
}

/// Every value with the number of its records, the commonest first.
fn counted(column: &ColumnSurvey) -> Vec<(String, usize)> {
    column.commonest(usize::MAX).into_iter().map(|(value, n)| (value.to_owned(), n)).collect()
}

/// The least number of records to take part with, where that leaves some out and at least two in.
fn least(all: &[(String, usize)]) -> Option<usize> {
    let large = all.iter().filter(|(_, n)| *n >= LEAST).count();
    (large >= 2 && large < all.len()).then_some(LEAST)
}

fn small(all: &[(String, usize)]) -> String {
    let few: Vec<String> =
        all.iter().filter(|(_, n)| *n < LEAST).map(|(name, n)| format!("{name} ({n})")).collect();
    one_line(&few.join(", "))
}

/// The table's path as the run file needs it: paths in run files start where the file is.
fn path_in(table: &Path, out: &Path) -> String {
    let folder = |path: &Path| {
        path.parent().map(|p| if p.as_os_str().is_empty() { Path::new(".") } else { p }.to_owned())
    };
    let same = match (folder(table), folder(out)) {
        (Some(a), Some(b)) => a.canonicalize().ok().is_some_and(|a| b.canonicalize().ok() == Some(a)),
        _ => false,
    };
    let name = table.file_name().map(PathBuf::from).filter(|_| same);
    let path = name.unwrap_or_else(|| std::path::absolute(table).unwrap_or_else(|_| table.to_owned()));
    path.to_string_lossy().into_owned()
}
