//! What is remembered of the table's cells, as it stands in `results.json`: every cell that was begun.

use super::setting::{DELTA, Group, Key, Noise, Setting, paper_accuracy};
use crate::error::Error;
use crate::front::{Facts, Stage};
use crate::grid::{self, Key as _, State, as_text, in_range};
use crate::typed::distinct;
use prdo::algorithm::Method;
use prdo::network::Law;
use prdo::simulator::Row;
use prdo::store::names;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "Line", try_from = "Line")]
pub struct Cell {
    pub key: Key,
    pub noise_multiplier: f64,
    /// ε that was proven for z and all rounds: at most the budget, except where z is the paper's.
    pub epsilon_proven: f64,
    /// Rounds done at the last checkpoint.
    pub rounds_done: u32,
    /// Whether all rounds are done and the model is written.
    pub finished: bool,
    pub seconds: f64,
    /// Round and test accuracy (a share) of every measurement.
    pub curve: Vec<(u32, f64)>,
}

impl grid::Entry for Cell {
    const NAME: &'static str = "cell";
}

impl grid::Cell for Cell {
    type Key = Key;

    fn key(&self) -> Key {
        self.key
    }

    fn state(&self) -> State {
        if self.finished { State::Done } else { State::Interrupted { rounds: self.rounds_done } }
    }
}

impl Cell {
    pub fn of(key: &Key, facts: &Facts, stage: &Stage) -> Result<Self, Error> {
        let (noise_multiplier, epsilon_proven) = facts.guarantee.unwrap_or((0.0, f64::INFINITY));
        let point = |row: &Row| Some((row.round, row.test_accuracy?));
        let cell = Self {
            key: *key,
            noise_multiplier,
            epsilon_proven,
            rounds_done: stage.round,
            finished: stage.summary.is_some(),
            seconds: stage.seconds,
            curve: stage.rows.iter().filter_map(point).collect(),
        };
        if cell.finished && cell.accuracy().is_none() {
            return Err(Error::Lacks { cell: key.folder(), file: names::METRICS, what: "rounds to average" });
        }
        Ok(cell)
    }

    /// A finished cell's accuracy (a share): the mean over the group's averaged rounds. Of an unfinished one the last
    /// measurement.
    pub fn accuracy(&self) -> Option<f64> {
        if !self.finished {
            return self.curve.last().map(|(_, accuracy)| *accuracy);
        }
        let rounds = self.key.group.averaged();
        let at = |round: &u32| self.curve.iter().find(|(r, _)| r == round).map(|(_, accuracy)| *accuracy);
        let found = rounds.iter().map(at).collect::<Option<Vec<f64>>>()?;
        Some(found.iter().sum::<f64>() / found.len() as f64)
    }
}

/// A cell as it stands in the file. What is optional is for readers and follows from the rest.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    #[serde(with = "as_text")]
    method: Method,
    epsilon: f64,
    accuracy: Option<f64>,
    rounds_done: u32,
    noise_multiplier: f64,
    rounds: u32,
    seed: u64,
    finished: bool,
    seconds: f64,
    setting: Setting,
    noise: Noise,
    /// A linear model has none.
    #[serde(default = "before_there_was_a_choice")]
    start: Option<String>,
    epsilon_proven: f64,
    delta: Option<f64>,
    #[serde(default)]
    averaged_rounds: Vec<u32>,
    paper_accuracy: Option<f64>,
    note: Option<String>,
    curve: Vec<(u32, f64)>,
}

fn before_there_was_a_choice() -> Option<String> {
    Some(Law::FanIn.name().to_string())
}

impl From<Cell> for Line {
    fn from(cell: Cell) -> Self {
        let Key { group, method, epsilon, seed } = cell.key;
        let paper = paper_accuracy(method, epsilon).filter(|_| group.is_the_papers());
        Self {
            method,
            epsilon,
            accuracy: cell.accuracy(),
            rounds_done: cell.rounds_done,
            noise_multiplier: cell.noise_multiplier,
            rounds: group.rounds,
            seed,
            finished: cell.finished,
            seconds: cell.seconds,
            setting: group.setting,
            noise: group.noise,
            start: group.start_name().map(String::from),
            epsilon_proven: cell.epsilon_proven,
            delta: Some(DELTA),
            averaged_rounds: group.averaged(),
            paper_accuracy: paper.map(|a| a / 100.0),
            note: group.note(),
            curve: cell.curve,
        }
    }
}

impl TryFrom<Line> for Cell {
    type Error = String;

