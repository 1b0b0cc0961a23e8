//! What was asked for: which cells, in which order, from which data, into which folder.

use super::super::typed::{distinct, list, quoted};
use super::setting::{BUDGETS, Group, Key, PAPER_ROUNDS, Setting, paper_multiplier};
use crate::cli::data::Name;
use crate::cli::{Table1Args, TableNoise, TableStart};
use crate::commands::Failure;
use crate::commands::data::catalogue;
use crate::commands::watch::checkpoint_interval;
use prdo::algorithm::Method;
use prdo::network::Law;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// T of `--quick`.
const QUICK_ROUNDS: u32 = 60;
/// A file that every copy of CIFAR-10's binary version has, and the bytes of each of them: 10,000 images.
const FIRST_BATCH: &str = "data_batch_1.bin";
const BYTES: u64 = 10_000 * (1 + 3 * 32 * 32);

/// What was asked for.
pub struct Plan {
    /// The table.
    pub group: Group,
    /// Its rows.
    pub methods: Vec<Method>,
    /// Its columns.
    pub epsilons: Vec<f64>,
    /// The seeds.
    pub seeds: Vec<u64>,
    /// Where results go.
    pub out: PathBuf,
    /// Time between checkpoints.
    pub checkpoint_every: Duration,
    data: PathBuf,
}

impl Plan {
    /// Checks what was typed.
    pub fn new(args: &Table1Args) -> Result<Self, Failure> {
        let (setting, rounds, epsilons) = match args.quick {
            false => (Setting::Paper, PAPER_ROUNDS, &BUDGETS[..]),
            true => (Setting::Quick, QUICK_ROUNDS, &BUDGETS[2..]),
        };
        let plan = Self {
            group: Group {
                setting,
                rounds: args.rounds.unwrap_or(rounds),
                noise: args.noise,
                start: law(args.start),
            },
            methods: distinct(&args.methods, Method::ALL),
            epsilons: distinct(&args.epsilon, epsilons),
            seeds: distinct(&args.seeds, &[1]),
            out: args.out.clone().unwrap_or_else(|| default_out(setting)),
            checkpoint_every: checkpoint_interval(args.checkpoint_every)?,
            data: args.data.clone(),
        };
        plan.check_noise()?;
        if args.quick && plan.group.start != Law::default() {
            let name = plan.group.start.name();
            return Err(Failure::Input(format!(
                "--start {name} is not allowed with --quick: its linear model starts at 0; leave --start out"
            )));
        }
        Ok(plan)
    }

    /// The paper's multipliers mean nothing elsewhere.
    fn check_noise(&self) -> Result<(), Failure> {
        let unknown = self.epsilons.iter().find(|epsilon| paper_multiplier(**epsilon).is_none());
        let why = match (self.group.noise, self.group, unknown) {
            (TableNoise::Accountant, ..) => return Ok(()),
            (_, Group { setting: Setting::Quick, .. }, _) => "--quick: that is another setting".to_string(),
            (_, Group { rounds, .. }, _) if rounds != PAPER_ROUNDS => {
                format!("--rounds {rounds}: with another number of rounds they give another ε")
            }
            (_, _, Some(epsilon)) => format!("--epsilon {epsilon}: the paper gives none for it"),
            _ => return Ok(()),
        };
        Err(Failure::Input(format!(
            "--noise paper is not allowed with {why}; the paper's multipliers are for ε = 4, 6 and 8 over 9500 rounds \
             of its setting. Leave --noise out to have them calibrated"
        )))
    }

    /// The cells, one seed after the other, so that a whole table is there as early as possible.
    pub fn cells(&self) -> Vec<Key> {
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

    /// Where CIFAR-10 is; nowhere for a setting that brings its data.
    pub fn data(&self) -> Result<PathBuf, Failure> {
        if self.group.setting == Setting::Quick {
            return Ok(PathBuf::new());
        }
        let places = [self.data.join("cifar-10-batches-bin"), self.data.clone()];
        let found = places.iter().find(|place| place.join(FIRST_BATCH).is_file());
        let found = found.ok_or_else(|| {
            Failure::Input(format!(
                "CIFAR-10 is not there: looked for {FIRST_BATCH} in {} and in {}\n  = help: `prdo data get cifar10` \
                 fetches it into data/; --data DIR names the folder that holds cifar-10-batches-bin; --quick needs no \
                 data",
                places[0].display(),
                places[1].display()
            ))
        })?;
        check_whole(found)?;
        std::path::absolute(found).map_err(|e| Failure::Input(format!("--data {}: {e}", self.data.display())))
    }

    /// The command that goes on with this.
    pub fn command(&self) -> String {
        let quick = self.group.setting == Setting::Quick;
        let mut text = String::from("prdo reproduce table-1");
        let mut add = |needed: bool, option: &str, value: String| {
            if needed {
                text += &format!(" --{option}{}{value}", if value.is_empty() { "" } else { " " });
            }
        };
        add(quick, "quick", String::new());
        add(!quick && self.data != Path::new("data"), "data", quoted(&self.data));
        add(self.methods != Method::ALL, "methods", list(&self.methods));
        let usual = if quick { &BUDGETS[2..] } else { &BUDGETS[..] };
        add(self.epsilons != usual, "epsilon", list(&self.epsilons));
        let usual = if quick { QUICK_ROUNDS } else { PAPER_ROUNDS };
        add(self.group.rounds != usual, "rounds", self.group.rounds.to_string());
        add(self.seeds != [1], "seeds", list(&self.seeds));
        add(self.group.noise == TableNoise::Paper, "noise", "paper".into());
        add(self.group.start != Law::default(), "start", self.group.start.name().into());
        add(self.out != default_out(self.group.setting), "out", quoted(&self.out));
        text
    }
}

/// Refuses a part of CIFAR-10: its results would stand in the paper's table.
fn check_whole(folder: &Path) -> Result<(), Failure> {
    for (name, _) in catalogue::set(Name::Cifar10).files {
        let file = folder.join(name);
        let found = std::fs::metadata(&file).map_or(0, |facts| facts.len());
        if found != BYTES {
            return Err(Failure::Input(format!(
                "{} has {found} bytes; CIFAR-10's has {BYTES}, 10000 images\n  = help: `prdo data get cifar10` fetches it whole",
                file.display()
            )));
        }
    }
    Ok(())
}

fn law(start: TableStart) -> Law {
    match start {
        TableStart::FanIn => Law::FanIn,
        TableStart::Glorot => Law::Glorot,
    }
}

fn default_out(setting: Setting) -> PathBuf {
    match setting {
        Setting::Paper => PathBuf::from("runs/table-1"),
        Setting::Quick => PathBuf::from("runs/table-1-quick"),
    }
}
