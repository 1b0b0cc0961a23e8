//! What can be wrong with data, said so that the file can be mended: where, which field, what was found there
//! and what would have been allowed.

use std::fmt;

/// Where in a file: text formats count lines from 1 as editors do, binary ones count records from 0 as
/// [`Table::row`](super::Table::row) does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Line of a text file, from 1.
    Line(u64),
    /// Record of a table, from 0.
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
    /// Not a finite number.
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

/// A label that is likely a slip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// The label.
    pub value: String,
    /// What is doubtful about it.
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

/// Why data could not be read, generated, checked or divided.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// The operating system refused.
    #[error("{file}: cannot be read: {source}{}", super::near_file(file.as_ref(), source))]
    Io {
        /// The file.
        file: String,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The name does not say which format this is.
    #[error("{file}: cannot tell the format: {found}; known are {known}")]
    UnknownFormat {
        /// The file.
        file: String,
        /// What its name or content says.
        found: String,
        /// How files of all formats are named.
        known: String,
    },
    /// This build leaves the format out.
    #[error("{file}: this build cannot read {format} files; build with `--features {feature}`")]
    NotBuilt {
        /// The file.
        file: String,
        /// The format.
        format: &'static str,
        /// The Cargo feature that adds it.
        feature: &'static str,
    },
    /// Bytes are asked for and there are numbers.
    #[error("{file}: holds numbers, not images (images come as IDX, CIFAR-10, or NPZ with x of bytes)")]
    NotImages {
        /// The file.
        file: String,
    },
    /// There is no record in it.
    #[error("{file}: holds no records")]
    NoRecords {
        /// The file.
        file: String,
    },
    /// There is no column left to learn from.
    #[error("{file}: holds no feature columns (columns found: {found})")]
    NoFeatures {
        /// The file.
        file: String,
        /// The columns it has.
        found: String,
    },
    /// A column (or array) that is needed is not there.
    #[error("{file}: no column {wanted}{near} (columns found: {found})")]
    MissingColumn {
        /// The file.
        file: String,
        /// What was looked for.
        wanted: String,
        /// `; did you mean "…"?`, where a column's name is near.
        near: String,
        /// The columns it has.
        found: String,
    },
    /// A column cannot be used the way it is asked for.
    #[error("{file}: column \"{column}\" {problem}")]
    Column {
        /// The file.
        file: String,
        /// The column.
        column: String,
        /// What is wrong with it.
        problem: String,
    },
    /// One value is not allowed.
    #[error("{file}, {place}, column \"{column}\": found {value}; allowed: {bad}")]
    Cell {
        /// The file.
        file: String,
        /// The line or record.
        place: Place,
        /// The column.
        column: String,
        /// What was found.
        value: String,
        /// What is wrong with it.
        bad: BadCell,
    },
    /// A label that would become a class and is likely a slip.
    #[error("{file}, {place}, column \"{column}\": {doubt}")]
    DoubtfulLabel {
        /// The file.
        file: String,
        /// Where it is found first.
        place: Place,
        /// The column.
        column: String,
        /// What is doubtful about which label.
        doubt: Box<Doubt>,
    },
    /// A row has another number of fields than there are columns.
    #[error("{file}, line {line}: found {found} fields; there are {expected} columns{}", too_many(*found, *expected))]
    RowWidth {
        /// The file.
        file: String,
        /// The line, from 1.
        line: u64,
        /// Fields in this row.
        found: u64,
        /// Columns.
        expected: u64,
    },
    /// Text that is not UTF-8.
    #[error(
        "{file}, line {line}: is not UTF-8 text; letters as ä or é may be those of an older encoding (Latin-1): save the \
         file as UTF-8 (\"CSV UTF-8\" in spreadsheets)"
    )]
    NotText {
        /// The file.
        file: String,
        /// The line, from 1.
        line: u64,
    },
    /// The file breaks its format's rules.
    #[error("{file}: not a well-formed {format} file: {problem}")]
    Malformed {
        /// The file.
        file: String,
        /// The format.
        format: &'static str,
        /// What is wrong.
        problem: String,
    },
    /// A header promises another length than there is.
    #[error("{file}: the header promises {promised} {unit}, found {found}")]
    Length {
        /// The file.
        file: String,
        /// What is counted.
        unit: &'static str,
        /// What the header says.
        promised: String,
        /// What there is.
        found: String,
    },
    /// An array has the wrong shape.
    #[error("{file}: array \"{array}\" has shape {found}; allowed: {allowed}")]
    Shape {
        /// The file.
        file: String,
        /// The array.
        array: String,
        /// Its shape.
        found: String,
        /// The shape it should have.
        allowed: String,
    },
    /// Too much to hold in memory.
    #[error("{what}: {records} records of {width} features need more than {limit} bytes")]
    TooLarge {
        /// The file, or what was to be generated.
        what: String,
        /// How many records.
        records: String,
        /// How many features each.
        width: String,
        /// The most that is allowed, in bytes.
        limit: u64,
    },
    /// A table's parts do not fit together.
    #[error(
        "a table of width {width} with {labels} labels needs {labels} x {width} features, found {features}"
    )]
    TableLength {
        /// Features a record.
        width: usize,
        /// How many labels.
        labels: usize,
        /// How many features.
        features: usize,
    },
    /// Tables that were to be joined differ in width.
    #[error("table {table} has width {found}; the first has width {expected}")]
    TableWidth {
        /// Which table, from 0.
        table: usize,
        /// Its width.
        found: usize,
        /// The first one's.
        expected: usize,
    },
    /// A number in a table is infinite or not a number.
    #[error("record {record}, {column}: found {value}; allowed: finite numbers")]
    NotFinite {
        /// The record, from 0.
        record: usize,
        /// `feature 3`, or `label`.
        column: String,
        /// The value.
        value: f64,
    },
    /// An argument is outside its range.
    #[error("{name} = {value}; allowed: {allowed}")]
    Argument {
        /// The argument.
        name: &'static str,
        /// Its value.
        value: String,
        /// Its range.
        allowed: String,
    },
    /// There are not enough records to give each node one.
    #[error(
        "{nodes} nodes, {per_node} parts each, cannot share {records} records: each part needs one or more"
    )]
    TooFewRecords {
        /// How many nodes.
        nodes: usize,
        /// How many parts each is to get.
        per_node: usize,
        /// How many records.
        records: usize,
    },
    /// A node would hold nothing.
    #[error("node {node} of 0..{nodes} has no records")]
    EmptyNode {
        /// The node.
        node: usize,
        /// How many nodes.
        nodes: usize,
    },
    /// A partition by node needs the data to say who holds what.
    #[error("the data has no node column; name one, or choose another partition")]
    NoNodeColumn,
    /// A record names a node that does not exist.
    #[error("record {record}: node {node}; allowed: 0..{nodes}")]
    NodeRange {
        /// The record.
        record: usize,
        /// The node it names.
        node: u32,
        /// How many nodes there are.
        nodes: usize,
    },
    /// A label the model cannot learn from.
    #[error("record {record}: label {value}; allowed: {allowed}")]
    Label {
        /// The record.
        record: usize,
        /// Its label.
        value: f64,
        /// Which labels are allowed.
        allowed: String,
    },
    /// A part of a split would hold nothing.
    #[error("the {part} part of {records} records would be empty")]
    EmptyPart {
        /// Which part.
        part: &'static str,
        /// How many records there are.
        records: usize,
    },
}

impl DataError {
    /// An argument outside its range.
    pub(super) fn argument(name: &'static str, value: impl fmt::Display, allowed: impl Into<String>) -> Self {
        Self::Argument { name, value: value.to_string(), allowed: allowed.into() }
    }

    /// The file breaks its format's rules.
    pub(super) fn malformed(file: &str, format: &'static str, problem: impl Into<String>) -> Self {
        Self::Malformed { file: file.to_owned(), format, problem: problem.into() }
    }

    /// The operating system refused.
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
