//! One line of a ledger file: a JSON object in one exact form, chained to the line before by its hash.
//!
//! ```text
//! {"kind":"charge","run":"9f…","round":4,"rate":0.02,"noise":2.5,"hash":"07…"}
//! ```
//!
//! `hash` is BLAKE3 of the previous line's hash and of this line without its `hash`. A line is read only if writing it
//! again gives the same bytes, so that every fact has one form.

use crate::wire::{Hash, from_hex, hex};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What the first line's hash is chained to.
const SEED: &[u8] = b"prdo ledger, format 1";
/// What stands before a line's hash, and after it.
const MARK: &str = ",\"hash\":\"";
const END: &str = "\"}";
/// Longer lines are refused before they are parsed.
const LONGEST: usize = 4096;

/// Whether bytes can be the beginning of a ledger's first line.
pub(super) fn may_begin(bytes: &[u8]) -> bool {
    const FIRST: &[u8] = br#"{"kind":"open","#;
    bytes.iter().zip(FIRST).all(|(byte, first)| byte == first)
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Entry {
    /// The first line: whose ledger this is, and the budget for everything ever released about these records.
    Open { version: u32, records: Hex, epsilon: f64, delta: f64 },
    /// The owner raised the budget.
    Budget { epsilon: f64, delta: f64 },
    Run {
        run: Hex,
        agreement: Hex,
        member: u32,
        name: String,
        /// Against how many members together what the run is charged holds; none where noise is independent: any number.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        colluders: Option<u32>,
    },
    /// A release at this sampling rate and noise multiplier is paid for. Written before its noise is drawn.
    Charge { run: Hex, round: u32, rate: f64, noise: f64 },
    /// The release of the last charge is kept in the run's folder and may be sent with this exchange's
    /// payload. Written before its first byte is.
    Sent { run: Hex, round: u32, exchange: u64, payload: Hex },
    /// A run is over: nothing is charged for it any more.
    End { run: Hex, rounds: u32 },
}

/// A hash, as hexadecimal digits in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hex(pub Hash);

impl Serialize for Hex {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex(&self.0))
    }
}

impl<'de> Deserialize<'de> for Hex {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        from_hex(&text).map(Hex).ok_or_else(|| serde::de::Error::custom("64 hexadecimal digits expected"))
    }
}

pub fn seed() -> Hash {
    *blake3::hash(SEED).as_bytes()
}

/// The line of an entry, its newline included, and its hash.
pub fn encode(previous: &Hash, entry: &Entry) -> Result<(String, Hash), String> {
    let mut line = body(entry)?;
    let hash = link(previous, line.as_bytes());
    line.pop();
    line.push_str(MARK);
    line.push_str(&hex(&hash));
    line.push_str(END);
    if line.len() > LONGEST {
        return Err(format!("a line of {} bytes; at most {LONGEST} are allowed", line.len()));
    }
    line.push('\n');
    Ok((line, hash))
}

/// The entry of a line (without its newline) and its hash.
pub fn decode(previous: &Hash, line: &[u8]) -> Result<(Entry, Hash), String> {
    if line.len() > LONGEST {
        return Err(format!("it has {} bytes; at most {LONGEST} are allowed", line.len()));
    }
    let line = std::str::from_utf8(line).map_err(|_| "it is not text".to_string())?;
    let parts = line.strip_suffix(END).and_then(|rest| rest.split_at_checked(rest.len().checked_sub(64)?));
    let parts = parts.and_then(|(rest, digits)| Some((rest.strip_suffix(MARK)?, from_hex(digits)?)));
    let (open, found) = parts.ok_or("it does not end with its hash")?;
    let written = format!("{open}}}");
    let hash = link(previous, written.as_bytes());
    if hash != found {
        return Err(
            "its hash does not fit: this line was changed, or lines before it were changed, removed, added or moved"
                .into(),
        );
    }
    let entry: Entry = serde_json::from_str(&written).map_err(|error| format!("{error}"))?;
    if encode(previous, &entry)?.0.trim_end_matches('\n') != line {
        return Err("it is not in the exact form in which ledgers are written".into());
    }
    Ok((entry, hash))
}

fn body(entry: &Entry) -> Result<String, String> {
    serde_json::to_string(entry).map_err(|error| error.to_string())
}

fn link(previous: &Hash, body: &[u8]) -> Hash {
    *blake3::Hasher::new().update(previous).update(body).finalize().as_bytes()
}
