//! No planted bug in anything that is shipped.

use std::path::Path;

/// The condition under which bugs are compiled.
const CONDITION: &str = "all(feature = \"planted-bugs\", debug_assertions)";

fn read(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::read_to_string(root.join(path)).unwrap()
}

/// The same in release, of the gate alone: `crates/privacy/tests/planted.rs`.
#[test]
fn without_debug_assertions_the_feature_does_nothing() {
    assert_eq!(prdo_privacy::planted::POSSIBLE, cfg!(debug_assertions));
}

#[test]
fn every_use_of_the_feature_asks_for_debug_assertions_too() {
    for file in [
        "crates/privacy/src/planted.rs",
        "crates/privacy/src/pairs.rs",
        "crates/privacy/src/gate/mod.rs",
        "crates/peer/src/session.rs",
    ] {
        let text = read(file);
        let uses = text.matches("\"planted-bugs\"").count();
        assert!(uses > 0 && uses == text.matches(CONDITION).count(), "{file}");
    }
}

#[test]
fn nobody_else_asks_for_the_feature_and_no_shipped_profile_has_debug_assertions() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for entry in std::fs::read_dir(root).unwrap() {
        let manifest = entry.unwrap().path().join("Cargo.toml");
        let Ok(text) = std::fs::read_to_string(&manifest) else { continue };
        let name = manifest.display().to_string();
        let (shipped, tests) = text.split_once("[dev-dependencies]").unwrap_or((&text, ""));
        // The peer's own feature hands it on to the gate; nothing else may name it outside of tests.
        let allowed = name.contains("privacy") || name.contains("peer");
        assert!(allowed || !shipped.contains("planted-bugs"), "{name}");
        assert!(name.contains("audit") || !tests.contains("planted-bugs"), "{name}");
    }
    let workspace = read("Cargo.toml");
    assert!(workspace.contains("[profile.release]") && !workspace.contains("debug-assertions"));
    let settings = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.cargo");
    assert!(!settings.exists(), "whatever is set there must not have debug assertions");
}