    fn try_from(line: Line) -> Result<Self, String> {
        line.check_ranges()?;
        let Line { setting, rounds, noise, method, epsilon, seed, .. } = line;
        let group = Group { setting, rounds, noise, start: line.law()? };
        let cell = Self {
            key: Key { group, method, epsilon, seed },
            noise_multiplier: line.noise_multiplier,
            epsilon_proven: line.epsilon_proven,
            rounds_done: line.rounds_done,
            finished: line.finished,
            seconds: line.seconds,
            curve: line.curve,
        };
        let same = match (cell.accuracy(), line.accuracy) {
            (Some(a), Some(b)) => (a - b).abs() < 1e-9,
            (a, b) => a == b && !cell.finished,
        };
        match same {
            true => Ok(cell),
            false => Err(format!("accuracy = {:?} does not follow from its curve", line.accuracy)),
        }
    }
}

impl Line {
    fn check_ranges(&self) -> Result<(), String> {
        let (rounds, done) = (self.rounds, self.rounds_done);
        let horizons = "a whole number from 5 to 10000000";
        in_range("rounds", &rounds, (5..=10_000_000).contains(&rounds), horizons)?;
        in_range("rounds_done", &done, done <= rounds, &format!("a whole number from 0 to {rounds}"))?;
        in_range("seed", &self.seed, self.seed <= i64::MAX as u64, "a whole number below 2^63")?;
        for (name, value) in [
            ("epsilon", self.epsilon),
            ("noise_multiplier", self.noise_multiplier),
            ("epsilon_proven", self.epsilon_proven),
        ] {
            in_range(name, &value, value > 0.0, "a number above 0")?;
        }
        in_range("seconds", &self.seconds, self.seconds >= 0.0, "a number at least 0")?;
        if self.finished && done != rounds {
            return Err(format!("it is finished after {done} rounds"));
        }
        let shares = self.curve.iter().all(|(round, a)| *round <= rounds && (0.0..=1.0).contains(a));
        match shares && self.curve.windows(2).all(|pair| pair[0].0 < pair[1].0) {
            true => Ok(()),
            false => Err("curve: it must be a list of [round, accuracy] with rounds that go up and accuracies from 0 to 1"
                .to_string()),
        }
    }

    fn law(&self) -> Result<Law, String> {
        if self.setting == Setting::Quick {
            return Ok(Law::default());
        }
        let known = Law::ALL.map(|law| format!("{:?}", law.name())).join(" or ");
        let law = self.start.as_deref().and_then(Law::named);
        law.ok_or_else(|| format!("start = {:?}: it must be {known}", self.start))
    }
}

/// Who holds which classes in a setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Partition {
    pub setting: Setting,
    pub data: String,
    /// Records of each class at each node.
    #[serde(rename = "class_counts")]
    pub counts: Vec<Vec<u64>>,
    #[serde(rename = "class_names")]
    pub names: Vec<String>,
}

impl grid::Entry for Partition {
    const NAME: &'static str = "partition";
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Results {
    format: String,
    /// Cells that were begun, in the order in which they were.
    #[serde(deserialize_with = "grid::numbered")]
    pub cells: Vec<Cell>,
    #[serde(deserialize_with = "grid::numbered")]
    pub partitions: Vec<Partition>,
}

impl Default for Results {
    fn default() -> Self {
        Self {
            format: <Self as grid::Results>::FORMAT.to_string(),
            cells: Vec::new(),
            partitions: Vec::new(),
        }
    }
}

impl grid::Results for Results {
    type Cell = Cell;
    const OF: &'static str = "table-1 results";
    const FORMAT: &'static str = "prdo table-1 results, version 1";

    fn cells(&self) -> &[Cell] {
        &self.cells
    }

    fn cells_mut(&mut self) -> &mut Vec<Cell> {
        &mut self.cells
    }
}

impl Results {
    pub fn set_partition(&mut self, partition: Partition) {
        self.partitions.retain(|old| old.setting != partition.setting);
        self.partitions.push(partition);
    }

