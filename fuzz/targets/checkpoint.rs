//! A checkpoint as it is, and with its hash put right: what is taken is written in one way from then on, and the run
//! resumes from it or says why not. The first byte says whether the run is private.
#![no_main]

use libfuzzer_sys::fuzz_target;
use prdo_fuzz::run::{FINGERPRINT, fresh, sealed};

fuzz_target!(|bytes: &[u8]| {
    let Some((first, body)) = bytes.split_first() else { return };
    let private = first & 1 == 1;
    let mut run = fresh(private);
    assert!(run.restore(&FINGERPRINT, body).is_err());
    if run.restore(&FINGERPRINT, &sealed(body)).is_err() {
        return;
    }
    let saved = run.save(&FINGERPRINT);
    let mut again = fresh(private);
    assert_eq!(again.restore(&FINGERPRINT, &saved), Ok(()));
    assert_eq!(again.save(&FINGERPRINT), saved);
    // Not private runs: the accountant takes its time for a history it has not seen.
    if !private {
        let _ = run.step(first & 2 != 0);
    }
});
