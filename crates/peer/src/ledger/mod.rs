//! The ledger file: everything that was ever charged to one set of records, in all runs on them.
//!
//! Text, one line a fact ([`line`](mod@line)), append-only and hash-chained; [`contents`] says what may follow what. A charge is
//! a durable line before its noise is drawn; that its release is kept, and the hash of the payload it goes out with,
//! is another before its first byte is sent. So after a crash the last lines tell which of the two has happened:
//!
//! | last lines of a run | what it means | what follows |
//! |---|---|---|
//! | `charge` r | nothing of round r has left | the gate answers anew, the charge is confirmed, not repeated |
//! | `charge` r, `sent` r | the release of round r may have left | the kept bytes are sent again, the gate is not asked |
//!
//! # Guarantee
//! As long as the file is the one that was written (a node's folder and its neighbours notice if it is not), every
//! release has a line, and no round is released twice.

pub mod contents;
pub mod line;
#[cfg(test)]
mod tests;

use crate::disk::{Disk, DiskError};
use crate::wire::{Hash, Mark, hex};
use contents::{BadLine, Contents, Run};
use line::{Entry, Hex};
use prdo_accounting::{Event, History, Target};
use prdo_privacy::{Book, BookError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A ledger file that is open for adding to.
pub struct LedgerFile {
    disk: Box<dyn Disk>,
    name: String,
    contents: Contents,
    /// The budget asked for, which may be smaller than the file's.
    budget: Target,
    /// The run and round that this process charged or confirmed last: not to be confirmed again.
    asked: Option<(Hash, u32)>,
    /// A write has failed: what the file holds is only known after it was read again.
    broken: Option<DiskError>,
}

/// A ledger file that cannot be used as asked. Nothing was charged and nothing may be released.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LedgerFileError {
    #[error(transparent)]
    Disk(#[from] DiskError),
    #[error(
        "ledger {file}, line {line}: {what}. Nothing is released from a ledger that cannot be trusted: restore the \
         file (its latest copy, never an older one), or treat the budget of these records as spent"
    )]
    Damaged { file: String, line: u64, what: String },
    #[error(
        "ledger {file} belongs to records with the digest {found}; these have {expected}: \
         name the ledger of these records, or the records of this ledger. If records were added, removed or corrected since: train \
         on the file as it was, or start a ledger for the new set with --ledger NEW.ledger; what both ledgers say counts together"
    )]
    Records { file: String, found: String, expected: String },
    #[error(
        "a budget of ε = {epsilon} at δ = {delta:e} is not allowed by ledger {file}, which allows ε = {allowed} at \
         δ = {allowed_delta:e} for everything ever released about these records: ask for at most that at the same δ, \
         or raise the ledger's budget first"
    )]
    Budget { file: String, epsilon: f64, delta: f64, allowed: f64, allowed_delta: f64 },
    #[error("ledger {file}: {what}")]
    NotNow { file: String, what: String },
    #[error("ledger {file}: run {run} {what}")]
    Run { file: String, run: String, what: String },
    #[error("ledger {file} is no longer used: a write to it failed ({error}). Rerun the command to resume")]
    Broken { file: String, error: DiskError },
}

/// Where a gate resumes after a restart.
#[derive(Clone, Debug, PartialEq)]
pub struct Resume {
    /// Rounds whose releases are kept: the next one that the gate may be asked.
    pub rounds: u32,
    /// What the gate's ledger begins with: all runs' charges, but not the one (if any) that the gate's next answer will
    /// find in the file and confirm.
    pub history: History,
}

impl LedgerFile {
    /// Opens the ledger of the records with this digest, or begins it. `budget` may be smaller than what the file
    /// allows, not larger.
    ///
    /// A last line that a crash cut off is dropped, when the next line is written.
    pub fn open(
        disk: Box<dyn Disk>,
        name: &str,
        digest: &Hash,
        budget: Target,
    ) -> Result<Self, LedgerFileError> {
        let contents = Self::read(&*disk, name)?;
        let mut ledger = Self { disk, name: name.into(), contents, budget, asked: None, broken: None };
        let (epsilon, delta) = (budget.epsilon(), budget.delta());
        if ledger.contents.is_empty() {
            let version = contents::VERSION;
            ledger.add(Entry::Open { version, records: Hex(*digest), epsilon, delta })?;
        }
        ledger.check_records(digest)?;
        let allowed = ledger.contents.budget().unwrap_or(budget);
        if epsilon > allowed.epsilon() || delta != allowed.delta() {
            let (file, allowed_delta, allowed) = (ledger.shown(), allowed.delta(), allowed.epsilon());
            return Err(LedgerFileError::Budget { file, epsilon, delta, allowed, allowed_delta });
        }
        Ok(ledger)
    }

