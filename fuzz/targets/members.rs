//! A list of members that is taken, written in the plain form, is the same list. The first byte says whether there is
//! a relay.
#![no_main]

use libfuzzer_sys::fuzz_target;
use prdo_fuzz::agreed::members_text;
use prdo_peer::agreement::{MOST_MEMBERS, parse_members};

fuzz_target!(|bytes: &[u8]| {
    let Some((first, rest)) = bytes.split_first() else { return };
    let relayed = first % 2 == 1;
    let Ok(members) = parse_members(&String::from_utf8_lossy(rest), relayed) else { return };
    assert!(members.len() <= MOST_MEMBERS);
    assert_eq!(parse_members(&members_text(&members), relayed), Ok(members));
});
