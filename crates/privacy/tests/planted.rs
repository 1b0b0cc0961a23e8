//! Bugs can be planted with the feature and debug assertions together, and not otherwise.
//!
//! `cargo test --release -p prdo-privacy --features planted-bugs --test planted` shows it of the code that ships.

#[test]
fn a_bug_needs_the_feature_and_debug_assertions() {
    let possible = cfg!(feature = "planted-bugs") && cfg!(debug_assertions);
    assert_eq!(prdo_privacy::planted::POSSIBLE, possible);
}
