//! Feature maps in run files: images and tables become public features, and what does not fit is refused.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{Desk, refused};

const DIGITS: &str = "rounds = 30\nseed = 3\n[graph]\nkind = \"ring\"\nnodes = 4\n[data]\nsource = \"digits\"\n\
    [features]\nmap = \"scattering\"\nscales = 1\nangles = 4\ngrid = 4\ncache = \"kept\"\n\
    [method]\nname = \"edm\"\nstep_size = 20.0\n[batch]\nsize = 100\n[clip]\ngradient = 0.5\n[privacy]\nepsilon = 8.0\n";

#[test]
fn digits_are_learned_from_their_scattering_and_the_run_file_repeats_it() {
    let desk = Desk::new();
    desk.write("digits.toml", DIGITS);
    let answer = desk.prdo("run digits.toml --out out").done();
    assert!(answer.stderr.contains("it costs no privacy"), "{}", answer.stderr);
    let summary: serde_json::Value = serde_json::from_str(&desk.read("out/summary.json")).unwrap();
    assert!(summary["test_accuracy"].as_f64().unwrap() > 0.7, "{summary}");
    // Five channels in sixteen cells, and the intercept, for ten classes.
    assert_eq!(summary["parameters"], (5 * 16 + 1) * 10);
    let hash = summary["features"]["hash"].as_str().unwrap().to_owned();
    assert_eq!(hash.len(), 64);
    let resolved = desk.read("out/run.toml");
    assert!(
        resolved.contains(&format!("features = \"{hash}\"")) && resolved.contains("scales = 1"),
        "{resolved}"
    );
    assert!(desk.read("out/report.html").contains(&hash));
    let kept: Vec<_> = std::fs::read_dir(desk.path("kept")).unwrap().collect();
    assert_eq!(kept.len(), 1);

    desk.prdo("run out/run.toml --out again --threads 1").done();
    assert_eq!(desk.bytes("out/model.safetensors"), desk.bytes("again/model.safetensors"));
    desk.write("other.toml", resolved.replace(&hash[..8], "00000000"));
    refused(&desk, "run other.toml --out other", &["the feature maps differ", &hash]);
}

const TABLE: &str = "rounds = 20\n[graph]\nnodes = 3\n[data]\nsource = \"file\"\npath = \"people.csv\"\n\
    [features]\nmap = \"table\"\nranges = [\"age: 0 to 100\", \"hours: 0 to 80\"]\ncategories = [\"job\"]\n\
    buckets = 8\n[method]\nname = \"ed\"\nstep_size = 1.0\n";

fn people() -> String {
    let mut text = "age,job,hours,label\n".to_owned();
    for r in 0..90 {
        let (job, label) = if r % 2 == 0 { ("nurse", "yes") } else { ("smith", "no") };
        text += &format!("{},{job},{},{label}\n", 20 + r % 50, r % 60);
    }
    text
}

#[test]
fn tables_have_ranges_and_categories() {
    let desk = Desk::new();
    desk.write("people.csv", people());
    desk.write("run.toml", TABLE);
    desk.prdo("run run.toml --out out").done();
    let summary: serde_json::Value = serde_json::from_str(&desk.read("out/summary.json")).unwrap();
    assert_eq!((&summary["parameters"], &summary["test_accuracy"]), (&22.into(), &1.0.into()));
    for (from, to, words) in [
        (", \"hours: 0 to 80\"", "", "no range for column \"hours\""),
        ("0 to 80", "80 to 80", "\"hours\" is 80 to 80"),
        ("age: 0 to 100", "age 0-100", "column: low to high"),
        ("\"job\"", "\"job\", \"trade\"", "no column \"trade\""),
        ("\"table\"", "\"scattering\"", "reads images"),
        ("map = \"table\"\n", "", "features.map"),
    ] {
        desk.write("bad.toml", TABLE.replace(from, to));
        refused(&desk, "run bad.toml --out bad", &[words]);
    }
}
