//! A ledger as it is, with its chain of hashes put right, and a good one into which the input was put.
#![no_main]

use libfuzzer_sys::fuzz_target;
use prdo_fuzz::node::{Disks, LEDGER, chained};
use prdo_peer::ledger::contents::Contents;
use std::sync::LazyLock;

static GOOD: LazyLock<Vec<u8>> =
    LazyLock::new(|| Disks::after(1, 2).ledger.files().remove(LEDGER).unwrap_or_default());

fn read(bytes: &[u8]) {
    let Ok(contents) = Contents::parse(bytes) else { return };
    assert_eq!(contents.length() + contents.torn(), bytes.len() as u64);
    assert_eq!(contents.lines(), bytes.iter().filter(|byte| **byte == b'\n').count() as u64);
    assert!(contents.had(contents.head()));
    let charges: usize = contents.runs().iter().map(|run| run.charges.len()).sum();
    assert_eq!(contents.history().len(), charges as u64);
    assert!(contents.runs().iter().all(|run| run.charges.len() - run.sent.len() <= 1));
}

fuzz_target!(|bytes: &[u8]| {
    read(bytes);
    read(&chained(bytes));
    if let [a, b, rest @ ..] = bytes {
        let at = usize::from(u16::from_le_bytes([*a, *b])) % (GOOD.len() + 1);
        read(&[&GOOD[..at], rest, &GOOD[at..]].concat());
    }
});
