//! What is remembered of the frontier's runs, as it stands in `results.json`: every run that is finished.

use super::setting::{Chosen, Key};
use crate::error::Error;
use crate::grid::{self, Key as _, State, in_range};
use prdo::store::{Summary, names};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Line")]
pub struct Cell {
    #[serde(flatten)]
    pub key: Key,
    /// The name of its folder, which names its settings.
    pub folder: String,
    /// Test accuracy of the average model, a share.
    pub accuracy: f64,
    #[serde(flatten)]
    pub figures: Figures,
}

/// Further figures of a finished run: of its model and of what it took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Test accuracy of the worst node's own model.
    pub lowest_node_accuracy: f64,
    /// The average model's on the validation records.
    pub validation_accuracy: f64,
    pub noise_multiplier: f64,
    pub epsilon_proven: f64,
    /// Share of a node's records drawn in a round.
    pub rate: f64,
    pub rounds: f64,
    pub clip: f64,
    pub step_size: f64,
    pub parameters: f64,
    pub seconds: f64,
    pub bytes_sent: f64,
}

impl Cell {
    pub fn of(key: &Key, summary: &Summary) -> Result<Self, Error> {
        let there = |value: Option<f64>, what: &'static str| {
            value.ok_or_else(|| Error::Lacks { cell: key.folder(), file: names::SUMMARY, what })
        };
        let missing = || Error::Lacks { cell: key.folder(), file: "settings.csv", what: "its settings" };
        let Chosen { rounds, numbers, .. } = key.chosen().ok_or_else(missing)?;
        let count = |count: Option<u64>| count.map(|count| count as f64);
        let least = count(summary.records_per_node.as_ref().and_then(|records| records.least));
        let accuracy = there(summary.test_accuracy, "test_accuracy")?;
        let figures = Figures {
            lowest_node_accuracy: there(summary.lowest_node_accuracy, "lowest_node_accuracy")?,
            validation_accuracy: there(summary.validation_accuracy, "validation_accuracy")?,
            noise_multiplier: there(summary.noise_multiplier, "noise_multiplier")?,
            epsilon_proven: there(summary.epsilon, "epsilon")?,
            rate: f64::from(numbers.batch) / there(least, "records_per_node")?.max(1.0),
            rounds: f64::from(rounds),
            clip: numbers.clip_gradient,
            step_size: numbers.step_size,
            parameters: there(count(summary.parameters), "parameters")?,
            seconds: there(summary.seconds, "seconds")?,
            bytes_sent: there(count(summary.bytes_sent), "bytes_sent")?,
        };
        Ok(Self { key: *key, folder: key.folder(), accuracy, figures })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    #[serde(flatten)]
    key: Key,
    folder: String,
    accuracy: f64,
    #[serde(flatten)]
    figures: Figures,
}

impl TryFrom<Line> for Cell {
    type Error = String;

    fn try_from(Line { key, folder, accuracy, figures: f }: Line) -> Result<Self, String> {
        in_range("epsilon", &key.epsilon, key.epsilon > 0.0, "a number above 0")?;
        in_range("seed", &key.seed, key.seed <= i64::MAX as u64, "a whole number below 2^63")?;
        for (name, share) in [
            ("accuracy", accuracy),
            ("lowest_node_accuracy", f.lowest_node_accuracy),
            ("validation_accuracy", f.validation_accuracy),
        ] {
            in_range(name, &share, (0.0..=1.0).contains(&share), "a number from 0 to 1")?;
        }
        for (name, value) in [
            ("noise_multiplier", f.noise_multiplier),
            ("epsilon_proven", f.epsilon_proven),
            ("rate", f.rate),
            ("rounds", f.rounds),
            ("clip", f.clip),
            ("step_size", f.step_size),
            ("parameters", f.parameters),
            ("seconds", f.seconds),
            ("bytes_sent", f.bytes_sent),
        ] {
            in_range(name, &value, value >= 0.0, "a number of at least 0")?;
        }
        Ok(Self { key, folder, accuracy, figures: f })
    }
}

