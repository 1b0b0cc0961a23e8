//! What the columns of a CSV file hold, whatever it is: text, gaps and all. For the owner's eyes: what it finds is not
//! public.

use std::collections::BTreeMap;
use std::path::Path;

use super::DataError;
use super::columns::is_missing;
use super::csv::Rows;

/// So many different values of a column are counted one by one.
const MOST_VALUES: usize = 10_000;

/// What one column holds.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnSurvey {
    /// Its name.
    pub name: String,
    /// How many records the file has.
    pub records: usize,
    /// How many cells are empty or hold a word that usually stands for nothing.
    pub missing: usize,
    /// The line of the first of them.
    pub first_missing: Option<u64>,
    /// The first cell that is neither a number nor missing, and its line.
    pub first_text: Option<(String, u64)>,
    /// How many cells hold a finite number.
    pub numbers: usize,
    /// The smallest and the largest number; nothing if there is none.
    pub range: Option<(f64, f64)>,
    values: BTreeMap<String, usize>,
    many: bool,
}

impl ColumnSurvey {
    fn new(name: String) -> Self {
        let (records, missing, numbers, values) = (0, 0, 0, BTreeMap::new());
        let (first_missing, first_text) = (None, None);
        Self { name, records, missing, first_missing, first_text, numbers, range: None, values, many: false }
    }

    fn push(&mut self, text: &str, line: u64) {
        self.records += 1;
        if is_missing(text) {
            self.missing += 1;
            self.first_missing.get_or_insert(line);
            return;
        }
        if let Some(number) = text.parse().ok().filter(|number: &f64| number.is_finite()) {
            self.numbers += 1;
            let (low, high) = self.range.unwrap_or((number, number));
            self.range = Some((low.min(number), high.max(number)));
        } else if self.first_text.is_none() {
            self.first_text = Some((text.to_owned(), line));
        }
        let room = self.values.len() < MOST_VALUES;
        match self.values.get_mut(text) {
            Some(count) => *count += 1,
            None if room => drop(self.values.insert(text.to_owned(), 1)),
            None => self.many = true,
        }
    }

    /// Whether something in it is neither a number nor missing.
    pub fn is_text(&self) -> bool {
        self.numbers + self.missing < self.records
    }

    /// How many cells are text, where nearly all others are numbers: slips, more likely than categories.
    pub fn stray_texts(&self) -> usize {
        let texts = self.records - self.missing - self.numbers;
        if self.numbers >= 9 * texts { texts } else { 0 }
    }

    /// How many different values it holds; nothing if they are too many to count.
    pub fn distinct(&self) -> Option<usize> {
        (!self.many).then_some(self.values.len())
    }

    /// Whether every record has a value of its own that is text or a whole number, as names and numbers of records have.
    pub fn is_key(&self) -> bool {
        // A handful of records may well have different ages.
        let enough = self.is_text() || (self.records >= 100 && !self.many);
        let whole = |value: &String| value.parse::<i64>().is_ok();
        let named = self.is_text() || self.values.keys().all(whole);
        enough && named && self.missing == 0 && self.values.values().all(|count| *count == 1)
    }

    /// The commonest values and how often they occur.
    pub fn commonest(&self, most: usize) -> Vec<(&str, usize)> {
        let mut all: Vec<(&str, usize)> = self.values.iter().map(|(v, n)| (v.as_str(), *n)).collect();
        all.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        all.truncate(most);
        all
    }
}

/// What each column of the CSV file at `path` holds, in the file's order.
///
/// # Errors
/// When the file cannot be read, or its lines do not have as many fields as its header.
pub fn survey(path: &Path) -> Result<Vec<ColumnSurvey>, DataError> {
    let (file, input) = super::open(path)?;
    let mut rows = Rows::open(&file, input)?;
    let mut columns: Vec<ColumnSurvey> = rows.names().iter().cloned().map(ColumnSurvey::new).collect();
    while let Some(row) = rows.row()? {
        for (c, column) in columns.iter_mut().enumerate() {
            column.push(row.text(c)?, row.line);
        }
    }
    Ok(columns)
}
