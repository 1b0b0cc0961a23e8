//! `prdo privacy` as a person types it: the paper's figures, round trips, files, and what is refused.

use crate::common::{self, Desk};
use serde_json::Value as Json;

/// The paper's plan without its noise and δ.
const PLAN: &str = "--rate 100/4500 --rounds 9500";

fn number(json: &Json, key: &str) -> f64 {
    json[key].as_f64().unwrap_or_else(|| panic!("{key} is no number in {json}"))
}

fn epsilon(desk: &Desk, plan: &str) -> Json {
    desk.prdo(&format!("privacy epsilon {plan} --json")).json()
}

#[test]
fn epsilon_encloses_the_papers_figures() {
    let desk = Desk::new();
    for (noise, exact) in [(2.464143, 3.987714167), (1.807607, 5.987649059), (1.480246, 7.987483908)] {
        let answer = epsilon(&desk, &format!("{PLAN} --noise {noise} --delta 1e-5"));
        let (lower, upper) = (number(&answer, "epsilon_lower"), number(&answer, "epsilon_upper"));
        // The reference has nine decimals.
        assert!(lower <= exact + 5e-10 && exact - 5e-10 <= upper, "{exact}: {answer}");
        assert!(upper - lower <= 1e-6 * exact, "{answer}");
        assert_eq!(number(&answer, "epsilon"), upper, "what to quote is the proven upper bound");
        assert_eq!((number(&answer, "delta"), answer["accountant"].as_str()), (1e-5, Some("prv")));
        assert_eq!((number(&answer, "rate"), number(&answer, "noise_multiplier")), (100.0 / 4500.0, noise));
        assert_eq!((answer["rounds"].as_u64(), number(&answer, "first_rate")), (Some(9500), 100.0 / 4500.0));
        assert!(number(&answer, "seconds") > 0.0);
    }
}

#[test]
fn noise_is_never_below_the_papers_exact_multipliers_and_hardly_above() {
    let desk = Desk::new();
    for (budget, exact) in [(4.0, 2.458116139615), (6.0, 1.804911581152), (8.0, 1.478715798018)] {
        let answer =
            desk.prdo(&format!("privacy noise {PLAN} --epsilon {budget} --delta 1e-5 --json")).json();
        let noise = number(&answer, "noise_multiplier");
        assert!(noise >= exact && noise <= exact * (1.0 + 1e-6), "{noise} against {exact}");
        assert!(
            number(&answer, "epsilon_upper") <= budget && number(&answer, "epsilon_lower") > 0.999 * budget
        );
        assert_eq!(number(&answer, "target_epsilon"), budget);
        // Typed back in, it costs what it said (this JSON reader may be off by a unit in the last place).
        let again = epsilon(&desk, &format!("{PLAN} --noise {noise:?} --delta 1e-5"));
        let (said, costs) = (number(&answer, "epsilon"), number(&again, "epsilon"));
        assert!(costs <= budget && (costs / said - 1.0).abs() < 1e-12, "{said} against {costs}");
    }
}

