//! `prdo report` as a person types it: whole folders, damaged ones, and those of other kinds.

use crate::common::{Desk, SMALL, refused};
use proptest::prelude::*;
use std::path::Path;
use std::sync::OnceLock;

/// A desk with a finished run in `out`.
fn trained() -> Desk {
    let desk = Desk::new();
    desk.write("small.toml", SMALL);
    desk.prdo("run small.toml --out out").done();
    desk
}

/// Types `prdo report out`; expects a partial report, these words in it, and a warning with the last of them.
#[track_caller]
fn partial(desk: &Desk, words: &[&str]) -> String {
    let answer = desk.prdo("report out").done();
    let html = desk.read("out/report.html");
    assert!(html.contains("This report is not complete") && html.ends_with("</html>\n"));
    for word in words {
        assert!(html.contains(word), "{word:?} is missing in the page");
    }
    let last = words.last().unwrap();
    assert!(answer.stderr.contains("warning: ") && answer.stderr.contains(last), "{last}: {}", answer.stderr);
    html
}

#[test]
fn the_page_explores_prints_and_reaches_nothing_outside() {
    let desk = trained();
    let html = desk.read("out/report.html");
    for part in [
        "Content-Security-Policy",
        "default-src 'none'",
        "script-src 'sha256-",
        "application/json",
        "function prdoChart",
        "\"gradient_evaluations\"",
        "chart-drawn",
        "@media print",
        "prefers-color-scheme: dark",
        "Clipped gradients",
        "Each of the 4 nodes holds 60 records",
        "prdo run run.toml --out again",
        "trained by",
        "4 organisations trained a logistic model together",
        "With secret draws every single record is protected",
        "What the words mean",
        "<dt>e^ε</dt>",
        "title=\"the area under the ROC curve: ",
        "\"label\":\"always predicting the majority class: ",
        "at δ = 1e-3; this is a seeded simulation",
    ] {
        assert!(html.contains(part), "{part}");
    }
    // A name cannot become part of the page.
    let evil = SMALL.replace("name = \"small\"", "name = \"</script><script>alert(1)</script>\"");
    desk.write("evil.toml", evil);
    desk.prdo("run evil.toml --out evil").done();
    assert!(!desk.read("evil/report.html").contains("<script>alert"));
}

#[test]
fn the_command_in_the_report_repeats_the_run_to_the_bit() {
    let desk = trained();
    let mut command = desk.command("run run.toml --out again");
    assert!(command.current_dir(desk.path("out")).output().unwrap().status.success());
    for file in ["metrics.csv", "model.safetensors", "run.toml"] {
        assert_eq!(desk.bytes(&format!("out/{file}")), desk.bytes(&format!("out/again/{file}")), "{file}");
    }
}

#[test]
fn figures_for_papers_are_written_when_asked_for() {
    let desk = trained();
    assert!(!desk.path("out/figure.pdf").exists());
    let said = desk.prdo("report out --figures").done().stdout;
    for name in ["out/report.html", "out/figure.svg", "out/figure.png", "out/figure.pdf"] {
        assert!(said.lines().any(|line| line == name), "{name}: {said}");
    }
    assert!(desk.bytes("out/figure.pdf").starts_with(b"%PDF-1.7"));
    assert!(desk.bytes("out/figure.png").starts_with(b"\x89PNG"));
    assert!(desk.read("out/figure.svg").starts_with("<svg"));
    desk.prdo("graph ring --nodes 5 --picture net.pdf").done();
    desk.prdo("privacy curve --rate 0.1 --noise 2 --rounds 10 --delta 1e-5 --against rounds --out c.pdf")
        .done();
    for name in ["net.pdf", "c.pdf"] {
        assert!(desk.bytes(name).starts_with(b"%PDF-1.7") && desk.bytes(name).ends_with(b"%%EOF\n"));
    }
}

