//! `results.json`: every run that is finished. Tables, figures and the report are made from this file alone, so that it can
//! be carried elsewhere and gone on with.

use super::super::fields::{Fields, read};
use super::setting::{Data, Key, Map};
use crate::commands::Failure;
use clap::ValueEnum;
use serde_json::{Value as Json, json};
use std::path::Path;

/// The file's name.
pub const FILE: &str = "results.json";
const FORMAT: &str = "prdo frontier results, version 1";

/// A run that is finished.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Which one.
    pub key: Key,
    /// The name of its folder, which names its settings.
    pub folder: String,
    /// Its settings and what came out.
    pub figures: Figures,
}

/// Figures of a finished run: of its model and of what it took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// Test accuracy of the average model, a share.
    pub accuracy: f64,
    /// That of the worst node's own model.
    pub lowest_node_accuracy: f64,
    /// The average model's on the validation records.
    pub validation_accuracy: f64,
    /// z.
    pub noise_multiplier: f64,
    /// The ε that was proven.
    pub epsilon_proven: f64,
    /// Share of a node's records drawn in a round.
    pub rate: f64,
    /// T.
    pub rounds: f64,
    /// C_g.
    pub clip: f64,
    /// α.
    pub step_size: f64,
    /// Parameters of the model.
    pub parameters: f64,
    /// Seconds of training.
    pub seconds: f64,
    /// Bytes sent by all nodes.
    pub bytes_sent: f64,
}

/// Their names in files, and where they are.
type Figure = (&'static str, fn(&mut Figures) -> &mut f64);
const FIGURES: [Figure; 12] = [
    ("accuracy", |f| &mut f.accuracy),
    ("lowest_node_accuracy", |f| &mut f.lowest_node_accuracy),
    ("validation_accuracy", |f| &mut f.validation_accuracy),
    ("noise_multiplier", |f| &mut f.noise_multiplier),
    ("epsilon_proven", |f| &mut f.epsilon_proven),
    ("rate", |f| &mut f.rate),
    ("rounds", |f| &mut f.rounds),
    ("clip", |f| &mut f.clip),
    ("step_size", |f| &mut f.step_size),
    ("parameters", |f| &mut f.parameters),
    ("seconds", |f| &mut f.seconds),
    ("bytes_sent", |f| &mut f.bytes_sent),
];

impl Figures {
    const NONE: Self = Self {
        accuracy: 0.0,
        lowest_node_accuracy: 0.0,
        validation_accuracy: 0.0,
        noise_multiplier: 0.0,
        epsilon_proven: 0.0,
        rate: 0.0,
        rounds: 0.0,
        clip: 0.0,
        step_size: 0.0,
        parameters: 0.0,
        seconds: 0.0,
        bytes_sent: 0.0,
    };

    /// Names and values, in the order of files.
    pub fn named(mut self) -> Vec<(&'static str, f64)> {
        FIGURES.iter().map(|(name, at)| (*name, *at(&mut self))).collect()
    }
}

impl Cell {
    /// What a finished run's summary says.
    pub fn of(key: &Key, summary: &Json) -> Result<Self, Failure> {
        let missing = |what: &str| Failure::Work(format!("{}: its summary has no {what}", key.folder()));
        let number = |what: &str| summary[what].as_f64().ok_or_else(|| missing(what));
        let chosen = key.chosen().ok_or_else(|| missing("settings"))?;
        let least =
            summary["records_per_node"]["least"].as_f64().ok_or_else(|| missing("records_per_node"))?;
        let figures = Figures {
            accuracy: number("test_accuracy")?,
            lowest_node_accuracy: number("lowest_node_accuracy")?,
            validation_accuracy: number("validation_accuracy")?,
            noise_multiplier: number("noise_multiplier")?,
            epsilon_proven: number("epsilon")?,
            rate: f64::from(chosen.numbers.batch) / least.max(1.0),
            rounds: f64::from(chosen.rounds),
            clip: chosen.numbers.clip_gradient,
            step_size: chosen.numbers.step_size,
            parameters: number("parameters")?,
            seconds: number("seconds")?,
            bytes_sent: number("bytes_sent")?,
        };
        Ok(Self { key: *key, folder: key.folder(), figures })
    }

    fn to_json(&self) -> Json {
        let Key { data, map, method, epsilon, seed } = self.key;
        let mut json = json!({
            "data": data.to_string(), "features": map.to_string(), "method": method.to_string(),
            "epsilon": epsilon, "seed": seed, "folder": self.folder,
        });
        for (name, value) in self.figures.named() {
            json[name] = value.into();
        }
        json
    }

    fn from_json(json: &Json) -> Result<Self, String> {
        let mut known = vec!["data", "features", "method", "epsilon", "seed", "folder"];
        known.extend(FIGURES.iter().map(|(name, _)| *name));
        let fields = Fields::of(json, &known)?;
        let key = Key {
            data: Data::from_str(fields.text("data")?, false)?,
            map: Map::from_str(fields.text("features")?, false)?,
            method: fields.text("method")?.parse()?,
            epsilon: fields.positive("epsilon")?,
            seed: fields.whole("seed", 0, i64::MAX as u64)?,
        };
        let mut figures = Figures::NONE;
        for (name, at) in FIGURES {
            *at(&mut figures) = match name.ends_with("accuracy") {
                true => fields.number(name, |x| (0.0..=1.0).contains(&x), "from 0 to 1")?,
                false => fields.number(name, |x| x >= 0.0, "of at least 0")?,
            };
        }
        Ok(Self { key, folder: fields.text("folder")?.to_string(), figures })
    }
}

/// Everything that is finished.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    /// The runs, in the order in which they ended.
    pub cells: Vec<Cell>,
}

