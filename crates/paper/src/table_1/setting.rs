//! What a cell of the table is, what is averaged, and what the paper found
//! (section "Private CIFAR-10" of its appendix).

use crate::grid;
use crate::grid::show::{paper_name, thousands};
use prdo::algorithm::Method;
use prdo::network::Law;
use serde::{Deserialize, Serialize};

pub const PAPER_ROUNDS: u32 = 9500;
/// δ of every cell.
pub const DELTA: f64 = 1e-5;
/// How many measurements a cell's accuracy is the mean of.
const AVERAGED: u32 = 5;

/// The paper's budgets, the multipliers it gives for them, and its table: accuracy in percent.
pub const BUDGETS: [f64; 3] = [4.0, 6.0, 8.0];
const MULTIPLIERS: [f64; 3] = [2.464143, 1.807607, 1.480246];
const FOUND: [(Method, [f64; 3]); 5] = [
    (Method::Prdo, [53.368, 54.284, 54.424]),
    (Method::Ed, [52.964, 54.084, 54.186]),
    (Method::Edm, [53.070, 53.948, 54.224]),
    (Method::Mt, [53.020, 53.966, 54.220]),
    (Method::Dsgd, [47.834, 48.690, 49.002]),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Setting {
    /// The paper's: a network on CIFAR-10.
    Paper,
    /// A linear model on the bundled digits: the same machinery in seconds.
    Quick,
}

impl Setting {
    pub fn name(self) -> &'static str {
        match self {
            Setting::Paper => "paper",
            Setting::Quick => "quick",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Noise {
    /// Calibrated for the budget and the rounds, with proof.
    Accountant,
    /// The paper's three, for its budgets and its rounds.
    Paper,
}

impl Noise {
    pub fn name(self) -> &'static str {
        match self {
            Noise::Accountant => "accountant",
            Noise::Paper => "paper",
        }
    }
}

/// Cells that belong into one table: they differ in method, budget and seed only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    pub setting: Setting,
    pub rounds: u32,
    pub noise: Noise,
    /// How the network's first weights are drawn, of which the paper says nothing; the default for a linear model,
    /// which starts at 0.
    pub start: Law,
}

impl Group {
    /// Whether this is what the paper did.
    pub fn is_the_papers(self) -> bool {
        self.setting == Setting::Paper && self.rounds == PAPER_ROUNDS
    }

    /// Between the measurements that are averaged.
    fn step(self) -> u32 {
        if self.is_the_papers() { 250 } else { (self.rounds / (10 * AVERAGED)).max(1) }
    }

    /// A row of metrics every so many rounds: every averaged one, and some more for the curve.
    pub fn every(self) -> u32 {
        if self.is_the_papers() { self.step() / 2 } else { self.step() }
    }

    /// The rounds over which a cell's accuracy is averaged: the last, and the four multiples of the step before it
    /// (8500, 8750, 9000, 9250 and 9500 in the paper's setting, otherwise about the last tenth).
    pub fn averaged(self) -> Vec<u32> {
        let last_multiple = (self.rounds - 1) / self.step();
        let mut rounds: Vec<u32> =
            (0..AVERAGED - 1).filter_map(|k| last_multiple.checked_sub(k)).map(|k| k * self.step()).collect();
        rounds.retain(|round| *round > 0);
        rounds.reverse();
        rounds.push(self.rounds);
        rounds
    }

    /// Why this is not the paper's setting, where it is not.
    pub fn note(self) -> Option<String> {
        match self.setting {
            Setting::Quick => Some(format!(
                "a quick check with a linear model on the bundled digits, T = {}; not the paper's setting",
                self.rounds
            )),
            Setting::Paper if self.rounds != PAPER_ROUNDS => {
                Some(format!("z recalibrated for T = {}; not the paper's setting", self.rounds))
            }
            Setting::Paper => None,
        }
    }

    pub fn title(self) -> String {
        let data = match self.setting {
            Setting::Paper => "Private CIFAR-10",
            Setting::Quick => "Quick check on digits",
        };
        let noise = if self.noise == Noise::Paper { ", the paper's noise multipliers" } else { "" };
        format!("{data}, T = {}{noise}{}", thousands(self.rounds), self.start_words())
    }

    /// The name in results; a linear model has none.
    pub fn start_name(self) -> Option<&'static str> {
        (self.setting == Setting::Paper).then(|| self.start.name())
    }

    /// For names of folders and files: noise and start; those from before there was a choice keep theirs.
    fn suffix(self) -> String {
        let noise = if self.noise == Noise::Paper { "-paper-noise" } else { "" };
        let glorot = (self.setting, self.start) == (Setting::Paper, Law::Glorot);
        format!("{noise}{}", if glorot { "-glorot" } else { "" })
    }

    fn start_words(self) -> &'static str {
        match (self.setting, self.start) {
            (Setting::Quick, _) => "",
            (Setting::Paper, Law::Glorot) => ", Glorot's start",
            (Setting::Paper, Law::FanIn) => ", fan-in start",
        }
    }

    /// How it was averaged, where the noise comes from, and what differs from the paper.
    pub fn caption(self) -> String {
        let rounds: Vec<String> = self.averaged().iter().map(u32::to_string).collect();
        let noise = match self.noise {
            Noise::Accountant => "noise multipliers from prdo's accountant",
            Noise::Paper => "the paper's noise multipliers",
        };
        let note = self.note().map_or(String::new(), |note| format!("; {note}"));
        format!(
            "Test accuracy (%) of the average model, mean over rounds {}; δ = {DELTA:e}, {noise}{}{note}.",
            rounds.join(", "),
            self.start_words(),
        )
    }

    /// For file names.
    pub fn slug(self) -> String {
        let quick = if self.setting == Setting::Quick { "-quick" } else { "" };
        let rounds = if self.is_the_papers() { String::new() } else { format!("-T{}", self.rounds) };
        format!("{quick}{rounds}{}", self.suffix())
    }
}

