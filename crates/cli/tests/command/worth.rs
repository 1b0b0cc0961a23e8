//! `prdo worth`, as a person types it, and what tables of real organisations need: files without a header, small
//! organisations, two classes on features, AUC.

use crate::common::{Desk, SMALL, refused};
use serde_json::Value;
use std::fmt::Write;

const CLINICS: &str = "rounds = 30\n[graph]\nkind = \"complete\"\n[data]\nsource = \"file\"\npath = \"clinics.csv\"\n\
    node = \"clinic\"\ntest = 0.3\n[partition]\nleast = 20\n[features]\nmap = \"table\"\n\
    ranges = [\"age: 0 to 100\", \"weight: 40 to 120\"]\ncategories = [\"ward\"]\nbuckets = 8\n[model]\n\
    kind = \"logistic\"\nregularization = 0.0\n[method]\nname = \"edm\"\nstep_size = 4.0\nbeta = 0.8\n[batch]\n\
    size = 50\n[clip]\ngradient = 0.5\n[privacy]\nepsilon = 4.0\ndelta = 1e-3\n";

/// Old patients are ill. In the north nearly all are old, in the south nearly all are young, and one clinic has four.
fn clinics(header: bool) -> String {
    let mut text =
        if header { "age, weight, ward, clinic, label\n".to_owned() } else { "|made up\n".to_owned() };
    let mut state = 7_u64;
    let mut draw = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1_u32 << 31)
    };
    for (clinic, records, low, high) in [
        ("north", 150, 45.0, 95.0),
        ("south", 150, 5.0, 55.0),
        ("east", 150, 20.0, 80.0),
        ("tiny", 4, 0.0, 90.0),
    ] {
        for _ in 0..records {
            let (age, weight) = (low + (high - low) * draw(), 50.0 + 60.0 * draw());
            let ill = age + 10.0 * draw() - 5.0 > 50.0;
            let ward = if draw() < 0.5 { "A" } else { "?" };
            let stop = if header { "" } else { "." };
            let label = if ill { "ill" } else { "well" };
            let _ = writeln!(text, "{age:.1}, {weight:.1}, {ward}, {clinic}, {label}{stop}");
        }
    }
    text
}

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("clinics.csv", clinics(true));
    desk.write("clinics.toml", CLINICS);
    desk
}

fn accuracies(list: &Value) -> Vec<f64> {
    list.as_array().unwrap().iter().map(|one| one["accuracy"].as_f64().unwrap()).collect()
}

#[test]
fn organisations_that_differ_gain_by_joining() {
    let desk = desk();
    let answer = desk.prdo("worth clinics.toml --seeds 2 --out w --json").json();
    let names: Vec<&str> =
        answer["alone"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["east", "north", "south"]);
    let records = answer["alone"].as_array().unwrap().iter().map(|one| one["records"].as_u64().unwrap());
    assert_eq!(records.sum::<u64>() + answer["test_records"].as_u64().unwrap(), 450);
    for one in [&answer["together"], &answer["alone"][1]] {
        assert!(one["epsilon"].as_f64().unwrap() <= 4.0 && one["noise_multiplier"].as_f64().unwrap() > 0.1);
        assert_eq!(one["accuracies"].as_array().unwrap().len(), 2);
        assert!((0.0..=1.0).contains(&one["auc"].as_f64().unwrap()));
    }
    assert!(answer["together_without_privacy"]["epsilon"].is_null());
    let joint = answer["together"]["accuracy"].as_f64().unwrap();
    assert!(joint > 0.8, "{joint}");
    let alone = accuracies(&answer["alone"]);
    assert!(alone.iter().copied().fold(1.0, f64::min) < joint - 0.1, "{alone:?} {joint}");
    assert!(answer["median_gain"].as_f64().unwrap() > 0.0 && answer["simulation"] == true, "{answer}");
    assert_eq!(accuracies(&answer["alone_without_privacy"]).len(), 3);
    for key in ["median_gain_margin", "privacy_cost_margin", "median_auc_gain_margin"] {
        assert!(answer[key].as_f64().unwrap() > 0.0, "{key}: {answer}");
    }
    assert!(answer["organisations_clearly_gaining"].as_u64() <= answer["organisations_gaining"].as_u64());
    // The same on one thread, to the bit.
    let again = desk.prdo("worth clinics.toml --seeds 2 --out again --threads 1 --json").json();
    assert_eq!((&answer["together"], &answer["alone"]), (&again["together"], &again["alone"]));

    let lines: Vec<String> = desk.read("w/table.csv").lines().map(String::from).collect();
    assert_eq!(lines.len(), 1 + 2 + 2 * 3);
    assert!(lines[1].starts_with("\"together\",") && lines[3].starts_with("\"east\","), "{lines:?}");
    for file in ["report.html", "figure.svg", "figure.png", "figure.pdf", "results.json"] {
        assert!(desk.path(&format!("w/{file}")).is_file(), "{file}");
    }
    let report = desk.read("w/report.html");
    assert!(report.contains("north alone") && report.contains("prdo worth clinics.toml --seeds 2"));
    refused(&desk, "worth clinics.toml --out w", &["holds a finished run"]);
    refused(&desk, "report w", &["nothing to report"]);
}

