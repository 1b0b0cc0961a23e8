//! `metrics.csv` and `moments.csv`: written row by row, so that a run can be watched, and read back.

use super::folder::{FolderError, disk, write_atomically};
use prdo_simulator::{Moments, Row};
use std::fs::File;
use std::io::Write;
use std::path::Path;

const COLUMNS: [&str; 10] = [
    "round",
    "loss",
    "grad_norm",
    "consensus_error",
    "test_accuracy",
    "epsilon_spent",
    "bytes_sent",
    "gradient_evaluations",
    "clipped_gradient_fraction",
    "clipped_difference_fraction",
];

/// The first line of `metrics.csv`.
pub fn header() -> String {
    COLUMNS.join(",")
}

/// One line of `metrics.csv`: numbers with all their digits, empty where a column does not apply.
pub fn format_row(row: &Row) -> String {
    let optional = |x: Option<f64>| x.map_or(String::new(), |x| format!("{x:?}"));
    [
        row.round.to_string(),
        format!("{:?}", row.loss),
        format!("{:?}", row.grad_norm),
        format!("{:?}", row.consensus_error),
        optional(row.test_accuracy),
        optional(row.epsilon_spent),
        row.bytes_sent.to_string(),
        row.gradient_evaluations.to_string(),
        optional(row.clipped_gradient_fraction),
        optional(row.clipped_difference_fraction),
    ]
    .join(",")
}

/// The rows of a `metrics.csv`, up to the first line that is not whole (a crash may have cut the last one).
pub fn parse_rows(text: &str) -> Vec<Row> {
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let mut lines = whole.lines();
    if lines.next() != Some(header().as_str()) {
        return Vec::new();
    }
    lines.map_while(parse_row).collect()
}

/// The rows of a `metrics.csv` that may be damaged: every row that can be read, and what is wrong with the other
/// lines, by their number (from 1).
pub fn salvage_rows(text: &str) -> (Vec<Row>, Vec<(usize, String)>) {
    let (mut rows, mut wrong) = (Vec::<Row>::new(), Vec::new());
    if text.lines().next() != Some(header().as_str()) {
        wrong.push((1, "the first line is not the names of the columns".to_string()));
    }
    let count = text.lines().count();
    for (k, line) in text.lines().enumerate() {
        let cut = k + 1 == count && !text.ends_with('\n');
        match parse_row(line) {
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

fn parse_row(line: &str) -> Option<Row> {
    let cells: Vec<&str> = line.split(',').collect();
    let [
        round,
        loss,
        grad_norm,
        consensus_error,
        accuracy,
        epsilon,
        bytes,
        evaluations,
        gradients,
        differences,
    ] = cells[..]
    else {
        return None;
    };
    let optional = |cell: &str| if cell.is_empty() { Some(None) } else { cell.parse().ok().map(Some) };
    Some(Row {
        round: round.parse().ok()?,
        loss: loss.parse().ok()?,
        grad_norm: grad_norm.parse().ok()?,
        consensus_error: consensus_error.parse().ok()?,
        test_accuracy: optional(accuracy)?,
        epsilon_spent: optional(epsilon)?,
        bytes_sent: bytes.parse().ok()?,
        gradient_evaluations: evaluations.parse().ok()?,
        clipped_gradient_fraction: optional(gradients)?,
        clipped_difference_fraction: optional(differences)?,
    })
}

/// The first line of `moments.csv`.
pub fn moments_header() -> &'static str {
    "round,disagreement,local_error,mean_error,direction,movement"
}

/// One line of `moments.csv`.
pub fn format_moments(m: &Moments) -> String {
    let Moments { round, disagreement, local_error, mean_error, direction, movement } = m;
    format!("{round},{disagreement:?},{local_error:?},{mean_error:?},{direction:?},{movement:?}")
}

/// A file to which lines are appended. It is rewritten when a run is resumed, so that it never holds a line
/// twice.
#[derive(Debug)]
pub struct MetricsFile {
    file: File,
}

impl MetricsFile {
    /// A file that holds these lines and takes more. Lines that were there before stay until these are in
    /// their place: a crash in between loses nothing.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn create(path: &Path, lines: &[String]) -> Result<Self, FolderError> {
        let mut text = lines.join("\n");
        text.push('\n');
        write_atomically(path, text.as_bytes())?;
        let file = File::options().append(true).open(path).map_err(disk("cannot open", path))?;
        Ok(Self { file })
    }

    /// Appends a line.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn append(&mut self, line: &str) -> std::io::Result<()> {
        self.file.write_all(format!("{line}\n").as_bytes())
    }

    /// Makes everything appended so far durable: done before a checkpoint says that it is there.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn sync(&self) -> std::io::Result<()> {
        self.file.sync_data()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            clipped_difference_fraction: None,
        };
        let text = format!("{}\n{}\n{}\n", header(), format_row(&row), format_row(&Row { round: 4, ..row }));
        assert_eq!(parse_rows(&text), [row, Row { round: 4, ..row }]);
        assert_eq!(parse_rows(&text[..text.len() - 5]), [row]);
        assert!(parse_rows("").is_empty() && parse_rows("nonsense\n1,2\n").is_empty());
    }

    #[test]
    fn what_can_be_read_of_a_damaged_file_is_read() {
        let line = |round: u32| format!("{round},0.5,0.25,0.125,,,10,20,,\n");
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
