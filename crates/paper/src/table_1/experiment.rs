//! What was asked for: which cells, in which order, from which data, into which folder.

use super::page;
use super::results::{Cell, Partition, Results};
use super::run_file::run_file;
use super::setting::{BUDGETS, Group, Key, Noise, PAPER_ROUNDS, Setting, paper_multiplier};
use crate::error::Error;
use crate::front::{Facts, Stage};
use crate::grid::show::thousands;
use crate::grid::{Grid, Key as _, Results as _};
use crate::images::Data;
use crate::typed::{Command, list, quoted, typed_or};
use prdo::algorithm::Method;
use prdo::network::Law;
use std::path::{Path, PathBuf};
use std::time::Duration;

const QUICK_ROUNDS: u32 = 60;
/// The bytes of each file of CIFAR-10's binary version: 10,000 images.
const BYTES: u64 = 10_000 * (1 + 3 * 32 * 32);

/// What was asked for, as it was: what is left open is empty or `None`.
pub struct Request {
    /// The folder that holds CIFAR-10's.
    pub data: PathBuf,
    pub methods: Vec<Method>,
    pub epsilons: Vec<f64>,
    pub rounds: Option<u32>,
    pub seeds: Vec<u64>,
    pub noise: Noise,
    pub start: Law,
    pub out: Option<PathBuf>,
    pub quick: bool,
    pub checkpoint_every: Duration,
}

/// What was asked for, checked and complete.
pub struct Table1 {
    pub group: Group,
    /// The rows of its table.
    pub methods: Vec<Method>,
    /// Its columns.
    pub epsilons: Vec<f64>,
    pub seeds: Vec<u64>,
    pub out: PathBuf,
    checkpoint_every: Duration,
    data: PathBuf,
}

impl Table1 {
    pub fn new(request: Request) -> Result<Self, Error> {
        let setting = if request.quick { Setting::Quick } else { Setting::Paper };
        let (rounds, epsilons) = defaults(setting);
        let asked = Self {
            group: Group {
                setting,
                rounds: request.rounds.unwrap_or(rounds),
                noise: request.noise,
                start: request.start,
            },
            methods: typed_or(&request.methods, Method::PAPER),
            epsilons: typed_or(&request.epsilons, epsilons),
            seeds: typed_or(&request.seeds, &[1]),
            out: request.out.unwrap_or_else(|| default_out(setting)),
            checkpoint_every: request.checkpoint_every,
            data: request.data,
        };
        asked.check_noise()?;
        if request.quick && asked.group.start != Law::default() {
            return Err(Error::Choice {
                choice: format!("--start {}", asked.group.start.name()),
                with: "--quick".to_string(),
                why: ": its linear model starts at 0; leave --start out",
            });
        }
        Ok(asked)
    }

    /// The paper's multipliers mean nothing elsewhere.
    fn check_noise(&self) -> Result<(), Error> {
        let unknown = self.epsilons.iter().find(|epsilon| paper_multiplier(**epsilon).is_none());
        let Group { setting, rounds, noise, .. } = self.group;
        let with = match (noise, setting, unknown) {
            (Noise::Accountant, ..) => return Ok(()),
            (Noise::Paper, Setting::Quick, _) => "--quick: that is another setting".to_string(),
            (Noise::Paper, Setting::Paper, _) if rounds != PAPER_ROUNDS => {
                format!("--rounds {rounds}: with another number of rounds they give another ε")
            }
            (Noise::Paper, Setting::Paper, Some(epsilon)) => {
                format!("--epsilon {epsilon}: the paper gives none for it")
            }
            (Noise::Paper, Setting::Paper, None) => return Ok(()),
        };
        Err(Error::Choice {
            choice: "--noise paper".to_string(),
            with,
            why: "; the paper's multipliers are for ε = 4, 6 and 8 over 9500 rounds of its setting. Leave --noise out to \
                  have them calibrated",
        })
    }

    /// Where CIFAR-10 is; nowhere for a setting that brings its data.
    fn data(&self) -> Result<PathBuf, Error> {
        if self.group.setting == Setting::Quick {
            return Ok(PathBuf::new());
        }
        let folder = Data::Cifar10.place().map_or("", |(folder, _)| folder);
        let found = Data::Cifar10.find(vec![self.data.join(folder), self.data.clone()], "--data")?;
        check_complete(&found)?;
        Ok(found)
    }
}

