//! The bytes of one kept record: header, two parts, a hash.
//!
//! | bytes | what |
//! |---|---|
//! | 0..8 | `PRDOHOM1` |
//! | 8 | kind: `S` state, `O` outgoing, `K` share keys |
//! | 9 | 1 if an answer is there, else 0 |
//! | 10..12 | zero |
//! | 12..16 | member |
//! | 16..48, 48..80 | run, agreement |
//! | 80..88 | sequence: of a state, how many were written before; of an outgoing payload, its exchange; of keys, their round |
//! | 88..96, 96..128 | lines of the ledger when it was written, and the hash of the last one |
//! | 128..132 | round |
//! | 132..136 | zero |
//! | 136..144, 144..152 | bytes of each part |
//! | 152..184, 184..216 | BLAKE3 of each part |
//! | 216.. | first part: a state's vectors, the answer, or keys; second part: marks, the payload, or nothing |
//! | last 32 | BLAKE3 of bytes 0..216 |
//!
//! A write that a crash tore does not have all of these hashes.

use crate::wire::{Hash, Mark};

pub(super) const HEADER: usize = 216;
const MAGIC: &[u8; 8] = b"PRDOHOM1";

/// What stands before the two parts of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub kind: RecordKind,
    pub has_answer: bool,
    pub member: u32,
    pub run: Hash,
    pub agreement: Hash,
    pub sequence: u64,
    pub ledger: (u64, Hash),
    pub round: u32,
    pub lengths: [u64; 2],
    pub hashes: [Hash; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum RecordKind {
    State = b'S',
    Outgoing = b'O',
    Shares = b'K',
}

impl Header {
    pub fn encode(&self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        let mut rest = &mut bytes[..];
        let mut put = |field: &[u8]| {
            if let Some((head, tail)) = std::mem::take(&mut rest).split_at_mut_checked(field.len()) {
                head.copy_from_slice(field);
                rest = tail;
            }
        };
        put(MAGIC);
        put(&[self.kind as u8, u8::from(self.has_answer), 0, 0]);
        put(&self.member.to_le_bytes());
        put(&self.run);
        put(&self.agreement);
        put(&self.sequence.to_le_bytes());
        put(&self.ledger.0.to_le_bytes());
        put(&self.ledger.1);
        put(&self.round.to_le_bytes());
        put(&[0; 4]);
        self.lengths.iter().for_each(|length| put(&length.to_le_bytes()));
        self.hashes.iter().for_each(|hash| put(hash));
        bytes
    }

    /// Exchange and payload hash of an outgoing record.
    pub fn mark(&self) -> Mark {
        let [_, hash] = self.hashes;
        Mark { exchange: self.sequence, hash }
    }

    pub fn record_length(&self) -> u64 {
        self.lengths.iter().fold(HEADER as u64 + 32, |sum, length| sum.saturating_add(*length))
    }

    /// The hash at the end of a record.
    pub fn seal(&self) -> Hash {
        *blake3::hash(&self.encode()).as_bytes()
    }
}

/// A whole record's header and parts; `None` if it is damaged in any way.
pub(super) fn parse(bytes: &[u8]) -> Option<(Header, [&[u8]; 2])> {
    let (head, rest) = bytes.split_first_chunk::<HEADER>()?;
    let (rest, seal) = rest.split_last_chunk::<32>()?;
    if blake3::hash(head).as_bytes() != seal {
        return None;
    }
    let header = decode(head)?;
    let [first, second] = header.lengths;
    if first.checked_add(second)? != rest.len() as u64 {
        return None;
    }
    let parts: [&[u8]; 2] = rest.split_at_checked(usize::try_from(first).ok()?)?.into();
    let whole = parts.iter().zip(&header.hashes).all(|(part, hash)| blake3::hash(part).as_bytes() == hash);
    whole.then_some((header, parts))
}

fn decode(bytes: &[u8; HEADER]) -> Option<Header> {
    let mut rest = &bytes[..];
    if take::<8>(&mut rest)? != *MAGIC {
        return None;
    }
    let [kind, answer, ..] = take::<4>(&mut rest)?;
    let header = Header {
        kind: match kind {
            b'S' => RecordKind::State,
            b'O' => RecordKind::Outgoing,
            b'K' => RecordKind::Shares,
            _ => return None,
        },
        has_answer: answer == 1,
        member: u32::from_le_bytes(take(&mut rest)?),
        run: take(&mut rest)?,
        agreement: take(&mut rest)?,
        sequence: u64::from_le_bytes(take(&mut rest)?),
        ledger: (u64::from_le_bytes(take(&mut rest)?), take(&mut rest)?),
        round: u32::from_le_bytes(take(&mut rest)?),
        lengths: {
            take::<4>(&mut rest)?;
            [u64::from_le_bytes(take(&mut rest)?), u64::from_le_bytes(take(&mut rest)?)]
        },
        hashes: [take(&mut rest)?, take(&mut rest)?],
    };
    (header.encode() == *bytes).then_some(header)
}

pub(super) fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (head, tail) = rest.split_first_chunk::<N>()?;
    *rest = tail;
    Some(*head)
}
