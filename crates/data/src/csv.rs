//! CSV: a header line that names the columns, then one record per line.
//!
//! One column is the label, one may name the node that holds the record, the others (or those chosen) are
//! numbers. Labels that are not numbers are class names, numbered in sorted order. Spaces around a field do not
//! count.
//!
//! Files without a header, for which the columns' names are given, are read as the UCI repository writes them: a line that
//! begins with `|` is a comment, and a full stop at the end of a line does not count.

use std::cell::Cell as Shared;
use std::io::{Chain, Cursor, Read};
use std::path::Path;
use std::rc::Rc;

use ::csv::{ByteRecord, ErrorKind, Reader, ReaderBuilder, Trim};

use super::columns::{Cell, LabelColumn, NodeColumn, Roles, find};
use super::formats::{FormatCard, Reading};
use super::slips::{Blanks, CategoryColumn, is_missing};
use super::{ClassNames, DataError, Dataset, Layout, Loaded, Options, Place, Setting, Table};
use crate::features::{MISSING, category_code};

pub(crate) const CARD: FormatCard = FormatCard {
    key: "csv",
    name: "CSV",
    about: "Comma-separated values with a header",
    extensions: &["csv"],
    ending: None,
    folder: None,
    layout: Layout::Columns,
    reading: Reading::Built(|path, options| {
        let (name, file) = super::open(path)?;
        Ok(Loaded::Numbers(parse(&name, file, options)?))
    }),
};

/// Reads CSV text from `input`, which errors call `file`.
///
/// # Errors
/// What cannot be read, or breaks a rule above; the error names line, column and value.
pub fn parse(file: &str, input: impl Read, options: &Options) -> Result<Dataset, DataError> {
    options.refuse("CSV", &[Setting::Prefix])?;
    let mut rows = match &options.columns {
        Some(names) => Rows::without_header(file, input, names.clone())?,
        None => Rows::open(file, input)?,
    };
    let names = rows.names().to_vec();
    let roles = Roles::of(file, &names, options)?;
    options.check_width(file, roles.features.len())?;
    let mut records = Records::new(file, &names, roles, options);
    records.stop = options.columns.is_some();
    while let Some(row) = rows.row()? {
        records.push(&row)?;
    }
    records.finish()
}

/// One column of the CSV file at `path` as text, a line each.
pub fn column(path: &Path, name: &str) -> Result<Vec<String>, DataError> {
    let (file, input) = super::open(path)?;
    let mut rows = Rows::open(&file, input)?;
    let at = find(&file, rows.names(), name)?;
    let mut texts = Vec::new();
    while let Some(row) = rows.row()? {
        texts.push(row.text(at)?.to_owned());
    }
    Ok(texts)
}

/// A table as text, for who deals it out and does not read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cells {
    pub names: Vec<String>,
    /// The text of every cell, a record each, with its line.
    pub rows: Vec<(u64, Vec<String>)>,
}

/// All cells of the CSV file at `path`.
pub fn cells(path: &Path) -> Result<Cells, DataError> {
    let (file, input) = super::open(path)?;
    let mut lines = Rows::open(&file, input)?;
    let (names, mut rows) = (lines.names().to_vec(), Vec::new());
    while let Some(row) = lines.row()? {
        let texts = (0..names.len()).map(|column| Ok(row.text(column)?.to_owned()));
        rows.push((row.line, texts.collect::<Result<_, DataError>>()?));
    }
    Ok(Cells { names, rows })
}

/// CSV text of these lines, the columns' names first; a cell stands in quotes where it needs them.
pub fn text_of<L, C>(lines: impl IntoIterator<Item = L>) -> String
where
    L: IntoIterator<Item = C>,
    C: AsRef<str>,
{
    let mut writer = ::csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
    // Memory takes everything, and lines of any length are taken: nothing of this fails.
    for line in lines {
        for cell in line {
            let _ = writer.write_field(cell.as_ref());
        }
        let _ = writer.write_record(None::<&[u8]>);
    }
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

/// The names of the columns of the CSV file at `path`.
pub fn header(path: &Path) -> Result<Vec<String>, DataError> {
    let (file, input) = super::open(path)?;
    Ok(Rows::open(&file, input)?.names().to_vec())
}

/// Whether the first line of the CSV file at `path` names all these columns.
pub fn has_header(path: &Path, names: &[String]) -> bool {
    header(path).is_ok_and(|found| names.iter().all(|name| found.contains(name)))
}

pub(super) struct Rows<'a, R: Read> {
    file: &'a str,
    names: Vec<String>,
    reader: Reader<LineEnds<Whole<R>>>,
    record: ByteRecord,
    returns: Rc<Shared<bool>>,
}

