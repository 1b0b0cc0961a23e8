//! `comparison.json`: everything a comparison's report is built from; and the runs of one that is not finished.

use crate::own_clip::OwnClip;
use crate::pairs::PairFacts;
use crate::row::{format_row, parse_lines};
use prdo_accounting::{AccountingError, Event, History, Method as Accounting};
use prdo_algorithm::Method;
use prdo_simulator::Row;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The privacy a prepared run has: its noise and what all its rounds will cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Guarantee {
    /// ε of the whole run at δ, for the node with the highest sampling rate.
    pub epsilon: f64,
    pub delta: f64,
    pub noise_multiplier: f64,
    /// The highest sampling rate of the first release.
    pub first_rate: f64,
    /// The highest sampling rate of the others.
    pub rate: f64,
    #[serde(rename = "accountant", serialize_with = "accountant", deserialize_with = "accounting")]
    pub accounting: Accounting,
}

impl Guarantee {
    /// What a run of so many rounds releases about a record of the smallest node.
    pub fn releases(&self, rounds: u32) -> Result<History, AccountingError> {
        let first = Event::sampled_gaussian(self.first_rate, self.noise_multiplier)?;
        let later = Event::sampled_gaussian(self.rate, self.noise_multiplier)?;
        Ok(History::new().and(first, 1).and(later, u64::from(rounds).saturating_sub(1)))
    }
}

fn accountant<S: Serializer>(accounting: &Accounting, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(accounting.name())
}

fn accounting<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Accounting, D::Error> {
    let name = String::deserialize(deserializer)?;
    Accounting::named(&name).ok_or_else(|| D::Error::custom(format!("unknown accountant {name:?}")))
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(into = "WrittenCell", try_from = "WrittenCell")]
pub struct Cell {
    pub method: Method,
    /// What sets this run apart from the others, the seed left out: `("privacy.epsilon", "2.0")`.
    pub labels: Vec<(String, String)>,
    pub seed: u64,
    pub rows: Vec<Row>,
    /// Held-out accuracy of each node's own model.
    pub node_accuracy: Vec<f64>,
    /// The area under the ROC curve of the average model; `None` where there are not two classes.
    pub test_auc: Option<f64>,
    pub most_common_class: Option<f64>,
    /// What it promised; `None` is ε = ∞.
    pub guarantee: Option<Guarantee>,
    pub seconds: f64,
    /// (C_g, C_Δ).
    pub clip: Option<(f64, f64)>,
    /// γ, for methods with differences.
    pub gamma: Option<f64>,
    /// What it clips at instead.
    pub own_clip: Option<OwnClip>,
    /// Of noise in pairs.
    pub pairs: Option<PairFacts>,
    pub rounds: u64,
}

impl Cell {
    /// Mean gradient norm of the last fifth of the rounds.
    pub fn late_grad_norm(&self) -> Option<f64> {
        let from = f64::from(self.rows.last()?.round) * 0.8;
        let late = self.rows.iter().filter(|row| f64::from(row.round) >= from).map(|row| row.grad_norm);
        let late: Vec<f64> = late.collect();
        Some(late.iter().sum::<f64>() / late.len() as f64)
    }
}

/// A run as the file has it: rows as the lines of `metrics.csv`.
#[derive(Serialize, Deserialize)]
struct WrittenCell {
    method: String,
    labels: Vec<(String, String)>,
    seed: u64,
    // A damaged promise is no promise, but the run was not without one either: such a run is damaged.
    #[serde(default)]
    guarantee: Option<Guarantee>,
    seconds: f64,
    node_accuracy: Vec<f64>,
    // Comparisons of earlier versions have neither.
    #[serde(default)]
    test_auc: Option<f64>,
    #[serde(default)]
    most_common_class: Option<f64>,
    #[serde(default)]
    clip: Option<(f64, f64)>,
    #[serde(default)]
    gamma: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    own_clip: Option<OwnClip>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pairs: Option<PairFacts>,
    rounds: u64,
    #[serde(default)]
    late_grad_norm: Option<f64>,
    metrics: Vec<String>,
}