impl Grid for Table1 {
    type Key = Key;
    type Results = Results;
    const DRAWN_AFTER_EACH: bool = true;

    fn out(&self) -> &Path {
        &self.out
    }

    /// One seed after the other, so that a whole table is there as early as possible.
    fn cells(&self) -> Vec<Key> {
        let mut cells = Vec::new();
        for seed in &self.seeds {
            for epsilon in &self.epsilons {
                for method in &self.methods {
                    cells.push(Key { group: self.group, method: *method, epsilon: *epsilon, seed: *seed });
                }
            }
        }
        cells
    }

    fn run_file(&self, key: &Key) -> Result<String, Error> {
        Ok(run_file(key, &self.data()?))
    }

    fn command(&self) -> String {
        let quick = self.group.setting == Setting::Quick;
        let (rounds, budgets) = defaults(self.group.setting);
        let start = self.group.start;
        Command::new("prdo reproduce table-1")
            .switch(quick, "quick")
            .option(!quick && self.data != Path::new("data"), "data", &quoted(&self.data))
            .option(self.methods != Method::PAPER, "methods", &list(&self.methods))
            .option(self.epsilons != budgets, "epsilon", &list(&self.epsilons))
            .option(self.group.rounds != rounds, "rounds", &self.group.rounds.to_string())
            .option(self.seeds != [1], "seeds", &list(&self.seeds))
            .option(self.group.noise == Noise::Paper, "noise", "paper")
            .option(start != Law::default(), "start", start.name())
            .option(self.out != default_out(self.group.setting), "out", &quoted(&self.out))
            .text()
    }

    fn checkpoint_every(&self) -> Duration {
        self.checkpoint_every
    }

    fn tried_first(&self, left: &[Key]) -> Vec<Key> {
        let mut first: Vec<Key> = Vec::new();
        for key in left {
            if first.iter().all(|tried| tried.epsilon != key.epsilon) {
                first.push(*key);
            }
        }
        first
    }

    fn announcement(&self, key: &Key, facts: &Facts, round: u32) -> Option<String> {
        let noise = facts.guarantee.map_or(String::new(), |(multiplier, epsilon)| {
            format!(", z = {multiplier:.6} (ε = {epsilon:.6} proven)")
        });
        let from = match round {
            0 => String::new(),
            round => format!(", resuming after round {}", thousands(round)),
        };
        Some(format!("{}{noise}; {} rounds{from}", key.title(), thousands(key.group.rounds)))
    }

    fn enter(&self, results: &mut Results, key: &Key, facts: &Facts, stage: &Stage) -> Result<(), Error> {
        results.set_partition(Partition {
            setting: key.group.setting,
            data: facts.data.clone(),
            counts: facts.class_counts.clone(),
            names: facts.class_names.clone(),
        });
        results.put(Cell::of(key, facts, stage)?);
        Ok(())
    }

    fn draw(&self, results: &Results) -> Result<(), Error> {
        page::write(self, results)
    }
}

/// Refuses a part of CIFAR-10: its results would stand in the paper's table.
fn check_complete(folder: &Path) -> Result<(), Error> {
    let batches = (1..=5).map(|k| format!("data_batch_{k}.bin"));
    for name in batches.chain(["test_batch.bin".to_string()]) {
        let file = folder.join(name);
        let found = std::fs::metadata(&file).map_or(0, |facts| facts.len());
        if found != BYTES {
            return Err(Error::TruncatedData { file, found, expected: BYTES });
        }
    }
    Ok(())
}

/// T and the budgets where none are asked for.
fn defaults(setting: Setting) -> (u32, &'static [f64]) {
    match setting {
        Setting::Paper => (PAPER_ROUNDS, &BUDGETS),
        Setting::Quick => (QUICK_ROUNDS, &BUDGETS[2..]),
    }
}

fn default_out(setting: Setting) -> PathBuf {
    PathBuf::from(if setting == Setting::Paper { "runs/table-1" } else { "runs/table-1-quick" })
}
