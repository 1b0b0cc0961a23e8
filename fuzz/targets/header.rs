//! A header that is taken has one encoding, and one that passes the check is small enough to follow.
#![no_main]

use libfuzzer_sys::fuzz_target;
use prdo_fuzz::expected;
use prdo_peer::wire::{HEADER, Header, REFUSAL};

fuzz_target!(|bytes: [u8; HEADER]| {
    let Ok(header) = Header::decode(&bytes) else { return };
    assert_eq!(header.encode(), bytes);
    if expected().check(&header).is_ok() {
        assert!(header.length <= REFUSAL as u64);
        assert!(header.exchange <= expected().exchanges());
    }
});
