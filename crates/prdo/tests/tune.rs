//! `prdo tune`, as a person types it.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{Desk, SMALL, refused};

#[test]
fn settings_are_found_on_generated_data_and_beat_bad_ones() {
    let desk = Desk::new();
    let bad = SMALL.replace("step_size = 0.5", "step_size = 20.0").replace("records = 60", "records = 300");
    let bad = bad.replace("test = 50", "test = 2000").replace("epsilon = 4.0", "epsilon = 0.2");
    desk.write("bad.toml", &bad);
    let answer = desk.prdo("tune bad.toml --methods prdo,ed --trials 12 --seeds 2 --out tuned --json").json();
    assert_eq!(answer["trials"], 24);
    let best = answer["best"].as_array().unwrap();
    assert_eq!(best.len(), 2);
    assert!(best[0]["score"].as_f64() >= best[1]["score"].as_f64());
    assert!(answer["cost_on_protected_epsilon"].as_f64().unwrap() > 0.2);
    assert_eq!(answer["charged"], false);
    for file in ["tuned.toml", "trials.csv", "trials.svg", "report.html", "results.json"] {
        assert!(desk.path(&format!("tuned/{file}")).is_file(), "{file}");
    }
    assert_eq!(desk.read("tuned/trials.csv").lines().count(), 25);
    let accuracy = |arguments: &str| desk.prdo(arguments).json()["test_accuracy"].as_f64().unwrap();
    let before = accuracy("run bad.toml --out before --json");
    let after = accuracy("run tuned/tuned.toml --out after --json");
    assert!(after > before, "{before} {after}");
    // The budget stays what it was.
    assert!(desk.read("after/run.toml").contains("epsilon = 0.2"));
    // The same search, the same answer.
    let again = desk
        .prdo("tune bad.toml --methods prdo,ed --trials 12 --seeds 2 --out again --threads 1 --json")
        .json();
    assert_eq!(again["best"][0]["settings"], answer["best"][0]["settings"]);
}

fn table() -> String {
    let mut text = String::from("a,b,label,node\n");
    for k in 0..240 {
        let (a, b) = (f64::from(k % 12) / 6.0 - 0.9, f64::from(k % 7) / 3.0 - 1.0);
        text += &format!("{a},{b},{},{}\n", u8::from(a - b > 0.1), k % 3);
    }
    text
}

const FILE: &str = r#"rounds = 20
[graph]
kind = "complete"
[data]
source = "file"
path = "mine.csv"
validation = 0.3
[model]
kind = "logistic"
[method]
name = "ed"
step_size = 0.5
[batch]
size = 10
[clip]
gradient = 1.0
difference = 0.1
[privacy]
epsilon = 4.0
delta = 1e-3
"#;

#[test]
fn protected_records_are_not_touched_unless_it_is_asked_for_and_charged() {
    let desk = Desk::new();
    desk.write("mine.csv", table());
    desk.write("mine.toml", FILE);
    refused(&desk, "tune mine.toml", &["may be protected", "--generated", "--charge"]);
    refused(&desk, "tune mine.toml --generated --public-data", &["cannot be used with"]);
    refused(&desk, "tune mine.toml --generated --keep seed", &["--keep seed", "method.step_size"]);
    desk.write("other.csv", table());
    let quick = "--methods ed --trials 4 --seeds 1 --json --out";
    for (on, out) in [
        ("--generated", "drawn"),
        ("--stand-in other.csv", "other"),
        ("--unprotected-validation", "aside"),
        ("--public-data", "public"),
    ] {
        let answer = desk.prdo(&format!("tune mine.toml {on} {quick} {out}")).json();
        assert_eq!((&answer["trials"], &answer["charged"]), (&4.into(), &false.into()), "{on}");
        let z = answer["best"][0]["noise_multiplier"].as_f64().unwrap();
        assert!(z > 0.3, "{on}: {z}");
    }
    let answer = desk.prdo(&format!("tune mine.toml --charge released.txt {quick} charged")).json();
    assert_eq!(answer["charged"], true);
    let statement = desk.read("released.txt");
    assert_eq!(statement.matches("method.name=ed").count(), 7, "{statement}");
    // A run that names the statement is accounted for together with the trials.
    desk.write("final.toml", FILE.replace("delta = 1e-3", "delta = 1e-3\nstatement = \"released.txt\""));
    refused(&desk, "run final.toml --out final", &["privacy"]);
    desk.prdo("run final.toml --out final --set privacy.epsilon=40").done();
    let quadratic = SMALL.replace("logistic", "quadratic");
    desk.write("quadratic.toml", quadratic);
    refused(&desk, "tune quadratic.toml --generated", &["--generated is for records with classes"]);
    refused(&desk, "tune mine.toml --public-data --set privacy.noise_multiplier=1.0", &["privacy"]);
}