#[test]
fn the_most_rounds_fit_and_one_more_does_not() {
    let desk = Desk::new();
    for first in ["", "--first-rate 1/2", "--first-rate 1 --first-noise 3.5"] {
        for accountant in ["prv", "rdp-paper"] {
            let plan = format!("--rate 0.02 --noise 1.7 --delta 1e-5 {first} --accountant {accountant}");
            let answer = desk.prdo(&format!("privacy rounds {plan} --epsilon 2.5 --json")).json();
            let rounds = answer["rounds"].as_u64().unwrap();
            assert!(rounds > 100 && answer["capped"] == false, "{answer}");
            let cost = |rounds: u64| number(&epsilon(&desk, &format!("{plan} --rounds {rounds}")), "epsilon");
            assert!(cost(rounds) <= 2.5, "{rounds} rounds do not fit ({first} {accountant})");
            assert!(cost(rounds + 1) > 2.5, "{rounds} rounds are not the most ({first} {accountant})");
            assert_eq!(cost(rounds), number(&answer, "epsilon"));
        }
    }
    // The first round takes nearly everything: it fits, nothing after it does.
    let tight = "--rate 1 --noise 2 --first-noise 1.2 --delta 1e-5";
    let one = number(&epsilon(&desk, &format!("{tight} --rounds 1")), "epsilon");
    let answer = desk.prdo(&format!("privacy rounds {tight} --epsilon {} --json", one * 1.001)).json();
    assert_eq!(answer["rounds"], 1, "{answer}");
    let endless = desk.prdo("privacy rounds --rate 1e-9 --noise 100 --epsilon 5 --delta 1e-5 --json").json();
    assert!(endless["capped"] == true && endless["rounds"].as_u64() == Some(1_000_000_000_000), "{endless}");
}

#[test]
fn the_largest_rate_fits_and_a_larger_one_does_not() {
    let desk = Desk::new();
    let plan = "--noise 2.5 --rounds 9500 --delta 1e-5";
    let answer = desk.prdo(&format!("privacy rate {plan} --epsilon 4 --json")).json();
    let rate = number(&answer, "rate");
    let cost = |rate: f64| number(&epsilon(&desk, &format!("{plan} --rate {rate:?}")), "epsilon");
    assert!(cost(rate) <= 4.0 && cost(rate * (1.0 + 1e-7)) > 4.0, "{answer}");
    let all = desk.prdo("privacy rate --noise 50 --rounds 1 --epsilon 4 --delta 1e-5").done().stdout;
    assert!(all.contains("sampling rate 1 keeps") && all.contains("every record"), "{all}");
}

#[test]
fn delta_at_epsilon_is_the_inverse_of_epsilon_at_delta() {
    let desk = Desk::new();
    let plan = format!("{PLAN} --noise 2.464143");
    let forth = epsilon(&desk, &format!("{plan} --delta 1e-5"));
    let at = number(&forth, "epsilon_upper");
    let back = epsilon(&desk, &format!("{plan} --epsilon {at:?}"));
    let (lower, upper) = (number(&back, "delta_lower"), number(&back, "delta_upper"));
    assert!(lower <= 1e-5 && upper >= lower && (upper / 1e-5 - 1.0).abs() < 1e-6, "{back}");
    assert_eq!((number(&back, "delta"), number(&back, "epsilon")), (upper, at));
    let text = desk.prdo(&format!("privacy epsilon {plan} --epsilon 4")).done().stdout;
    assert!(text.starts_with("δ ≤ 9.4521") && text.contains("at ε = 4 (proven: 9.4521"), "{text}");
}

#[test]
fn a_first_rate_is_the_rate_of_one_of_the_rounds() {
    let desk = Desk::new();
    let cost = |plan: &str| {
        let answer = epsilon(&desk, &format!("--noise 2 --delta 1e-5 {plan}"));
        (number(&answer, "epsilon_lower"), number(&answer, "epsilon_upper"))
    };
    let plain = cost("--rate 0.02 --rounds 500");
    assert_eq!(cost("--rate 0.02 --rounds 500 --first-rate 0.02"), plain);
    assert_eq!(cost("--rate 0.02 --rounds 500 --first-noise 2"), plain);
    assert_eq!(cost("--rate 0.9 --rounds 1 --first-rate 0.02"), cost("--rate 0.02 --rounds 1"));
    let higher = cost("--rate 0.02 --rounds 500 --first-rate 0.5");
    assert!(higher.0 > plain.1, "a costlier first round costs more");
    assert!(cost("--rate 0.02 --rounds 500 --first-rate 0.5 --first-noise 4").1 < higher.0);
    let answer =
        epsilon(&desk, "--rate 0.02 --noise 2 --rounds 5 --delta 1e-5 --first-rate 1/2 --first-noise 4");
    assert_eq!((number(&answer, "first_rate"), number(&answer, "first_noise_multiplier")), (0.5, 4.0));
}

