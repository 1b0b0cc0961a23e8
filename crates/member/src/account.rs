//! The ledger of a member's records: where it is, what was spent, and whether a run fits.

use crate::{Membership, NodeError};
use prdo_accounting::{Accountant, Event, History, Target};
use prdo_disk::folder_of;
use prdo_peer::dir::{Directory, read_unlocked};
use prdo_peer::ledger::LedgerFile;
use prdo_peer::ledger::contents::Contents;
use prdo_peer::wire::Hash;
use std::path::{Path, PathBuf};

/// Which ledger, and what its owner allows.
#[derive(Clone, Debug, Default)]
pub struct LedgerOptions {
    /// The ledger's file; `None` is next to the data, with `.ledger` after its name.
    pub file: Option<PathBuf>,
    /// ε for everything ever released about these records. `None` is what the ledger says; a new ledger takes the
    /// agreement's.
    pub budget: Option<f64>,
    /// Raises the ledger's budget to this ε.
    pub raise: Option<f64>,
}

impl LedgerOptions {
    /// Where the ledger is.
    pub fn place(&self, data: &Path) -> PathBuf {
        self.file.clone().unwrap_or_else(|| {
            // A folder may be called `images/` or `.`: its ledger stands beside it, not in it. Whoever comes by a link comes
            // to the same records.
            let resolved = match data.file_name() {
                Some(_) if !data.is_symlink() => None,
                _ => std::fs::canonicalize(data).ok(),
            };
            let data: PathBuf = resolved.as_deref().unwrap_or(data).components().collect();
            let mut name = data.into_os_string();
            name.push(".ledger");
            PathBuf::from(name)
        })
    }
}

/// What a run will cost, on top of what was spent.
#[derive(Clone, Debug)]
pub struct BudgetForecast {
    /// ε so far.
    pub spent: f64,
    /// ε after the run's last round.
    pub after: f64,
    pub budget: Target,
    pub rounds_left: u32,
    /// Against how many members together these hold, where noise is in pairs in this run or in an earlier one.
    pub colluders: Option<u32>,
}

/// An open ledger, or what one would begin with.
pub struct Account {
    pub path: PathBuf,
    pub ledger: Option<LedgerFile>,
    /// The budget that the run is held against.
    pub budget: Target,
    /// Whether that is more than the ledger says, and the owner wants it so.
    raise: bool,
    /// Where a ledger begins: those beside it, of other sets of records, that something was charged to.
    pub others: Vec<String>,
}

impl Account {
    /// Looks at the ledger of these records, and takes it if it is there. Nothing is written to it.
    pub fn look(
        membership: &Membership,
        options: &LedgerOptions,
        data: &Path,
        digest: &Hash,
    ) -> Result<Self, NodeError> {
        let path = options.place(data);
        let agreed = membership.planned.guarantee;
        let ledger = match path.is_file() {
            true => {
                let (disk, name) = Directory::of_file(&path)?;
                LedgerFile::existing(Box::new(disk), &name, digest)?
            }
            false => None,
        };
        let mut others = Vec::new();
        if ledger.is_none() {
            others = others_beside(membership, &path, data, digest)?;
            if options.raise.is_some() {
                return Err(NodeError::NothingToRaise { ledger: path.display().to_string() });
            }
        }
        let (allowed, delta) = match &ledger {
            Some(ledger) => (Some(ledger.budget().epsilon()), ledger.budget().delta()),
            None => (None, agreed.delta),
        };
        // A new ledger allows what was agreed and no more: the round number that the noise was made for, if it is that.
        let round =
            membership.document.run_file().resolved.budget.filter(|budget| *budget <= 1.001 * agreed.epsilon);
        let promised = round.unwrap_or(agreed.epsilon).max(agreed.epsilon);
        if let (Some(asked), Some(allowed)) = (options.raise, allowed)
            && asked < allowed
        {
            return Err(NodeError::NotRaised { ledger: path.display().to_string(), asked, allowed });
        }
        let asked = options.raise.or(options.budget).or(allowed).unwrap_or(promised);
        let raise = allowed.is_some_and(|allowed| asked > allowed);
        if let (None, true, Some(allowed)) = (options.raise, raise, allowed) {
            return Err(NodeError::Raise { ledger: path.display().to_string(), asked, allowed });
        }
        Ok(Self { path, ledger, budget: Target::new(asked, delta)?, raise, others })
    }

    pub fn knows(&self, agreement: &Hash) -> bool {
        let runs =
            |ledger: &LedgerFile| ledger.contents().runs().iter().any(|run| run.agreement == *agreement);
        self.ledger.as_ref().is_some_and(runs)
    }

