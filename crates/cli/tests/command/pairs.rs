//! `prdo privacy pairs` as a person types it: keys, figures, words, and what is refused.

use crate::common::{self, Desk, SMALL};
use serde_json::Value as Json;

fn number(json: &Json, key: &str) -> f64 {
    json[key].as_f64().unwrap_or_else(|| panic!("{key} is no number in {json}"))
}

/// The command is refused, and nothing is written into an empty folder.
#[track_caller]
fn refused(arguments: &str, words: &[&str]) {
    common::refused(&Desk::new(), arguments, words);
}

/// Ten nodes, full batches, 50 rounds.
const TEN: &str = "privacy pairs --nodes 10 --rate 1 --rounds 50 --epsilon 4 --delta 1e-5";

#[test]
fn pairs_have_the_keys_that_scripts_read_and_the_studys_figures() {
    let desk = Desk::new();
    desk.write("ring.txt", (0..10).map(|i| format!("{i} {}\n", (i + 1) % 10)).collect::<String>());
    for (options, gain, apart, figures) in [
        ("--ratio 10", 2.876, 1.866, [3.7673, 4.0, 4.2779, 4.6173, 5.0441, 5.6022]),
        ("", 2.646, 1.124, [3.7727, 4.0, 4.2703, 4.5986, 5.0083, 5.5386]),
        (
            "--ratio 100 --secrets graph ring.txt",
            2.724,
            1.328,
            [3.5239, 4.0, 13.3342, 13.3342, 13.3342, 13.3342],
        ),
    ] {
        let answer = desk.prdo(&format!("{TEN} --colluders 1 {options} --json")).json();
        let [z, own, pair] =
            ["noise_multiplier", "own_multiplier", "pair_multiplier"].map(|key| number(&answer, key));
        assert!(
            (number(&answer, "gain") - gain).abs() < 1e-3 && (z / own / gain - 1.0).abs() < 1e-3,
            "{answer}"
        );
        assert!(((pair / own).powi(2) / number(&answer, "ratio") - 1.0).abs() < 1e-12, "{answer}");
        let rows = answer["epsilon_by_colluders"].as_array().unwrap();
        for (colluders, (row, figure)) in rows.iter().zip(figures).enumerate() {
            assert_eq!(row["colluders"].as_u64(), Some(colluders as u64));
            assert!((number(row, "epsilon") - figure).abs() < 1e-4, "{options} {row}");
        }
        assert!(rows.len() == 10 && number(&rows[1], "epsilon") <= 4.0);
        // The last is what own noise alone costs; the agreed one what independent noise does.
        let cost = |z: f64| {
            let typed = format!("privacy epsilon --rate 1 --rounds 50 --delta 1e-5 --noise {z:?} --json");
            number(&desk.prdo(&typed).json(), "epsilon")
        };
        assert!((cost(own) / number(&rows[9], "epsilon") - 1.0).abs() < 1e-12);
        assert!((cost(z) / number(&rows[1], "epsilon") - 1.0).abs() < 1e-12);
        assert!((number(&answer["disagreement"][0], "paired") - apart).abs() < 1e-3, "{answer}");
        assert_eq!(answer["secrets"], if options.contains("graph") { "graph" } else { "complete" });
    }
    let noise = desk.prdo("privacy noise --rate 1 --rounds 50 --epsilon 4 --delta 1e-5 --json").json();
    let answer = desk.prdo(&format!("{TEN} --colluders 1 --json")).json();
    assert_eq!(noise["noise_multiplier"], answer["noise_multiplier"]);
    // A list of all pairs is the closed form.
    let all: String = (0..10).flat_map(|i| (0..i).map(move |j| format!("{i},{j}\n"))).collect();
    desk.write("all.csv", all);
    let listed = desk.prdo(&format!("{TEN} --colluders 1 --secrets graph all.csv --json")).json();
    assert_eq!(
        (&listed["secrets"], &listed["own_multiplier"]),
        (&"complete".into(), &answer["own_multiplier"])
    );
}