    /// Opens a ledger that is there already, with the budget that it has; `None` if there is none.
    pub fn existing(disk: Box<dyn Disk>, name: &str, digest: &Hash) -> Result<Option<Self>, LedgerFileError> {
        let contents = Self::read(&*disk, name)?;
        let Some(budget) = contents.budget() else { return Ok(None) };
        let ledger = Self { disk, name: name.into(), contents, budget, asked: None, broken: None };
        ledger.check_records(digest)?;
        Ok(Some(ledger))
    }

    /// What the file says, without changing anything; empty if there is no file.
    pub fn read(disk: &dyn Disk, name: &str) -> Result<Contents, LedgerFileError> {
        let bytes = disk.read(name)?.unwrap_or_default();
        let damaged =
            |BadLine { line, what }| LedgerFileError::Damaged { file: disk.shown(name), line, what };
        Contents::parse(&bytes).map_err(damaged)
    }

    pub fn contents(&self) -> &Contents {
        &self.contents
    }

    /// The hard budget for everything ever released about these records: what was asked for when the file was opened.
    pub fn budget(&self) -> Target {
        self.budget
    }

    pub fn head(&self) -> (u64, Hash) {
        self.contents.head()
    }

    /// Where the gate of a run resumes. To be asked after [`Home::open`](crate::home::Home::open), which may complete
    /// the ledger's last line but one.
    pub fn resume(&self, run: &Hash) -> Result<Resume, LedgerFileError> {
        let known = self.contents.run(run).ok_or_else(|| self.unknown(run))?;
        let rounds = known.sent.len() as u32;
        Ok(Resume { rounds, history: self.contents.history_before(run, rounds) })
    }

    /// Enters that a run with independent noise begins. A run that began before must have the same agreement and member number;
    /// nothing is written then.
    pub fn begin_run(
        &mut self,
        run: &Hash,
        agreement: &Hash,
        member: u32,
        name: &str,
    ) -> Result<(), LedgerFileError> {
        self.begin_run_against(None, run, agreement, member, name)
    }

    /// The same of a run whose charges hold against so many members together, where noise is in pairs.
    pub fn begin_run_against(
        &mut self,
        colluders: Option<u32>,
        run: &Hash,
        agreement: &Hash,
        member: u32,
        name: &str,
    ) -> Result<(), LedgerFileError> {
        if self.contents.run(run).is_some() {
            return self.check_run(run, agreement, member).map(|_| ());
        }
        let (run, agreement, name) = (Hex(*run), Hex(*agreement), name.into());
        self.add(Entry::Run { run, agreement, member, name, colluders })
    }

    /// Enters that a run is over. Nothing is written if it was before.
    pub fn end_run(&mut self, run: &Hash, rounds: u32) -> Result<(), LedgerFileError> {
        match self.contents.run(run) {
            Some(known) if known.ended && known.charges.len() == rounds as usize => Ok(()),
            _ => self.add(Entry::End { run: Hex(*run), rounds }),
        }
    }

    /// Raises the budget, by the owner's explicit wish.
    pub fn raise_budget(&mut self, budget: Target) -> Result<(), LedgerFileError> {
        self.add(Entry::Budget { epsilon: budget.epsilon(), delta: budget.delta() })?;
        self.budget = budget;
        Ok(())
    }

    /// The book in which a gate's charges of one run are entered.
    pub fn book(
        ledger: &Arc<Mutex<Self>>,
        run: &Hash,
        agreement: &Hash,
        member: u32,
    ) -> Result<RunBook, LedgerFileError> {
        lock(ledger).check_run(run, agreement, member)?;
        Ok(RunBook { ledger: Arc::clone(ledger), run: *run })
    }