impl From<Cell> for WrittenCell {
    fn from(cell: Cell) -> Self {
        Self {
            method: cell.method.card().name.to_string(),
            late_grad_norm: cell.late_grad_norm(),
            metrics: cell.rows.iter().map(format_row).collect(),
            labels: cell.labels,
            seed: cell.seed,
            guarantee: cell.guarantee,
            seconds: cell.seconds,
            node_accuracy: cell.node_accuracy,
            test_auc: cell.test_auc,
            most_common_class: cell.most_common_class,
            clip: cell.clip,
            gamma: cell.gamma,
            own_clip: cell.own_clip,
            pairs: cell.pairs,
            rounds: cell.rounds,
        }
    }
}

impl TryFrom<WrittenCell> for Cell {
    type Error = String;

    fn try_from(cell: WrittenCell) -> Result<Self, String> {
        Ok(Self {
            method: cell.method.parse()?,
            rows: parse_lines(&cell.metrics),
            labels: cell.labels,
            seed: cell.seed,
            guarantee: cell.guarantee,
            seconds: cell.seconds,
            node_accuracy: cell.node_accuracy,
            test_auc: cell.test_auc,
            most_common_class: cell.most_common_class,
            clip: cell.clip,
            gamma: cell.gamma,
            own_clip: cell.own_clip,
            pairs: cell.pairs,
            rounds: cell.rounds,
        })
    }
}

/// A run of a job of many that was finished before all were, with what is kept of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Part<T> {
    /// Names its settings and its records.
    pub fingerprint: String,
    pub run: T,
}

/// One pair of groups of a contest, and whether they differ.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DifferenceRecord {
    pub contest: String,
    pub measure: String,
    pub best: Option<String>,
    pub other: Option<String>,
    pub pairs: usize,
    pub mean: Option<f64>,
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub p: Option<f64>,
    pub p_holm: Option<f64>,
    pub constant: Option<bool>,
    pub compared: usize,
    pub clear: bool,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Comparison {
    pub title: Option<String>,
    pub data: Option<String>,
    pub command: Option<String>,
    /// The run files, as they were.
    pub run_files: Option<String>,
    /// The network's picture, as SVG.
    pub network: Option<String>,
    pub verdict: Option<String>,
    pub planned: u64,
    pub differences: Vec<DifferenceRecord>,
    pub columns: String,
    /// The runs; `None` is one that is damaged.
    #[serde(deserialize_with = "each")]
    pub runs: Vec<Option<Cell>>,
}

fn each<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Option<Cell>>, D::Error> {
    let runs = Vec::<serde_json::Value>::deserialize(deserializer)?;
    Ok(runs.into_iter().map(|run| serde_json::from_value(run).ok()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artefact::{parse, text};

    /// As version 0.1.0 wrote it.
    const WRITTEN: &str = include_str!("../tests/comparison.json");

    #[test]
    fn what_was_read_is_written_to_the_byte() {
        let comparison: Comparison = parse(WRITTEN.as_bytes()).unwrap();
        assert_eq!(comparison.runs.iter().flatten().count(), 4);
        // Columns that came later are empty.
        let later = ",".repeat(crate::COLUMNS.len() - comparison.columns.split(',').count());
        let row = |line: &str| {
            line.trim_start().starts_with(['"']) && line.trim_start()[1..].starts_with(char::is_numeric)
        };
        let with_later = |line: &str| match line.rsplit_once('"').filter(|_| row(line)) {
            Some((cells, end)) => format!("{cells}{later}\"{end}\n"),
            None => format!("{line}\n"),
        };
        assert_eq!(text(&comparison), WRITTEN.lines().map(with_later).collect::<String>());
    }

    #[test]
    fn a_damaged_run_is_left_out_and_the_others_are_read() {
        let damaged = WRITTEN.replacen("\"method\": \"prdo\"", "\"method\": \"torn\"", 1);
        let damaged = damaged.replacen("\"accountant\": \"prv\"", "\"accountant\": 7", 2);
        let comparison: Comparison = parse(damaged.as_bytes()).unwrap();
        assert_eq!(
            comparison.runs.iter().map(Option::is_some).collect::<Vec<_>>(),
            [false, false, true, true]
        );
        assert_eq!(parse::<Comparison>(b"{}").unwrap().planned, 0);
    }
}
