//! `results.json`: every cell that was begun, written cell by cell, and read back with suspicion. The table, the
//! figures and the report are made from this file alone, so that it can be carried elsewhere and gone on with.

use super::super::fields::{Fields, read};
use super::setting::{DELTA, Group, Key, Setting, noise_name, paper_accuracy};
use crate::cli::TableNoise;
use crate::commands::Failure;
use prdo::network::Law;
use serde_json::{Value as Json, json};
use std::path::Path;

/// The file's name.
pub const FILE: &str = "results.json";
/// Its first entry.
const FORMAT: &str = "prdo table-1 results, version 1";
/// The keys of a cell; the last few are for readers and follow from the others.
const CELL_KEYS: [&str; 18] = [
    "method",
    "epsilon",
    "accuracy",
    "rounds_done",
    "noise_multiplier",
    "rounds",
    "seed",
    "finished",
    "seconds",
    "setting",
    "noise",
    "start",
    "epsilon_proven",
    "curve",
    "delta",
    "averaged_rounds",
    "paper_accuracy",
    "note",
];

/// What is known of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Which one.
    pub key: Key,
    /// z.
    pub noise_multiplier: f64,
    /// ε that was proven for z and all rounds: at most the budget, except where z is the paper's.
    pub epsilon_proven: f64,
    /// Rounds done at the last checkpoint.
    pub rounds_done: u32,
    /// Whether all rounds are done and the model is written.
    pub finished: bool,
    /// How long it trained.
    pub seconds: f64,
    /// Round and test accuracy (a share) of every measurement.
    pub curve: Vec<(u32, f64)>,
}

impl Cell {
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

    /// As it stands in the file.
    pub fn to_json(&self) -> Json {
        let Key { group, method, epsilon, seed } = self.key;
        json!({
            "method": method.card().name,
            "epsilon": epsilon,
            "accuracy": self.accuracy(),
            "rounds_done": self.rounds_done,
            "noise_multiplier": self.noise_multiplier,
            "rounds": group.rounds,
            "seed": seed,
            "finished": self.finished,
            "seconds": self.seconds,
            "setting": group.setting.name(),
            "noise": noise_name(group.noise),
            "start": group.start_name(),
            "epsilon_proven": self.epsilon_proven,
            "delta": DELTA,
            "averaged_rounds": group.averaged(),
            "paper_accuracy": group.is_the_papers().then(|| paper_accuracy(method, epsilon)).flatten().map(|a| a / 100.0),
            "note": group.note(),
            "curve": self.curve,
        })
    }

    fn from_json(json: &Json) -> Result<Self, String> {
        let fields = Fields::of(json, &CELL_KEYS)?;
        let rounds = fields.whole("rounds", 5, 10_000_000)? as u32;
        let noise = match fields.text("noise")? {
            "accountant" => TableNoise::Accountant,
            "paper" => TableNoise::Paper,
            other => return Err(format!("noise = {other:?}: it must be \"accountant\" or \"paper\"")),
        };
        let setting = fields.text("setting")?;
        let setting = Setting::named(setting)
            .ok_or_else(|| format!("setting = {setting:?}: it must be \"paper\" or \"quick\""))?;
        let start = match (setting, json.get("start").is_some()) {
            (Setting::Quick, _) => Law::default(),
            (Setting::Paper, true) => {
                let name = fields.text("start")?;
                let known = Law::ALL.map(|law| format!("{:?}", law.name())).join(" or ");
                Law::named(name).ok_or_else(|| format!("start = {name:?}: it must be {known}"))?
            }
            // Of before there was a choice.
            (Setting::Paper, false) => Law::FanIn,
        };
        let key = Key {
            group: Group { setting, rounds, noise, start },
            method: fields.text("method")?.parse()?,
            epsilon: fields.positive("epsilon")?,
            seed: fields.whole("seed", 0, i64::MAX as u64)?,
        };
        let cell = Self {
            key,
            noise_multiplier: fields.positive("noise_multiplier")?,
            epsilon_proven: fields.positive("epsilon_proven")?,
            rounds_done: fields.whole("rounds_done", 0, u64::from(rounds))? as u32,
            finished: fields.flag("finished")?,
            seconds: fields.number("seconds", |s| s >= 0.0, "at least 0")?,
            curve: curve(fields.get("curve")?, rounds)?,
        };
        cell.check(json["accuracy"].as_f64())
    }

