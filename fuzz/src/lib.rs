//! What fuzz targets and their seeds share.

pub mod agreed;
pub mod node;
pub mod run;

use prdo_algorithm::Exchanges;
use prdo_peer::wire::{Expected, Frame, Header, Hello, FrameKind, Mark, Ways};

/// What the receiver expects of its neighbour.
pub fn expected() -> Expected {
    Expected {
        run: [7; 32],
        agreement: [9; 32],
        peer: 1,
        me: 0,
        payload_bytes: 16,
        exchanges: Exchanges::each_round(2, 1),
        rounds: 3,
        ways: Ways::both(),
    }
}

/// The header of a payload from the neighbour.
pub fn header(kind: FrameKind, exchange: u64, payload: &[u8]) -> Header {
    let Expected { run, agreement, peer, me, .. } = expected();
    Header {
        kind,
        sender: peer,
        receiver: me,
        run,
        agreement,
        round: (exchange / 2) as u32,
        exchange,
        length: payload.len() as u64,
        hash: *blake3::hash(payload).as_bytes(),
    }
}

/// A vector's frame from the neighbour.
pub fn vector(exchange: u64, payload: &[u8]) -> Frame {
    Frame { header: header(FrameKind::Vector, exchange, payload), payload: payload.into() }
}

/// What the neighbour expects of the receiver.
pub fn reverse() -> Expected {
    Expected { peer: 0, me: 1, ..expected() }
}

/// Hellos of every form.
pub fn hellos() -> Vec<Hello> {
    let mark = |exchange| Some(Mark { exchange, hash: [3; 32] });
    vec![
        Hello::default(),
        Hello { sent: mark(0), ..Hello::default() },
        Hello { received: mark(u64::MAX), question: true, ..Hello::default() },
        Hello { sent: mark(4), received: mark(3), question: false },
    ]
}
