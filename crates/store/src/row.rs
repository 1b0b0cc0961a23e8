//! `metrics.csv` and `moments.csv`: written row by row, so that a run can be watched, and read back.
//!
//! A metric is one line of [`COLUMNS`]: the file's header, its cells, exports to other tools and the charts of reports come
//! from there.

use crate::folder::FolderError;
use prdo_disk::DiskError;
use prdo_simulator::{Moments, Row};
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// A metric.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name in files.
    pub name: &'static str,
    /// Under what TensorBoard shows it; nothing for what its records are numbered by.
    pub section: Option<Section>,
    /// How it is drawn.
    pub panel: Panel,
    field: Field,
}

/// What a metric is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(reason = "the words that TensorBoard shows")]
pub enum Section {
    Training,
    Privacy,
    Cost,
}

impl Section {
    /// In this order.
    pub const ALL: [Self; 3] = [Self::Training, Self::Privacy, Self::Cost];

    /// The word that TensorBoard shows.
    pub fn name(self) -> &'static str {
        match self {
            Self::Training => "training",
            Self::Privacy => "privacy",
            Self::Cost => "cost",
        }
    }
}

/// How a metric is drawn in a report's interactive charts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Panel {
    /// Others are drawn against it.
    Axis {
        /// What is written beside the axis.
        label: &'static str,
    },
    /// A panel of its own.
    Curve {
        /// The panel's title.
        title: &'static str,
        /// What is written beside its axis.
        label: &'static str,
        /// On what scale.
        scale: PanelScale,
        /// Whether it comes before all others.
        first: bool,
    },
}

/// The scale of a panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PanelScale {
    /// As it is.
    Linear,
    /// Logarithmic.
    Log,
    /// A share, in percent.
    Share,
    /// A share, and all of 0 to 1 is shown.
    WholeShare,
}

/// Where a metric is in a row.
#[derive(Clone, Copy, Debug)]
enum Field {
    Round(fn(&mut Row) -> &mut u32),
    Count(fn(&mut Row) -> &mut u64),
    Real(fn(&mut Row) -> &mut f64),
    Optional(fn(&mut Row) -> &mut Option<f64>),
}

/// A metric's value in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A count.
    Whole(u64),
    /// A measurement; nothing where it does not apply.
    Real(Option<f64>),
}

const fn axis(name: &'static str, label: &'static str, section: Option<Section>, field: Field) -> Column {
    Column { name, section, panel: Panel::Axis { label }, field }
}

const fn curve(
    name: &'static str,
    (title, label, scale): (&'static str, &'static str, PanelScale),
    section: Section,
    field: Field,
) -> Column {
    Column { name, section: Some(section), panel: Panel::Curve { title, label, scale, first: false }, field }
}

/// The one that people look for before all others.
const fn headline(mut column: Column) -> Column {
    if let Panel::Curve { title, label, scale, .. } = column.panel {
        column.panel = Panel::Curve { title, label, scale, first: true };
    }
    column
}

/// Every metric, in the order of the file.
pub const COLUMNS: [Column; 10] = {
    use Field::{Count, Optional, Real, Round};
    use PanelScale::{Linear, Log, Share, WholeShare};
    use Section::{Cost, Privacy, Training};
    [
        axis("round", "rounds", None, Round(|row| &mut row.round)),
        curve("loss", ("Loss", "f(x̄)", Linear), Training, Real(|row| &mut row.loss)),
        curve("grad_norm", ("Gradient norm", "‖∇f(x̄)‖", Log), Training, Real(|row| &mut row.grad_norm)),
        curve(
            "consensus_error",
            ("Disagreement of the nodes", "mean ‖x − x̄‖²", Log),
            Training,
            Real(|row| &mut row.consensus_error),
        ),
        headline(curve(
            "test_accuracy",
            ("Test accuracy", "share right", Share),
            Training,
            Optional(|row| &mut row.test_accuracy),
        )),
        curve(
            "epsilon_spent",
            ("Privacy spent", "ε", Linear),
            Privacy,
            Optional(|row| &mut row.epsilon_spent),
        ),
        axis("bytes_sent", "bytes sent", Some(Cost), Count(|row| &mut row.bytes_sent)),
        axis(
            "gradient_evaluations",
            "gradient evaluations",
            Some(Cost),
            Count(|row| &mut row.gradient_evaluations),
        ),
        curve(
            "clipped_gradient_fraction",
            ("Clipped gradients", "share of records", WholeShare),
            Privacy,
            Optional(|row| &mut row.clipped_gradient_fraction),
        ),
        curve(
            "clipped_difference_fraction",
            ("Clipped differences", "share of records", WholeShare),
            Privacy,
            Optional(|row| &mut row.clipped_difference_fraction),
        ),
    ]
};