    /// Enters a charge, or confirms the one that is there and whose release was never kept.
    fn charge(&mut self, run: &Hash, round: u32, event: &Event) -> Result<(), LedgerFileError> {
        let known = self.contents.run(run).ok_or_else(|| self.unknown(run))?;
        let waiting = known.charges.get(known.sent.len()).filter(|_| known.sent.len() == round as usize);
        match waiting {
            Some(_) if self.asked == Some((*run, round)) => {
                Err(self.not_now(format!("round {round} was charged a moment ago, and is not answered twice")))
            }
            Some(charged) if charged != event => Err(self.not_now(format!(
                "round {round} was charged at rate {} with noise {}; it is now to be released at rate {} with noise {}",
                charged.rate(),
                charged.noise_multiplier(),
                event.rate(),
                event.noise_multiplier()
            ))),
            Some(_) => {
                // The process that wrote it may have ended before it was durable.
                self.write(|disk, name, length| disk.truncate(name, length))?;
                self.asked = Some((*run, round));
                Ok(())
            }
            None => {
                let (rate, noise) = (event.rate(), event.noise_multiplier());
                self.add(Entry::Charge { run: Hex(*run), round, rate, noise })?;
                self.asked = Some((*run, round));
                Ok(())
            }
        }
    }

    /// Enters that the release of the last charge is kept and may go out with this payload.
    pub(crate) fn sent(&mut self, run: &Hash, mark: &Mark) -> Result<(), LedgerFileError> {
        let round = self.contents.run(run).map_or(0, |run| run.sent.len() as u32);
        let (exchange, payload) = (mark.exchange, Hex(mark.hash));
        self.add(Entry::Sent { run: Hex(*run), round, exchange, payload })
    }

    /// The run, if it began with this agreement and member number.
    pub(crate) fn check_run(
        &self,
        run: &Hash,
        agreement: &Hash,
        member: u32,
    ) -> Result<&Run, LedgerFileError> {
        let known = self.contents.run(run).ok_or_else(|| self.unknown(run))?;
        if known.agreement != *agreement {
            let (found, ours) = (hex(&known.agreement), hex(agreement));
            let what = format!("started with the agreement {found}; the one given now is {ours}");
            return Err(self.of_run(run, what));
        }
        if known.member != member {
            let what = format!("started as member {}; it cannot resume as member {member}", known.member);
            return Err(self.of_run(run, what));
        }
        Ok(known)
    }

    /// Writes a line, durably, and takes it in.
    fn add(&mut self, entry: Entry) -> Result<(), LedgerFileError> {
        let checked = self.contents.check(&entry).and_then(|()| line::encode(&self.head().1, &entry));
        let (line, hash) = checked.map_err(|what| self.not_now(what))?;
        if self.contents.torn() > 0 {
            self.write(|disk, name, length| disk.truncate(name, length))?;
        }
        self.write(|disk, name, _| disk.append(name, line.as_bytes()))?;
        self.contents.apply(entry, hash, line.len());
        Ok(())
    }

    /// Writes to the file whose whole lines have so many bytes; after a failure never again.
    fn write(
        &mut self,
        write: impl FnOnce(&mut dyn Disk, &str, u64) -> Result<(), DiskError>,
    ) -> Result<(), LedgerFileError> {
        if let Some(error) = &self.broken {
            return Err(LedgerFileError::Broken { file: self.shown(), error: error.clone() });
        }
        let written = write(&mut *self.disk, &self.name, self.contents.length());
        self.broken = written.clone().err();
        // Either it was cut off just now, or there was none.
        self.contents.forget_torn();
        Ok(written?)
    }

    fn check_records(&self, digest: &Hash) -> Result<(), LedgerFileError> {
        match self.contents.records() {
            Some(found) if found != *digest => {
                let (file, found, expected) = (self.shown(), hex(&found), hex(digest));
                Err(LedgerFileError::Records { file, found, expected })
            }
            _ => Ok(()),
        }
    }

    fn shown(&self) -> String {
        self.disk.shown(&self.name)
    }

    fn not_now(&self, what: String) -> LedgerFileError {
        LedgerFileError::NotNow { file: self.shown(), what }
    }

    fn of_run(&self, run: &Hash, what: String) -> LedgerFileError {
        LedgerFileError::Run { file: self.shown(), run: hex(run), what }
    }

    fn unknown(&self, run: &Hash) -> LedgerFileError {
        self.of_run(run, "is not in this ledger".into())
    }
}

/// The charges of one run, kept in a ledger file.
pub struct RunBook {
    ledger: Arc<Mutex<LedgerFile>>,
    run: Hash,
}

impl Book for RunBook {
    fn enter(&mut self, round: u32, event: &Event) -> Result<(), BookError> {
        lock(&self.ledger).charge(&self.run, round, event).map_err(|error| BookError(error.to_string()))
    }
}

/// The ledger, even if a thread that held it panicked.
pub fn lock(ledger: &Mutex<LedgerFile>) -> MutexGuard<'_, LedgerFile> {
    ledger.lock().unwrap_or_else(PoisonError::into_inner)
}