    /// What the run will cost.
    pub fn forecast(
        &self,
        membership: &Membership,
        accountant: &Accountant,
    ) -> Result<BudgetForecast, NodeError> {
        assumed_enough(membership, self.ledger.as_ref())?;
        let run = &membership.agreement.terms().run;
        let done = self.ledger.as_ref().and_then(|l| l.contents().run(run)).map_or(0, |run| run.sent.len());
        let before = match &self.ledger {
            Some(ledger) => ledger.contents().history_before(run, done as u32),
            None => History::new(),
        };
        let rounds_left = membership.agreement.terms().rounds.saturating_sub(done as u32);
        let mut whole = before.clone();
        whole.append(&self.rest(membership, done as u32, rounds_left)?);
        let delta = self.budget.delta();
        let epsilon = |history: &History| match history.len() {
            0 => Ok(0.0),
            _ => accountant.epsilon(history, delta).map(|bounds| bounds.upper),
        };
        let (spent, after) = (epsilon(&before)?, epsilon(&whole)?);
        if rounds_left > 0 && !accountant.prove(&whole, &self.budget)? {
            return Err(NodeError::Budget {
                ledger: self.path.display().to_string(),
                spent,
                after,
                rounds: rounds_left,
                budget: self.budget.epsilon(),
                delta,
            });
        }
        let earlier = self.ledger.as_ref().and_then(|ledger| ledger.contents().colluders());
        let colluders = earlier.into_iter().chain(membership.colluders()).min();
        Ok(BudgetForecast { spent, after, budget: self.budget, rounds_left, colluders })
    }

    /// What the rounds that are left release.
    fn rest(&self, membership: &Membership, done: u32, left: u32) -> Result<History, NodeError> {
        let guarantee = membership.guarantee();
        if done == 0 {
            return Ok(guarantee.releases(left)?);
        }
        let event = Event::sampled_gaussian(guarantee.rate, guarantee.noise_multiplier)?;
        Ok(History::new().and(event, u64::from(left)))
    }

    /// Opens the ledger for the run: begins it if it is new, raises its budget if that was asked for.
    pub fn open(self, digest: &Hash) -> Result<LedgerFile, NodeError> {
        let Some(mut ledger) = self.ledger else {
            let (disk, name) = Directory::of_file(&self.path)?;
            return Ok(LedgerFile::open(Box::new(disk), &name, digest, self.budget)?);
        };
        if self.raise {
            ledger.raise_budget(self.budget)?;
        }
        Ok(ledger)
    }
}

/// Refuses to start a ledger for records that have one already, beside the data, under a name that the file had before.
/// The first line tells whose it is, whatever became of the rest. Gives the others, but not those of other members.
fn others_beside(
    membership: &Membership,
    path: &Path,
    data: &Path,
    digest: &Hash,
) -> Result<Vec<String>, NodeError> {
    let mut others = Vec::new();
    for folder in [folder_of(path), folder_of(data)] {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let other = entry.path();
            let is_ledger = other.extension().is_some_and(|ending| ending == "ledger") && other.is_file();
            if !is_ledger || same_file(&other, path) {
                continue;
            }
            let shown = other.display().to_string();
            let bytes = read_unlocked(&other)?.unwrap_or_default();
            let first = bytes.split_inclusive(|byte| *byte == b'\n').next().unwrap_or_default();
            if Contents::parse(first).ok().and_then(|contents| contents.records()) == Some(*digest) {
                return Err(NodeError::OtherLedger { data: data.display().to_string(), ledger: shown });
            }
            if !others.contains(&shown) && !is_harmless(membership, &bytes) {
                others.push(shown);
            }
        }
    }
    Ok(others)
}

/// A ledger to which nothing was charged, or that of another member of the same run, on one machine with this one.
fn is_harmless(membership: &Membership, ledger: &[u8]) -> bool {
    let Ok(contents) = Contents::parse(ledger) else { return false };
    let (agreement, number) = (membership.agreement.run_hash(), membership.number as u32);
    let another = contents.runs().iter().any(|run| run.agreement == agreement && run.member != number);
    another || contents.history().is_empty()
}

fn same_file(one: &Path, other: &Path) -> bool {
    let resolved = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    resolved(one) == resolved(other)
}

/// Refuses an agreement that continues another and took less for released than the ledger has of that run: its ε
/// would be wrong.
fn assumed_enough(membership: &Membership, ledger: Option<&LedgerFile>) -> Result<(), NodeError> {
    let Some(old) = membership.agreement.terms().continues else { return Ok(()) };
    let runs = ledger.map_or(&[][..], |ledger| ledger.contents().runs());
    let found =
        runs.iter().filter(|run| run.agreement == old).map(|run| run.charges.len() as u64).sum::<u64>();
    let assumed = membership.planned.recipe.earlier.len();
    match assumed < found {
        true => Err(NodeError::AssumedLess { assumed, found }),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ledger_stands_beside_the_data() {
        let at = |data: &str| LedgerOptions::default().place(Path::new(data));
        assert_eq!(at("own.csv"), Path::new("own.csv.ledger"));
        assert_eq!(at("images/"), Path::new("images.ledger"));
        assert_eq!(at("a/my images//"), Path::new("a/my images.ledger"));
        let here = std::env::current_dir().unwrap();
        assert_eq!(at("."), PathBuf::from(format!("{}.ledger", here.display())));
        let named = LedgerOptions { file: Some("other".into()), ..LedgerOptions::default() };
        assert_eq!(named.place(Path::new("own.csv")), Path::new("other"));
    }
}
