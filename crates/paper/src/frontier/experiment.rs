//! What was asked for: which runs, from which data, into which folder.

use super::page;
use super::results::{Cell, Results};
use super::setting::{Key, Map, Noise};
use crate::error::Error;
use crate::front::{Facts, Stage};
use crate::grid::{Grid, Key as _, Results as _};
use crate::images::Data;
use crate::typed::{Command, list, quoted, typed_or};
use prdo::algorithm::Method;
use std::path::{Path, PathBuf};
use std::time::Duration;

const BUDGETS: [f64; 6] = [0.5, 1.0, 2.0, 4.0, 6.0, 8.0];
const QUICK_BUDGETS: [f64; 2] = [1.0, 8.0];
const SEEDS: u64 = 3;
/// A run takes seconds: this is for those on slow machines.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(60);

/// What was asked for, as it was: what is left open is empty or `None`.
pub struct Request {
    pub data: Vec<Data>,
    /// The folder that holds those of the images.
    pub folder: PathBuf,
    pub maps: Vec<Map>,
    pub methods: Vec<Method>,
    pub noises: Vec<Noise>,
    pub epsilons: Vec<f64>,
    pub seeds: Option<u64>,
    pub out: Option<PathBuf>,
    pub quick: bool,
    /// Whether nothing is trained: then no images are needed.
    pub table_only: bool,
}

/// What was asked for, checked and complete.
pub struct Frontier {
    pub out: PathBuf,
    /// What is left out because it is not here, in words.
    pub skipped: Vec<String>,
    data: Vec<Data>,
    maps: Vec<Map>,
    methods: Vec<Method>,
    noises: Vec<Noise>,
    epsilons: Vec<f64>,
    seeds: u64,
    folder: PathBuf,
    quick: bool,
}

impl Frontier {
    /// Checks what was asked for. Data that was not asked for by name may be missing.
    pub fn new(request: Request) -> Result<Self, Error> {
        let quick = request.quick;
        let (data, maps, epsilons) = defaults(quick);
        let mut asked = Self {
            out: request.out.unwrap_or_else(|| default_out(quick)),
            skipped: Vec::new(),
            data: typed_or(&request.data, data),
            maps: typed_or(&request.maps, maps),
            methods: typed_or(&request.methods, Method::PAPER),
            noises: typed_or(&request.noises, &[Noise::Independent]),
            epsilons: typed_or(&request.epsilons, epsilons),
            seeds: request.seeds.unwrap_or(SEEDS),
            folder: request.folder,
            quick,
        };
        asked.check_settings()?;
        if !request.table_only {
            asked.check_data(!request.data.is_empty())?;
        }
        Ok(asked)
    }

    /// Every combination must have had its settings chosen.
    fn check_settings(&self) -> Result<(), Error> {
        match self.cells().iter().find(|key| key.chosen().is_none()) {
            Some(key) => Err(Error::NoSettings { what: key.title() }),
            None => Ok(()),
        }
    }

    fn check_data(&mut self, asked: bool) -> Result<(), Error> {
        let (there, missing): (Vec<Data>, Vec<Data>) = self.data.iter().partition(|d| self.data(**d).is_ok());
        match missing.first() {
            Some(first) if asked || there.is_empty() => self.data(*first).map(|_| ()),
            _ => {
                let line =
                    |d: &Data| format!("SKIPPED: {} is not here; `prdo data get {d}` fetches it", d.title());
                self.skipped = missing.iter().map(line).collect();
                self.data = there;
                Ok(())
            }
        }
    }

    /// Where a set of images is; nowhere for one that is bundled.
    fn data(&self, data: Data) -> Result<PathBuf, Error> {
        let folder = data.place().map_or("", |(folder, _)| folder);
        data.find(vec![self.folder.join(folder)], "--folder")
    }
}

impl Grid for Frontier {
    type Key = Key;
    type Results = Results;
    const DRAWN_AFTER_EACH: bool = false;

    fn out(&self) -> &Path {
        &self.out
    }