#[test]
fn what_is_missing_is_said_file_by_file() {
    let desk = trained();
    let (settings, metrics) = (desk.read("out/run.toml"), desk.read("out/metrics.csv"));
    std::fs::remove_file(desk.path("out/run.toml")).unwrap();
    let html = partial(&desk, &["no privacy statement", "Treat the run as not private", "run.toml: missing"]);
    assert!(!html.contains("add/remove"));
    desk.write("out/run.toml", settings.replace("kind = \"ring\"", "kind = \"rong\""));
    partial(&desk, &["run.toml: damaged", "rong"]);
    desk.write("out/run.toml", &settings);
    // Cut within the last line: the rest is shown.
    desk.write("out/metrics.csv", &metrics[..metrics.len() - 9]);
    partial(&desk, &["\"panels\"", "metrics.csv, line 6: the line is cut"]);
    desk.write("out/metrics.csv", metrics.replacen("\n10,", "\n1x0,", 1));
    partial(&desk, &["\"panels\"", "metrics.csv, line 3: this is no row of measurements"]);
    std::fs::remove_file(desk.path("out/metrics.csv")).unwrap();
    partial(&desk, &["No measurements yet", "metrics.csv: missing"]);
    desk.write("out/metrics.csv", &metrics);
    let summary = desk.read("out/summary.json");
    desk.write("out/summary.json", &summary[..summary.len() / 2]);
    partial(&desk, &["Whether this run finished is unknown", "--out again", "summary.json, line "]);
    assert!(
        !desk.read("out/report.html").contains("--overwrite"),
        "nobody is told to overwrite what may be finished"
    );
    desk.write("out/summary.json", "[1, 2]");
    partial(&desk, &["summary.json: damaged: it is not an object"]);
    desk.write("out/summary.json", &summary);
    let whole = desk.prdo("report out").done();
    assert!(!whole.stderr.contains("warning") && !desk.read("out/report.html").contains("not complete"));
}

#[test]
fn an_unfinished_run_says_how_to_go_on() {
    let desk = trained();
    std::fs::remove_file(desk.path("out/summary.json")).unwrap();
    desk.prdo("report out").done();
    let html = desk.read("out/report.html");
    assert!(html.contains("not finished (measured up to round 40 of 40)"));
    // Its model may be all that is left of it.
    assert!(html.contains("prdo run out/run.toml --out again") && !html.contains("--overwrite"));
    assert!(html.contains("All its rounds together will cost ε = "));
    std::fs::remove_file(desk.path("out/model.safetensors")).unwrap();
    desk.prdo("report out").done();
    assert!(desk.read("out/report.html").contains("--overwrite"));
    desk.write("out/checkpoint/state", "x");
    desk.prdo("report out").done();
    assert!(desk.read("out/report.html").contains("prdo run out/run.toml --out out --resume"));
}

#[test]
fn a_run_that_failed_says_why() {
    let desk = Desk::new();
    let quadratic = "name = \"far\"\nrounds = 400\n[graph]\nkind = \"ring\"\nnodes = 4\n[data]\nsource = \"quadratic\"\n\
        records = 20\ndimension = 3\n[method]\nname = \"ed\"\nstep_size = 50.0\n";
    desk.write("far.toml", quadratic);
    assert_eq!(desk.prdo("run far.toml --out out").code, Some(1));
    desk.prdo("report out --figures").done();
    let html = desk.read("out/report.html");
    for part in ["Training diverged at round ", "smaller method.step_size", "not finished", "ε = ∞"] {
        assert!(html.contains(part), "{part}");
    }
}

#[test]
fn a_folder_with_nothing_to_show_is_refused_with_what_it_should_hold() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path("empty")).unwrap();
    refused(
        &desk,
        "report empty",
        &["empty", "nothing to report", "run.toml", "metrics.csv", "comparison.json"],
    );
    desk.write("torn/comparison.json", "{\"title\": ");
    refused(&desk, "report torn", &["comparison.json, line 1", "table.csv: missing"]);
    desk.write("bare/summary.json", "");
    refused(&desk, "report bare", &["summary.json", "run.toml: missing"]);
}

