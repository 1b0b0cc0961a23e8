//! The keys of a node's shares, kept as long as they can be needed and no longer.
//!
//! Two files take turns, and the one that is not in use holds zeros. Whenever a round's message is durable, the keys of the next
//! round are written, then those of this one are overwritten; only then may a byte of the message leave:
//!
//! | keys on disk | message of round r | what it means |
//! |---|---|---|
//! | of r | not kept | nothing of round r has left: its shares may be drawn again, with new noise |
//! | of r | kept | a crash in between: the keys are moved on before anything is sent again |
//! | of r + 1 | kept | what may have left has shares that nobody can draw again |
//!
//! # Guarantee
//! When a message is sent, no file of this folder holds keys from which its shares could be drawn. A file system that keeps
//! old copies, and a backup, may still have them.

use super::check::file;
use super::record::{Header, RecordKind};
use super::{Found, Home, HomeError};
use crate::ledger::lock;
use prdo_privacy::ShareKeys;
use zeroize::Zeroizing;

/// The files that take turns.
pub const FILES: [&str; 2] = ["shares.0", "shares.1"];
const SLOTS: u64 = FILES.len() as u64;

impl Home {
    /// The keys of the next answer's shares, where noise is in pairs and the run has begun.
    pub fn share_keys(&self) -> Option<&ShareKeys> {
        self.shares.as_ref()
    }

    /// Keeps the keys of a run's first round, durably. They are kept once.
    pub fn begin_shares(&mut self, keys: ShareKeys) -> Result<(), HomeError> {
        let charged = {
            let ledger = lock(&self.ledger);
            ledger.check_run(&self.run, &self.agreement, self.member)?.charges.len()
        };
        if charged > 0 || keys.round() > 0 || self.shares.is_some() {
            return Err(HomeError::Order("share keys are kept once, before the first round".into()));
        }
        self.write_shares(&keys)?;
        self.shares = Some(keys);
        Ok(())
    }

    /// Moves the keys on to `round` and overwrites those before it, durably.
    pub(super) fn advance_shares(&mut self, round: u64) -> Result<(), HomeError> {
        let Some(mut keys) = self.shares.take() else { return Ok(()) };
        keys.advance_to(round).map_err(|error| HomeError::ShareKeys { what: error.to_string() })?;
        self.write_shares(&keys)?;
        self.erase(round + 1)?;
        self.shares = Some(keys);
        Ok(())
    }

    /// Reads the kept keys and sees that they are those of the next answer.
    pub(super) fn recover_shares(&mut self, damaged: &mut Vec<String>) -> Result<(), HomeError> {
        let sent = {
            let ledger = lock(&self.ledger);
            ledger.check_run(&self.run, &self.agreement, self.member)?.sent.len() as u64
        };
        let mut kept: Vec<Found<ShareKeys>> = Vec::new();
        for slot in 0..SLOTS {
            if self.is_written(slot)? {
                kept.extend(self.find(RecordKind::Shares, slot, SLOTS, keys, damaged)?);
            }
        }
        let Some(newest) = kept.into_iter().max_by_key(|found| found.header.sequence) else { return Ok(()) };
        let at = newest.header.sequence;
        // Those of the round before are there when a crash came between the message and the keys.
        if at > sent || at + 1 < sent {
            let what = format!("its share keys are those of round {at}, and {sent} rounds were released");
            return Err(HomeError::HomeBack { what });
        }
        self.shares = Some(newest.value);
        if at < sent {
            return self.advance_shares(sent);
        }
        // What a killed process left may be in the machine's memory only.
        self.make_durable(&file(RecordKind::Shares, at % SLOTS))?;
        self.erase(at + 1)
    }

    fn write_shares(&mut self, keys: &ShareKeys) -> Result<(), HomeError> {
        let (bytes, round) = (keys.save(), keys.round());
        let head = lock(&self.ledger).head();
        let number = u32::try_from(round).unwrap_or(u32::MAX);
        let parts = [&bytes[..], &[]];
        let header = self.header(RecordKind::Shares, round, number, head, parts);
        self.write(&file(RecordKind::Shares, round % SLOTS), &header, parts)
    }

    /// Whether a file holds something else than zeros.
    fn is_written(&self, slot: u64) -> Result<bool, HomeError> {
        let bytes = self.disk.read(&file(RecordKind::Shares, slot))?.map(Zeroizing::new);
        Ok(bytes.is_some_and(|bytes| bytes.iter().any(|byte| *byte != 0)))
    }

    /// Overwrites the file whose turn a round is with zeros, in place.
    fn erase(&mut self, round: u64) -> Result<(), HomeError> {
        let slot = round % SLOTS;
        if !self.is_written(slot)? {
            return Ok(());
        }
        let name = file(RecordKind::Shares, slot);
        let length = self.disk.read(&name)?.map_or(0, |bytes| Zeroizing::new(bytes).len());
        let erased = self.disk.overwrite(&name, &[&vec![0; length]]);
        erased.map_err(|error| {
            self.broken = Some(error.clone());
            HomeError::Disk(error)
        })
    }
}

fn keys(header: &Header, [keys, _]: [&[u8]; 2]) -> Option<ShareKeys> {
    ShareKeys::load(header.sequence, keys)
}