/// The metric of this name.
pub fn column(name: &str) -> Option<&'static Column> {
    COLUMNS.iter().find(|column| column.name == name)
}

impl Column {
    /// Its value in a row.
    pub fn number(&self, row: &Row) -> Number {
        let mut row = *row;
        match self.field {
            Field::Round(at) => Number::Whole((*at(&mut row)).into()),
            Field::Count(at) => Number::Whole(*at(&mut row)),
            Field::Real(at) => Number::Real(Some(*at(&mut row))),
            Field::Optional(at) => Number::Real(*at(&mut row)),
        }
    }

    /// The same for whoever draws it.
    pub fn value(&self, row: &Row) -> Option<f64> {
        match self.number(row) {
            Number::Whole(count) => Some(count as f64),
            Number::Real(value) => value,
        }
    }

    /// Whether its values are counts.
    pub fn is_whole(&self) -> bool {
        matches!(self.field, Field::Round(_) | Field::Count(_))
    }

    /// A cell of the file: all digits, empty where the metric does not apply.
    fn cell(&self, row: &Row) -> String {
        match self.number(row) {
            Number::Whole(count) => count.to_string(),
            Number::Real(value) => value.map_or(String::new(), |x| format!("{x:?}")),
        }
    }

    /// Puts a cell of the file into a row; nothing if it is no number.
    fn read(&self, cell: &str, row: &mut Row) -> Option<()> {
        match self.field {
            Field::Round(at) => *at(row) = cell.parse().ok()?,
            Field::Count(at) => *at(row) = cell.parse().ok()?,
            Field::Real(at) => *at(row) = cell.parse().ok()?,
            Field::Optional(at) if cell.is_empty() => *at(row) = None,
            Field::Optional(at) => *at(row) = Some(cell.parse().ok()?),
        }
        Some(())
    }
}

/// The first line of `metrics.csv`.
pub fn header() -> String {
    COLUMNS.map(|column| column.name).join(",")
}

/// One line of `metrics.csv`.
pub fn format_row(row: &Row) -> String {
    COLUMNS.map(|column| column.cell(row)).join(",")
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
    let mut row = Row::default();
    if cells.len() != COLUMNS.len() {
        return None;
    }
    COLUMNS.iter().zip(cells).try_for_each(|(column, cell)| column.read(cell, &mut row))?;
    Some(row)
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
    ///
    /// # Errors
    /// When the disk fails.
    pub fn create(path: &Path, lines: &[String]) -> Result<Self, FolderError> {
        let mut text = lines.join("\n");
        text.push('\n');
        prdo_disk::write_atomically(path, text.as_bytes())?;
        let file = File::options().append(true).open(path).map_err(DiskError::of("cannot open", path))?;
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
    fn every_column_is_where_it_was() {
        assert_eq!(
            header(),
            "round,loss,grad_norm,consensus_error,test_accuracy,epsilon_spent,bytes_sent,gradient_evaluations,\
             clipped_gradient_fraction,clipped_difference_fraction"
        );
        let line = "1,2.5,3.5,4.5,5.5,6.5,7,8,9.5,10.5";
        let row = parse_row(line).unwrap();
        assert_eq!((format_row(&row).as_str(), row.bytes_sent, row.grad_norm), (line, 7, 3.5));
        assert_eq!(parse_row("1,2.5"), None);
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