#[test]
fn renyi_accountants_are_looser_say_no_lower_bound_and_point_to_the_exact_one() {
    let desk = Desk::new();
    let plan = format!("{PLAN} --noise 2.464143 --delta 1e-5");
    let exact = number(&epsilon(&desk, &plan), "epsilon");
    let mut last = exact;
    for name in ["rdp", "rdp-paper"] {
        let answer = epsilon(&desk, &format!("{plan} --accountant {name}"));
        assert!(answer["epsilon_lower"].is_null() && answer["accountant"] == name, "{answer}");
        assert!(number(&answer, "epsilon") > last && number(&answer, "epsilon") < 1.3 * exact, "{answer}");
        last = number(&answer, "epsilon");
        let text = desk.prdo(&format!("privacy epsilon {plan} --accountant {name}")).done().stdout;
        assert!(text.contains("upper bound only") && text.contains("Hint: the exact accountant"), "{text}");
        assert!(text.contains("3.9877"), "{text}");
    }
    for (question, hint) in [
        (format!("noise {PLAN} --epsilon 4 --delta 1e-5"), "noise multiplier of 2.45811"),
        ("rounds --rate 100/4500 --noise 2.5 --epsilon 4 --delta 1e-5".into(), "allows 98"),
        ("rate --rounds 9500 --noise 2.5 --epsilon 4 --delta 1e-5".into(), "a rate of 0.02263"),
    ] {
        let text = desk.prdo(&format!("privacy {question} --accountant rdp-paper")).done().stdout;
        assert!(text.contains("Hint: the exact accountant") && text.contains(hint), "{text}");
    }
}

#[test]
fn text_for_people_is_short_and_rounded_to_the_safe_side() {
    let desk = Desk::new();
    let plan = format!("{PLAN} --noise 2.464143 --delta 1e-5");
    let text = desk.prdo(&format!("privacy epsilon {plan}")).done().stdout;
    let answer = epsilon(&desk, &plan);
    assert_eq!(text.lines().count(), 3, "{text}");
    let after = |words: &str| -> f64 {
        let rest = text.split(words).nth(1).unwrap_or_else(|| panic!("{words:?} is missing in {text}"));
        rest.split([' ', ')']).next().unwrap().parse().unwrap()
    };
    assert!(text.starts_with("ε ≤ 3.98771") && text.contains("at δ = 1e-5 (proven: 3.98771"), "{text}");
    for words in ["ε ≤ ", "≤ ε ≤ "] {
        assert!(after(words) >= number(&answer, "epsilon_upper"), "{text}");
    }
    assert!(after("proven: ") <= number(&answer, "epsilon_lower"), "{text}");
    assert!(text.contains("100/4500") && text.contains("Meaning: with or without any one record"), "{text}");
}