/// One cell: one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key {
    pub group: Group,
    pub method: Method,
    pub epsilon: f64,
    /// Seed of batches and noise.
    pub seed: u64,
}

impl grid::Key for Key {
    fn folder(&self) -> String {
        let quick = if self.group.setting == Setting::Quick { "quick-" } else { "" };
        let (rounds, suffix) = (self.group.rounds, self.group.suffix());
        format!("{quick}{}-eps{}-T{rounds}-seed{}{suffix}", self.method, self.epsilon, self.seed)
    }

    fn title(&self) -> String {
        format!("{}, ε = {}, seed {}", paper_name(self.method), self.epsilon, self.seed)
    }
}

pub fn paper_multiplier(epsilon: f64) -> Option<f64> {
    BUDGETS.iter().position(|e| *e == epsilon).map(|k| MULTIPLIERS[k])
}

/// The paper's accuracy in percent.
pub fn paper_accuracy(method: Method, epsilon: f64) -> Option<f64> {
    let column = BUDGETS.iter().position(|e| *e == epsilon)?;
    FOUND.iter().find(|(m, _)| *m == method).map(|(_, found)| found[column])
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub fn group(rounds: u32) -> Group {
        Group { setting: Setting::Paper, rounds, noise: Noise::Accountant, start: Law::default() }
    }

    #[test]
    fn averaged_rounds_are_the_papers_at_its_horizon_and_the_last_tenth_elsewhere() {
        assert_eq!(group(9500).averaged(), [8500, 8750, 9000, 9250, 9500]);
        assert_eq!(group(500).averaged(), [460, 470, 480, 490, 500]);
        assert_eq!(group(777).averaged(), [720, 735, 750, 765, 777]);
        assert_eq!(group(5).averaged(), [1, 2, 3, 4, 5]);
        for rounds in (5..3000).chain([9499, 9500, 9501, 10_000_000]) {
            let group = group(rounds);
            let averaged = group.averaged();
            assert_eq!((averaged.len(), averaged.last()), (5, Some(&rounds)), "{rounds}");
            assert!(averaged.windows(2).all(|pair| pair[0] < pair[1]), "{averaged:?}");
            assert!(
                averaged[..4].iter().all(|r| r.is_multiple_of(group.every())),
                "every one has a row: {rounds}"
            );
        }
    }

    #[test]
    fn other_horizons_say_that_they_are_not_the_papers() {
        assert_eq!(group(500).note().unwrap(), "z recalibrated for T = 500; not the paper's setting");
        assert_eq!(group(9500).note(), None);
        let quick = Group { setting: Setting::Quick, ..group(9500) };
        assert!(quick.note().unwrap().contains("not the paper's setting") && !quick.is_the_papers());
    }
}
