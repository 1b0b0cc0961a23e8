//! Frames: one encoding, and nothing else is read.

use prdo_algorithm::{Exchanges, Message};
use prdo_peer::wire::{
    Expected, Frame, FrameKind, HEADER, HELLO, Header, Hello, Mark, REFUSAL, Ways, WireError,
};
use prdo_privacy::{Released, Start};
use proptest::prelude::*;

fn expected() -> Expected {
    Expected {
        run: [3; 32],
        agreement: [4; 32],
        peer: 1,
        me: 2,
        payload_bytes: 16,
        final_bytes: 16,
        exchanges: Exchanges::ONE,
        rounds: 10,
        ways: Ways::both(),
    }
}

/// What the neighbour expects of us: frames that we make are read by it.
fn mirrored() -> Expected {
    Expected { peer: 2, me: 1, ..expected() }
}

fn vector(exchange: u64) -> Frame {
    let start = Start::declared_public(vec![1.5, -2.0]).unwrap();
    Frame::vector(&mirrored(), exchange, &Message::one(Released::start(&start)))
}

#[test]
fn a_frame_is_read_as_it_was_written() {
    let hello = Hello { sent: Some(Mark { exchange: 4, hash: [9; 32] }), received: None, question: true };
    let frames = [vector(7), Frame::hello(&mirrored(), 3, &hello), Frame::refusal(&mirrored(), 0, "no")];
    for frame in frames {
        assert_eq!(Frame::decode(&frame.encode(), &expected()).unwrap(), frame);
    }
    assert_eq!(Hello::decode(&Frame::hello(&mirrored(), 3, &hello).payload).unwrap(), hello);
    assert_eq!(vector(7).payload.as_ref(), [1.5f64.to_le_bytes(), (-2.0f64).to_le_bytes()].concat());
    assert_eq!(vector(7).encode().len(), HEADER + 16);
    let long = Frame::refusal(&mirrored(), 0, &"ä".repeat(REFUSAL));
    assert!(long.payload.len() <= REFUSAL && std::str::from_utf8(&long.payload).is_ok());
}

/// The layout is a contract between programs of different organisations: it cannot change unnoticed.
#[test]
fn the_layout_is_what_the_documentation_says() {
    let bytes = vector(7).encode();
    assert_eq!(&bytes[..16], b"PRDO\x01\x02\0\0\x01\0\0\0\x02\0\0\0");
    assert_eq!((&bytes[16..48], &bytes[48..80]), (&[3; 32][..], &[4; 32][..]));
    assert_eq!(&bytes[80..104], [7, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(&bytes[104..136], blake3::hash(&bytes[136..]).as_bytes());
    assert_eq!(HELLO, 83);
}

#[test]
fn every_changed_byte_is_refused() {
    let good = vector(7).encode();
    for at in 0..good.len() {
        for flip in [1u8, 0x80] {
            let mut bad = good.to_vec();
            bad[at] ^= flip;
            assert!(Frame::decode(&bad, &expected()).is_err(), "byte {at}");
        }
    }
    for length in 0..good.len() {
        assert!(Frame::decode(&good[..length], &expected()).is_err(), "length {length}");
    }
    let longer = [&good[..], &[0]].concat();
    assert!(matches!(Frame::decode(&longer, &expected()), Err(WireError::Size { .. })));
}

#[test]
fn what_is_not_expected_is_named() {
    let refused = |change: &dyn Fn(&mut Header)| {
        let mut frame = vector(7);
        change(&mut frame.header);
        Frame::decode(&frame.encode(), &expected()).unwrap_err()
    };
    assert!(matches!(refused(&|h| h.run = [0; 32]), WireError::Run { .. }));
    assert!(matches!(refused(&|h| h.agreement = [0; 32]), WireError::Agreement { .. }));
    assert!(matches!(refused(&|h| h.sender = 5), WireError::Direction { .. }));
    assert!(matches!(refused(&|h| h.receiver = 1), WireError::Direction { .. }));
    assert!(matches!(refused(&|h| h.length = u64::MAX), WireError::Length { .. }));
    assert!(matches!(refused(&|h| h.kind = FrameKind::Hello), WireError::Length { .. }));
    assert!(matches!(refused(&|h| h.exchange = 10), WireError::Exchange { .. }));
    assert!(matches!(refused(&|h| h.exchange = u64::MAX), WireError::Exchange { .. }));
    assert!(matches!(refused(&|h| h.round = 6), WireError::Exchange { .. }));
    assert!(matches!(refused(&|h| h.hash = [0; 32]), WireError::Hash));
    // A hello may speak of the exchange after the last: all is done.
    let over = Frame::hello(&mirrored(), 10, &Hello::default());
    assert!(Frame::decode(&over.encode(), &expected()).is_ok());
}

proptest! {
    #[test]
    fn no_bytes_are_a_surprise(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = Frame::decode(&bytes, &expected());
        let _ = Hello::decode(&bytes);
    }

    #[test]
    fn headers_have_one_encoding(bytes in proptest::array::uniform32(any::<u8>()), kind in 1u8..=3, numbers in any::<(u32, u32, u32, u64, u64)>()) {
        let kind = [FrameKind::Hello, FrameKind::Vector, FrameKind::Refusal][usize::from(kind) - 1];
        let (sender, receiver, round, exchange, length) = numbers;
        let header = Header { kind, sender, receiver, run: bytes, agreement: bytes, round, exchange, length, hash: bytes };
        prop_assert_eq!(Header::decode(&header.encode()).unwrap(), header);
    }
}
