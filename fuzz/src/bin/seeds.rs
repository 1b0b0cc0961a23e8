//! Writes a few valid inputs for each target into `corpus/`, from which the fuzzer starts.

use prdo_fuzz::agreed::{agreements, identity, key_text, members_text};
use prdo_fuzz::node::{Disks, FILES, LEDGER, bodies};
use prdo_fuzz::{hellos, reverse, run, vector};
use prdo_peer::wire::{Frame, HEADER};
use std::path::Path;

fn main() -> std::io::Result<()> {
    wire()?;
    agreed()?;
    kept()?;
    machine()?;
    let checkpoints =
        [(0, 0, false), (0, 2, true), (1, 0, false), (1, 1, false), (2, 2, false), (1, 2, true)];
    for (number, (first, rounds, moments)) in checkpoints.into_iter().enumerate() {
        let body = run::body(first & 1 == 1, rounds, moments);
        seed("checkpoint", number, &[&[first], &body[..]].concat())?;
    }
    Ok(())
}

fn wire() -> std::io::Result<()> {
    let mut frames = vec![vector(0, &[1; 16]), vector(5, &[0; 16]), Frame::refusal(&reverse(), 6, "enough")];
    frames.extend(hellos().iter().map(|hello| Frame::hello(&reverse(), 3, hello)));
    for (number, frame) in frames.iter().enumerate() {
        let bytes = frame.encode();
        seed("frame", number, &bytes)?;
        seed("header", number, bytes.get(..HEADER).unwrap_or_default())?;
        if frame.header.kind == prdo_peer::wire::FrameKind::Hello {
            seed("hello", number, &frame.payload)?;
        }
    }
    Ok(())
}

fn agreed() -> std::io::Result<()> {
    for (number, agreement) in agreements().iter().enumerate() {
        seed("agreement", number, agreement.to_file().as_bytes())?;
        let relayed = u8::from(agreement.terms().relay.is_some());
        let members = members_text(&agreement.terms().members);
        seed("members", number, &[&[relayed], members.as_bytes()].concat())?;
    }
    for number in 0..2 {
        let identity = identity(number);
        seed("key", number.into(), key_text(&identity).as_bytes())?;
        seed("key", usize::from(number) + 2, identity.public().to_string().as_bytes())?;
    }
    Ok(())
}

/// Folders and ledgers of a method with one exchange a round, and of one with two.
fn kept() -> std::io::Result<()> {
    for exchanges in [1u8, 2] {
        let disks = Disks::after(exchanges.into(), 2);
        let (home, ledger) = (disks.home.files(), &disks.ledger.files()[LEDGER]);
        let first = usize::from(exchanges - 1);
        seed("ledger", 2 * first, ledger)?;
        seed("ledger", 2 * first + 1, &bodies(ledger))?;
        for right in [0u8, 1] {
            let settings = right << 7 | (exchanges - 1) << 6;
            let folder = 8 * (2 * first + usize::from(right));
            for (number, name) in FILES.iter().enumerate() {
                let Some(file) = home.get(*name) else { continue };
                seed("home", folder + number, &[&[settings | number as u8], &file[..]].concat())?;
            }
            let ledger = if right == 1 { bodies(ledger) } else { ledger.clone() };
            seed("home", folder + 7, &[&[settings | 7], &ledger[..]].concat())?;
        }
    }
    Ok(())
}

/// Whole runs of both kinds, and one that crashes in each round: bytes as `targets/machine.rs` reads them.
fn machine() -> std::io::Result<()> {
    for exchanges in [1u8, 2] {
        let links = [0x01, 0x06, 0, 0, 0, 0, 0, 0x21, 0x26, 0, 0, 0, 0, 0];
        for (number, crash) in [&[][..], &[0x05, 3], &[0x05, 6]].into_iter().enumerate() {
            let mut input = vec![exchanges - 1, 0x00];
            input.extend(links);
            for exchange in 0..3 * exchanges {
                input.extend(crash);
                input.extend([0x0f, 0x09, exchange, 0x29, exchange]);
                input.extend(if crash.is_empty() { &[][..] } else { &[0x00] });
            }
            input.extend([0x06, 3 * exchanges, 0, 0, 4, 3 * exchanges - 1, 0x03, 20]);
            seed("machine", 3 * usize::from(exchanges - 1) + number, &input)?;
        }
    }
    Ok(())
}

fn seed(target: &str, number: usize, bytes: &[u8]) -> std::io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join(format!("seed-{number}")), bytes)
}
