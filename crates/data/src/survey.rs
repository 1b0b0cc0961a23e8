//! What the columns of a CSV file hold, whatever it is: text, gaps and all. For the owner's eyes: what it finds is not
//! public.

use std::path::Path;

use super::columns::Roles;
use super::csv::Rows;
use super::slips::{ValueCounts, is_missing, slip_words};
use super::{DataError, Options};

/// So many different values of a column are counted one by one.
const MOST_VALUES: usize = 10_000;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ColumnSurvey {
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
    values: ValueCounts,
    largest: Largest,
}

impl ColumnSurvey {
    fn new(name: String) -> Self {
        Self { name, ..Self::default() }
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
            self.largest.push(number, line);
        } else if self.first_text.is_none() {
            self.first_text = Some((text.to_owned(), line));
        }
        self.values.push(text, line, MOST_VALUES);
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
        (!self.values.many).then_some(self.values.known.len())
    }

    /// Whether every record has a value of its own that is text or a whole number, as names and numbers of records have.
    pub fn is_key(&self) -> bool {
        // A handful of records may well have different ages.
        let enough = self.is_text() || (self.records >= 100 && !self.values.many);
        let whole = |value: &String| value.parse::<i64>().is_ok();
        let named = self.is_text() || self.values.known.keys().all(whole);
        enough && named && self.missing == 0 && self.values.known.values().all(|(count, _)| *count == 1)
    }

    /// Whether it is text of which nearly every record has another, as dates, names and notes are: more values than a
    /// handful of records has, and most of them nobody else's.
    pub fn is_free_text(&self) -> bool {
        /// So many categories are usual.
        const USUAL: usize = 64;
        let alone = || self.values.known.values().filter(|(count, _)| *count == 1).count();
        let scattered = match self.values.many {
            // How many values there are is not known then; of those that were counted most should be nobody else's.
            true => 2 * alone() > self.values.known.len(),
            false => 2 * self.values.known.len() > self.records - self.missing || self.is_dates(),
        };
        self.is_text() && self.stray_texts() == 0 && self.values.known.len() > USUAL && scattered
    }

    /// Whether all values look like dates: three numbers with dashes, points or strokes between them, and perhaps a time.
    pub fn is_dates(&self) -> bool {
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        let date = |value: &String| {
            let day = value.split([' ', 'T']).next().unwrap_or_default();
            ['-', '/', '.'].iter().any(|sign| {
                let parts: Vec<&str> = day.split(*sign).collect();
                parts.len() == 3 && parts.into_iter().all(digits)
            })
        };
        !self.values.known.is_empty() && self.values.known.keys().all(date)
    }

    /// Whether all values are whole numbers as codes of branches are: 101, 102, or 007.
    pub fn is_codes(&self) -> bool {
        self.missing == 0
            && !self.values.many
            && self.values.known.keys().all(|value| value.parse::<u32>().is_ok())
    }

    /// A number that is far beyond nearly all others, if there is one.
    pub fn outlier(&self) -> Option<Outlier> {
        self.largest.outlier(self.numbers)
    }

    /// Values that may be slips for others, in words.
    pub fn slips(&self) -> Vec<String> {
        if self.values.many { Vec::new() } else { slip_words(&self.name, &self.values.known) }
    }

    /// The commonest values and how often they occur.
    pub fn commonest(&self, most: usize) -> Vec<(&str, usize)> {
        let mut all: Vec<(&str, usize)> =
            self.values.known.iter().map(|(v, (n, _))| (v.as_str(), *n)).collect();
        all.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        all.truncate(most);
        all
    }
}

/// A number that is far beyond nearly all others of its column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlier {
    pub value: f64,
    pub line: u64,
    /// How many numbers are as far out, this one with them.
    pub count: usize,
    /// The largest of the others, without its sign.
    pub next: f64,
}

/// The numbers of a column that are farthest from 0, farthest first, with their lines.
#[derive(Clone, Debug, Default, PartialEq)]
struct Largest(Vec<(f64, u64)>);

impl Largest {
    /// Of so many the thousandth part is looked at.
    const MOST: usize = 1001;
    /// A number so many times larger than the one that only a thousandth of all exceed is far out.
    const FAR: f64 = 20.0;