#[test]
fn a_members_folder_gets_its_own_report() {
    let desk = Desk::new();
    desk.write("home/agreement", "…");
    refused(&desk, "report home", &["not trained yet", "prdo node status home"]);
    let status = r#"{"state": "stopped", "member": "<clinic>", "name": "study", "round": 7, "rounds": 20,
        "epsilon_spent": 0.5, "budget": 2.0, "delta": 1e-5, "noise_multiplier": 3.25,
        "neighbours": [{"name": "lab", "state": "not reached", "why": "no answer"}]}"#;
    desk.write("home/status.json", status);
    desk.prdo("report home").done();
    let html = desk.read("home/report.html");
    for part in
        ["&lt;clinic&gt; in study", "stopped after 7 rounds", "ε = 0.5000 at δ = 1e-5", "no answer", "3.25"]
    {
        assert!(html.contains(part), "{part}");
    }
}

/// Three methods and four seeds.
fn compared(seeds: &str) -> Desk {
    let desk = Desk::new();
    let lists = SMALL
        .replace("name = \"prdo\"", "name = [\"prdo\", \"ed\", \"dsgd\"]")
        .replace("rounds = 40", &format!("rounds = 20\nseed = {seeds}"));
    desk.write("sweep.toml", &lists);
    desk.prdo("compare sweep.toml --out out").done();
    desk
}

#[test]
fn a_comparison_has_intervals_tests_and_tables_for_papers() {
    let desk = compared("[1, 2, 3, 4]");
    let html = desk.read("out/report.html");
    for part in [
        "paired t test",
        "Holm",
        "over 4 paired seeds",
        "corrected for 3 comparisons",
        "\\begin{tabular}",
        "href=\"table.tex\"",
        "<td>majority class</td>",
        "<th>AUC</th>",
        "\"reference\":{",
        "What the words mean",
    ] {
        assert!(html.contains(part), "{part}");
    }
    let latex = desk.read("out/table.tex");
    for part in ["\\toprule", "\\mathbf{", "\\delta", "10^{-3}", "Means over 4 seeds", "Exact Diffusion & $"]
    {
        assert!(latex.contains(part), "{part}: {latex}");
    }
    let differences = desk.read("out/differences.csv");
    // Two rivals by four measures.
    assert_eq!(differences.lines().count(), 1 + 2 * 4, "{differences}");
    let columns = differences.lines().next().unwrap().split(',').count();
    assert!(differences.lines().all(|line| line.split(',').count() == columns));
    assert!(desk.bytes("out/figure.pdf").starts_with(b"%PDF"));
    // What a run says of itself is what the comparison says of it.
    desk.write("one.toml", SMALL.replace("rounds = 40", "rounds = 20\nseed = 2"));
    let alone = desk.prdo("run one.toml --out one --json").json();
    let table = desk.read("out/table.csv");
    let head: Vec<&str> = table.lines().next().unwrap().split(',').collect();
    let line = table.lines().find(|line| line.starts_with("prdo,2,")).unwrap();
    for key in ["test_auc", "most_common_class"] {
        let at = head.iter().position(|name| *name == key).unwrap();
        let found: f64 = line.split(',').nth(at).unwrap().parse().unwrap();
        assert_eq!(Some(found), alone[key].as_f64(), "{key}");
    }
    // The same from the runs themselves: mean difference of the runner-up by loss.
    let json: serde_json::Value = serde_json::from_str(&desk.read("out/comparison.json")).unwrap();
    let found = json["differences"].as_array().unwrap().iter().find(|d| d["measure"] == "loss").unwrap();
    let loss = |name: &str, seed: u64| -> f64 {
        let key = if name == "PRDO" {
            "prdo"
        } else if name == "D-SGD" {
            "dsgd"
        } else {
            "ed"
        };
        let runs = json["runs"].as_array().unwrap();
        let run = runs.iter().find(|r| r["method"] == key && r["seed"] == seed).unwrap();
        let last = run["metrics"].as_array().unwrap().last().unwrap().as_str().unwrap();
        last.split(',').nth(1).unwrap().parse().unwrap()
    };
    let (best, other) = (found["best"].as_str().unwrap(), found["other"].as_str().unwrap());
    let mean = (1..=4).map(|s| loss(best, s) - loss(other, s)).sum::<f64>() / 4.0;
    assert!((mean - found["mean"].as_f64().unwrap()).abs() < 1e-15 && mean < 0.0);
}

