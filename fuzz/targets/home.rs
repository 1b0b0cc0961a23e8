//! The input takes the place of a file in a good folder (or of the ledger), as it is or with its hashes put right; then
//! the node starts and resumes. The first byte says which file, which folder and which of the two.
#![no_main]

use libfuzzer_sys::fuzz_target;
use prdo_fuzz::node::{Disks, FILES, LEDGER, carry_out, chained, fitting, machine, vector};
use prdo_peer::machine::Event;
use std::collections::BTreeMap;
use std::sync::LazyLock;

type Files = BTreeMap<String, Vec<u8>>;

static GOOD: LazyLock<[(Files, Files); 2]> = LazyLock::new(|| {
    [1, 2].map(|exchanges| {
        let disks = Disks::after(exchanges, 2);
        (disks.home.files(), disks.ledger.files())
    })
});

fuzz_target!(|bytes: &[u8]| {
    let Some((first, rest)) = bytes.split_first() else { return };
    let exchanges = 1 + u32::from(first >> 6 & 1);
    let (home, ledger) = GOOD[exchanges as usize - 1].clone();
    let disks = Disks::of(home, ledger);
    let right = first >> 7 == 1;
    match FILES.get(usize::from(first & 7)) {
        Some(file) => disks.home.put(file, if right { fitting(rest) } else { rest.into() }),
        None => disks.ledger.put(LEDGER, if right { chained(rest) } else { rest.into() }),
    }
    let Some((mut home, saved, ledger)) = disks.open() else { return };
    let Ok(mut machine) = machine(exchanges, &saved, false) else { return };
    let effects = machine.handle(0, Event::Start);
    carry_out(&mut home, &ledger, &mut machine, effects);
    for exchange in u64::from(machine.round() * exchanges)..u64::from(3 * exchanges) {
        for peer in [0, 2] {
            let frame = vector(peer, exchanges, exchange, [1.0, -2.0]);
            let effects = machine.handle(0, Event::Frame(peer as usize, frame));
            carry_out(&mut home, &ledger, &mut machine, effects);
        }
    }
});
