//! What was asked for: which runs, from which data, into which folder.

use super::super::typed::{distinct, list, quoted};
use super::setting::{Data, Key, Map};
use crate::cli::frontier::FrontierArgs;
use crate::commands::Failure;
use prdo::algorithm::Method;
use std::path::{Path, PathBuf};

/// The budgets of the frontier.
const BUDGETS: [f64; 6] = [0.5, 1.0, 2.0, 4.0, 6.0, 8.0];
/// Those of `--quick`.
const QUICK_BUDGETS: [f64; 2] = [1.0, 8.0];
const SEEDS: u64 = 3;

/// What was asked for.
pub struct Plan {
    /// Where results go.
    pub out: PathBuf,
    /// What is left out because it is not here, in words.
    pub skipped: Vec<String>,
    data: Vec<Data>,
    maps: Vec<Map>,
    methods: Vec<Method>,
    epsilons: Vec<f64>,
    seeds: u64,
    folder: PathBuf,
    quick: bool,
}

impl Plan {
    /// Checks what was typed. Data that was not asked for by name may be missing.
    pub fn new(args: &FrontierArgs) -> Result<Self, Failure> {
        let (data, maps, epsilons): (&[Data], &[Map], &[f64]) = match args.quick {
            false => (&Data::REAL, &Map::ALL, &BUDGETS),
            true => (&[Data::Digits], &[Map::Scattering], &QUICK_BUDGETS),
        };
        let mut plan = Self {
            out: args.out.clone().unwrap_or_else(|| default_out(args.quick)),
            skipped: Vec::new(),
            data: distinct(&args.data, data),
            maps: distinct(&args.features, maps),
            methods: distinct(&args.methods, Method::ALL),
            epsilons: distinct(&args.epsilon, epsilons),
            seeds: args.seeds.unwrap_or(SEEDS),
            folder: args.folder.clone(),
            quick: args.quick,
        };
        if !args.table_only {
            plan.check_data(!args.data.is_empty())?;
        }
        Ok(plan)
    }

    fn check_data(&mut self, asked: bool) -> Result<(), Failure> {
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

    /// The runs, one seed after the other, so that a whole frontier is there as early as possible.
    pub fn keys(&self) -> Vec<Key> {
        let mut keys = Vec::new();
        for seed in 1..=self.seeds {
            for data in &self.data {
                for map in &self.maps {
                    for epsilon in &self.epsilons {
                        for method in &self.methods {
                            let (data, map, method, epsilon) = (*data, *map, *method, *epsilon);
                            keys.push(Key { data, map, method, epsilon, seed });
                        }
                    }
                }
            }
        }
        keys
    }

    /// Where a set of images is; nowhere for one that is bundled.
    pub fn data(&self, data: Data) -> Result<PathBuf, Failure> {
        let Some((name, file)) = data.place() else { return Ok(PathBuf::new()) };
        let folder = self.folder.join(name);
        if !folder.join(file).is_file() {
            return Err(Failure::Input(format!(
                "{} is not there: looked for {file} in {}\n  = help: `prdo data get {data}` fetches it into data/; \
                 --folder DIR names the folder that holds {name}; --quick needs no data",
                data.title(),
                folder.display()
            )));
        }
        std::path::absolute(&folder)
            .map_err(|e| Failure::Input(format!("--folder {}: {e}", folder.display())))
    }

    /// The command that goes on with this.
    pub fn command(&self) -> String {
        let mut text = String::from("prdo reproduce frontier");
        let mut add = |needed: bool, option: &str, value: String| {
            if needed {
                text += &format!(" --{option}{}{value}", if value.is_empty() { "" } else { " " });
            }
        };
        let budgets: &[f64] = if self.quick { &QUICK_BUDGETS } else { &BUDGETS };
        let maps: &[Map] = if self.quick { &[Map::Scattering] } else { &Map::ALL };
        add(self.quick, "quick", String::new());
        add(self.folder != Path::new("data"), "folder", quoted(&self.folder));
        add(!self.quick && self.data != Data::REAL, "data", list(&self.data));
        add(self.maps != maps, "features", list(&self.maps));
        add(self.methods != Method::ALL, "methods", list(&self.methods));
        add(self.epsilons != budgets, "epsilon", list(&self.epsilons));
        add(self.seeds != SEEDS, "seeds", self.seeds.to_string());
        add(self.out != default_out(self.quick), "out", quoted(&self.out));
        text
    }
}

fn default_out(quick: bool) -> PathBuf {
    PathBuf::from(if quick { "runs/frontier-quick" } else { "runs/frontier" })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::cli::{Cli, Command, Experiment};
    use clap::Parser;

    fn plan(options: &str) -> Result<Plan, Failure> {
        let typed = format!("prdo reproduce frontier {options}");
        match Cli::try_parse_from(typed.split_whitespace()).unwrap().command {
            Command::Reproduce(Experiment::Frontier(args)) => Plan::new(&args),
            other => unreachable!("{other:?}"),
        }
    }

    #[test]
    fn the_command_to_go_on_repeats_what_was_asked() {
        for options in [" --quick", " --quick --methods ed,prdo --epsilon 2 --seeds 1 --out x/y"] {
            assert_eq!(plan(options).unwrap().command(), format!("prdo reproduce frontier{options}"));
        }
        let options = " --folder images --data mnist --features scattering --table-only";
        let without = options.replace(" --table-only", "");
        assert_eq!(plan(options).unwrap().command(), format!("prdo reproduce frontier{without}"));
    }

    #[test]
    fn runs_are_all_combinations_and_missing_data_is_named() {
        assert_eq!(plan("--quick").unwrap().keys().len(), 2 * 5 * 3);
        let Err(Failure::Input(why)) = plan("--folder nowhere") else {
            unreachable!("there is no such data")
        };
        assert!(why.contains("data_batch_1.bin") && why.contains("prdo data get cifar10"), "{why}");
        let Err(Failure::Input(why)) = plan("--folder nowhere --data mnist") else {
            unreachable!("as before")
        };
        assert!(why.contains("prdo data get mnist") && why.contains("--folder DIR"), "{why}");
    }

    #[test]
    fn sets_that_were_not_asked_for_by_name_may_be_missing() {
        let folder = tempfile::tempdir().unwrap();
        let images = folder.path().join("mnist");
        std::fs::create_dir(&images).unwrap();
        std::fs::write(images.join("train-images-idx3-ubyte"), "").unwrap();
        let plan = plan(&format!("--folder {}", folder.path().display())).unwrap();
        assert!(plan.keys().iter().all(|key| key.data == Data::Mnist) && plan.skipped.len() == 2);
        assert!(plan.skipped[0].contains("SKIPPED: CIFAR-10"), "{:?}", plan.skipped);
    }
}
