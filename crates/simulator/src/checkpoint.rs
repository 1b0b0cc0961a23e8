//! A run's state as bytes, and back. Randomness needs no place here: streams are keyed by the round.
//!
//! Layout, little-endian: magic, fingerprint of the settings, counters, then for each node its charges and its
//! vectors, then a BLAKE3 hash of all before it.

use crate::simulation::{Simulation, Totals};
use prdo_accounting::{AccountingError, Event, History};
use prdo_privacy::{DecodeError, Diagnostics, GateError, Model, Protection, Released};

const MAGIC: &[u8; 8] = b"PRDOCKP1";
/// No run gets further than this; adding to it cannot overflow.
const MOST_ROUNDS: u32 = u32::MAX / 2;
const MOST_COUNTED: u64 = u64::MAX / 2;

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CheckpointError {
    #[error("the checkpoint is damaged or cut short")]
    Damaged,
    #[error("the checkpoint belongs to a run with other settings")]
    OtherRun,
    #[error("the checkpoint does not fit: {0}")]
    Vector(#[from] DecodeError),
    #[error("the checkpoint does not fit: {0}")]
    Gate(#[from] GateError),
    #[error("the checkpoint's ledger does not fit: {0}")]
    Charge(#[from] AccountingError),
}

pub(crate) fn save<M: Model, P: Protection>(run: &Simulation<M, P>, fingerprint: &[u8; 32]) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend(MAGIC);
    out.extend(fingerprint);
    out.extend(counters(&run.totals).iter().flat_map(|c| c.to_le_bytes()));
    for (node, gate) in run.nodes.iter().zip(&run.gates) {
        let charged = gate.charged().unwrap_or_default();
        out.extend((charged.entries().len() as u64).to_le_bytes());
        for (event, count) in charged.entries() {
            out.extend(event.rate().to_le_bytes());
            out.extend(event.noise_multiplier().to_le_bytes());
            out.extend(count.to_le_bytes());
        }
        node.vectors().iter().for_each(|vector| vector.save(&mut out));
    }
    let previous = run.previous.as_deref().unwrap_or_default();
    out.extend((previous.len() as u64).to_le_bytes());
    out.extend(previous.iter().flatten().flat_map(|v| v.to_le_bytes()));
    let hash = blake3::hash(&out);
    out.extend(hash.as_bytes());
    out
}

pub(crate) fn restore<M: Model, P: Protection>(
    run: &mut Simulation<M, P>,
    fingerprint: &[u8; 32],
    bytes: &[u8],
) -> Result<(), CheckpointError> {
    let body = bytes.len().checked_sub(32).and_then(|end| bytes.split_at_checked(end));
    let Some((body, hash)) = body.filter(|(body, hash)| blake3::hash(body).as_bytes() == hash) else {
        return Err(CheckpointError::Damaged);
    };
    debug_assert_eq!(hash.len(), 32);
    let mut rest = body;
    if take(&mut rest, 8)? != MAGIC {
        return Err(CheckpointError::Damaged);
    }
    if take(&mut rest, 32)? != fingerprint {
        return Err(CheckpointError::OtherRun);
    }
    let totals = read_totals(&mut rest)?;
    let dimension = run.model.dimension();
    for (node, gate) in run.nodes.iter_mut().zip(&mut run.gates) {
        gate.restore(totals.round, &read_history(&mut rest)?)?;
        for vector in node.restore(totals.round) {
            *vector = Released::load(&mut rest, vector.dimension())?;
        }
    }
    run.previous = read_previous(&mut rest, run.nodes.len(), dimension)?;
    run.totals = totals;
    if rest.is_empty() { Ok(()) } else { Err(CheckpointError::Damaged) }
}

fn counters(totals: &Totals) -> [u64; 10] {
    let recent = &totals.recent;
    [
        u64::from(totals.round),
        totals.bytes_sent,
        totals.gradient_evaluations,
        totals.non_finite,
        recent.records,
        recent.evaluations,
        recent.clipped_gradients,
        recent.clipped_differences,
        recent.differences,
        recent.non_finite,
    ]
}

fn read_totals(rest: &mut &[u8]) -> Result<Totals, CheckpointError> {
    let mut next = || count(rest);
    let round = next()?.try_into().ok().filter(|round| *round <= MOST_ROUNDS);
    let round = round.ok_or(CheckpointError::Damaged)?;
    let (bytes_sent, gradient_evaluations, non_finite) = (next()?, next()?, next()?);
    let recent = Diagnostics {
        records: next()?,
        evaluations: next()?,
        clipped_gradients: next()?,
        clipped_differences: next()?,
        differences: next()?,
        non_finite: next()?,
    };
    Ok(Totals { round, bytes_sent, gradient_evaluations, recent, non_finite })
}

fn read_history(rest: &mut &[u8]) -> Result<History, CheckpointError> {
    let mut history = History::new();
    for _ in 0..number(rest)? {
        let (rate, noise) = (f64::from_bits(number(rest)?), f64::from_bits(number(rest)?));
        history.add(Event::sampled_gaussian(rate, noise)?, number(rest)?);
    }
    Ok(history)
}

/// The models of the round before, which only a run that records moments keeps.
fn read_previous(rest: &mut &[u8], nodes: usize, d: usize) -> Result<Option<Vec<Vec<f64>>>, CheckpointError> {
    match number(rest)? as usize {
        0 => Ok(None),
        n if n == nodes => {
            let row = |rest: &mut &[u8]| (0..d).map(|_| Ok(f64::from_bits(number(rest)?))).collect();
            (0..nodes).map(|_| row(rest)).collect::<Result<_, _>>().map(Some)
        }
        _ => Err(CheckpointError::Damaged),
    }
}

fn count(rest: &mut &[u8]) -> Result<u64, CheckpointError> {
    let count = number(rest)?;
    if count <= MOST_COUNTED { Ok(count) } else { Err(CheckpointError::Damaged) }
}

fn number(rest: &mut &[u8]) -> Result<u64, CheckpointError> {
    let bytes: [u8; 8] = take(rest, 8)?.try_into().map_err(|_| CheckpointError::Damaged)?;
    Ok(u64::from_le_bytes(bytes))
}

fn take<'a>(rest: &mut &'a [u8], count: usize) -> Result<&'a [u8], CheckpointError> {
    let (head, tail) = rest.split_at_checked(count).ok_or(CheckpointError::Damaged)?;
    *rest = tail;
    Ok(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_that_cannot_be_gone_on_from_are_refused() {
        let read = |at: usize, value: u64| {
            let mut counters = [1u64; 10];
            counters[at] = value;
            let bytes: Vec<u8> = counters.iter().flat_map(|c| c.to_le_bytes()).collect();
            read_totals(&mut &bytes[..]).map(|totals| totals.round)
        };
        assert_eq!(read(0, 7), Ok(7));
        for round in [u64::from(u32::MAX), u64::from(MOST_ROUNDS) + 1, u64::MAX] {
            assert_eq!(read(0, round), Err(CheckpointError::Damaged));
        }
        for at in 1..10 {
            assert_eq!(read(at, MOST_COUNTED), Ok(1));
            assert_eq!(read(at, u64::MAX), Err(CheckpointError::Damaged), "{at}");
        }
    }
}
