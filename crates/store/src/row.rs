//! `metrics.csv` and `moments.csv`: written row by row, so that a run can be watched, and read back.

use crate::folder::FolderError;
use prdo_disk::DiskError;
use prdo_simulator::{COLUMNS, Column, Moments, Number, Row};
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// The metric of this name.
pub fn column(name: &str) -> Option<&'static Column> {
    COLUMNS.iter().find(|column| column.name == name)
}

/// A cell of the file: all digits, empty where the metric does not apply.
fn cell(number: Number) -> String {
    match number {
        Number::Whole(count) => count.to_string(),
        Number::Real(value) => value.map_or(String::new(), |x| format!("{x:?}")),
    }
}

/// Puts a cell of the file into a row; nothing if it is no number of this metric.
fn read(cell: &str, column: &Column, row: &mut Row) -> Option<()> {
    let number = match column.is_whole() {
        true => Number::Whole(cell.parse().ok()?),
        false if cell.is_empty() => Number::Real(None),
        false => Number::Real(Some(cell.parse().ok()?)),
    };
    column.set(row, number)
}

/// The first line of `metrics.csv`.
pub fn header() -> String {
    names(COLUMNS.len())
}

fn names(count: usize) -> String {
    COLUMNS.iter().take(count).map(|column| column.name).collect::<Vec<_>>().join(",")
}

pub fn format_row(row: &Row) -> String {
    COLUMNS.iter().map(|column| cell(column.number(row))).collect::<Vec<_>>().join(",")
}

/// How many columns files of 0.1.0 have. Later ones were added behind them.
const COLUMNS_OF_0_1_0: usize = 10;

/// How many columns a file with this first line has; nothing if it is none of ours.
fn columns_in(first_line: &str) -> Option<usize> {
    (COLUMNS_OF_0_1_0..=COLUMNS.len()).find(|count| first_line == names(*count))
}

/// The rows of a `metrics.csv`, up to the first line that is not whole (a crash may have cut the last one).
pub fn parse_rows(text: &str) -> Vec<Row> {
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let mut lines = whole.lines();
    let Some(columns) = lines.next().and_then(columns_in) else { return Vec::new() };
    lines.map_while(|line| parse_row(line, columns)).collect()
}

/// Rows without the names of their columns, up to the first that is none.
pub(crate) fn parse_lines(lines: &[String]) -> Vec<Row> {
    let columns = lines.first().map_or(0, |line| line.matches(',').count() + 1);
    match (COLUMNS_OF_0_1_0..=COLUMNS.len()).contains(&columns) {
        true => lines.iter().map_while(|line| parse_row(line, columns)).collect(),
        false => Vec::new(),
    }
}

/// The rows of a `metrics.csv` that may be damaged: every row that can be read, and what is wrong with the other
/// lines, by their number (from 1).
pub fn salvage_rows(text: &str) -> (Vec<Row>, Vec<(usize, String)>) {
    let (mut rows, mut wrong) = (Vec::<Row>::new(), Vec::new());
    let columns = text.lines().next().and_then(columns_in);
    if columns.is_none() {
        wrong.push((1, "the first line is not the names of the columns".to_string()));
    }
    let count = text.lines().count();
    for (k, line) in text.lines().enumerate() {
        let cut = k + 1 == count && !text.ends_with('\n');
        match parse_row(line, columns.unwrap_or(COLUMNS.len())) {
            // A row that was cut may still look like one, with fewer digits.
            _ if cut && k > 0 => wrong.push((k + 1, "the line is cut: it has no end".to_string())),
            Some(row) if rows.last().is_some_and(|last| last.round >= row.round) => {
                wrong.push((k + 1, format!("round {} does not come after the line before", row.round)));
            }
            Some(row) => rows.push(row),
            None if k > 0 => wrong.push((k + 1, "this is no row of measurements".to_string())),
            None => {}
        }
    }
    (rows, wrong)
}

/// A row of the first so many columns.
fn parse_row(line: &str, columns: usize) -> Option<Row> {
    let cells: Vec<&str> = line.split(',').collect();
    let mut row = Row::default();
    if cells.len() != columns {
        return None;
    }
    COLUMNS.iter().zip(cells).try_for_each(|(column, cell)| read(cell, column, &mut row))?;
    Some(row)
}

pub fn moments_header() -> &'static str {
    "round,disagreement,local_error,mean_error,direction,movement"
}

pub fn format_moments(m: &Moments) -> String {
    let Moments { round, disagreement, local_error, mean_error, direction, movement } = m;
    format!("{round},{disagreement:?},{local_error:?},{mean_error:?},{direction:?},{movement:?}")
}

