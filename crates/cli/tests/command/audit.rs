//! `prdo audit` as a person types it: the verdict, its JSON and its files, a run file's settings, and what is refused.

use crate::common::{Desk, refused};

#[test]
fn a_quick_audit_passes_says_so_and_leaves_a_report() {
    let desk = Desk::new();
    let answer = desk.prdo("audit --quick --json --seed 3 --out found").json();
    assert_eq!(answer["passed"], true, "{answer}");
    let number = |key: &str| answer[key].as_f64().unwrap();
    assert!((number("claimed_epsilon") - 4.377).abs() < 0.001);
    assert!(number("empirical_epsilon") <= number("claimed_epsilon"));
    assert!(number("empirical_epsilon") >= 0.5 * number("claimed_epsilon"));
    let checks = answer["checks"].as_array().unwrap();
    assert!(checks.len() > 40);
    for check in checks {
        assert!(check["name"].is_string() && check["figure"].is_number(), "{check}");
        assert_eq!(check["passed"], true, "{check}");
    }
    let images = &answer["reconstruction"];
    assert!(images["without_noise"]["correlation"].as_f64().unwrap() > 0.999, "{images}");
    assert!(images["with_noise"]["correlation"].as_f64().unwrap() < 0.3, "{images}");
    let report = desk.read("found/report.html");
    assert!(report.contains("Nothing was found") && report.matches("<figure>").count() == 2);
    for picture in ["trade-off", "images"] {
        assert!(desk.bytes(&format!("found/{picture}.png")).starts_with(b"\x89PNG"));
        assert!(desk.read(&format!("found/{picture}.svg")).contains("<svg"));
    }
    // What is there is kept.
    refused(&desk, "audit --quick --out found", &["found", "--overwrite"]);
}

#[test]
fn a_run_files_own_settings_are_audited_and_what_was_scaled_is_said() {
    let desk = Desk::new();
    let example = desk.prdo("example private").stdout;
    desk.write("mine.toml", &example);
    let answer = desk.prdo("audit mine.toml --quick --json --set rounds=12 --set method.gamma=0.3").json();
    assert_eq!(answer["passed"], true, "{answer}");
    let setting = &answer["settings"][0];
    assert_eq!((setting["rounds"].as_u64(), setting["method"].as_str()), (Some(12), Some("prdo")));
    assert_eq!(setting["claimed_epsilon"], answer["claimed_epsilon"]);
    assert!(answer["scaled"].as_str().unwrap().contains("12 rounds"), "{answer}");
}

#[test]
fn what_cannot_be_audited_is_refused_before_anything_is_written() {
    let desk = Desk::new();
    desk.write("open.toml", desk.prdo("example figure-1").stdout);
    desk.write("private.toml", desk.prdo("example private").stdout);
    for (arguments, expected) in [
        ("audit open.toml", "not private"),
        ("audit missing.toml", "missing.toml"),
        ("audit private.toml --one-run", "at least 100"),
        ("audit --method sgd", "unknown method"),
        ("audit --set rounds=3", "RUN.toml"),
        ("audit --seed -1", "-1"),
        ("audit --threads 0", "--threads"),
    ] {
        refused(&desk, arguments, &[expected]);
    }
}