#[test]
fn pairs_are_told_in_words() {
    let desk = Desk::new();
    let text = desk.prdo(&format!("{TEN} --colluders 3 --first-rate 1/2")).done().stdout;
    for words in [
        "against outsiders and any 3 members together",
        "secrets between all pairs",
        "the first release at rate 1/2",
        "any 3 members (as agreed)",
        "all others, or all keys lost",
        "pseudo-random",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let two = desk.prdo(&format!("{TEN} --colluders 0").replace("10", "2")).done().stdout;
    assert!(
        two.contains("outsiders (no member may collude)") && !two.contains("exchanges per round"),
        "{two}"
    );
    let many = desk.prdo(&format!("{TEN} --colluders 20 --json").replace("10", "1000")).json();
    let rows = many["epsilon_by_colluders"].as_array().unwrap();
    let sizes: Vec<u64> = rows.iter().map(|row| row["colluders"].as_u64().unwrap()).collect();
    assert!(sizes.len() < 40 && sizes.contains(&20) && sizes.last() == Some(&999), "{sizes:?}");
}

#[test]
fn pairs_that_gain_nothing_are_refused() {
    refused(&format!("{TEN} --colluders 9"), &["--colluders 9", "--nodes 10", "at most 8", "stay honest"]);
    refused(&format!("{TEN} --colluders 10"), &["--colluders 10", "--nodes 10", "at most 8"]);
    refused(&format!("{TEN} --colluders -1"), &["--colluders", "-1", "whole number"]);
    refused(&format!("{TEN} --colluders 0").replace("10", "1"), &["--nodes", "from 2 to 1000"]);
    for ratio in ["0", "-3", "inf", "nan", "1e13"] {
        refused(&format!("{TEN} --colluders 1 --ratio {ratio}"), &["--ratio", ratio]);
    }
    refused(&format!("{TEN} --colluders 1 --secrets some"), &["--secrets some", "complete, or graph FILE"]);
    refused(&format!("{TEN} --colluders 1 --secrets graph"), &["--secrets graph FILE"]);
    refused(&format!("{TEN} --colluders 1 --secrets graph missing.txt"), &["graph missing.txt"]);
    refused(&format!("{TEN} --colluders 1").replace("1e-5", "1e-300").replace("50", "1e12"), &["--epsilon"]);
    for (file, colluders, words) in [
        ("0 1\n1 2\n2 3\n3 4\n4 5\n5 6\n6 7\n7 8\n8 9\n9 0\n", 2, "node 0 shares secrets with 2 others only"),
        ("0 1\n1 2\n", 0, "node 3 shares secrets with 0 others only"),
        ("0 1\n1 12\n", 1, "13 nodes, but --nodes is 10"),
        ("0 1 0.5\n1 2 0.5\n", 1, "lines \"i j\""),
        ("0 0\n", 1, "own neighbour"),
        ("", 1, "no network"),
    ] {
        let desk = Desk::new();
        desk.write("secrets.txt", file);
        let typed = format!("{TEN} --colluders {colluders} --secrets graph secrets.txt");
        common::refused(&desk, &typed, &["secrets", words]);
    }
}

/// A small run with noise in pairs.
fn small_in_pairs() -> String {
    SMALL.replace("[privacy]", "[privacy]\nnoise = \"pairs\"")
}

/// Everything that is said of a run with noise in pairs names those against whom its ε is.
#[test]
fn a_run_says_against_whom_its_noise_is_and_what_coalitions_learn() {
    let desk = Desk::new();
    desk.write("small.toml", small_in_pairs());
    let answer = desk.prdo("run small.toml --out out").done();
    for part in [
        "for every record, against outsiders and any one member together (seeded",
        "\nany 1 member (as agreed)             4.0000\n",
        "\nall others, or all keys lost         ",
        "all rows but the last assume bounded computing power",
    ] {
        assert!(answer.stdout.contains(part), "{part}: {}", answer.stdout);
    }
    let worth = "against outsiders and any one member together; noise in pairs: multipliers ";
    assert!(answer.stderr.contains(worth), "{}", answer.stderr);
    let html = desk.read("out/report.html");
    for part in [
        "at δ = 1e-3 against outsiders and any one member together; this is a seeded simulation",
        "ε spent, against the agreed coalitions",
        "Each single record is protected against outsiders and any one member together",
        "<tr><td>any 1 member (as agreed)</td><td>4.0000</td></tr>",
        "computational in the shares",
        "all records, noise and secrets of any one node but the record's own",
        "between all pairs of nodes, added and rounded once",
    ] {
        assert!(html.contains(part), "{part}");
    }
    assert!(!html.contains("any curious node"));
    desk.prdo("report out").done();
    assert_eq!(desk.read("out/report.html"), html);

    let alone = desk.prdo("run small.toml --out alone --set privacy.colluders=0").done();
    assert!(alone.stdout.contains("against outsiders only (seeded"), "{}", alone.stdout);
    assert!(desk.read("alone/report.html").contains("No member is among the observers"));
    // Before the run is finished nothing but the agreed size is known.
    std::fs::remove_file(desk.path("alone/summary.json")).unwrap();
    desk.prdo("report alone").done();
    let html = desk.read("alone/report.html");
    assert!(html.contains("protected against outsiders only") && html.contains("when the run is finished"));
}

#[test]
fn kinds_of_noise_are_told_apart_in_a_comparison() {
    let desk = Desk::new();
    desk.write("a.toml", SMALL.replace("[privacy]", "[privacy]\nnoise = [\"independent\", \"pairs\"]"));
    let answer = desk.prdo("compare a.toml --out lists").done();
    for part in [
        "\nPRDO, independent noise ",
        "\nPRDO, noise in pairs ",
        "Where noise is in pairs ε is against outsiders",
    ] {
        assert!(answer.stdout.contains(part), "{part}: {}", answer.stdout);
    }
    let html = desk.read("lists/report.html");
    assert!(html.contains("<p>PRDO, independent noise: Each single record is protected: "));
    assert!(
        html.contains(
            "<p>PRDO, noise in pairs: Each single record is protected against outsiders and any one"
        )
    );
    assert!(html.contains("<td>all others, or all keys lost</td>"));
    assert!(desk.read("lists/table.tex").contains("noise is in pairs"));
    // Two files that differ in nothing that has a label.
    desk.write("b.toml", SMALL);
    desk.write("c.toml", small_in_pairs());
    let answer = desk.prdo("compare b.toml c.toml --out files").done();
    let rows: Vec<&str> = answer.stdout.lines().filter(|line| line.starts_with("PRDO")).collect();
    assert!(rows.iter().any(|row| row.contains(", noise in pairs ")), "{rows:?}");
    assert!(rows.iter().any(|row| !row.contains("noise in pairs")), "{rows:?}");
}

#[test]
fn a_plan_takes_the_noise_of_the_mean_and_of_the_network_apart() {
    let desk = Desk::new();
    desk.write("alone.toml", SMALL.replace("step_size = 0.5", "step_size = 0.0005"));
    desk.write("pairs.toml", small_in_pairs().replace("step_size = 0.5", "step_size = 0.0005"));
    let json = |file: &str| -> Json {
        serde_json::from_str(&desk.prdo(&format!("plan {file} --json")).done().stdout).unwrap()
    };
    let (alone, pairs) = (json("alone.toml"), json("pairs.toml"));
    let facts = &pairs["pairs"];
    assert!(alone.get("pairs").is_none());
    assert!(number(facts, "gain") > 1.5 && number(facts, "answer_noise") > 1.0);
    assert!(number(facts, "drift") > number(facts, "drift_independent"));
    // At so short a step the mean's noise is nearly all that counts.
    let privacy = |json: &Json| number(&json["split"], "privacy");
    assert!(privacy(&pairs) < privacy(&alone), "{} {}", privacy(&pairs), privacy(&alone));
    assert!(number(facts, "privacy_by_mean") < privacy(&pairs));
    let words = desk.prdo("plan pairs.toml").done().stdout;
    for part in [
        "It is in pairs, against outsiders and any one member",
        "Nodes drift: ",
        "the paper does not state it",
    ] {
        assert!(words.contains(part), "{part}: {words}");
    }
}

#[test]
fn an_audit_of_a_run_file_with_pairs_attacks_pairs() {
    let desk = Desk::new();
    desk.write(
        "small.toml",
        small_in_pairs().replace("noise = \"pairs\"", "noise = \"pairs\"\ncolluders = 2"),
    );
    let answer = desk.prdo("audit small.toml --quick --out audit").done();
    for part in [
        "pairs-outsiders",
        "pairs-coalition",
        "pairs-all-others",
        "shares ",
        "against outsiders and any 2 members",
    ] {
        assert!(answer.stdout.contains(part), "{part}: {}", answer.stdout);
    }
    let found: Json = serde_json::from_str(&desk.read("audit/results.json")).unwrap();
    assert_eq!(
        (found["passed"].as_bool(), number(&found["settings"][0]["pairs"], "colluders")),
        (Some(true), 2.0)
    );
}
