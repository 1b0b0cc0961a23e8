//! LibSVM text: `label index:value index:value …`, one record per line, `#` starts a comment.
//!
//! Indices count from 1 and ascend within a line; what is not written is 0. The table is dense, as wide as the
//! largest index or as the `width` option says (a test part may lack the last features of its training part).

use std::io::{BufRead, BufReader, Read};

use super::columns::Cell;
use super::error::quoted;
use super::formats::{FormatCard, Reading};
use super::{DENSE_LIMIT, DataError, Dataset, Layout, Loaded, Options, Place, Setting, Table};

pub(crate) const CARD: FormatCard = FormatCard {
    key: "libsvm",
    name: "LibSVM text",
    about: "`label index:value …`",
    extensions: &["libsvm", "svm", "t", "txt", ""],
    ending: None,
    folder: None,
    layout: Layout::Sparse,
    reading: Reading::Built(|path, options| {
        let (name, file) = super::open(path)?;
        Ok(Loaded::Numbers(parse(&name, file, options)?))
    }),
};

/// Reads LibSVM text from `input`, which errors call `file`.
///
/// # Errors
/// What cannot be read, breaks a rule above, or would need more than [`DENSE_LIMIT`] bytes; the error names line and
/// value.
pub fn parse(file: &str, input: impl Read, options: &Options) -> Result<Dataset, DataError> {
    options.refuse(
        "LibSVM",
        &[Setting::Label, Setting::Node, Setting::Features, Setting::Prefix, Setting::Columns],
    )?;
    if options.width == Some(0) {
        return Err(DataError::argument("width", 0, "1 or more"));
    }
    let mut sparse = Sparse { declared: options.width, ..Sparse::default() };
    let mut input = BufReader::new(input);
    let (mut bytes, mut line) = (Vec::new(), 0);
    loop {
        bytes.clear();
        if input.read_until(b'\n', &mut bytes).map_err(|e| DataError::io(file, e))? == 0 {
            break;
        }
        line += 1;
        let text =
            std::str::from_utf8(&bytes).map_err(|_| DataError::NotText { file: file.to_owned(), line })?;
        sparse.push(text, Cell { file, place: Place::Line(line), column: "label" })?;
    }
    sparse.dense(file)
}

/// The records as they are written: only what is not zero.
#[derive(Default)]
struct Sparse {
    declared: Option<usize>,
    widest: usize,
    labels: Vec<f64>,
    /// Where each record's entries end.
    ends: Vec<usize>,
    entries: Vec<(u32, f64)>,
}

impl Sparse {
    fn push(&mut self, line: &str, cell: Cell<'_>) -> Result<(), DataError> {
        let line = line.split('#').next().unwrap_or_default();
        let mut words = line.split_ascii_whitespace();
        let Some(label) = words.next() else {
            return Ok(());
        };
        self.labels.push(cell.number(label)?);
        let mut last = 0;
        for word in words {
            let cell = Cell { column: "index:value", ..cell };
            let Some((index, value)) = word.split_once(':') else {
                return Err(cell.refuse(quoted(word), "index:value"));
            };
            let index = self.index(index, last, cell)?;
            self.entries.push((index - 1, Cell { column: &index.to_string(), ..cell }.number(value)?));
            last = index;
        }
        self.widest = self.widest.max(last as usize);
        self.ends.push(self.entries.len());
        Ok(())
    }

    /// `text` as an index, from 1, that follows `last`.
    fn index(&self, text: &str, last: u32, cell: Cell<'_>) -> Result<u32, DataError> {
        let index = match text.parse::<u64>() {
            Ok(index) if index > 0 => index,
            _ => return Err(cell.refuse(format!("index {}", quoted(text)), "whole numbers from 1")),
        };
        if self.declared.is_some_and(|width| index > width as u64) {
            return Err(cell.refuse(format!("index {index}"), "indices within the declared width"));
        }
        match u32::try_from(index) {
            Ok(index) if u64::from(index) > DENSE_LIMIT / 8 => {
                Err(cell.refuse(format!("index {index}"), "indices to 500000000"))
            }
            Err(_) => Err(cell.refuse(format!("index {index}"), "indices to 500000000")),
            Ok(index) if index <= last => {
                Err(cell.refuse(format!("index {index} after {last}"), "ascending indices"))
            }
            Ok(index) => Ok(index),
        }
    }

    fn dense(self, file: &str) -> Result<Dataset, DataError> {
        let width = self.declared.unwrap_or(self.widest);
        if self.labels.is_empty() {
            return Err(DataError::NoRecords { file: file.to_owned() });
        }
        if width == 0 {
            return Err(DataError::NoFeatures { file: file.to_owned(), found: "labels only".to_owned() });
        }
        let mut features = vec![0.0; super::dense_len(file, self.labels.len(), width)?];
        let mut start = 0;
        for (row, end) in features.chunks_exact_mut(width).zip(&self.ends) {
            self.entries[start..*end].iter().for_each(|(c, value)| row[*c as usize] = *value);
            start = *end;
        }
        Ok(Table::new(width, features, self.labels)?.into())
    }
}