#[test]
fn few_seeds_are_too_few_to_say() {
    let desk = compared("[1, 2]");
    let html = desk.read("out/report.html");
    assert!(html.contains("2 seeds in common: too few to say whether this is chance"));
    assert!(html.contains("too few seeds (2)") && !html.contains("class=\"best\""));
    desk.prdo("compare sweep.toml --out one --set seed=3").done();
    assert!(desk.read("one/report.html").contains("one seed: too few to say"));
}

#[test]
fn a_damaged_comparison_shows_what_is_left() {
    let desk = compared("[1, 2, 3]");
    let whole = desk.read("out/comparison.json");
    let mut json: serde_json::Value = serde_json::from_str(&whole).unwrap();
    json["runs"][1]["seed"] = "x".into();
    json["runs"].as_array_mut().unwrap().pop();
    json.as_object_mut().unwrap().remove("network");
    desk.write("out/comparison.json", json.to_string());
    let words = [
        "network is missing",
        "picture is missing",
        "1 of 9 runs are missing",
        "run 2 of 8 is damaged and left out",
    ];
    partial(&desk, &words);
    desk.write("out/comparison.json", &whole[..whole.len() / 3]);
    let html = partial(&desk, &["Runs, from table.csv", "comparison.json, line "]);
    assert!(html.contains("<td>dsgd</td>"));
    std::fs::remove_file(desk.path("out/comparison.json")).unwrap();
    partial(&desk, &["Runs, from table.csv", "comparison.json: missing"]);
}

/// The files of a folder, and what it is.
type Sample = (Vec<(String, Vec<u8>)>, &'static str);

/// The files of a run and of a comparison, made once.
fn samples() -> &'static [Sample] {
    static SAMPLES: OnceLock<Vec<Sample>> = OnceLock::new();
    SAMPLES.get_or_init(|| {
        let take = |desk: &Desk, names: &[&str]| {
            names.iter().map(|name| (name.to_string(), desk.bytes(&format!("out/{name}")))).collect()
        };
        vec![
            (take(&trained(), &["run.toml", "metrics.csv", "summary.json"]), "a run"),
            (take(&compared("[1, 2, 3]"), &["comparison.json", "table.csv"]), "a comparison"),
        ]
    })
}

fn damaged(bytes: &[u8], at: usize, bit: u8, cut: bool) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let at = at % bytes.len().max(1);
    match cut {
        true => bytes.truncate(at),
        false => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << (bit % 8)),
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 160, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn no_damage_stops_a_report(kind in 0_usize..2, hits in prop::collection::vec((0_usize..3, any::<usize>(), any::<u8>(), any::<bool>()), 1..5)) {
        let (files, what) = &samples()[kind];
        let folder = tempfile::tempdir().unwrap();
        let mut now = files.clone();
        for (file, at, bit, cut) in hits {
            let file = file % now.len();
            now[file].1 = damaged(&now[file].1, at, bit, cut);
        }
        for (name, bytes) in &now {
            std::fs::write(folder.path().join(name), bytes).unwrap();
        }
        match prdo::report::from_folder(Path::new(folder.path())) {
            Ok(report) => prop_assert!(report.html.ends_with("</html>\n"), "{what}"),
            Err(why) => prop_assert!(why.contains("nothing to report"), "{what}: {why}"),
        }
    }
}