    fn push(&mut self, number: f64, line: u64) {
        let size = number.abs();
        let full = self.0.len() == Self::MOST;
        if full && self.0.last().is_some_and(|(least, _)| least.abs() >= size) {
            return;
        }
        let at = self.0.partition_point(|(other, _)| other.abs() >= size);
        self.0.insert(at, (number, line));
        self.0.truncate(Self::MOST);
    }

    /// What is far beyond the others, of so many numbers.
    fn outlier(&self, numbers: usize) -> Option<Outlier> {
        let usual = self.0.get((numbers / 1000).clamp(1, Self::MOST - 1))?.0.abs();
        let far = self.0.iter().take_while(|(number, _)| number.abs() > Self::FAR * usual).count();
        let ((value, line), next) = (self.0.first()?, self.0.get(far)?.0.abs());
        // Where nearly all are 0, everything else is many times larger.
        (far > 0 && usual > 0.0).then_some(Outlier { value: *value, line: *line, count: far, next })
    }
}

/// What each column of the CSV file at `path` holds, in the file's order.
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

/// Refuses what a reader would refuse of a file with these columns: names that occur twice, label and node in one column,
/// a chosen feature without a name.
pub fn check_columns(file: &str, found: &[ColumnSurvey], options: &Options) -> Result<(), DataError> {
    let names: Vec<String> = found.iter().map(|column| column.name.clone()).collect();
    Roles::of(file, &names, options).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(values: impl Iterator<Item = String>) -> ColumnSurvey {
        let mut column = ColumnSurvey::new("c".to_owned());
        values.zip(2..).for_each(|(value, line)| column.push(&value, line));
        column
    }

    #[test]
    fn free_text_is_told_from_categories() {
        let names = column((0..200).map(|k| format!("person {}", k % 150)));
        assert!(names.is_free_text() && !names.is_key() && !names.is_dates());
        let jobs = column((0..2000).map(|k| format!("job {}", k % 150)));
        assert!(!jobs.is_free_text());
        assert!(!column((0..60).map(|k| format!("place {k}"))).is_free_text());
        assert!(!column((0..200).map(|k| k.to_string())).is_free_text());
        let day = |k: u32| format!("20{:02}-{:02}-{:02}", k % 20, 1 + k % 12, 1 + k % 28);
        let days = column((0..2000).map(day));
        assert!(days.is_dates() && days.is_free_text());
        assert!(
            column(["3.4.2021", "13/4/2021 12:00", "2021-04-13T12:00"].map(String::from).into_iter())
                .is_dates()
        );
        assert!(!column(["3.4", "1-2-x"].map(String::from).into_iter()).is_dates());
        assert!(column((0..30_000).map(|k| format!("note {k}"))).is_free_text());
        assert!(!column((0..60_000).map(|k| format!("town {}", k % 12_000))).is_free_text());
    }

    #[test]
    fn a_number_far_beyond_the_others_is_found_with_its_line() {
        let incomes = |more: &[f64]| {
            let usual = (0..500).map(|k| 20_000.0 + 100.0 * f64::from(k));
            column(usual.chain(more.iter().copied()).map(|x| x.to_string()))
        };
        assert_eq!(incomes(&[]).outlier(), None);
        assert_eq!(incomes(&[300_000.0]).outlier(), None);
        let found = Outlier { value: 99_999_999.0, line: 502, count: 1, next: 69_900.0 };
        assert_eq!(incomes(&[99_999_999.0]).outlier(), Some(found));
        assert_eq!(incomes(&[-99_999_999.0]).outlier().unwrap().value, -99_999_999.0);
        // Among thousands of records a few may be far out.
        let many = column((0..5000).map(|k| if k % 2500 == 7 { "1e9".into() } else { (k % 90).to_string() }));
        let found = many.outlier().unwrap();
        assert_eq!((found.count, found.line, found.next), (2, 9, 89.0));
        // A column that is nearly always 0 has no usual size.
        assert_eq!(column((0..500).map(|k| u32::from(k == 3).to_string())).outlier(), None);
        assert_eq!(column(["7".to_owned()].into_iter()).outlier(), None);
    }
}
