//! What a ledger file says, all lines together. Pure: bytes in, facts or an explanation out.

use super::line::{self, Entry, Hex};
use crate::wire::{Hash, Mark, hex};
use prdo_accounting::{Event, History, Target};

pub const VERSION: u32 = 1;
/// The longest name of a run, in bytes.
const LONGEST_NAME: usize = 800;

/// Everything that a ledger's lines say. Reading a file and adding to one go through the same checks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contents {
    opened: Option<Opened>,
    runs: Vec<Run>,
    /// The hash of each line.
    hashes: Vec<Hash>,
    /// Bytes of the whole lines.
    length: u64,
    /// Bytes after them: a line that was not finished.
    torn: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Opened {
    records: Hash,
    budget: Target,
}

/// One run as the ledger knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    pub id: Hash,
    pub agreement: Hash,
    pub member: u32,
    pub name: String,
    /// Against how many members together its charges hold; `None` where noise is independent: any number.
    pub colluders: Option<u32>,
    /// What each round, from 0 on, was charged.
    pub charges: Vec<Event>,
    /// The exchange with which each round's release went out, and the hash of its payload: as many as there are
    /// charges, or one less.
    pub sent: Vec<Mark>,
    pub ended: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// Its number, from 1.
    pub line: u64,
    pub what: String,
}