#[test]
fn a_curve_is_a_table_a_plot_and_a_file() {
    let desk = Desk::new();
    let plan = "--rate 0.01 --noise 1.5 --rounds 400 --delta 1e-5";
    let files = "--out c/a.svg --out a.png --out a.csv";
    let text = desk.prdo(&format!("privacy curve --against rounds {plan} --points 7 {files}")).done().stdout;
    assert!(
        desk.read("c/a.svg").starts_with("<svg") && desk.bytes("a.png").starts_with(b"\x89PNG\r\n\x1a\n")
    );
    let svg = desk.read("c/a.svg");
    for words in
        ["exact (upper bound)", "Rényi", "rounds (releases)", "rate 0.01, noise multiplier 1.5, δ = 1e-5"]
    {
        assert!(svg.contains(words), "{words}");
    }
    assert!(
        text.contains("written: a.csv") && text.contains("paper&apos;s Rényi ε") == text.contains("&"),
        "{text}"
    );
    let csv = desk.read("a.csv");
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some("rounds,epsilon_lower,epsilon_upper,epsilon_rdp,epsilon_rdp_paper"));
    let rows: Vec<Vec<f64>> = lines.map(|l| l.split(',').map(|c| c.parse().unwrap()).collect()).collect();
    assert_eq!(
        rows.iter().map(|r| r[0]).collect::<Vec<_>>(),
        [4.0, 13.0, 40.0, 126.0, 400.0, 1265.0, 4000.0]
    );
    for row in &rows {
        assert!(row[1] <= row[2] && row[2] < row[3] && row[3] < row[4], "{row:?}");
        assert!(text.contains(&format!("\n{} ", row[0])), "{text}");
    }
    assert!(rows.windows(2).all(|w| w[0][2] < w[1][2]), "ε grows with the rounds");
    let given = epsilon(&desk, plan);
    assert_eq!(rows[4][1..3], [number(&given, "epsilon_lower"), number(&given, "epsilon_upper")]);
}

#[test]
fn a_curve_against_each_setting_goes_the_right_way_within_the_range_asked_for() {
    let desk = Desk::new();
    let all = [("rate", "0.01"), ("noise", "1.5"), ("rounds", "400"), ("delta", "1e-5")];
    for (against, from, to, key, grows) in [
        ("rounds", 2.0, 5.0, "rounds", true),
        ("noise", 0.8, 3.0, "noise_multiplier", false),
        ("rate", 0.001, 0.1, "rate", true),
        ("delta", 1e-8, 1e-3, "delta", false),
    ] {
        // What is on the axis need not be given.
        let rest = all.iter().filter(|(name, _)| *name != against).map(|(name, x)| format!("--{name} {x} "));
        let rest: String = rest.collect();
        let ask =
            format!("privacy curve --against {against} {rest} --from {from} --to {to} --points 9 --json");
        let answer = desk.prdo(&ask).json();
        let points = answer["points"].as_array().unwrap();
        // Rounds are whole: only four lie between 2 and 5.
        assert_eq!(points.len(), if against == "rounds" { 4 } else { 9 }, "{answer}");
        assert!(answer["against"] == key && answer[key].is_null(), "{answer}");
        assert_eq!(points[0][key].is_u64(), against == "rounds", "{answer}");
        for pair in points.windows(2) {
            assert!(number(&pair[0], key) < number(&pair[1], key), "{answer}");
            assert_eq!(number(&pair[0], "epsilon") < number(&pair[1], "epsilon"), grows, "{answer}");
        }
        let ends: Vec<f64> = [0, points.len() - 1].map(|k| number(&points[k], key)).to_vec();
        assert_eq!(ends, [from, to], "{against}");
    }
    // By default the range lies around the setting that was given, and holds it.
    let plan = "--rate 0.01 --noise 1.5 --rounds 40 --delta 1e-5 --json";
    for (against, key, given) in
        [("noise", "noise_multiplier", 1.5), ("rate", "rate", 0.01), ("delta", "delta", 1e-5)]
    {
        let answer = desk.prdo(&format!("privacy curve --against {against} {plan}")).json();
        let places: Vec<f64> = answer["points"].as_array().unwrap().iter().map(|p| number(p, key)).collect();
        assert!(places.len() == 25 && places.contains(&given), "{places:?}");
        assert!(places[0] < given && given < places[24]);
    }
}

/// The command is refused, and nothing is written into an empty folder.
#[track_caller]
fn refused(arguments: &str, words: &[&str]) {
    common::refused(&Desk::new(), arguments, words);
}

/// `text` with the value of an option replaced.
fn with(text: &str, option: &str, value: &str) -> String {
    let mut words: Vec<&str> = text.split_whitespace().collect();
    let at = words.iter().position(|word| *word == option).unwrap_or_else(|| panic!("{option} in {text}"));
    words[at + 1] = value;
    words.join(" ")
}

