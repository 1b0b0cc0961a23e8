//! Many audits, as a table.
//!
//! `cargo run --release -p prdo-audit --example audits -- clean AUDITS [METHOD] [full|quick] [FIRST SEED]`
//! `cargo run -p prdo-audit --example audits -- planted [METHOD] [full|quick] [BUG]`
#![allow(clippy::unwrap_used)]

#[cfg(debug_assertions)]
#[path = "../../tests/audit/broken.rs"]
mod broken;
mod clean;
#[cfg(debug_assertions)]
mod planted;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.first().map(String::as_str) {
        Some("clean") => clean::audits(&words[1..]),
        #[cfg(debug_assertions)]
        Some("planted") => planted::audits(&words[1..]),
        #[cfg(not(debug_assertions))]
        Some("planted") => println!("A release build has no planted bugs: run this without --release."),
        _ => println!("Say `clean` or `planted` (what follows: crates/audit/examples/audits/main.rs)."),
    }
}
