//! An agreement that is taken is written back to the same text, and what it says can be asked.
#![no_main]

use libfuzzer_sys::fuzz_target;
use prdo_peer::agreement::Agreement;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let Ok(agreement) = Agreement::parse(&text) else { return };
    assert_eq!(agreement.to_file(), text);
    let _ = agreement.signed_by_all();
    for me in 0..agreement.terms().members.len() {
        for peer in agreement.neighbours(me) {
            assert!(agreement.expected(me, peer).exchanges() > 0);
        }
    }
});