    /// One seed after the other, so that a whole frontier is there as early as possible.
    fn cells(&self) -> Vec<Key> {
        let mut keys = Vec::new();
        for seed in 1..=self.seeds {
            for data in &self.data {
                for map in &self.maps {
                    for epsilon in &self.epsilons {
                        let contestants =
                            self.methods.iter().flat_map(|m| self.noises.iter().map(move |n| (m, n)));
                        for (method, noise) in contestants {
                            let (data, map, method, noise) = (*data, *map, *method, *noise);
                            keys.push(Key { data, map, method, noise, epsilon: *epsilon, seed });
                        }
                    }
                }
            }
        }
        keys
    }

    fn run_file(&self, key: &Key) -> Result<String, Error> {
        Ok(key.run_file(&self.data(key.data)?))
    }

    fn command(&self) -> String {
        let (_, maps, budgets) = defaults(self.quick);
        Command::new("prdo reproduce frontier")
            .switch(self.quick, "quick")
            .option(self.folder != Path::new("data"), "folder", &quoted(&self.folder))
            .option(!self.quick && self.data != Data::REAL, "data", &list(&self.data))
            .option(self.maps != maps, "features", &list(&self.maps))
            .option(self.methods != Method::PAPER, "methods", &list(&self.methods))
            .option(self.noises != [Noise::Independent], "noise", &list(&self.noises))
            .option(self.epsilons != budgets, "epsilon", &list(&self.epsilons))
            .option(self.seeds != SEEDS, "seeds", &self.seeds.to_string())
            .option(self.out != default_out(self.quick), "out", &quoted(&self.out))
            .text()
    }

    fn checkpoint_every(&self) -> Duration {
        CHECKPOINT_EVERY
    }

    /// Only what is finished is remembered.
    fn enter(&self, results: &mut Results, key: &Key, _facts: &Facts, stage: &Stage) -> Result<(), Error> {
        if let Some(summary) = &stage.summary {
            results.put(Cell::of(key, summary)?);
        }
        Ok(())
    }

    fn draw(&self, results: &Results) -> Result<(), Error> {
        page::write(self, results)
    }
}

/// What is run where nothing else is asked for.
fn defaults(quick: bool) -> (&'static [Data], &'static [Map], &'static [f64]) {
    match quick {
        false => (&Data::REAL, &Map::USUAL, &BUDGETS),
        true => (&[Data::Digits], &[Map::Scattering], &QUICK_BUDGETS),
    }
}

fn default_out(quick: bool) -> PathBuf {
    PathBuf::from(if quick { "runs/frontier-quick" } else { "runs/frontier" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(quick: bool, folder: &Path, data: &[Data]) -> Result<Frontier, Error> {
        Frontier::new(Request {
            data: data.to_vec(),
            folder: folder.to_path_buf(),
            maps: Vec::new(),
            methods: Vec::new(),
            noises: Vec::new(),
            epsilons: Vec::new(),
            seeds: None,
            out: None,
            quick,
            table_only: false,
        })
    }

    #[test]
    fn runs_are_all_combinations_and_missing_data_is_named() {
        assert_eq!(asked(true, Path::new("data"), &[]).unwrap().cells().len(), 2 * 5 * 3);
        let missing =
            |data: &[Data]| asked(false, Path::new("nowhere"), data).map(|_| ()).unwrap_err().to_string();
        let why = missing(&[]);
        assert!(why.contains("data_batch_1.bin") && why.contains("prdo data get cifar10"), "{why}");
        let why = missing(&[Data::Mnist]);
        assert!(why.contains("prdo data get mnist") && why.contains("--folder DIR"), "{why}");
    }

    #[test]
    fn sets_that_were_not_asked_for_by_name_may_be_missing() {
        let folder = tempfile::tempdir().unwrap();
        let images = folder.path().join("mnist");
        std::fs::create_dir(&images).unwrap();
        std::fs::write(images.join("train-images-idx3-ubyte"), "").unwrap();
        let asked = asked(false, folder.path(), &[]).unwrap();
        assert!(asked.cells().iter().all(|key| key.data == Data::Mnist) && asked.skipped.len() == 2);
        assert!(asked.skipped[0].contains("SKIPPED: CIFAR-10"), "{:?}", asked.skipped);
    }
}