    /// Refuses what does not fit together.
    fn check(self, written: Option<f64>) -> Result<Self, String> {
        if self.finished && self.rounds_done != self.key.group.rounds {
            return Err(format!("it is finished after {} rounds", self.rounds_done));
        }
        let same = match (self.accuracy(), written) {
            (Some(a), Some(b)) => (a - b).abs() < 1e-9,
            (a, b) => a == b && !self.finished,
        };
        if !same {
            return Err(format!("accuracy = {written:?} does not follow from its curve"));
        }
        Ok(self)
    }
}

/// Rounds that go up, each with a share.
fn curve(json: &Json, rounds: u32) -> Result<Vec<(u32, f64)>, String> {
    let point = |point: &Json| -> Option<(u32, f64)> {
        let [round, accuracy] = &point.as_array()?[..] else { return None };
        let round = u32::try_from(round.as_u64()?).ok().filter(|r| *r <= rounds)?;
        Some((round, accuracy.as_f64().filter(|a| (0.0..=1.0).contains(a))?))
    };
    let wrong =
        "curve: it must be a list of [round, accuracy] with rounds that go up and accuracies from 0 to 1";
    let points = json.as_array().and_then(|list| list.iter().map(point).collect::<Option<Vec<_>>>());
    points.filter(|points| points.windows(2).all(|p| p[0].0 < p[1].0)).ok_or_else(|| wrong.to_string())
}

/// Who holds which classes in a setting.
#[derive(Clone, Debug, PartialEq)]
pub struct Deal {
    /// Which setting.
    pub setting: Setting,
    /// What the data is, in words.
    pub data: String,
    /// Records of each class at each node.
    pub counts: Vec<Vec<u64>>,
    /// The classes' names, where they have any.
    pub names: Vec<String>,
}

impl Deal {
    fn to_json(&self) -> Json {
        json!({"setting": self.setting.name(), "data": self.data, "class_counts": self.counts, "class_names": self.names})
    }

    fn from_json(json: &Json) -> Option<Self> {
        let row = |row: &Json| row.as_array()?.iter().map(Json::as_u64).collect::<Option<Vec<u64>>>();
        let known = ["setting", "data", "class_counts", "class_names"];
        json.as_object().filter(|fields| fields.keys().all(|key| known.contains(&key.as_str())))?;
        Some(Self {
            setting: Setting::named(json["setting"].as_str()?)?,
            data: json["data"].as_str()?.to_string(),
            counts: json["class_counts"].as_array()?.iter().map(row).collect::<Option<_>>()?,
            names: json["class_names"]
                .as_array()?
                .iter()
                .map(|name| name.as_str().map(String::from))
                .collect::<Option<_>>()?,
        })
    }
}

/// Everything that is known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    /// Cells that were begun, in the order in which they were.
    pub cells: Vec<Cell>,
    /// Who holds what.
    pub deals: Vec<Deal>,
}

impl Results {
    /// Reads the file of a folder; nothing where there is none yet.
    pub fn read(folder: &Path) -> Result<Self, Failure> {
        read(&folder.join(FILE), Self::from_json)
    }

    fn from_json(json: &Json) -> Result<Self, String> {
        let known = ["format", "cells", "partitions"];
        let fields = json.as_object().ok_or("it is not a file of table-1 results")?;
        if fields.get("format").and_then(Json::as_str) != Some(FORMAT) {
            return Err(format!("it is not a file of table-1 results (\"format\" is not {FORMAT:?})"));
        }
        if let Some(unknown) = fields.keys().find(|key| !known.contains(&key.as_str())) {
            return Err(format!("it is damaged: there is no entry {unknown:?}"));
        }
        let list =
            |key: &str| json[key].as_array().ok_or_else(|| format!("it is damaged: {key} is not a list"));
        let mut results = Self::default();
        for (k, cell) in list("cells")?.iter().enumerate() {
            let cell = Cell::from_json(cell).map_err(|e| format!("it is damaged: cell {}: {e}", k + 1))?;
            if results.find(&cell.key).is_some() {
                return Err(format!("it is damaged: cell {} is there twice", k + 1));
            }
            results.cells.push(cell);
        }
        for (k, deal) in list("partitions")?.iter().enumerate() {
            let deal = Deal::from_json(deal).ok_or_else(|| format!("it is damaged: partition {}", k + 1))?;
            results.deals.push(deal);
        }
        Ok(results)
    }

