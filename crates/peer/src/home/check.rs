//! Reading a run's folder, and whether it fits the ledger.

use super::record::{self, Header, RecordKind, take};
use super::{Found, Home, HomeError, Outgoing, StateRecord};
use crate::ledger::lock;
use crate::wire::{Mark, hex};
use zeroize::Zeroizing;

impl Home {
    /// The record in a file, if there is a whole one; one that is whole and does not belong here is an error.
    pub(super) fn find<T>(
        &self,
        kind: RecordKind,
        slot: u64,
        slots: u64,
        read: fn(&Header, [&[u8]; 2]) -> Option<T>,
        damaged: &mut Vec<String>,
    ) -> Result<Option<Found<T>>, HomeError> {
        let name = file(kind, slot);
        // Among them are keys.
        let Some(bytes) = self.disk.read(&name)?.map(Zeroizing::new) else { return Ok(None) };
        let file = self.disk.shown(&name);
        let Some((header, parts)) = record::parse(&bytes) else {
            damaged.push(file);
            return Ok(None);
        };
        self.check_owner(&file, &header)?;
        if header.kind != kind || header.sequence % slots != slot {
            let found = format!("{:?} number {}", header.kind, header.sequence);
            return Err(HomeError::Misplaced { file, found });
        }
        Ok(read(&header, parts).map(|value| Found { file, header, value }))
    }

    fn check_owner(&self, file: &str, header: &Header) -> Result<(), HomeError> {
        let numbers = (header.member.to_string(), self.member.to_string());
        let fields = [
            ("run", hex(&header.run), hex(&self.run)),
            ("agreement", hex(&header.agreement), hex(&self.agreement)),
            ("member", numbers.0, numbers.1),
        ];
        match fields.into_iter().find(|(_, found, ours)| found != ours) {
            Some((what, found, ours)) => Err(HomeError::Foreign { file: file.into(), what, found, ours }),
            None => Ok(()),
        }
    }

    /// Whether folder and ledger fit together, and completes the ledger's last line if it was only just missing.
    pub(super) fn check(
        &mut self,
        state: Option<&Found<StateRecord>>,
        outgoing: &[Found<Outgoing>],
        damaged: &[String],
    ) -> Result<(), HomeError> {
        let mut ledger = lock(&self.ledger);
        let run = ledger.check_run(&self.run, &self.agreement, self.member)?;
        let records = state.map(|found| (&found.file, &found.header)).into_iter();
        for (file, header) in records.chain(outgoing.iter().map(|found| (&found.file, &found.header))) {
            if !ledger.contents().had(header.ledger) {
                let ((lines, hash), now) = (header.ledger, ledger.head());
                let now = match now.0 < lines {
                    true => format!("it has {} lines now", now.0),
                    false => format!("that line has another hash now (of {} lines)", now.0),
                };
                return Err(HomeError::LedgerBack { file: file.clone(), lines, hash: hex(&hash), now });
            }
        }
        let (charged, mut sent) = (run.charges.len(), run.sent.clone());
        if state.is_none() && outgoing.is_empty() && damaged.is_empty() && !sent.is_empty() {
            return Err(HomeError::Empty { rounds: charged });
        }
        // Kept, and the ledger's line was about to be written.
        let waiting = |header: &Header| header.has_answer && header.round as usize == sent.len();
        let missing = outgoing.iter().map(|found| &found.header).find(|header| waiting(header));
        let missing = missing.filter(|_| sent.len() < charged);
        sent.extend(missing.map(Header::mark));
        check_rounds(state.map_or(0, |found| found.header.round), charged, &sent, outgoing)?;
        if let Some(header) = missing {
            // The process that wrote the payload may have ended before it was durable.
            let name = file(RecordKind::Outgoing, header.sequence % self.kept);
            self.disk.truncate(&name, header.record_length())?;
            ledger.sent(&self.run, &header.mark())?;
        }
        Ok(())
    }
}

/// Whether every answer from the state's round on, and the last one in any case, is kept as the ledger says.
fn check_rounds(
    round: u32,
    charged: usize,
    sent: &[Mark],
    outgoing: &[Found<Outgoing>],
) -> Result<(), HomeError> {
    let at = round as usize;
    if at > sent.len() {
        // A state is written after its release: the heads that records carry have been compared before.
        let what = format!("its state is before round {round}, and only {} rounds were released", sent.len());
        return Err(HomeError::HomeBack { what });
    }
    if charged > at + 2 {
        let what =
            format!("its state is before round {round}, and the ledger has charges of {charged} rounds");
        return Err(HomeError::HomeBack { what });
    }
    let needed = at.min(sent.len().saturating_sub(1));
    for (number, Mark { exchange, hash }) in sent.iter().enumerate().skip(needed) {
        let kept = outgoing.iter().find(|found| found.header.sequence == *exchange);
        let problem = match kept {
            Some(found) if !found.header.has_answer || found.header.round as usize != number => {
                "is of another round"
            }
            Some(found) if found.header.mark().hash != *hash => "is another one",
            Some(_) => continue,
            None => "is missing or damaged",
        };
        let what = format!(
            "round {number} was released with exchange {exchange}, payload {}; the kept payload {problem}",
            hex(hash)
        );
        return Err(HomeError::HomeBack { what });
    }
    let last = sent.last().map_or(0, |mark| mark.exchange);
    match outgoing.last().map(|found| found.header.sequence) {
        Some(newest) if newest < last || sent.is_empty() => Err(HomeError::HomeBack {
            what: format!("it ends with exchange {newest}, the ledger's {} releases with {last}", sent.len()),
        }),
        _ => Ok(()),
    }
}

pub(super) fn file(kind: RecordKind, slot: u64) -> String {
    match kind {
        RecordKind::State => format!("state.{slot}"),
        RecordKind::Outgoing => format!("outgoing.{slot}"),
        RecordKind::Shares => format!("shares.{slot}"),
    }
}

/// A state from its record; `None` if its parts are not what they should be.
pub(super) fn state(header: &Header, [vectors, marks]: [&[u8]; 2]) -> Option<StateRecord> {
    let mut received = Vec::new();
    let mut rest = marks;
    while !rest.is_empty() {
        let peer = u32::from_le_bytes(take(&mut rest)?);
        let exchange = u64::from_le_bytes(take(&mut rest)?);
        received.push((peer, Mark { exchange, hash: take(&mut rest)? }));
    }
    Some(StateRecord { round: header.round, vectors: vectors.to_vec(), received })
}

pub(super) fn payload(header: &Header, [answer, payload]: [&[u8]; 2]) -> Option<Outgoing> {
    let answer = header.has_answer.then(|| answer.to_vec());
    Some(Outgoing { exchange: header.sequence, answer, payload: payload.into() })
}