#[test]
fn people_read_a_table_and_plain_words() {
    let desk = desk();
    let answer = desk.prdo("worth clinics.toml --out w --open rounds=100").done();
    for words in [
        "together",
        "alone, worst",
        "  north alone",
        "always the most common class",
        "the median organisation",
        "T = 100 rounds, nothing clipped",
        "Seeded simulation: not private",
        "by more than chance",
        "±: half the width of a 95 % interval",
        "One seed: another draw",
        "repeat with --seeds 3",
    ] {
        assert!(answer.stdout.contains(words), "{words}: {}", answer.stdout);
    }
    assert!(
        answer.stderr.contains("1 organisation with fewer than 20 records does not take part"),
        "{}",
        answer.stderr
    );
}

/// Four in five are well whatever is measured: one seed and a hundred held-out records must not say that joining helps.
#[test]
fn chance_is_not_taken_for_a_gain() {
    let desk = desk();
    let mut text = "age,weight,ward,clinic,label\n".to_owned();
    for r in 0..360_u32 {
        // Age, weight and label repeat after 67, 53 and 5 records: nothing follows from anything.
        let (age, weight) = (r * 31 % 67 + 20, r * 17 % 53 + 50);
        let label = if r * 7 % 5 == 0 { "ill" } else { "well" };
        let _ = writeln!(text, "{age},{weight},A,{},{label}", ["north", "south", "east"][(r % 3) as usize]);
    }
    desk.write("clinics.csv", text);
    let said = desk.prdo("worth clinics.toml --out w").done().stdout;
    assert!(said.contains("Accuracy says little here") && said.contains("One seed"), "{said}");
    assert!(!desk.read("w/report.html").contains("class=\"best\""));
    assert!(
        !said.contains("Joining gives") && !said.contains("joining helps the median organisation:"),
        "{said}"
    );
}

#[test]
fn images_of_ten_classes_have_no_auc() {
    let desk = Desk::new();
    desk.write(
        "digits.toml",
        "rounds = 10\n[graph]\nnodes = 3\n[data]\nsource = \"digits\"\n[partition]\nkind = \"dirichlet\"\n\
         concentration = 0.1\n[method]\nname = \"prdo\"\nstep_size = 0.5\ngamma = 0.2\n[batch]\nsize = 100\n[clip]\n\
         gradient = 1.0\ndifference = 0.1\n[privacy]\nepsilon = 8.0\n",
    );
    let answer = desk.prdo("worth digits.toml --out w --json").json();
    assert!(answer["together"]["auc"].is_null() && answer["alone"][0]["auc"].is_null());
    assert!(answer["median_gain"].as_f64().unwrap() > 0.1, "{answer}");
    assert!(!desk.prdo("worth digits.toml --out v").done().stdout.contains("AUC"));
}

#[test]
fn what_has_no_answer_is_refused() {
    let desk = desk();
    let changed = |from: &str, to: &str| {
        assert!(CLINICS.contains(from), "{from}");
        desk.write("bad.toml", CLINICS.replace(from, to));
    };
    let privacy = "[privacy]\nepsilon = 4.0\ndelta = 1e-3\n";
    changed(privacy, "");
    refused(&desk, "worth bad.toml --out bad", &["[privacy] is missing"]);
    changed("node = \"clinic\"", "features = [\"age\", \"weight\", \"ward\"]");
    refused(
        &desk,
        "worth bad.toml --out bad --set graph.nodes=1",
        &["partition.least", "no column says who"],
    );
    changed(
        "node = \"clinic\"\ntest = 0.3\n[partition]\nleast = 20\n",
        "features = [\"age\", \"weight\", \"ward\"]\n",
    );
    refused(&desk, "worth bad.toml --out bad --set graph.nodes=1", &["there are 1 organisations"]);
    changed("least = 20", "least = 2000");
    refused(&desk, "worth bad.toml --out bad", &["partition.least = 2000", "no node has so many records"]);
    changed("least = 20", "least = 20\nkind = \"iid\"");
    refused(&desk, "worth bad.toml --out bad", &["partition.least", "\"column\""]);
    changed("test = 0.3", "test = 0");
    refused(&desk, "worth bad.toml --out bad", &["no held-out records"]);
    changed("delta = 1e-3", "delta = 1e-3\nstatement = \"released.txt\"");
    refused(&desk, "worth bad.toml --out bad", &["privacy.statement"]);
    changed("rounds = 30", "rounds = [30, 40]");
    refused(&desk, "worth bad.toml --out bad", &["rounds is a list"]);
    refused(&desk, "worth clinics.toml --out bad --open data.path=x", &["--open data.path=x", "method"]);
    refused(&desk, "worth clinics.toml --out bad --seeds 0", &["--seeds"]);
    desk.write("quadratic.toml", SMALL.replace("logistic", "quadratic"));
    refused(&desk, "worth quadratic.toml --out bad", &["model.kind = \"quadratic\" has no accuracy"]);
}