    /// The file's text: JSON with a line for each cell, so that a new one is one new line.
    pub fn to_text(&self) -> String {
        let lines =
            |list: Vec<Json>| list.iter().map(|one| format!("\n    {one}")).collect::<Vec<_>>().join(",");
        let cells = lines(self.cells.iter().map(Cell::to_json).collect());
        let deals = lines(self.deals.iter().map(Deal::to_json).collect());
        let format = json!(FORMAT);
        format!(
            "{{\n  \"format\": {format},\n  \"cells\": [{cells}\n  ],\n  \"partitions\": [{deals}\n  ]\n}}\n"
        )
    }

    /// What is known of a cell.
    pub fn find(&self, key: &Key) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.key == *key)
    }

    /// Whether a cell needs no more work.
    pub fn is_finished(&self, key: &Key) -> bool {
        self.find(key).is_some_and(|cell| cell.finished)
    }

    /// Puts a cell in its place. One that is finished stays as it is.
    pub fn put(&mut self, cell: Cell) {
        match self.cells.iter_mut().find(|old| old.key == cell.key) {
            Some(old) if old.finished => {}
            Some(old) => *old = cell,
            None => self.cells.push(cell),
        }
    }

    /// Keeps who holds what.
    pub fn keep_deal(&mut self, deal: Deal) {
        self.deals.retain(|old| old.setting != deal.setting);
        self.deals.push(deal);
    }

    /// The groups of cells that there are, in order of their first cell, after `first`.
    pub fn groups(&self, first: Group) -> Vec<Group> {
        let mut groups = vec![first];
        for cell in &self.cells {
            if !groups.contains(&cell.key.group) {
                groups.push(cell.key.group);
            }
        }
        groups
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use prdo::algorithm::Method;

    fn cell(rounds_done: u32) -> Cell {
        let (noise, start) = (TableNoise::Accountant, Law::FanIn);
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
        let deal = Deal {
            setting: Setting::Paper,
            data: "images".into(),
            counts,
            names: vec!["a".into(), "b".into()],
        };
        Results { cells: cells.to_vec(), deals: vec![deal] }
    }

    fn json_of(results: &Results) -> Json {
        serde_json::from_str(&results.to_text()).unwrap()
    }

    #[test]
    fn what_is_written_is_read_back_to_the_bit() {
        for done in [0, 40, 500] {
            let results = file(&[cell(done)]);
            assert_eq!(Results::from_json(&json_of(&results)).unwrap(), results);
        }
        let mut glorot = cell(40);
        glorot.key.group.start = Law::Glorot;
        let both = file(&[cell(40), glorot]);
        assert_eq!(Results::from_json(&json_of(&both)).unwrap(), both);
        let mut older = json_of(&both);
        older["cells"][0].as_object_mut().unwrap().remove("start").unwrap();
        assert_eq!(Results::from_json(&older).unwrap(), both, "cells from before there was a choice");
        let empty = Results::default();
        assert_eq!(Results::from_json(&json_of(&empty)).unwrap(), empty);
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
            ("/cells", json!(3), "cells is not a list"),
            ("/partitions/0/class_counts", json!([["x"]]), "partition 1"),
            ("/cells/0/method", json!("adam"), "adam"),
            ("/cells/0/epsilon", json!(-1.0), "epsilon = -1.0"),
            ("/cells/0/rounds", json!(2), "rounds = 2"),
            ("/cells/0/rounds_done", json!(499), "finished after 499"),
            ("/cells/0/rounds_done", json!(501), "rounds_done = 501"),
            ("/cells/0/finished", json!("yes"), "finished"),
            ("/cells/0/seconds", json!(null), "seconds"),
            ("/cells/0/noise", json!("none"), "noise"),
            ("/cells/0/accuracy", json!(0.9), "does not follow"),
            ("/cells/0/accuracy", json!(null), "does not follow"),
            ("/cells/0/curve/3", json!([5, 0.2]), "go up"),
        ];
        for (place, value, word) in wrong {
            let mut bad = good.clone();
            *bad.pointer_mut(place).unwrap() = value;
            let error = Results::from_json(&bad).unwrap_err();
            assert!(error.contains(word), "{place}: {error}");
        }
        let mut unknown = good.clone();
        unknown["cells"][0]["extra"] = json!(1);
        assert!(Results::from_json(&unknown).unwrap_err().contains("extra"));
        let twice = json_of(&file(&[cell(500), cell(40)]));
        assert!(Results::from_json(&twice).unwrap_err().contains("twice"));
    }
}
