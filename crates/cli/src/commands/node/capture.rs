//! For tests of prdo itself: a list of everything a node sends. Builds for use do not have it.

use crate::commands::Failure;
use prdo_peer::transport::{Incoming, Transport};
use prdo_peer::wire::{Frame, FrameKind, hex};
use std::fs::File;
use std::io::Write;
use std::time::Duration;

const SWITCH: &str = "PRDO_TEST_CAPTURE";

/// Links whose outgoing vectors are listed in a file: receiver, exchange and the payload's BLAKE3, a line each.
struct Captured {
    links: Box<dyn Transport>,
    file: File,
}

/// The links, listed if the environment says so.
pub fn wrap(links: Box<dyn Transport>) -> Result<Box<dyn Transport>, Failure> {
    let Some(path) = std::env::var_os(SWITCH) else { return Ok(links) };
    if !cfg!(debug_assertions) {
        return Err(Failure::Input(format!(
            "{SWITCH} is for tests of prdo itself; this build refuses it. Unset it"
        )));
    }
    let file = File::options().create(true).append(true).open(path);
    let file = file.map_err(|e| Failure::Input(format!("{SWITCH}: {e}")))?;
    Ok(Box::new(Captured { links, file }))
}

impl Transport for Captured {
    fn dial(&mut self, peer: usize) {
        self.links.dial(peer);
    }

    fn send(&mut self, peer: usize, frame: Frame) {
        if frame.header.kind == FrameKind::Vector {
            let hash = blake3::hash(&frame.payload);
            let line = format!("{peer} {} {}\n", frame.header.exchange, hex(hash.as_bytes()));
            // A test that misses a line fails by itself.
            let _ = self.file.write_all(line.as_bytes());
        }
        self.links.send(peer, frame);
    }

    fn hang_up(&mut self, peer: usize, reason: &str) {
        self.links.hang_up(peer, reason);
    }

    fn next(&mut self, wait: Duration) -> Option<Incoming> {
        self.links.next(wait)
    }

    fn close(&mut self, wait: Duration) {
        self.links.close(wait);
    }
}
