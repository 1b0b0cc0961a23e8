//! CSV: a header line that names the columns, then one record a line.
//!
//! One column is the label, one may name the node that holds the record, the others (or those chosen) are
//! numbers. Labels that are not numbers are class names, numbered in sorted order. Spaces around a field do not
//! count.
//!
//! Files without a header, for which the columns' names are given, are read as the UCI repository writes them: a line that
//! begins with `|` is a comment, and a full stop at the end of a line does not count.

use std::io::Read;
use std::path::Path;

use ::csv::{ByteRecord, ErrorKind, ReaderBuilder, Trim};

use super::columns::{Cell, LabelColumn, NodeColumn, Roles};
use super::{DataError, Dataset, Options, Place, Table};
use crate::features::category_code;

/// Reads the CSV file at `path`.
///
/// # Errors
/// When the file cannot be read, or breaks a rule above; the error names line, column and value.
pub fn read(path: &Path, options: &Options) -> Result<Dataset, DataError> {
    let (name, file) = super::open(path)?;
    parse(&name, file, options)
}

/// Reads CSV text from `input`, which errors call `file`.
///
/// # Errors
/// As [`read`].
pub fn parse(file: &str, input: impl Read, options: &Options) -> Result<Dataset, DataError> {
    options.refuse("CSV", &["prefix"])?;
    let mut builder = ReaderBuilder::new();
    builder.trim(Trim::All);
    if options.columns.is_some() {
        builder.has_headers(false).comment(Some(b'|'));
    }
    let mut reader = builder.from_reader(input);
    let names = match &options.columns {
        Some(names) => names.clone(),
        None => header(file, &mut reader)?,
    };
    let roles = Roles::of(file, &names, options)?;
    options.check_width(file, roles.features.len())?;

    let mut records = Records::new(file, &names, roles, &options.categories);
    records.stop = options.columns.is_some();
    let mut record = ByteRecord::new();
    while reader.read_byte_record(&mut record).map_err(|e| translated(file, e))? {
        if record.len() != names.len() {
            let (found, named) = (record.len(), names.len());
            let problem = format!("its lines have {found} fields, but {named} columns are named");
            return Err(DataError::malformed(file, "CSV", problem));
        }
        records.push(&record)?;
    }
    records.finish()
}

/// The columns' names, from the first line.
fn header(file: &str, reader: &mut ::csv::Reader<impl Read>) -> Result<Vec<String>, DataError> {
    let header = reader.byte_headers().map_err(|e| translated(file, e))?;
    let names =
        header.iter().map(|field| Ok(text(file, 1, field)?.to_owned())).collect::<Result<Vec<_>, _>>()?;
    if names.is_empty() {
        return Err(DataError::NoRecords { file: file.to_owned() });
    }
    if names.iter().all(|name| name.parse::<f64>().is_ok()) {
        let problem = "the first line holds numbers, not the columns' names";
        return Err(DataError::malformed(file, "CSV", problem));
    }
    Ok(names)
}

/// The records read so far.
struct Records<'a> {
    file: &'a str,
    names: &'a [String],
    roles: Roles,
    features: Vec<f64>,
    labels: LabelColumn,
    nodes: NodeColumn,
    /// For each column, whether its text is a category.
    categories: Vec<bool>,
    /// Whether a full stop may end a line.
    stop: bool,
}

impl<'a> Records<'a> {
    fn new(file: &'a str, names: &'a [String], roles: Roles, categories: &[String]) -> Self {
        let (labels, nodes) = (LabelColumn::default(), NodeColumn::default());
        let categories = names.iter().map(|name| categories.contains(name)).collect();
        Self { file, names, roles, features: Vec::new(), labels, nodes, categories, stop: false }
    }

    fn push(&mut self, record: &ByteRecord) -> Result<(), DataError> {
        let line = record.position().map_or(0, |p| p.line());
        let field = |c: usize| -> Result<(&str, Cell<'_>), DataError> {
            let cell = Cell { file: self.file, place: Place::Line(line), column: &self.names[c] };
            let text = text(self.file, line, record.get(c).unwrap_or_default())?;
            let last = self.stop && c + 1 == self.names.len();
            Ok((if last { text.strip_suffix('.').unwrap_or(text) } else { text }, cell))
        };
        for &c in &self.roles.features {
            let (text, cell) = field(c)?;
            self.features.push(match cell.number(text) {
                Err(_) if self.categories[c] => category_code(text),
                number => number?,
            });
        }
        match self.roles.label {
            Some(label) => {
                let (text, cell) = field(label)?;
                self.labels.push_text(text, cell)?;
            }
            None => self.labels.push_none(),
        }
        if let Some(node) = self.roles.node {
            let (text, cell) = field(node)?;
            self.nodes.push(text, cell)?;
        }
        Ok(())
    }

    fn finish(self) -> Result<Dataset, DataError> {
        if self.labels.len() == 0 {
            return Err(DataError::NoRecords { file: self.file.to_owned() });
        }
        let (labels, class_names) = self.labels.finish();
        let (node, node_names) = match self.roles.node {
            Some(node) => {
                let (nodes, names) = self.nodes.finish(self.file, &self.names[node])?;
                (Some(nodes), names)
            }
            None => (None, None),
        };
        let feature_names = self.roles.features.iter().map(|c| self.names[*c].clone()).collect();
        let table = Table::new(self.roles.features.len(), self.features, labels)?;
        Ok(Dataset {
            table,
            node,
            node_names,
            class_names,
            feature_names: Some(feature_names),
            image: None,
            labelled: self.roles.label.is_some(),
        })
    }
}

fn text<'a>(file: &str, line: u64, field: &'a [u8]) -> Result<&'a str, DataError> {
    std::str::from_utf8(field).map_err(|_| DataError::NotText { file: file.to_owned(), line })
}

/// The CSV parser's error in this module's words.
fn translated(file: &str, error: ::csv::Error) -> DataError {
    let line = error.position().map_or(0, |p| p.line());
    match error.into_kind() {
        ErrorKind::Io(source) => DataError::io(file, source),
        ErrorKind::Utf8 { .. } => DataError::NotText { file: file.to_owned(), line },
        ErrorKind::UnequalLengths { expected_len, len, .. } => {
            DataError::RowWidth { file: file.to_owned(), line, found: len, expected: expected_len }
        }
        other => DataError::malformed(file, "CSV", format!("{other:?}")),
    }
}
