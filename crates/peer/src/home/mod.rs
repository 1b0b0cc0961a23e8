//! One run's folder at one node: its state, and the payloads that its neighbours may still need.
//!
//! Files are written in place, in turns (`state.0`, `state.1`; `outgoing.0` … `outgoing.3`, or as many as rounds have more
//! exchanges): a crash can only spoil the
//! one that was being written, whose predecessor is still there. Each record knows the run, the agreement, the member
//! and how long the ledger was, so that a folder or a ledger that was restored from an old copy is noticed:
//!
//! | what is found | what it means |
//! |---|---|
//! | the ledger is shorter than a record says, or has another hash there | the ledger was rolled back, cut or forked: refused |
//! | the ledger has a release that the folder does not | the folder was rolled back or damaged: refused |
//! | a charge without a release in both | a crash in between: nothing had left |
//! | a kept release that the ledger does not have | a crash in between: the ledger is completed |
//! | a damaged state | the one before it is used, and the answers kept since |
//!
//! Where noise is in pairs, `shares.0` or `shares.1` holds the keys of the next answer's shares; `shares.rs` says how long.

mod check;
mod record;
mod shares;
#[cfg(test)]
mod tests;

use crate::disk::{Disk, DiskError};
use crate::ledger::{LedgerFile, LedgerFileError, lock};
use crate::wire::{Hash, Mark};
use check::file;
use prdo_privacy::ShareKeys;
use record::{Header, RecordKind};
pub use shares::FILES as SHARES;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// How many payloads are kept at least: those of two rounds of at most two exchanges each.
pub const KEPT: u64 = 4;
const STATES: u64 = 2;

/// A node's state before a round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateRecord {
    /// The round that comes next.
    pub round: u32,
    /// `Released::save` of each vector, one after the other.
    pub vectors: Vec<u8>,
    /// The last exchange of each neighbour that has been mixed in.
    pub received: Vec<(u32, Mark)>,
}

/// What goes to all neighbours in one exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// The exchange, counted through all rounds.
    pub exchange: u64,
    /// `Released::save` of the gate's answer: with the first exchange of a round, and only there.
    pub answer: Option<Vec<u8>>,
    pub payload: Arc<[u8]>,
}

/// What a folder held when it was opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Saved {
    /// The newest state that is whole; `None` before the first.
    pub state: Option<StateRecord>,
    /// The payloads that are whole, ascending.
    pub outgoing: Vec<Outgoing>,
    /// Files that are not whole, for the log: a crash while one was written does that.
    pub damaged: Vec<String>,
}

/// The folder of one run at one node.
pub struct Home {
    disk: Box<dyn Disk>,
    run: Hash,
    agreement: Hash,
    member: u32,
    ledger: Arc<Mutex<LedgerFile>>,
    /// How many payloads are kept.
    kept: u64,
    /// Sequence number and round of the last state.
    state: Option<(u64, u32)>,
    /// The last outgoing payloads, ascending.
    outgoing: VecDeque<Mark>,
    /// The keys of the next answer's shares, where noise is in pairs.
    shares: Option<ShareKeys>,
    broken: Option<DiskError>,
}