impl Results {
    /// Reads the file of a folder; nothing where there is none yet.
    pub fn read(folder: &Path) -> Result<Self, Failure> {
        read(&folder.join(FILE), Self::from_json)
    }

    fn from_json(json: &Json) -> Result<Self, String> {
        let fields = Fields::of(json, &["format", "runs"])?;
        if fields.text("format") != Ok(FORMAT) {
            return Err(format!("it is not a file of frontier results (\"format\" is not {FORMAT:?})"));
        }
        let mut results = Self::default();
        for (k, cell) in json["runs"].as_array().ok_or("runs is not a list")?.iter().enumerate() {
            let cell = Cell::from_json(cell).map_err(|e| format!("it is damaged: run {}: {e}", k + 1))?;
            if results.cells.iter().any(|old| old.key == cell.key) {
                return Err(format!("it is damaged: run {} is there twice", k + 1));
            }
            results.cells.push(cell);
        }
        Ok(results)
    }

    /// The file's text: JSON with a line for each run, so that a new one is one new line.
    pub fn to_text(&self) -> String {
        let runs: Vec<String> = self.cells.iter().map(|cell| format!("\n    {}", cell.to_json())).collect();
        format!("{{\n  \"format\": {},\n  \"runs\": [{}\n  ]\n}}\n", json!(FORMAT), runs.join(","))
    }

    /// A finished run with the settings that are chosen now.
    pub fn find(&self, key: &Key) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.key == *key && cell.folder == key.folder())
    }

    /// Puts a run in its place; one with former settings gives way.
    pub fn put(&mut self, cell: Cell) {
        match self.cells.iter_mut().find(|old| old.key == cell.key) {
            Some(old) => *old = cell,
            None => self.cells.push(cell),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
pub(super) mod tests {
    use super::*;
    use prdo::algorithm::Method;

    /// A finished run of the digits with this accuracy.
    pub fn cell(method: Method, epsilon: f64, seed: u64, accuracy: f64) -> Cell {
        let key = Key { data: Data::Digits, map: Map::Scattering, method, epsilon, seed };
        let figures =
            Figures { accuracy, noise_multiplier: 1.5, seconds: 2.0, bytes_sent: 1e6, ..Figures::NONE };
        Cell { key, folder: key.folder(), figures }
    }

    #[test]
    fn results_are_read_back_as_they_were_written_and_damage_is_named() {
        let mut results = Results::default();
        results.put(cell(Method::Edm, 1.0, 1, 0.71));
        results.put(cell(Method::Edm, 1.0, 2, 0.73));
        results.put(cell(Method::Edm, 1.0, 1, 0.72));
        assert_eq!(results.cells.len(), 2);
        let text = results.to_text();
        let read = |text: &str| Results::from_json(&serde_json::from_str(text).unwrap());
        assert_eq!(read(&text).unwrap(), results);
        for (from, to, words) in [
            ("0.72", "1.72", "run 1: accuracy = 1.72: it must be a number from 0 to 1"),
            ("\"seed\":2", "\"seed\":1", "run 2 is there twice"),
            ("\"digits\"", "\"dogs\"", "run 1"),
            ("\"clip\"", "\"clap\"", "there is no entry \"clap\""),
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
        assert!(results.find(&old.key).is_none());
        results.put(old.clone());
        assert!(results.find(&old.key).is_some());
        old.folder += "0";
        results.put(old.clone());
        assert!(results.find(&old.key).is_none());
    }
}