    /// The groups of cells that there are, in order of their first cell, after `first`.
    pub fn groups(&self, first: Group) -> Vec<Group> {
        distinct(std::iter::once(first).chain(self.cells.iter().map(|cell| cell.key.group)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Results as _;
    use serde_json::{Value as Json, json};

    fn cell(rounds_done: u32) -> Cell {
        let (noise, start) = (Noise::Accountant, Law::FanIn);
        let group = Group { setting: Setting::Paper, rounds: 500, noise, start };
        let curve = (0..=rounds_done / 10).map(|k| (10 * k, 0.1 + f64::from(k) / 77.0)).collect();
        Cell {
            key: Key { group, method: Method::Ed, epsilon: 8.0, seed: 1 },
            noise_multiplier: 0.7,
            epsilon_proven: 7.99,
            rounds_done,
            finished: rounds_done == 500,
            seconds: 0.1 + 0.2,
            curve,
        }
    }

    fn file(cells: &[Cell]) -> Results {
        let counts = vec![vec![1, 2], vec![3, 4]];
        let partition = Partition {
            setting: Setting::Paper,
            data: "images".into(),
            counts,
            names: vec!["a".into(), "b".into()],
        };
        Results { cells: cells.to_vec(), partitions: vec![partition], ..Results::default() }
    }

    fn json_of(results: &Results) -> Json {
        serde_json::from_str(&results.to_text().unwrap()).unwrap()
    }

    fn read(json: &Json) -> Result<Results, String> {
        Results::parse(json.to_string().as_bytes())
    }

    #[test]
    fn what_is_written_is_read_back_to_the_bit() {
        for done in [0, 40, 500] {
            let results = file(&[cell(done)]);
            assert_eq!(read(&json_of(&results)).unwrap(), results);
        }
        let mut glorot = cell(40);
        glorot.key.group.start = Law::Glorot;
        let both = file(&[cell(40), glorot]);
        assert_eq!(read(&json_of(&both)).unwrap(), both);
        let mut older = json_of(&both);
        older.pointer_mut("/cells/0").unwrap().as_object_mut().unwrap().remove("start").unwrap();
        assert_eq!(read(&older).unwrap(), both, "cells from before there was a choice");
        let empty = Results::default();
        assert_eq!(read(&json_of(&empty)).unwrap(), empty);
    }

    #[test]
    fn a_finished_cell_is_the_mean_of_its_rounds_and_is_never_replaced() {
        let whole = cell(500);
        let expected = (46..=50).map(|k| 0.1 + f64::from(k) / 77.0).sum::<f64>() / 5.0;
        assert!((whole.accuracy().unwrap() - expected).abs() < 1e-15);
        let mut results = file(&[cell(40)]);
        results.put(whole.clone());
        results.put(cell(60));
        assert_eq!(results.cells, [whole]);
    }

    #[test]
    fn every_change_that_makes_no_sense_is_refused() {
        let good = json_of(&file(&[cell(500)]));
        let wrong: [(&str, Json, &str); 14] = [
            ("/format", json!("other"), "format"),
            ("/cells", json!(3), "expected a sequence"),
            ("/partitions/0/class_counts", json!([["x"]]), "partition 1"),
            ("/cells/0/method", json!("adam"), "adam"),
            ("/cells/0/epsilon", json!(-1.0), "epsilon = -1.0"),
            ("/cells/0/rounds", json!(2), "rounds = 2"),
            ("/cells/0/rounds_done", json!(499), "finished after 499"),
            ("/cells/0/rounds_done", json!(501), "rounds_done = 501"),
            ("/cells/0/finished", json!("yes"), "expected a boolean"),
            ("/cells/0/seconds", json!(null), "expected f64"),
            ("/cells/0/noise", json!("none"), "expected `accountant` or `paper`"),
            ("/cells/0/accuracy", json!(0.9), "does not follow"),
            ("/cells/0/accuracy", json!(null), "does not follow"),
            ("/cells/0/curve/3", json!([5, 0.2]), "go up"),
        ];
        for (place, value, word) in wrong {
            let mut bad = good.clone();
            *bad.pointer_mut(place).unwrap() = value;
            let error = read(&bad).unwrap_err();
            assert!(error.contains(word), "{place}: {error}");
        }
        let mut unknown = good.clone();
        unknown.pointer_mut("/cells/0").unwrap().as_object_mut().unwrap().insert("extra".into(), json!(1));
        assert!(read(&unknown).unwrap_err().contains("extra"));
        let twice = json_of(&file(&[cell(500), cell(40)]));
        assert!(read(&twice).unwrap_err().contains("twice"));
    }

    #[test]
    fn the_published_results_are_read_and_written_back_unchanged() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/results/table-1");
        let results = Results::read(std::path::Path::new(folder)).unwrap();
        assert!(!results.cells.is_empty());
        let text = std::fs::read_to_string(format!("{folder}/results.json")).unwrap();
        assert!(results.to_text().unwrap() == text, "what is written is not what was read");
    }
}