/// A folder that cannot be used, or something that must not be kept. Nothing may be sent then.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum HomeError {
    #[error(transparent)]
    Disk(#[from] DiskError),
    #[error(transparent)]
    Ledger(#[from] LedgerFileError),
    #[error(
        "{file} belongs to another {what} (found {found}, this is {ours}): name the folder of this run, \
         or an empty one for a run that has not started"
    )]
    Foreign { file: String, what: &'static str, found: String, ours: String },
    #[error("{file} holds {found}, which belongs in another file: files of this folder were moved or copied")]
    Misplaced { file: String, found: String },
    #[error(
        "the ledger was rolled back, cut or forked: {file} was written when it had {lines} lines ending in {hash}, and \
         {now}. Restore the latest ledger; if it is lost, what these records have been charged for is no longer known, \
         and their budget must be taken as spent"
    )]
    LedgerBack { file: String, lines: u64, hash: String, now: String },
    #[error(
        "it holds nothing of this run, but the ledger has charges of {rounds} rounds of it: is it the right folder? Name \
         the one that the run started in. If that is lost, the run cannot resume: a round must not be released twice"
    )]
    Empty { rounds: usize },
    #[error(
        "this run's folder was rolled back or damaged: {what}. Releasing that round again would give two \
         releases for one charge, so the run cannot resume from here. Restore the latest folder, or start \
         a new run with the same ledger"
    )]
    HomeBack { what: String },
    #[error(
        "the keys of this run's shares cannot be used: {what}. The run cannot resume without them, and must not resume with others"
    )]
    ShareKeys { what: String },
    #[error("{0}")]
    Order(String),
    #[error("a payload of exchange {exchange} is kept already and this is another one: it must not be sent")]
    Conflict { exchange: u64 },
    #[error("this run's folder is no longer used: a write to it failed ({0}). Rerun the command to resume")]
    Broken(DiskError),
    #[error("the thread that writes this run's folder has died: rerun the command to resume")]
    Lost,
}

struct Found<T> {
    file: String,
    header: Header,
    value: T,
}

impl Home {
    /// Opens the folder of a run that is in the ledger, and sees that the two fit together. If the last release
    /// is kept and the ledger does not say so yet, it does afterwards. So many payloads are kept
    /// ([`Place::kept_payloads`](crate::machine::Place::kept_payloads)), or [`KEPT`] if those are more: the same in all the run.
    pub fn open(
        disk: Box<dyn Disk>,
        run: Hash,
        agreement: Hash,
        member: u32,
        ledger: Arc<Mutex<LedgerFile>>,
        payloads: usize,
    ) -> Result<(Self, Saved), HomeError> {
        let (state, outgoing, shares, broken) = (None, VecDeque::new(), None, None);
        let kept = KEPT.max(payloads as u64);
        let mut home = Self { disk, run, agreement, member, ledger, kept, state, outgoing, shares, broken };
        let mut damaged = Vec::new();
        let mut states = Vec::new();
        for slot in 0..STATES {
            states.extend(home.find(RecordKind::State, slot, STATES, check::state, &mut damaged)?);
        }
        let mut outgoing = Vec::new();
        for slot in 0..kept {
            outgoing.extend(home.find(RecordKind::Outgoing, slot, kept, check::payload, &mut damaged)?);
        }
        outgoing.sort_by_key(|found| found.header.sequence);
        // What a killed process left may be in the machine's memory only: it is about to be relied upon.
        for found in &states {
            home.make_durable(&file(RecordKind::State, found.header.sequence % STATES))?;
        }
        for found in &outgoing {
            home.make_durable(&file(RecordKind::Outgoing, found.header.sequence % kept))?;
        }
        let state = states.into_iter().max_by_key(|found| found.header.sequence);
        home.check(state.as_ref(), &outgoing, &damaged)?;
        home.recover_shares(&mut damaged)?;

        home.state = state.as_ref().map(|found| (found.header.sequence, found.header.round));
        home.outgoing = outgoing.iter().map(|found| found.header.mark()).collect();
        let outgoing = outgoing.into_iter().map(|found| found.value).collect();
        Ok((home, Saved { state: state.map(|found| found.value), outgoing, damaged }))
    }

    /// Writes the state durably. It must be done before a payload of the state's round is made.
    pub fn keep_state(&mut self, state: &StateRecord) -> Result<(), HomeError> {
        let (head, reached) = {
            let ledger = lock(&self.ledger);
            (ledger.head(), ledger.check_run(&self.run, &self.agreement, self.member)?.sent.len() as u32)
        };
        let least = self.state.map_or(0, |(_, round)| round);
        if state.round < least || state.round > reached {
            let what = format!("a state before round {} is out of turn", state.round);
            return Err(HomeError::Order(format!("{what}: {least} to {reached} are allowed")));
        }
        let sequence = self.state.map_or(Some(0), |(sequence, _)| sequence.checked_add(1));
        let full = || HomeError::Order(format!("no state can be kept after number {}", u64::MAX));
        let sequence = sequence.ok_or_else(full)?;
        let mut marks = Vec::with_capacity(44 * state.received.len());
        for (peer, mark) in &state.received {
            marks.extend(peer.to_le_bytes());
            marks.extend(mark.exchange.to_le_bytes());
            marks.extend(mark.hash);
        }
        let parts = [&state.vectors[..], &marks];
        let header = self.header(RecordKind::State, sequence, state.round, head, parts);
        self.write(&file(RecordKind::State, sequence % STATES), &header, parts)?;
        self.state = Some((sequence, state.round));
        Ok(())
    }

