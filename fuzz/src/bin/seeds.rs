//! Writes a few valid inputs for each target into `corpus/`, from which the fuzzer starts.

use prdo_fuzz::{hellos, reverse, vector};
use prdo_peer::wire::{Frame, HEADER};
use std::path::Path;

fn main() -> std::io::Result<()> {
    let mut frames = vec![vector(0, &[1; 16]), vector(5, &[0; 16]), Frame::refusal(&reverse(), 6, "enough")];
    frames.extend(hellos().iter().map(|hello| Frame::hello(&reverse(), 3, hello)));
    for (number, frame) in frames.iter().enumerate() {
        let bytes = frame.encode();
        seed("frame", number, &bytes)?;
        seed("header", number, bytes.get(..HEADER).unwrap_or_default())?;
        if frame.header.kind == prdo_peer::wire::Kind::Hello {
            seed("hello", number, &frame.payload)?;
        }
    }
    Ok(())
}

fn seed(target: &str, number: usize, bytes: &[u8]) -> std::io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join(format!("seed-{number}")), bytes)
}