#[test]
fn bad_values_name_the_option_the_value_and_what_is_allowed() {
    let cost =
        "privacy epsilon --rate 0.02 --noise 2 --rounds 100 --delta 1e-5 --first-rate 0.5 --first-noise 3";
    let rate = "100/4500";
    for (option, value, allowed) in [
        ("--rate", "0", rate),
        ("--rate", "-0.1", rate),
        ("--rate", "1.0001", rate),
        ("--rate", "nan", rate),
        ("--rate", "inf", rate),
        ("--rate", "-inf", rate),
        ("--rate", "abc", rate),
        ("--rate", "4500/100", rate),
        ("--rate", "1/0", rate),
        ("--rate", "1e-13", rate),
        ("--first-rate", "2", rate),
        ("--first-rate", "zero", rate),
        ("--noise", "0", "0.01 to 1e6"),
        ("--noise", "-2", "0.01 to 1e6"),
        ("--noise", "1e7", "0.01 to 1e6"),
        ("--noise", "NaN", "0.01 to 1e6"),
        ("--noise", "inf", "0.01 to 1e6"),
        ("--noise", "two", "0.01 to 1e6"),
        ("--first-noise", "0", "0.01 to 1e6"),
        ("--rounds", "0", "from 1 to 1e12"),
        ("--rounds", "-5", "from 1 to 1e12"),
        ("--rounds", "1.5", "whole number"),
        ("--rounds", "1e13", "from 1 to 1e12"),
        ("--rounds", "99999999999999999999999", "from 1 to 1e12"),
        ("--rounds", "many", "whole number"),
        ("--delta", "0", "above 0 and below 1"),
        ("--delta", "1", "above 0 and below 1"),
        ("--delta", "-1e-5", "above 0 and below 1"),
        ("--delta", "nan", "above 0 and below 1"),
        ("--delta", "1e-5x", "above 0 and below 1"),
    ] {
        refused(&with(cost, option, value), &[option, value, allowed]);
    }
    refused(&format!("{cost} --accountant moments"), &["--accountant", "moments", "prv, rdp, rdp-paper"]);
    let noise = "privacy noise --rate 0.02 --rounds 100 --epsilon 4 --delta 1e-5";
    for value in ["0", "-4", "nan", "inf", "four"] {
        refused(&with(noise, "--epsilon", value), &["--epsilon", value, "a number above 0"]);
    }
    refused(&with(noise, "--rounds", "0"), &["--rounds", "'0'", "from 1 to 1e12"]);
    let at = "privacy epsilon --rate 0.02 --noise 2 --rounds 100 --epsilon -1";
    refused(at, &["--epsilon", "-1", "at least 0"]);
}

#[test]
fn missing_and_contradictory_options_are_named() {
    let plan = "--rate 0.02 --noise 2 --rounds 100";
    refused(&format!("privacy epsilon {plan}"), &["--delta", "--epsilon", "1e-5"]);
    refused(
        &format!("privacy epsilon {plan} --delta 1e-5 --epsilon 2"),
        &["--delta 1e-5", "--epsilon 2", "both"],
    );
    refused(&format!("privacy epsilon {plan} --epsilon 2 --accountant rdp"), &["--accountant rdp", "prv"]);
    refused("privacy epsilon --noise 2 --rounds 100 --delta 1e-5", &["--rate <Q>"]);
    refused("privacy epsilon --rate 0.02 --rounds 100 --delta 1e-5", &["--noise <Z>"]);
    refused("privacy noise --rate 0.02 --rounds 100 --delta 1e-5", &["--epsilon <E>"]);
    refused("privacy rounds --rate 0.02 --noise 2 --epsilon 3", &["--delta <D>"]);
    refused("privacy rate --noise 2 --epsilon 3 --delta 1e-5", &["--rounds <T>"]);
    refused("privacy epsilom", &["epsilom"]);
    refused("bench nonsense", &["nonsense"]);
}