impl Contents {
    /// Reads a whole file. Bytes after the last newline are a line that a crash cut off while it was written; they are
    /// counted in [`Contents::torn`] and otherwise ignored: what they would have paid for was never released, or a
    /// node's folder knows of a longer ledger.
    pub fn parse(bytes: &[u8]) -> Result<Self, BadLine> {
        let mut contents = Self::default();
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let Some(whole) = line.strip_suffix(b"\n") else {
                // A file that is no ledger at all is not a torn one, and is not overwritten.
                if contents.is_empty() && !line::may_begin(line) {
                    return Err(BadLine { line: 1, what: "the file is not a ledger".into() });
                }
                contents.torn = line.len() as u64;
                break;
            };
            let bad = |what| BadLine { line: contents.lines() + 1, what };
            let (entry, hash) = line::decode(&contents.head().1, whole).map_err(bad)?;
            contents.check(&entry).map_err(bad)?;
            contents.apply(entry, hash, line.len());
        }
        Ok(contents)
    }

    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    pub fn lines(&self) -> u64 {
        self.hashes.len() as u64
    }

    /// How many lines, and the hash of the last one, which stands for all of them.
    pub fn head(&self) -> (u64, Hash) {
        (self.lines(), self.hashes.last().copied().unwrap_or_else(line::seed))
    }

    /// Whether the ledger once had this head: as many lines, the last of which has this hash.
    pub fn had(&self, (lines, hash): (u64, Hash)) -> bool {
        let last = usize::try_from(lines).ok().and_then(|lines| lines.checked_sub(1));
        last.map_or(lines == 0, |last| self.hashes.get(last) == Some(&hash))
    }

    /// Bytes of the whole lines.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Bytes of an unfinished last line.
    pub fn torn(&self) -> u64 {
        self.torn
    }

    pub(super) fn forget_torn(&mut self) {
        self.torn = 0;
    }

    /// Digest of the records; `None` in an empty ledger.
    pub fn records(&self) -> Option<Hash> {
        self.opened.map(|opened| opened.records)
    }

    /// The budget for all runs; `None` in an empty ledger.
    pub fn budget(&self) -> Option<Target> {
        self.opened.map(|opened| opened.budget)
    }

    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    pub fn run(&self, id: &Hash) -> Option<&Run> {
        self.runs.iter().find(|run| run.id == *id)
    }

    /// Everything that was ever charged to these records.
    pub fn history(&self) -> History {
        self.history_before(&[0; 32], u32::MAX)
    }

    /// Against how many members together everything that was charged holds; `None`: any number.
    pub fn colluders(&self) -> Option<u32> {
        let charged = self.runs.iter().filter(|run| !run.charges.is_empty());
        charged.filter_map(|run| run.colluders).min()
    }

    /// Everything that was ever charged, but of this run only what its rounds before `round` were.
    pub fn history_before(&self, id: &Hash, round: u32) -> History {
        let mut history = History::new();
        for run in &self.runs {
            let rounds = if run.id == *id { round as usize } else { usize::MAX };
            run.charges.iter().take(rounds).for_each(|event| history.add(*event, 1));
        }
        history
    }

    pub(super) fn check(&self, entry: &Entry) -> Result<(), String> {
        match (entry, self.budget()) {
            (Entry::Open { version, epsilon, delta, .. }, None) => {
                if *version != VERSION {
                    return Err(format!(
                        "format version {version} is not known; this program knows {VERSION}"
                    ));
                }
                target(*epsilon, *delta).map(|_| ())
            }
            (_, None) => Err("a ledger begins with an \"open\" line".into()),
            (Entry::Open { .. }, Some(_)) => Err("a second \"open\" line".into()),
            (Entry::Budget { epsilon, delta }, Some(old)) => check_raise(&old, &target(*epsilon, *delta)?),
            (Entry::Run { run, name, .. }, _) => self.check_run(&run.0, name),
            (Entry::Charge { run, round, rate, noise }, _) => {
                let event = Event::sampled_gaussian(*rate, *noise).map_err(|error| error.to_string())?;
                self.check_charge(&run.0, *round, &event)
            }
            (Entry::Sent { run, round, exchange, .. }, _) => self.check_sent(&run.0, *round, *exchange),
            (Entry::End { run, rounds }, _) => {
                let run = self.going_on(&run.0)?;
                let (charged, sent) = (run.charges.len(), run.sent.len());
                if charged != *rounds as usize || sent != charged {
                    return Err(format!(
                        "a run of {rounds} rounds ends with {charged} charged and {sent} kept"
                    ));
                }
                Ok(())
            }
        }
    }

    fn going_on(&self, id: &Hash) -> Result<&Run, String> {
        let run = self.run(id).ok_or_else(|| format!("run {} did not begin", hex(id)))?;
        if run.ended { Err(format!("run {} ({}) is over", run.name, hex(id))) } else { Ok(run) }
    }

    fn check_run(&self, id: &Hash, name: &str) -> Result<(), String> {
        if let Some(run) = self.run(id) {
            return Err(format!("run {} ({}) began before", run.name, hex(id)));
        }
        if name.len() > LONGEST_NAME {
            return Err(format!("a name of {} bytes; at most {LONGEST_NAME} are allowed", name.len()));
        }
        Ok(())
    }

    fn check_charge(&self, id: &Hash, round: u32, event: &Event) -> Result<(), String> {
        let run = self.going_on(id)?;
        let (charged, sent) = (run.charges.len(), run.sent.len());
        if !event.is_private() {
            return Err("a release without noise".into());
        }
        if round as usize != charged {
            return Err(format!("a charge of round {round} when {charged} rounds have been charged"));
        }
        if sent != charged {
            return Err(format!("a charge of round {round} before the release of the round before was kept"));
        }
        Ok(())
    }

    fn check_sent(&self, id: &Hash, round: u32, exchange: u64) -> Result<(), String> {
        let run = self.going_on(id)?;
        let (charged, sent) = (run.charges.len(), run.sent.len());
        if round as usize != sent || sent >= charged {
            return Err(format!(
                "a release of round {round} when {charged} rounds were charged and {sent} released"
            ));
        }
        match run.sent.last() {
            Some(last) if exchange <= last.exchange => {
                Err(format!("exchange {exchange} cannot come after exchange {}", last.exchange))
            }
            _ => Ok(()),
        }
    }

    /// Takes in an entry that was checked and whose line is `bytes` long.
    pub(super) fn apply(&mut self, entry: Entry, hash: Hash, bytes: usize) {
        self.hashes.push(hash);
        self.length += bytes as u64;
        let run = |runs: &mut Vec<Run>, id: &Hex, change: &mut dyn FnMut(&mut Run)| {
            runs.iter_mut().filter(|run| run.id == id.0).for_each(change);
        };
        match entry {
            Entry::Open { records, epsilon, delta, .. } => {
                self.opened =
                    Target::new(epsilon, delta).ok().map(|b| Opened { records: records.0, budget: b });
            }
            Entry::Budget { epsilon, delta } => {
                if let (Some(opened), Ok(budget)) = (&mut self.opened, Target::new(epsilon, delta)) {
                    opened.budget = budget;
                }
            }
            Entry::Run { run, agreement, member, name, colluders } => {
                let (charges, sent) = (Vec::new(), Vec::new());
                let (id, agreement) = (run.0, agreement.0);
                let ended = false;
                self.runs.push(Run { id, agreement, member, name, colluders, charges, sent, ended });
            }
            Entry::Charge { run: id, rate, noise, .. } => {
                run(&mut self.runs, &id, &mut |run| run.charges.extend(Event::sampled_gaussian(rate, noise)));
            }
            Entry::Sent { run: id, exchange, payload, .. } => {
                run(&mut self.runs, &id, &mut |run| run.sent.push(Mark { exchange, hash: payload.0 }));
            }
            Entry::End { run: id, .. } => run(&mut self.runs, &id, &mut |run| run.ended = true),
        }
    }
}

fn target(epsilon: f64, delta: f64) -> Result<Target, String> {
    Target::new(epsilon, delta).map_err(|error| error.to_string())
}

/// A budget only goes up: what was promised when less was allowed stays true.
fn check_raise(old: &Target, new: &Target) -> Result<(), String> {
    let (from, to) = ((old.epsilon(), old.delta()), (new.epsilon(), new.delta()));
    match to.0 >= from.0 && to.1 >= from.1 && to != from {
        true => Ok(()),
        false => Err(format!(
            "a budget of ε = {} at δ = {:e} does not raise ε = {} at δ = {:e}",
            to.0, to.1, from.0, from.1
        )),
    }
}