/// A file whose first bytes were looked at.
type Whole<R> = Chain<Cursor<Vec<u8>>, R>;

pub(super) struct Row<'a> {
    file: &'a str,
    pub(super) line: u64,
    record: &'a ByteRecord,
}

impl<'a, R: Read> Rows<'a, R> {
    pub(super) fn open(file: &'a str, input: R) -> Result<Self, DataError> {
        let mut rows = Self::reading(file, input, &mut ReaderBuilder::new())?;
        let reader = &mut rows.reader;
        let header = reader.byte_headers().map_err(|e| translated(file, e, 0))?.clone();
        let names =
            header.iter().map(|field| Ok(text(file, 1, field)?.to_owned())).collect::<Result<Vec<_>, _>>()?;
        let malformed = |problem: String| Err(DataError::malformed(file, "CSV", problem));
        match &names[..] {
            [] => return Err(DataError::NoRecords { file: file.to_owned() }),
            [one] if one.contains([';', '\t']) => {
                let sign = if one.contains(';') { "semicolons" } else { "tabs" };
                return malformed(format!(
                    "its columns are separated by {sign}: save it with commas between columns, and points in numbers"
                ));
            }
            names if names.iter().all(|name| name.parse::<f64>().is_ok()) => {
                return malformed("the first line holds numbers, not the columns' names".to_owned());
            }
            _ => {}
        }
        Ok(Self { names, ..rows })
    }

    /// Lines from the first on, of columns with these names; those that begin with `|` are comments.
    pub(super) fn without_header(file: &'a str, input: R, names: Vec<String>) -> Result<Self, DataError> {
        let mut builder = ReaderBuilder::new();
        let rows = Self::reading(file, input, builder.has_headers(false).comment(Some(b'|')).flexible(true))?;
        Ok(Self { names, ..rows })
    }

    fn reading(file: &'a str, input: R, builder: &mut ReaderBuilder) -> Result<Self, DataError> {
        let input = refuse_other_files(file, input)?;
        let returns = Rc::new(Shared::new(false));
        let ends = LineEnds { input, returns: Rc::clone(&returns), last: 0, found: false };
        let reader = builder.trim(Trim::All).from_reader(ends);
        Ok(Self { file, names: Vec::new(), reader, record: ByteRecord::new(), returns })
    }

    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    pub(super) fn row(&mut self) -> Result<Option<Row<'_>>, DataError> {
        let read = self.reader.read_byte_record(&mut self.record);
        // The reader ends a line at its carriage return, and counts the line feed with the next one.
        let first = self.record.position().is_some_and(|p| p.byte() == 0);
        let late = u64::from(self.returns.get() && !first);
        if !read.map_err(|e| translated(self.file, e, late))? {
            return Ok(None);
        }
        let line = self.record.position().map_or(0, |p| p.line()) + late;
        if self.record.len() != self.names.len() {
            let (found, expected) = (self.record.len() as u64, self.names.len() as u64);
            return Err(DataError::RowWidth { file: self.file.to_owned(), line, found, expected });
        }
        Ok(Some(Row { file: self.file, line, record: &self.record }))
    }
}

impl Row<'_> {
    pub(super) fn text(&self, column: usize) -> Result<&str, DataError> {
        text(self.file, self.line, self.record.get(column).unwrap_or_default())
    }
}

/// Refuses what is no text as readers here know it, by its first bytes, and says what it is.
fn refuse_other_files<R: Read>(file: &str, mut input: R) -> Result<Whole<R>, DataError> {
    let mut first = Vec::new();
    input.by_ref().take(4).read_to_end(&mut first).map_err(|e| DataError::io(file, e))?;
    let what = match &first[..] {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "it is UTF-16 text",
        [b'P', b'K', 3, 4] => "it is a packed file, such as a spreadsheet (.xlsx, .ods)",
        [0xd0, 0xcf, 0x11, 0xe0] => "it is an old spreadsheet (.xls)",
        _ => return Ok(Cursor::new(first).chain(input)),
    };
    Err(DataError::malformed(file, "CSV", format!("{what}: save it as \"CSV UTF-8\" and give that file")))
}

/// Looks how the first line ends.
struct LineEnds<R> {
    input: R,
    /// Whether it ends with a carriage return and a line feed.
    returns: Rc<Shared<bool>>,
    last: u8,
    found: bool,
}