#[test]
fn budgets_that_cannot_be_met_say_what_to_change() {
    let next = &["--epsilon", "--delta", "lower --rounds"];
    refused(
        "privacy noise --rate 1 --rounds 1e12 --epsilon 1e-9 --delta 1e-12",
        &["ε ≤ 1e-9", "1e6", next[0], next[2]],
    );
    refused(
        "privacy rate --noise 0.01 --rounds 1e12 --epsilon 1e-9 --delta 1e-12",
        &["1e-12", "raise --noise", next[2]],
    );
    let none = &["not even one round", "raise --noise", "lower --rate"];
    refused("privacy rounds --rate 1 --noise 0.5 --epsilon 0.1 --delta 1e-5", none);
    refused("privacy rounds --rate 0.001 --first-rate 1 --noise 0.5 --epsilon 0.1 --delta 1e-5", none);
    refused("privacy rounds --rate 1 --noise 0.5 --epsilon 0.1 --delta 1e-5 --accountant rdp-paper", none);
}

#[test]
fn bad_curves_are_refused_before_anything_is_computed_or_written() {
    let plan = "--rate 0.02 --noise 2 --rounds 100 --delta 1e-5";
    let curve = |rest: &str| format!("privacy curve {plan} {rest}");
    refused(&curve("--out a.svg"), &["--against"]);
    refused(&curve("--against time"), &["--against", "time", "rounds", "delta"]);
    refused(&curve("--against rounds --out a.svg --out b.eps"), &["--out b.eps", ".svg, .png, .pdf or .csv"]);
    refused(&curve("--against rounds --out plain"), &["--out plain", ".svg, .png, .pdf or .csv"]);
    refused(&curve("--against rounds --points 1 --out a.svg"), &["--points", "from 2 to 10000"]);
    refused(&curve("--against rounds --points 1e9 --out a.svg"), &["--points", "1e9", "from 2 to 10000"]);
    refused(&curve("--against rate --to 2 --out a.svg"), &["--to 2", "--rate", "to 1"]);
    refused(&curve("--against noise --from 1e-3 --out a.svg"), &["--from 0.001", "--noise", "from 0.01"]);
    refused(&curve("--against delta --to 1 --out a.svg"), &["--to 1", "--delta", "below 1"]);
    refused(&curve("--against rounds --to 1e13 --out a.svg"), &["--to", "--rounds", "1e12"]);
    refused(&curve("--against rounds --from 50 --to 20 --out a.svg"), &["--from 50", "--to 20"]);
    refused(&curve("--against rounds --from 50 --to 50 --out a.svg"), &["--from 50", "--to 50"]);
    for value in ["-1", "0", "nan", "abc"] {
        refused(
            &curve(&format!("--against rounds --from {value} --out a.svg")),
            &["--from", value, "above 0"],
        );
    }
    refused("privacy curve --against rounds --rate 0.02 --noise 2 --out a.svg", &["--delta is missing"]);
    refused("privacy curve --against rounds --rate 0.02 --delta 1e-5 --out a.svg", &["--noise is missing"]);
    refused(
        "privacy curve --against rounds --rate 0.02 --noise 2 --delta 1e-5 --from 5 --out a.svg",
        &["--to is missing", "--rounds"],
    );
}

#[test]
fn what_has_no_finite_bound_is_still_json() {
    let desk = Desk::new();
    // As little protection as can be asked about.
    for name in ["prv", "rdp", "rdp-paper"] {
        let answer = epsilon(
            &desk,
            &format!("--rate 1 --noise 0.01 --rounds 1e12 --delta 1e-300 --accountant {name}"),
        );
        assert!(answer["epsilon"].is_null() || number(&answer, "epsilon") > 1e6, "{answer}");
    }
}