#[test]
fn tables_without_a_header_are_read_as_the_uci_repository_writes_them() {
    let desk = desk();
    desk.write("clinics.data", clinics(false));
    let columns = "columns = [\"age\", \"weight\", \"ward\", \"clinic\", \"label\"]\nformat = \"csv\"\n";
    let bare = CLINICS
        .replace("clinics.csv", "clinics.data")
        .replace("test = 0.3\n", &format!("test = 0.3\n{columns}"));
    desk.write("bare.toml", &bare);
    let run = |file: &str, out: &str| desk.prdo(&format!("run {file} --out {out} --json")).json();
    let (one, other) = (run("clinics.toml", "one"), run("bare.toml", "other"));
    assert_eq!((&one["test_accuracy"], &one["test_auc"]), (&other["test_accuracy"], &other["test_auc"]));
    assert_eq!(desk.bytes("one/model.safetensors"), desk.bytes("other/model.safetensors"));
    assert_eq!(other["class_names"], serde_json::json!(["ill", "well"]));
    // The settings that were written down repeat the run.
    desk.prdo("run other/run.toml --out third").done();
    assert_eq!(desk.bytes("third/model.safetensors"), desk.bytes("other/model.safetensors"));
    desk.write("bad.toml", bare.replace("\"weight\", \"ward\", \"clinic\"", "\"weight\", \"clinic\""));
    refused(&desk, "run bad.toml --out bad", &["5 fields", "4 columns"]);
    desk.write("bad.toml", bare.replace("\"weight: 40 to 120\"", "").replace("100\", ]", "100\"]"));
    refused(&desk, "run bad.toml --out bad", &["no range for column \"weight\""]);
    desk.write("a.libsvm", "1 1:1\n0 1:2\n");
    desk.write(
        "bad.toml",
        "rounds = 2\n[graph]\nkind = \"complete\"\nnodes = 1\n[data]\nsource = \"file\"\npath = \"a.libsvm\"\n\
         columns = [\"a\"]\n[method]\nname = \"ed\"\nstep_size = 1.0\n",
    );
    refused(&desk, "run bad.toml --out bad", &["columns", "LibSVM"]);
}

#[test]
fn a_run_says_its_auc_and_what_the_most_common_class_would_get() {
    let desk = desk();
    let answer = desk.prdo("run clinics.toml --out logistic").done();
    assert!(answer.stdout.contains("always the most common class: "), "{}", answer.stdout);
    assert!(answer.stdout.contains("area under the ROC curve (AUC): 0."), "{}", answer.stdout);
    assert!(desk.read("logistic/report.html").contains("area under the ROC curve"));
    let summary =
        |out: &str| -> Value { serde_json::from_str(&desk.read(&format!("{out}/summary.json"))).unwrap() };
    // Ten parameters: two ranges, eight buckets, and an intercept.
    assert_eq!(summary("logistic")["parameters"], 11);
    // Two classes of softmax are the same model with every parameter twice.
    desk.prdo("run clinics.toml --out softmax --set model.kind=softmax").done();
    let auc = |out: &str| summary(out)["test_auc"].as_f64().unwrap();
    assert!(auc("logistic") > 0.85 && auc("softmax") > 0.85, "{} {}", auc("logistic"), auc("softmax"));
    assert_eq!(summary("softmax")["parameters"], 22);
    let predicted = desk.prdo("predict logistic clinics.csv --out said.csv").done();
    assert!((predicted.stdout + &predicted.stderr).contains("of these records' labels are predicted"));
    // A category that nobody has seen is a bucket like any other.
    desk.write("new.csv", "age,weight,ward,clinic\n70,80,never seen,north\n");
    desk.prdo("predict logistic new.csv --out new-said.csv").done();
    assert_eq!(desk.read("new-said.csv").lines().count(), 2);
}

#[test]
fn a_constant_column_is_harmless_and_named_ranges_must_be_there() {
    let desk = desk();
    let constant: String = clinics(true)
        .lines()
        .enumerate()
        .map(|(k, line)| format!("{}, {line}\n", if k == 0 { "country" } else { "Norway" }))
        .collect();
    desk.write("constant.csv", constant);
    let run = CLINICS.replace("clinics.csv", "constant.csv").replace("[\"ward\"]", "[\"ward\", \"country\"]");
    desk.write("constant.toml", &run);
    let summary = desk.prdo("run constant.toml --out out --json").json();
    assert!(summary["test_accuracy"].as_f64().unwrap() > 0.8, "{summary}");
    desk.write("bad.toml", run.replace("\"ward\", \"country\"", "\"ward\""));
    refused(&desk, "run bad.toml --out bad", &["country"]);
}