impl<R: Read> Read for LineEnds<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.input.read(buffer)?;
        let fresh = buffer.get(..count).unwrap_or_default();
        if !self.found {
            if let Some(at) = fresh.iter().position(|byte| *byte == b'\n') {
                let before = at.checked_sub(1).and_then(|k| fresh.get(k)).copied().unwrap_or(self.last);
                self.found = true;
                self.returns.set(before == b'\r');
            }
            self.last = fresh.last().copied().unwrap_or(self.last);
        }
        Ok(count)
    }
}

struct Records<'a> {
    file: &'a str,
    names: &'a [String],
    roles: Roles,
    features: Vec<f64>,
    labels: LabelColumn,
    nodes: NodeColumn,
    /// For each column whose text is a category, what it holds.
    categories: Vec<Option<CategoryColumn>>,
    /// For each column in which a number may be missing, how many are.
    gaps: Vec<Option<Blanks>>,
    /// Whether a full stop may end a line.
    stop: bool,
    class_names: ClassNames,
}

impl<'a> Records<'a> {
    fn new(file: &'a str, names: &'a [String], roles: Roles, options: &Options) -> Self {
        let (labels, nodes) = (LabelColumn::default(), NodeColumn::default());
        let category = |name| options.categories.contains(name).then(CategoryColumn::default);
        let categories = names.iter().map(category).collect();
        let gaps = names.iter().map(|name| options.missing.contains(name).then(Blanks::default)).collect();
        let (features, class_names) = (Vec::new(), options.class_names);
        Self { file, names, roles, features, labels, nodes, categories, gaps, class_names, stop: false }
    }

    fn push(&mut self, row: &Row<'_>) -> Result<(), DataError> {
        let (file, names) = (self.file, self.names);
        let field = |c: usize| -> Result<(&str, Cell<'_>), DataError> {
            let cell = Cell { file, place: Place::Line(row.line), column: &names[c] };
            let (text, last) = (row.text(c)?, self.stop && c + 1 == names.len());
            Ok((if last { text.strip_suffix('.').unwrap_or(text) } else { text }, cell))
        };
        for &c in &self.roles.features {
            let (text, cell) = field(c)?;
            if let Some(Some(gaps)) = self.gaps.get_mut(c)
                && is_missing(text)
            {
                gaps.push(text, row.line);
                self.features.push(MISSING);
                continue;
            }
            self.features.push(match (cell.number(text), self.categories.get_mut(c)) {
                (Err(_), Some(Some(category))) => {
                    category.push(text, row.line);
                    category_code(text)
                }
                (number, _) => number?,
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
        let column = self.roles.label.map_or("", |label| &self.names[label]);
        let (labels, class_names) = self.labels.finish(self.file, column, self.class_names)?;
        let (node, node_names) = match self.roles.node {
            Some(node) => self.nodes.finish(self.file, &self.names[node])?.into(),
            None => (None, None),
        };
        let feature_names = self.roles.features.iter().map(|c| self.names[*c].clone()).collect();
        let texts = self.names.iter().zip(&self.categories);
        let doubts =
            texts.clone().filter_map(|(name, texts)| Some(texts.as_ref()?.doubts(name))).flatten().collect();
        let words = texts.filter_map(|(name, texts)| texts.as_ref()?.blanks(name, labels.len()));
        let numbers = self.names.iter().zip(&self.gaps).filter_map(|(name, gaps)| {
            let words = gaps.as_ref()?.words(name, labels.len())?;
            Some(format!("{words}; they count as the middle of the column's range"))
        });
        let blanks = words.chain(numbers).collect();
        let table = Table::new(self.roles.features.len(), self.features, labels)?;
        let (feature_names, labelled) = (Some(feature_names), self.roles.label.is_some());
        let named =
            Dataset { node, node_names, class_names, feature_names, labelled, ..Dataset::from(table) };
        Ok(Dataset { doubts, blanks, ..named })
    }
}

fn text<'a>(file: &str, line: u64, field: &'a [u8]) -> Result<&'a str, DataError> {
    std::str::from_utf8(field).map_err(|_| DataError::NotText { file: file.to_owned(), line })
}

/// The CSV parser's error in this module's words; its lines are counted `late`.
fn translated(file: &str, error: ::csv::Error, late: u64) -> DataError {
    let line = error.position().map_or(0, |p| p.line()) + late;
    match error.into_kind() {
        ErrorKind::Io(source) => DataError::io(file, source),
        ErrorKind::Utf8 { .. } => DataError::NotText { file: file.to_owned(), line },
        ErrorKind::UnequalLengths { expected_len, len, .. } => {
            DataError::RowWidth { file: file.to_owned(), line, found: len, expected: expected_len }
        }
        other => DataError::malformed(file, "CSV", format!("{other:?}")),
    }
}