#[test]
fn every_question_has_help_with_an_example_that_works() {
    let desk = Desk::new();
    for question in ["epsilon", "noise", "rounds", "rate", "pairs", "curve"] {
        let help = desk.prdo(&format!("privacy {question} --help")).done().stdout;
        let example = help.split("Example: prdo ").nth(1).expect(question).lines().next().unwrap();
        assert!(example.starts_with(&format!("privacy {question} ")), "{example}");
        desk.prdo(example).done();
    }
    assert!(desk.read("curve.svg").starts_with("<svg"));
}

/// Commands in docs/accounting.md and docs/pairs.md with their output, as `console` blocks: `$ ` before what is typed.
#[test]
fn the_pages_show_what_the_command_prints() {
    let desk = Desk::new();
    let pages = [include_str!("../../../../docs/accounting.md"), include_str!("../../../../docs/pairs.md")];
    let page = pages.join("\n");
    let mut checked = 0;
    for block in page.split("```console\n").skip(1) {
        let block = block.split("```").next().unwrap();
        for shown in block.split("$ prdo ").skip(1) {
            let (typed, output) = shown.split_once('\n').unwrap();
            assert_eq!(desk.prdo(typed).done().stdout.trim_end(), output.trim_end(), "prdo {typed}");
            checked += 1;
        }
    }
    assert!(checked >= 4, "the pages show {checked} commands with their output");
}

#[test]
fn runs_on_the_same_records_share_a_budget() {
    let desk = Desk::new();
    desk.write(
        "run.toml",
        common::SMALL.replace("[privacy]", "[privacy]\nstatement = \"patients.statement\""),
    );
    let run = |out: &str, set: &str| desk.prdo(&format!("run run.toml --out {out} --json {set}"));
    let noise = |out: &str, set: &str| number(&run(out, set).json(), "noise_multiplier");
    let first = noise("first", "--set privacy.epsilon=1.0");
    // The same seeded run again is the same release: it gets the same noise and counts once.
    assert_eq!(noise("again", "--set privacy.epsilon=1.0"), first);
    let second = run("second", "--set privacy.epsilon=1.5 --seed 7").json();
    assert!(number(&second, "epsilon") <= 1.5);
    let alone = "--set privacy.epsilon=1.5 --seed 7 --set privacy.statement=\"other.statement\"";
    assert!(number(&second, "noise_multiplier") > noise("alone", alone));
    // Later runs change nothing about earlier ones.
    assert_eq!(noise("once-more", "--set privacy.epsilon=1.0"), first);
    let total = desk.prdo("privacy statement patients.statement --delta 1e-3 --json").json();
    assert_eq!(total["runs"].as_array().unwrap().len(), 2);
    assert!(number(&total, "epsilon") <= 1.5 && number(&total, "epsilon") > 1.499, "{total}");
    let text = desk.prdo("privacy statement patients.statement --delta 1e-3").done().stdout;
    assert!(text.contains("small: 40 releases") && text.contains("all 2 runs together: ε ≤ 1."), "{text}");

    // A budget that is spent already is refused before anything is trained, and so is a damaged statement.
    common::refused(
        &desk,
        "run run.toml --out third --set privacy.epsilon=1.2 --seed 8",
        &["no noise multiplier"],
    );
    common::refused(&desk, "compare run.toml --out compared", &["privacy.statement", "single runs"]);
    let whole = desk.read("patients.statement");
    desk.write("patients.statement", whole.replace("count 40", "count 4"));
    common::refused(
        &desk,
        "run run.toml --out fourth --set privacy.epsilon=9.0",
        &["its hash does not fit", "restore it"],
    );
    common::refused(&desk, "privacy statement patients.statement --delta 1e-5", &["its hash does not fit"]);
    common::refused(&desk, "privacy statement nowhere --delta 1e-5", &["nowhere is not a file"]);
    common::refused(&desk, "privacy statement patients.statement --delta 2", &["--delta"]);
}
