//! What can be wrong with data, said so that the file can be mended: where, which field, what was found there
//! and what would have been allowed.

use std::fmt;

/// Where in a file: text formats count lines from 1 as editors do, binary ones count records from 0 as
/// [`Table::row`](super::Table::row) does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Line(u64),
    Record(usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line(line) => write!(f, "line {line}"),
            Place::Record(record) => write!(f, "record {record}"),
        }
    }
}

/// What is wrong with a cell; in words, what would be allowed there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadCell {
    NotNumber,
    /// What usually stands for a missing number.
    MissingNumber,
    /// A number with a decimal comma.
    DecimalComma,
    /// A number with commas between thousands.
    Thousands,
    /// A value that breaks another rule of its column: this one.
    Rule(&'static str),
}

impl fmt::Display for BadCell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BadCell::NotNumber => "finite numbers",
            BadCell::MissingNumber => {
                "finite numbers (this usually stands for a missing value: fill it in, or leave the record out)"
            }
            BadCell::DecimalComma => "finite numbers (this has a decimal comma: write a point, as in 12.5)",
            BadCell::Thousands => "finite numbers (this has commas between thousands: leave them out)",
            BadCell::Rule(allowed) => allowed,
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    pub value: String,
    pub why: String,
    /// Every label with its number of records.
    pub classes: String,
    /// How many different labels there are.
    pub count: usize,
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { value, why, classes, .. } = self;
        write!(f, "the label {value} {why}; the labels are {classes}")
    }
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    #[error("{file}: cannot be read: {source}{}", super::near_file(file.as_ref(), source))]
    Io { file: String, source: std::io::Error },
    #[error("{file}: cannot tell the format: {found}; known are {known}")]
    UnknownFormat {
        file: String,
        found: String,
        /// How files of all formats are named.
        known: String,
    },
    #[error("{file}: this prdo was built without {format}; rebuild it with --features {feature}")]
    NotBuilt {
        file: String,
        format: &'static str,
        /// The Cargo feature that adds it.
        feature: &'static str,
    },
    #[error("{file}: holds numbers, not images (images come as IDX, CIFAR-10, or NPZ with x of bytes)")]
    NotImages { file: String },
    #[error("{file}: holds no records")]
    NoRecords { file: String },
    #[error("{file}: holds no feature columns (columns found: {found})")]
    NoFeatures { file: String, found: String },
    #[error("{file}: no column {wanted}{near} (columns found: {found})")]
    MissingColumn {
        file: String,
        wanted: String,
        /// `; did you mean "…"?`, where a column's name is near.
        near: String,
        found: String,
    },
    #[error("{file}: column \"{column}\" {problem}")]
    Column { file: String, column: String, problem: String },
    #[error("{file}, {place}, column \"{column}\": found {value}; allowed: {bad}")]
    Cell { file: String, place: Place, column: String, value: String, bad: BadCell },
    #[error("{file}, {place}, column \"{column}\": {doubt}")]
    DoubtfulLabel {
        file: String,
        /// Where it is found first.
        place: Place,
        column: String,
        doubt: Box<Doubt>,
    },
    #[error("{file}, line {line}: found {found} fields; there are {expected} columns{}", too_many(*found, *expected))]
    RowWidth {
        file: String,
        /// The line, from 1.
        line: u64,
        found: u64,
        expected: u64,
    },
    #[error(
        "{file}, line {line}: is not UTF-8 text; letters as ä or é may be those of an older encoding (Latin-1): save the \
         file as UTF-8 (\"CSV UTF-8\" in spreadsheets)"
    )]
    NotText {
        file: String,
        /// The line, from 1.
        line: u64,
    },
    #[error("{file}: not a well-formed {format} file: {problem}")]
    Malformed { file: String, format: &'static str, problem: String },
    #[error("{file}: the header promises {promised} {unit}, found {found}")]
    Length { file: String, unit: &'static str, promised: String, found: String },
    #[error("{file}: array \"{array}\" has shape {found}; allowed: {allowed}")]
    Shape { file: String, array: String, found: String, allowed: String },
    #[error("{what}: {records} records of {width} features need more than {limit} bytes")]
    TooLarge {
        /// The file, or what was to be generated.
        what: String,
        records: String,
        width: String,
        limit: u64,
    },
    #[error(
        "a table of width {width} with {labels} labels needs {labels} x {width} features, found {features}"
    )]
    TableLength { width: usize, labels: usize, features: usize },
    #[error("table {table} has width {found}; the first has width {expected}")]
    TableWidth {
        /// Which table, from 0.
        table: usize,
        found: usize,
        expected: usize,
    },
    #[error("record {record}, {column}: found {value}; allowed: finite numbers")]
    NotFinite {
        /// The record, from 0.
        record: usize,
        /// `feature 3`, or `label`.
        column: String,
        value: f64,
    },
    #[error("{name} = {value}; allowed: {allowed}")]
    Argument { name: &'static str, value: String, allowed: String },
    #[error(
        "{nodes} nodes, {per_node} parts each, cannot share {records} records: each part needs one or more"
    )]
    TooFewRecords { nodes: usize, per_node: usize, records: usize },
    #[error("node {node} of 0..{nodes} has no records")]
    EmptyNode { node: usize, nodes: usize },
    #[error("the data has no node column; name one, or choose another partition")]
    NoNodeColumn,
    #[error("record {record}: node {node}; allowed: 0..{nodes}")]
    NodeRange { record: usize, node: u32, nodes: usize },
    #[error("record {record}: label {value}; allowed: {allowed}")]
    Label { record: usize, value: f64, allowed: String },
    #[error("the {part} part of {records} records would be empty")]
    EmptyPart { part: &'static str, records: usize },
}

impl DataError {
    pub(super) fn argument(name: &'static str, value: impl fmt::Display, allowed: impl Into<String>) -> Self {
        Self::Argument { name, value: value.to_string(), allowed: allowed.into() }
    }

    pub(super) fn malformed(file: &str, format: &'static str, problem: impl Into<String>) -> Self {
        Self::Malformed { file: file.to_owned(), format, problem: problem.into() }
    }

    pub(super) fn io(file: &str, source: std::io::Error) -> Self {
        Self::Io { file: file.to_owned(), source }
    }
}

/// What may be behind a row with too many fields.
fn too_many(found: u64, expected: u64) -> &'static str {
    match found > expected {
        true => " (a decimal comma? Write a point; text with a comma goes between quotation marks)",
        false => "",
    }
}

/// A cell as it is quoted in an error: a few words of it at most, so that a binary file taken for text does
/// not fill the terminal.
pub(super) fn quoted(text: &str) -> String {
    const MOST: usize = 48;
    match text.char_indices().nth(MOST) {
        None => format!("{text:?}"),
        Some((end, _)) => format!("{:?}… ({} bytes)", &text[..end], text.len()),
    }
}

/// Column names as an error lists them, the first few of them.
pub(super) fn listed<S: AsRef<str>>(names: &[S]) -> String {
    const MOST: usize = 20;
    let mut list: Vec<String> = names.iter().take(MOST).map(|name| quoted(name.as_ref())).collect();
    if names.is_empty() {
        list.push("none".to_owned());
    }
    if names.len() > MOST {
        list.push(format!("and {} more", names.len() - MOST));
    }
    list.join(", ")
}
