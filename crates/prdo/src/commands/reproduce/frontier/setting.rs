//! What a run of the frontier is: ten nodes on the paper's lazy ring, Dirichlet(0.1), softmax regression on features, with
//! the settings that were chosen for it.

use super::super::numbers::Numbers;
pub use crate::cli::frontier::{Data, Map};
use clap::ValueEnum;
use prdo::algorithm::Method;
use prdo::config::Value;
use std::fmt;
use std::path::Path;

/// δ of every run.
pub const DELTA: f64 = 1e-5;
/// A line for each data set, map, method and budget: what was best on validation records. docs/results/frontier.md says
/// how they were looked for.
const CHOSEN: &str = include_str!("settings.csv");

impl Data {
    /// Those of the frontier.
    pub const REAL: [Self; 3] = [Self::Cifar10, Self::FashionMnist, Self::Mnist];

    /// What people call it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Cifar10 => "CIFAR-10",
            Self::FashionMnist => "Fashion-MNIST",
            Self::Mnist => "MNIST",
            Self::Digits => "the bundled digits",
        }
    }

    /// Its folder as `prdo data get` names it, and a file in it; nothing for what is bundled.
    pub fn place(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Cifar10 => Some(("cifar-10-batches-bin", "data_batch_1.bin")),
            Self::FashionMnist => Some(("fashion-mnist", "train-images-idx3-ubyte")),
            Self::Mnist => Some(("mnist", "train-images-idx3-ubyte")),
            Self::Digits => None,
        }
    }

    /// What else its map needs to be told.
    fn map_section(self, map: Map) -> String {
        let small = if self == Self::Digits { "scales = 1\nangles = 4\n" } else { "" };
        format!("[features]\nmap = \"{map}\"\n{small}")
    }

    /// Nodes, and how unequal they are.
    fn network(self) -> (usize, f64) {
        if self == Self::Digits { (4, 0.5) } else { (10, 0.1) }
    }

    fn section(self, path: &Path) -> String {
        match self {
            Self::Digits => "[data]\nsource = \"digits\"\nvalidation = 97\n".into(),
            _ => {
                let path = Value::Text(path.display().to_string());
                format!("[data]\nsource = \"file\"\npath = {path}\nvalidation = 5000\n")
            }
        }
    }
}

impl Map {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Scattering, Self::Patches];
}

/// The names that are typed are those of results.
fn typed(value: &impl ValueEnum) -> String {
    value.to_possible_value().map_or(String::new(), |v| v.get_name().to_string())
}

impl fmt::Display for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&typed(self))
    }
}

impl fmt::Display for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&typed(self))
    }
}

/// One run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key {
    /// The images.
    pub data: Data,
    /// What is read of them.
    pub map: Map,
    /// The method.
    pub method: Method,
    /// ε.
    pub epsilon: f64,
    /// Seed of partition, batches and noise.
    pub seed: u64,
}

/// Settings that were chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chosen {
    /// T.
    pub rounds: u32,
    /// Steps, clips, batch.
    pub numbers: Numbers,
    /// The budget they were chosen for.
    pub epsilon: f64,
    /// How many settings were tried.
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

    /// The name of its folder: other settings are another folder.
    pub fn folder(&self) -> String {
        let hash = blake3::hash(self.run_file(Path::new("")).as_bytes()).to_hex();
        format!("{}-{}", self.name(), &hash[..8])
    }

    fn name(&self) -> String {
        format!("{}-{}-{}-eps{}-seed{}", self.data, self.map, self.method, self.epsilon, self.seed)
    }

    /// For people.
    pub fn title(&self) -> String {
        format!(
            "{}, {}, {}, ε = {}, seed {}",
            self.data.title(),
            self.map,
            self.method,
            self.epsilon,
            self.seed
        )
    }

    /// The run file. The same seed has the same partition and batches for every method.
    pub fn run_file(&self, data: &Path) -> String {
        let Some(Chosen { rounds, numbers, .. }) = self.chosen() else { return String::new() };
        let (nodes, concentration) = self.data.network();
        format!(
            "name = \"{}\"\nrounds = {rounds}\nseed = {seed}\n\n\
             [graph]\nkind = \"ring\"\nnodes = {nodes}\nweights = \"paper\"\n\n{}\n\
             [partition]\nkind = \"dirichlet\"\nconcentration = {concentration}\nseed = {seed}\n\n\
             {}\n[model]\nkind = \"softmax\"\n\n{}\n\
             [privacy]\nepsilon = {:?}\ndelta = {DELTA:e}\n\n[metrics]\nevery = {}\nrecords = {}\n",
            self.name(),
            self.data.section(data),
            self.data.map_section(self.map),
            numbers.method(self.method),
            self.epsilon,
            (rounds / 5).max(1),
            numbers.measured_records,
            seed = self.seed,
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
    let (data, map) = (Data::from_str(data, true).ok()?, Map::from_str(map, true).ok()?);
    Some((data, map, method.parse().ok()?, chosen))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use prdo::config::Document;

    #[test]
    fn every_line_of_the_settings_is_read_and_no_combination_is_missing() {
        assert_eq!(CHOSEN.lines().skip(1).filter(|text| line(text).is_none()).count(), 0);
        for data in Data::value_variants() {
            let maps: &[Map] = if *data == Data::Digits { &[Map::Scattering] } else { &Map::ALL };
            for map in maps {
                for method in Method::ALL {
                    let key = Key { data: *data, map: *map, method: *method, epsilon: 3.9, seed: 2 };
                    let chosen = key.chosen().unwrap();
                    assert!(chosen.rounds > 0 && chosen.numbers.step_size > 0.0 && chosen.tried > 0);
                    let document = Document::parse("run", &key.run_file(Path::new("a \"b\""))).unwrap();
                    assert_eq!(document.float("privacy.epsilon"), Some(3.9));
                    assert_eq!(document.integer("partition.seed"), Some(2));
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