    /// Writes a payload durably, then (with an answer) the ledger's line that it may go out, and then the keys of the next
    /// round's shares in the place of this one's. Keeping a payload again that is kept does nothing.
    pub fn keep_outgoing(&mut self, outgoing: &Outgoing) -> Result<(), HomeError> {
        let exchange = outgoing.exchange;
        let next = self.outgoing.back().map_or(0, |last| last.exchange.saturating_add(1));
        let parts = [outgoing.answer.as_deref().unwrap_or_default(), &outgoing.payload];
        if let Some(kept) = self.outgoing.iter().find(|kept| kept.exchange == exchange) {
            let same = kept.hash == *blake3::hash(&outgoing.payload).as_bytes();
            return if same { Ok(()) } else { Err(HomeError::Conflict { exchange }) };
        }
        let (head, charged, sent) = {
            let ledger = lock(&self.ledger);
            let run = ledger.check_run(&self.run, &self.agreement, self.member)?;
            (ledger.head(), run.charges.len(), run.sent.len())
        };
        if exchange != next {
            return Err(HomeError::Order(format!("exchange {exchange} is out of turn: {next} comes next")));
        }
        let waiting = charged > sent;
        if waiting && sent > 0 && outgoing.answer.is_none() {
            let what =
                format!("exchange {exchange} is not in it, though round {sent} was charged after that");
            return Err(HomeError::HomeBack { what });
        }
        if charged == 0 || outgoing.answer.is_some() != waiting {
            let what = if waiting { "the answer that was charged is not" } else { "no answer was charged" };
            return Err(HomeError::Order(format!("exchange {exchange} cannot be kept: {what} with it")));
        }
        let mut header = self.header(RecordKind::Outgoing, exchange, charged as u32 - 1, head, parts);
        header.has_answer = outgoing.answer.is_some();
        self.write(&file(RecordKind::Outgoing, exchange % self.kept), &header, parts)?;
        if header.has_answer {
            lock(&self.ledger).sent(&self.run, &header.mark())?;
            self.advance_shares(u64::from(header.round) + 1)?;
        }
        self.outgoing.push_back(header.mark());
        let excess = self.outgoing.len().saturating_sub(self.kept as usize);
        self.outgoing.drain(..excess);
        Ok(())
    }

    fn make_durable(&mut self, file: &str) -> Result<(), HomeError> {
        let length = self.disk.read(file)?.map_or(0, |bytes| bytes.len() as u64);
        Ok(self.disk.truncate(file, length)?)
    }

    fn header(
        &self,
        kind: RecordKind,
        sequence: u64,
        round: u32,
        ledger: (u64, Hash),
        parts: [&[u8]; 2],
    ) -> Header {
        Header {
            kind,
            has_answer: false,
            member: self.member,
            run: self.run,
            agreement: self.agreement,
            sequence,
            ledger,
            round,
            lengths: parts.map(|part| part.len() as u64),
            hashes: parts.map(|part| *blake3::hash(part).as_bytes()),
        }
    }

    fn write(&mut self, file: &str, header: &Header, [first, second]: [&[u8]; 2]) -> Result<(), HomeError> {
        if let Some(error) = &self.broken {
            return Err(HomeError::Broken(error.clone()));
        }
        let written = self.disk.overwrite(file, &[&header.encode(), first, second, &header.seal()]);
        written.map_err(|error| {
            self.broken = Some(error.clone());
            HomeError::Disk(error)
        })
    }
}
