//! A hello that is taken has one encoding.
#![no_main]

use libfuzzer_sys::fuzz_target;
use prdo_fuzz::reverse;
use prdo_peer::wire::{Frame, Hello};

fuzz_target!(|bytes: &[u8]| {
    let Ok(hello) = Hello::decode(bytes) else { return };
    assert_eq!(&*Frame::hello(&reverse(), 0, &hello).payload, bytes);
});