impl grid::Entry for Cell {
    const NAME: &'static str = "run";
}

impl grid::Cell for Cell {
    type Key = Key;

    fn key(&self) -> Key {
        self.key
    }

    /// A run with other settings than those that are chosen now is to be done again.
    fn state(&self) -> State {
        if self.folder == self.key.folder() { State::Done } else { State::ToDo }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Results {
    format: String,
    /// The runs, in the order in which they ended.
    #[serde(rename = "runs", deserialize_with = "grid::numbered")]
    pub cells: Vec<Cell>,
}

impl Default for Results {
    fn default() -> Self {
        Self { format: <Self as grid::Results>::FORMAT.to_string(), cells: Vec::new() }
    }
}

impl grid::Results for Results {
    type Cell = Cell;
    const OF: &'static str = "frontier results";
    const FORMAT: &'static str = "prdo frontier results, version 1";

    fn cells(&self) -> &[Cell] {
        &self.cells
    }

    fn cells_mut(&mut self) -> &mut Vec<Cell> {
        &mut self.cells
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::setting::{Map, Noise};
    use super::*;
    use crate::grid::Results as _;
    use crate::images::Data;
    use prdo::algorithm::Method;

    /// A finished run of the digits with this accuracy.
    pub fn cell(method: Method, epsilon: f64, seed: u64, accuracy: f64) -> Cell {
        let (data, map, noise) = (Data::Digits, Map::Scattering, Noise::Independent);
        let key = Key { data, map, method, noise, epsilon, seed };
        let figures = Figures { noise_multiplier: 1.5, seconds: 2.0, bytes_sent: 1e6, ..Figures::default() };
        Cell { key, folder: key.folder(), accuracy, figures }
    }

    #[test]
    fn results_are_read_back_as_they_were_written_and_damage_is_named() {
        let mut results = Results::default();
        results.put(cell(Method::Edm, 1.0, 1, 0.71));
        results.put(cell(Method::Edm, 1.0, 2, 0.73));
        results.put(cell(Method::Edm, 1.0, 1, 0.72));
        assert_eq!(results.cells.len(), 2);
        let text = results.to_text().unwrap();
        let read = |text: &str| Results::parse(text.as_bytes());
        assert_eq!(read(&text).unwrap(), results);
        for (from, to, words) in [
            ("0.72", "1.72", "run 1: accuracy = 1.72: it must be a number from 0 to 1"),
            ("\"seed\":2", "\"seed\":1", "run 2 is there twice"),
            ("\"digits\"", "\"dogs\"", "run 1: unknown variant `dogs`"),
            ("\"clip\"", "\"clap\"", "missing field `clip`"),
            ("\"clip\"", "\"clap\":1,\"clip\"", "unknown field `clap`"),
            ("frontier results", "something", "not a file of frontier results"),
        ] {
            let error = read(&text.replacen(from, to, 1)).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn a_run_with_former_settings_counts_as_not_done() {
        let mut results = Results::default();
        let mut old = cell(Method::Edm, 1.0, 1, 0.71);
        assert_eq!(results.state(&old.key), State::ToDo);
        results.put(old.clone());
        assert_eq!(results.state(&old.key), State::Done);
        old.folder += "0";
        let mut former = Results::default();
        former.put(old.clone());
        assert_eq!(former.state(&old.key), State::ToDo);
        former.put(results.cells[0].clone());
        assert_eq!(former, results);
    }

    #[test]
    fn the_published_results_are_read_and_written_back_unchanged() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/results/frontier");
        let results = Results::read(std::path::Path::new(folder)).unwrap();
        assert!(!results.cells.is_empty());
        let text = std::fs::read_to_string(format!("{folder}/results.json")).unwrap();
        assert!(results.to_text().unwrap() == text, "what is written is not what was read");
    }
}