/// The moments in the text of `moments.csv`, up to the first line that is none.
pub fn parse_moments(text: &str) -> Vec<Moments> {
    let moments = |line: &str| {
        let (round, cells) = line.split_once(',')?;
        let cells: Vec<f64> = cells.split(',').map(str::parse).collect::<Result<_, _>>().ok()?;
        let [disagreement, local_error, mean_error, direction, movement] = cells[..] else { return None };
        let round = round.parse().ok()?;
        Some(Moments { round, disagreement, local_error, mean_error, direction, movement })
    };
    text.lines().skip(1).map_while(moments).collect()
}

/// A file to which lines are appended. It is rewritten when a run is resumed, so that it never holds a line
/// twice.
#[derive(Debug)]
pub struct LinesFile {
    file: File,
}

impl LinesFile {
    /// A file that holds these lines and takes more. Lines that were there before stay until these are in
    /// their place: a crash in between loses nothing.
    pub fn create(path: &Path, lines: &[String]) -> Result<Self, FolderError> {
        let mut text = lines.join("\n");
        text.push('\n');
        prdo_disk::write_atomically(path, text.as_bytes())?;
        let file = File::options().append(true).open(path).map_err(DiskError::of("cannot open", path))?;
        Ok(Self { file })
    }

    pub fn append(&mut self, line: &str) -> std::io::Result<()> {
        self.file.write_all(format!("{line}\n").as_bytes())
    }

    /// Makes everything appended so far durable: done before a checkpoint says that it is there.
    pub fn sync(&self) -> std::io::Result<()> {
        self.file.sync_data()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_is_where_it_was() {
        assert_eq!(
            names(COLUMNS_OF_0_1_0),
            "round,loss,grad_norm,consensus_error,test_accuracy,epsilon_spent,bytes_sent,gradient_evaluations,\
             clipped_gradient_fraction,clipped_difference_fraction"
        );
        let line = "1,2.5,3.5,4.5,5.5,6.5,7,8,9.5,10.5";
        let row = parse_row(line, COLUMNS_OF_0_1_0).unwrap();
        let later = ",".repeat(COLUMNS.len() - COLUMNS_OF_0_1_0);
        assert_eq!((format_row(&row), row.bytes_sent, row.grad_norm), (format!("{line}{later}"), 7, 3.5));
        assert_eq!(parse_row("1,2.5", COLUMNS_OF_0_1_0), None);
        assert_eq!(column("bytes_sent").map(|c| c.number(&row)), Some(Number::Whole(7)));
    }

    #[test]
    fn rows_come_back_to_the_bit_and_a_cut_line_is_left_out() {
        let row = Row {
            round: 3,
            loss: 0.1 + 0.2,
            grad_norm: 7.9e-11,
            consensus_error: 0.0,
            test_accuracy: Some(1.0 / 3.0),
            epsilon_spent: None,
            bytes_sent: u64::MAX,
            gradient_evaluations: 12,
            clipped_gradient_fraction: Some(0.5),
            ..Row::default()
        };
        let text = format!("{}\n{}\n{}\n", header(), format_row(&row), format_row(&Row { round: 4, ..row }));
        assert_eq!(parse_rows(&text), [row, Row { round: 4, ..row }]);
        assert_eq!(parse_rows(&text[..text.len() - 5]), [row]);
        assert!(parse_rows("").is_empty() && parse_rows("nonsense\n1,2\n").is_empty());
    }

    #[test]
    fn what_can_be_read_of_a_damaged_file_is_read() {
        let line = |round: u32| format!("{round},0.5,0.25,0.125,,,10,20,,\n");
        let header = || names(COLUMNS_OF_0_1_0);
        let whole = format!("{}\n{}{}", header(), line(0), line(10));
        assert_eq!(salvage_rows(&whole), (parse_rows(&whole), Vec::new()));
        let damaged =
            format!("{}\n{}gar\u{7f}bage\n{}{}{}30,0.5,0.2", header(), line(0), line(10), line(10), line(20));
        let (rows, wrong) = salvage_rows(&damaged);
        assert_eq!(rows.iter().map(|r| r.round).collect::<Vec<_>>(), [0, 10, 20]);
        assert_eq!(wrong.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [3, 5, 7]);
        let (rows, wrong) = salvage_rows("torn");
        assert_eq!((rows.len(), wrong.len()), (0, 1));
        assert_eq!(salvage_rows("").1.len(), 1);
        // A line that was cut within its last number looks like a row, and is none.
        let cut = whole.trim_end().to_string();
        assert_eq!(salvage_rows(&cut).0.len(), 1);
    }
}
