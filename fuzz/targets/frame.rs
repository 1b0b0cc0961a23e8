//! A frame that is taken has one encoding, whether the fuzzer found its length and hash or they were put right.
#![no_main]

use libfuzzer_sys::fuzz_target;
use prdo_fuzz::expected;
use prdo_peer::wire::{Frame, HEADER};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(frame) = Frame::decode(bytes, &expected()) {
        assert_eq!(&*frame.encode(), bytes);
    }
    if bytes.len() < HEADER {
        return;
    }
    let mut fitting = bytes.to_vec();
    let (head, payload) = fitting.split_at_mut(HEADER);
    head[96..104].copy_from_slice(&(payload.len() as u64).to_le_bytes());
    head[104..].copy_from_slice(blake3::hash(payload).as_bytes());
    if let Ok(frame) = Frame::decode(&fitting, &expected()) {
        assert_eq!(&*frame.encode(), fitting);
    }
});
