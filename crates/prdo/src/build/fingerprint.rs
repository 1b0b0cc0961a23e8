//! What names a run in its checkpoints and in statements.

use super::records::Holdings;
use prdo_data::Feature;
use prdo_privacy::Start;
use prdo_runfile::resolved::{Settled, fingerprint_lines};
use prdo_runfile::{RunFile, Wiring};

/// A hash of every setting that the bits of a run depend on, of the network, and of what came from files. Settings count
/// as they are meant, not as they were typed: a run's own `run.toml` resumes it, and its files may have moved.
pub(super) fn fingerprint<F: Feature>(
    run: &RunFile,
    settled: &Settled<'_>,
    holdings: &Holdings<F>,
    wiring: &Wiring,
    start: &Start,
) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    // A program's own model, and secret draws, are not described by settings: each run of them is another one.
    if run.unseeded || run.model.is_own() {
        let mut chance = [0_u8; 32];
        if getrandom::fill(&mut chance).is_ok() {
            hasher.update(&chance);
        }
    }
    hasher.update(fingerprint_lines(run, settled).as_bytes());
    if let Some(own) = &run.method.own {
        hasher.update(&own.identity);
    }
    if run.model.file.is_some() {
        start.values().iter().for_each(|value| {
            hasher.update(&value.to_le_bytes());
        });
    }
    if run.data.source.is_some_and(|source| source.is_owned()) {
        hash_records(&mut hasher, holdings);
    }
    hash_network(&mut hasher, wiring);
    *hasher.finalize().as_bytes()
}

pub(crate) fn hash_records<F: Feature>(hasher: &mut blake3::Hasher, holdings: &Holdings<F>) {
    for table in holdings.nodes.iter().chain(&holdings.held_out) {
        hasher.update(&(table.len() as u64).to_le_bytes());
        table.bytes(&mut |bytes| {
            hasher.update(bytes);
        });
    }
}

pub(crate) fn hash_network(hasher: &mut blake3::Hasher, wiring: &Wiring) {
    for mixing in wiring.mixing.turns() {
        for node in 0..mixing.nodes() {
            let (columns, weights) = mixing.row(node);
            for (j, w) in columns.iter().zip(weights) {
                hasher.update(&j.to_le_bytes()).update(&w.to_le_bytes());
            }
        }
    }
}
