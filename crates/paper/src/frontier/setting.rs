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
    /// The same with a third scale.
    #[serde(rename = "three-scales+patches")]
    ThreeScales,
    /// And with three times as many filters.
    #[serde(rename = "three-scales+600-patches")]
    ManyFilters,
}

impl Map {
    pub const ALL: [Self; 4] = [Self::Scattering, Self::Patches, Self::ThreeScales, Self::ManyFilters];
    /// What is run where nothing else is asked for.
    pub const USUAL: [Self; 2] = [Self::Scattering, Self::Patches];

    /// The name in results, in run files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scattering => "scattering",
            Self::Patches => "scattering+patches",
            Self::ThreeScales => "three-scales+patches",
            Self::ManyFilters => "three-scales+600-patches",
        }
    }

    /// The keys of `[features]`.
    fn keys(self) -> &'static str {
        match self {
            Self::Scattering => "map = \"scattering\"\n",
            Self::Patches => "map = \"scattering+patches\"\n",
            Self::ThreeScales => "map = \"scattering+patches\"\nscales = 3\n",
            Self::ManyFilters => "map = \"scattering+patches\"\nscales = 3\nfilters = 600\n",
        }
    }
}

/// Whose noise it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Noise {
    /// Every node's own.
    #[default]
    Independent,
    /// In pairs, against outsiders and any one node.
    Pairs,
}

/// Exchanges per round, and after the last one, of noise in pairs.
const PAIRS_EXCHANGES: (u32, u32) = (3, 8);

impl Noise {
    pub const ALL: [Self; 2] = [Self::Independent, Self::Pairs];

    /// The name in results, in settings and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Independent => "independent",
            Self::Pairs => "pairs",
        }
    }

    pub fn is_independent(&self) -> bool {
        *self == Self::Independent
    }

    /// Exchanges per round, and after the last one.
    fn exchanges(self) -> (u32, u32) {
        match self {
            Self::Independent => (1, 0),
            Self::Pairs => PAIRS_EXCHANGES,
        }
    }
}

impl fmt::Display for Noise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
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
    #[serde(default, skip_serializing_if = "Noise::is_independent")]
    pub noise: Noise,
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
            .filter(|(data, map, method, noise, _)| {
                (*data, *map, *method, *noise) == (self.data, self.map, self.method, self.noise)
            })
            .map(|(.., chosen)| chosen)
            .min_by(|a, b| distance(a).total_cmp(&distance(b)))
    }

    fn name(&self) -> String {
        let noise = if self.noise.is_independent() { String::new() } else { format!("-{}", self.noise) };
        format!("{}-{}-{}{noise}-eps{}-seed{}", self.data, self.map, self.method, self.epsilon, self.seed)
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
        let noise = if self.noise.is_independent() { "" } else { "noise = \"pairs\"\n" };
        format!(
            "name = \"{}\"\nrounds = {rounds}\nseed = {seed}\n\n\
             [graph]\nkind = \"ring\"\nnodes = {nodes}\nweights = \"paper\"\n\n[data]\n{data}\n\
             [partition]\nkind = \"dirichlet\"\nconcentration = {concentration}\nseed = {seed}\n\n\
             [features]\n{}{small_map}\n[model]\nkind = \"softmax\"\n\n{}\n\
             [privacy]\nepsilon = {:?}\ndelta = {DELTA:e}\n{noise}\n[metrics]\nevery = {}\nrecords = {}\n",
            self.name(),
            self.map.keys(),
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
        let noise = if self.noise.is_independent() { "" } else { ", noise in pairs" };
        format!(
            "{}, {}, {}{noise}, ε = {}, seed {}",
            self.data.title(),
            self.map,
            self.method,
            self.epsilon,
            self.seed
        )
    }
}

/// A line of the chosen settings; nothing for its head.
fn line(text: &str) -> Option<(Data, Map, Method, Noise, Chosen)> {
    let cells: Vec<&str> = text.split(',').map(str::trim).collect();
    let [data, map, method, epsilon, rounds, batch, step, beta, gamma, gradient, difference, tried, noise] =
        cells[..]
    else {
        return None;
    };
    let number = |text: &str| if text.is_empty() { Some(0.0) } else { text.parse::<f64>().ok() };
    let noise = Noise::ALL.into_iter().find(|one| one.name() == noise)?;
    let (exchanges, final_mixings) = noise.exchanges();
    let numbers = Numbers {
        exchanges,
        final_mixings,
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
    Some((data, map, method.parse().ok()?, noise, chosen))
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
            let maps: &[Map] = if data == Data::Digits { &[Map::Scattering] } else { &Map::USUAL };
            for map in maps {
                for method in Method::PAPER {
                    let noise = Noise::Independent;
                    let key = Key { data, map: *map, method: *method, noise, epsilon: 3.9, seed: 2 };
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
        let noise = Noise::Independent;
        let (data, map, method) = (Data::Digits, Map::Scattering, Method::Edm);
        let key = |epsilon| Key { data, map, method, noise, epsilon, seed: 1 };
        assert_eq!(key(0.1).chosen().unwrap().epsilon, 1.0);
        assert_eq!(key(100.0).chosen().unwrap().epsilon, 8.0);
        let (a, b) = (key(1.0).folder(), key(8.0).folder());
        assert!(a.starts_with("digits-scattering-edm-eps1-seed1-") && a.len() == b.len(), "{a}");
        assert_ne!(a[a.len() - 8..], b[b.len() - 8..]);
    }
}
