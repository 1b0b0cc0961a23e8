//! What a run of the frontier is: ten nodes on the paper's lazy ring, Dirichlet(0.1), softmax regression on features, with
//! the settings that were chosen for it.

use crate::grid;
use crate::images::Data;
use crate::numbers::Numbers;
use prdo::algorithm::Method;
use prdo::runfile::Value;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::Path;

/// δ of every run.
pub const DELTA: f64 = 1e-5;
/// A line for each data set, map, method and budget: what was best on validation records. docs/results/frontier.md says
/// how they were looked for.
const CHOSEN: &str = include_str!("settings.csv");

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Map {
    /// The wavelet scattering alone.
    #[serde(rename = "scattering")]
    Scattering,
    /// With filters beside it.
    #[serde(rename = "scattering+patches")]
    Patches,
}

impl Map {
    pub const ALL: [Self; 2] = [Self::Scattering, Self::Patches];

    /// The name in results, in run files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scattering => "scattering",
            Self::Patches => "scattering+patches",
        }
    }
}

impl fmt::Display for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Key {
    pub data: Data,
    #[serde(rename = "features")]
    pub map: Map,
    #[serde(with = "grid::as_text")]
    pub method: Method,
    pub epsilon: f64,
    /// Seed of partition, batches and noise.
    pub seed: u64,
}

/// Settings that were chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chosen {
    pub rounds: u32,
    pub numbers: Numbers,
    /// The budget they were chosen for.
    pub epsilon: f64,
    pub tried: u32,
}

impl Key {
    /// The settings that were chosen for the budget nearest to this one.
    pub fn chosen(&self) -> Option<Chosen> {
        let distance = |chosen: &Chosen| (chosen.epsilon / self.epsilon).ln().abs();
        CHOSEN
            .lines()
            .filter_map(line)
            .filter(|(data, map, method, _)| (*data, *map, *method) == (self.data, self.map, self.method))
            .map(|(.., chosen)| chosen)
            .min_by(|a, b| distance(a).total_cmp(&distance(b)))
    }

    fn name(&self) -> String {
        format!("{}-{}-{}-eps{}-seed{}", self.data, self.map, self.method, self.epsilon, self.seed)
    }

    /// The run file, with its images in the folder `images`: the one place of this experiment that names keys of run
    /// files, besides [`Numbers::method`]. The same seed has the same partition and batches for every method.
    pub fn run_file(&self, images: &Path) -> String {
        let Some(Chosen { rounds, numbers, .. }) = self.chosen() else { return String::new() };
        let (data, small_map, nodes, concentration) = match self.data {
            Data::Digits => {
                let data = "source = \"digits\"\nvalidation = 97\n".to_string();
                (data, "scales = 1\nangles = 4\n", 4, 0.5)
            }
            Data::Cifar10 | Data::FashionMnist | Data::Mnist => {
                let path = Value::Text(images.display().to_string());
                (format!("source = \"file\"\npath = {path}\nvalidation = 5000\n"), "", 10, 0.1)
            }
        };
        format!(
            "name = \"{}\"\nrounds = {rounds}\nseed = {seed}\n\n\
             [graph]\nkind = \"ring\"\nnodes = {nodes}\nweights = \"paper\"\n\n[data]\n{data}\n\
             [partition]\nkind = \"dirichlet\"\nconcentration = {concentration}\nseed = {seed}\n\n\
             [features]\nmap = \"{}\"\n{small_map}\n[model]\nkind = \"softmax\"\n\n{}\n\
             [privacy]\nepsilon = {:?}\ndelta = {DELTA:e}\n\n[metrics]\nevery = {}\nrecords = {}\n",
            self.name(),
            self.map,
            numbers.method(self.method),
            self.epsilon,
            (rounds / 5).max(1),
            numbers.measured_records,
            seed = self.seed,
        )
    }
}

impl grid::Key for Key {
    /// Other settings are another folder.
    fn folder(&self) -> String {
        let hash = blake3::hash(self.run_file(Path::new("")).as_bytes()).to_hex();
        format!("{}-{}", self.name(), &hash[..8])
    }

    fn title(&self) -> String {
        format!(
            "{}, {}, {}, ε = {}, seed {}",
            self.data.title(),
            self.map,
            self.method,
            self.epsilon,
            self.seed
        )
    }
}

/// A line of the chosen settings; nothing for its head.
fn line(text: &str) -> Option<(Data, Map, Method, Chosen)> {
    let cells: Vec<&str> = text.split(',').map(str::trim).collect();
    let [data, map, method, epsilon, rounds, batch, step, beta, gamma, gradient, difference, tried] =
        cells[..]
    else {
        return None;
    };
    let number = |text: &str| if text.is_empty() { Some(0.0) } else { text.parse::<f64>().ok() };
    let numbers = Numbers {
        step_size: number(step)?,
        gamma: number(gamma)?,
        beta: number(beta)?,
        batch: batch.parse().ok()?,
        clip_gradient: number(gradient)?,
        clip_difference: number(difference)?,
        measured_records: 100,
    };
    let chosen = Chosen {
        rounds: rounds.parse().ok()?,
        numbers,
        epsilon: number(epsilon)?,
        tried: tried.parse().ok()?,
    };
    let data = Data::ALL.into_iter().find(|one| one.name() == data)?;
    let map = Map::ALL.into_iter().find(|one| one.name() == map)?;
    Some((data, map, method.parse().ok()?, chosen))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Key as _;
    use prdo::runfile::Document;

    #[test]
    fn every_line_of_the_settings_is_read_and_no_combination_is_missing() {
        assert_eq!(CHOSEN.lines().skip(1).filter(|text| line(text).is_none()).count(), 0);
        for data in Data::ALL {
            let maps: &[Map] = if data == Data::Digits { &[Map::Scattering] } else { &Map::ALL };
            for map in maps {
                for method in Method::PAPER {
                    let key = Key { data, map: *map, method: *method, epsilon: 3.9, seed: 2 };
                    let chosen = key.chosen().unwrap();
                    assert!(chosen.rounds > 0 && chosen.numbers.step_size > 0.0 && chosen.tried > 0);
                    let document = Document::parse("run", &key.run_file(Path::new("a \"b\""))).unwrap();
                    let run = document.run_file();
                    assert_eq!(run.privacy.unwrap().epsilon, Some(3.9));
                    assert_eq!(run.partition.seed, 2);
                }
            }
        }
    }

    #[test]
    fn the_nearest_budgets_settings_are_taken_and_other_settings_are_another_folder() {
        let key =
            |epsilon| Key { data: Data::Digits, map: Map::Scattering, method: Method::Edm, epsilon, seed: 1 };
        assert_eq!(key(0.1).chosen().unwrap().epsilon, 1.0);
        assert_eq!(key(100.0).chosen().unwrap().epsilon, 8.0);
        let (a, b) = (key(1.0).folder(), key(8.0).folder());
        assert!(a.starts_with("digits-scattering-edm-eps1-seed1-") && a.len() == b.len(), "{a}");
        assert_ne!(a[a.len() - 8..], b[b.len() - 8..]);
    }
}
