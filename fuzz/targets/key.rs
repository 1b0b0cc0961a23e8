//! A key file that is taken is the one text of its key pair; so is the text of a public key.
#![no_main]

use libfuzzer_sys::fuzz_target;
use prdo_fuzz::agreed::key_text;
use prdo_peer::identity::{Identity, PublicKey};

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(identity) = Identity::parse(&text) {
        assert_eq!(key_text(&identity), text);
    }
    if let Ok(key) = text.parse::<PublicKey>() {
        assert_eq!(key.to_string(), text);
    }
});
