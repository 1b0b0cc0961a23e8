//! `prdo plan` as a person types it.

use crate::common::{self, Desk, refused};
use prdo::algorithm::methods::steps::{Ends, Polynomial};
use prdo::runfile::{Document, Key};
use prdo::theory::disagreement::{chebyshev, repeated};
use serde_json::Value as Json;

const RING: &str = "plan --graph ring --nodes 32 --rounds 1000 --batch 16";
const LEVELS: &str =
    "--smoothness 2 --initial-gap 0.7 --heterogeneity 0.1 --sampling-variance 1 --dimension 20";
const BUDGET: &str = "--records 2000 --epsilon 2 --delta 1e-5 --clip-gradient 1";

fn number(json: &Json, path: &str) -> f64 {
    let found = path.split('/').fold(json, |json, key| &json[key]);
    found.as_f64().unwrap_or_else(|| panic!("{path} is no number in {json}"))
}

/// The four conditions of `cv:stability` and the bounds, evaluated here from the paper.
fn from_the_paper(answer: &Json, [n, b, l, gap, zeta, sigma, d, nu]: [f64; 8]) -> ([f64; 4], [f64; 3]) {
    let (lambda, alpha, gamma) = (number(answer, "lambda"), number(answer, "alpha"), number(answer, "gamma"));
    let (b0, t) = (number(answer, "first_batch"), number(answer, "rounds"));
    let s = 1.0 - lambda.sqrt();
    let k_h = 16.0 * alpha.powi(2) * lambda / s.powi(2);
    let k_u = 8.0 * n * alpha.powi(4) * l.powi(2) * lambda / (s.powi(2) * (1.0 - lambda));
    let q = l.powi(2) / n + 8.0 * l.powi(2) / (b * n.powi(2) * gamma);
    let a_c = 8.0 * k_h * l.powi(2) / (b * gamma);
    let a_u = 2.0 * k_h * n * l.powi(2) * alpha.powi(2) / (b * gamma) + k_u;
    let feedback = 2.0 * l.powi(2) * alpha.powi(2) / (b * n * gamma) + 2.0 * q * a_u;
    let conditions = [0.5 / l - alpha, 0.25 * s / l - alpha, 0.5 - a_c, 0.125 - feedback];
    let h0 = sigma / (n * b0) + d * nu / n;
    let big_h0 = n * sigma / b0 + n * d * nu;
    let fresh = sigma / b + d * nu;
    let net = 4.0 * n * alpha.powi(2) * lambda * zeta / (s * (1.0 - lambda))
        + k_h * (big_h0 / gamma + 2.0 * gamma * n * fresh * t);
    let stationarity =
        2.0 * gap / (alpha * t) + 2.0 * h0 / (gamma * t) + 4.0 * gamma * fresh / n + 4.0 * q * net / t;
    let consensus = 2.0 * net / (n * t) + 2.0 * a_u / n * 4.0 * stationarity;
    (conditions, [stationarity, 4.0 * stationarity, consensus])
}

fn near(a: f64, b: f64) -> bool {
    (a / b - 1.0).abs() < 1e-9
}

#[test]
fn the_contract_on_a_lazy_ring_of_32() {
    let desk = Desk::new();
    let answer = desk.prdo(&format!("{RING} --c-gamma 1 {LEVELS} --noise-variance 0.001 --json")).json();
    for key in [
        "lambda",
        "c_alpha",
        "alpha",
        "gamma",
        "first_batch",
        "feasible",
        "conditions",
        "constants",
        "bounds",
    ] {
        assert!(!answer[key].is_null(), "{key} is missing: {answer}");
    }
    for key in ["K_H", "K_U", "Q", "A_C", "A_U", "B_net"] {
        assert!(number(&answer["constants"], key) > 0.0);
    }
    assert!(answer["feasible"] == true && answer["first_batch"] == 161);
    let (slack, bounds) = from_the_paper(&answer, [32.0, 16.0, 2.0, 0.7, 0.1, 1.0, 20.0, 0.001]);
    assert!(slack.iter().all(|slack| *slack >= 0.0), "{slack:?}");
    let names = ["descent_step", "network_step", "disagreement_feedback", "direction_feedback"];
    for (name, slack) in names.iter().zip(slack) {
        let condition = &answer["conditions"][name];
        assert!(condition["holds"] == true, "{condition}");
        let said = number(condition, "limit") - number(condition, "left");
        assert!((said - slack).abs() < 1e-12 && number(condition, "slack") == said, "{name}");
    }
    assert!(names.contains(&answer["conditions"]["binding"].as_str().unwrap()));
    for (name, bound) in ["stationarity", "direction", "consensus"].iter().zip(bounds) {
        assert!(near(number(&answer["bounds"], name), bound), "{name}: {answer}");
    }
    let parts: f64 = ["optimization", "heterogeneity", "sampling", "privacy"]
        .iter()
        .map(|k| number(&answer["split"], k))
        .sum();
    assert!(near(parts, bounds[0]));
}

#[test]
fn given_parameters_replace_the_schedules() {
    let desk = Desk::new();
    let given = "--step 1e-5 --momentum 0.3 --first-batch 40";
    let answer = desk.prdo(&format!("{RING} {LEVELS} --noise-variance 0 {given} --json")).json();
    assert_eq!((number(&answer, "alpha"), number(&answer, "gamma")), (1e-5, 0.3));
    assert_eq!(answer["first_batch"], 40);
    let (_, bounds) = from_the_paper(&answer, [32.0, 16.0, 2.0, 0.7, 0.1, 1.0, 20.0, 0.0]);
    assert!(near(number(&answer, "bounds/stationarity"), bounds[0]));
    assert_eq!(number(&answer, "split/privacy"), 0.0);
    // Only γ: the largest step that is feasible for it.
    let only = desk.prdo(&format!("{RING} {LEVELS} --momentum 0.3 --json")).json();
    assert!(only["feasible"] == true && number(&only, "alpha") > 1e-5);
    let more = format!("{RING} {LEVELS} --momentum 0.3 --step {:e} --json", 1.001 * number(&only, "alpha"));
    let more = desk.prdo(&more).json();
    assert!(more["feasible"] == false, "{more}");
    // An infeasible step is judged, not refused; the text promises nothing.
    let text = desk.prdo(&format!("{RING} {LEVELS} --noise-variance 0 --step 1")).done().stdout;
    assert!(
        text.contains("FAILS") && text.contains("promises nothing") && !text.contains("is at most"),
        "{text}"
    );
}

#[test]
fn without_levels_the_schedule_is_shown_and_what_is_missing() {
    let desk = Desk::new();
    let answer = desk.prdo(&format!("{RING} --json")).json();
    assert!(answer["feasible"] == true && answer["bounds"]["stationarity"].is_null());
    assert_eq!(answer["alpha_unit"], "1/L_s");
    let missing = answer["missing"].as_array().unwrap();
    assert!(missing.iter().any(|m| m == "--smoothness") && missing.len() == 6, "{missing:?}");
    let text = desk.prdo(RING).done().stdout;
    assert!(text.contains("/L_s") && text.contains("The bound needs --smoothness"), "{text}");
    // One flag more, one less that is missing.
    let text = desk.prdo(&format!("{RING} --smoothness 2 --dimension 3")).done().stdout;
    assert!(text.contains("The bound needs --initial-gap, --heterogeneity"), "{text}");
}

#[test]
fn a_budget_gives_noise_suggestions_and_changes() {
    let desk = Desk::new();
    let asked = format!("{RING} {LEVELS} {BUDGET}");
    let answer = desk.prdo(&format!("{asked} --json")).json();
    let rates = "--rate 16/2000 --first-rate 161/2000 --rounds 1000 --epsilon 2 --delta 1e-5";
    let z = number(&desk.prdo(&format!("privacy noise {rates} --json")).json(), "noise_multiplier");
    assert!(near(number(&answer, "noise/noise_multiplier"), z), "the same z as `prdo privacy noise`");
    let (s, gamma) = (number(&answer, "sensitivity/s_gamma"), number(&answer, "gamma"));
    assert!(near(number(&answer, "noise/noise_std"), z * s / (gamma * 16.0)));
    assert!(near(number(&answer, "noise/added_std"), z * s / 16.0));
    assert!(answer["sensitivity"]["reduced"] == true && s < 1.0);
    let best = &answer["suggestions"]["best"];
    let plain = &answer["suggestions"]["exact_diffusion"];
    assert_eq!(number(plain, "gamma"), 1.0);
    assert!(number(best, "stationarity") <= number(plain, "stationarity"));
    assert!(number(best, "stationarity") <= number(&answer, "bounds/stationarity"));
    // The suggestion, typed in, has the bound that was said.
    let typed = format!(
        "plan --graph ring --nodes 32 --rounds {} --batch 16 {LEVELS} {BUDGET} --step {:e} --momentum {:e} --first-batch {} \
         --clip-difference {:e} --json",
        best["rounds"],
        number(best, "alpha"),
        number(best, "gamma"),
        best["first_batch"],
        number(best, "clip_difference"),
    );
    let again = desk.prdo(&typed).json();
    assert!(
        again["feasible"] == true
            && near(number(&again, "bounds/stationarity"), number(best, "stationarity")),
        "{again}"
    );
    let changes: Vec<&str> =
        answer["changes"].as_array().unwrap().iter().filter_map(|c| c["what"].as_str()).collect();
    let starts = ["as it is", "½ε", "2ε", "2N", "10N", "2n", "complete", "torus", "hypercube"];
    assert!(starts.iter().all(|start| changes.iter().any(|c| c.starts_with(start))), "{changes:?}");
    let text = desk.prdo(&asked).done().stdout;
    for words in
        ["Sensitivity S_γ", "Noise z", "holds, binds", "optimization", "Suggestions", "What would change"]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

#[test]
fn vacuous_bounds_are_called_so() {
    let desk = Desk::new();
    let text = desk.prdo(&format!("{RING} {LEVELS} {BUDGET}")).done().stdout;
    assert!(text.contains("The bound is vacuous: without any training"), "{text}");
    let answer = desk.prdo(&format!("{RING} {LEVELS} {BUDGET} --json")).json();
    assert!(answer["vacuous"] == true && answer["verdict"]["because"][0] == "optimization");
    assert!(number(&answer, "bounds/stationarity") > number(&answer, "verdict/start"));
    let long = "plan --graph complete --lazy=false --nodes 32 --rounds 100000 --batch 16 --noise-variance 0";
    let answer = desk.prdo(&format!("{long} {LEVELS} --json")).json();
    assert!(answer["vacuous"] == false && number(&answer, "lambda") == 0.0, "{answer}");
    assert_eq!(number(&answer, "split/heterogeneity"), 0.0);
    let text = desk.prdo(&format!("{long} {LEVELS}")).done().stdout;
    assert!(text.contains("The bound is informative"), "{text}");
}

#[test]
fn run_files_are_judged_beside_the_schedule() {
    let desk = Desk::new();
    desk.write("private.toml", desk.prdo("example private").done().stdout);
    let answer = desk.prdo("plan private.toml --json").json();
    assert_eq!((number(&answer, "alpha"), number(&answer, "gamma")), (0.5, 0.1));
    assert!(answer["feasible"] == false && answer["schedule"]["feasible"] == true);
    assert_eq!(answer["about"], "schedule");
    for level in ["smoothness", "initial_gap", "heterogeneity", "sampling_variance"] {
        assert_eq!(answer["estimated"][level]["from"], "proven", "{answer}");
    }
    let text = desk.prdo("plan private.toml").done().stdout;
    assert!(text.contains("As written (PRDO)") && text.contains("From private ones"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    // Options win over what the records show.
    let given = desk.prdo("plan private.toml --smoothness 3 --json").json();
    assert_eq!(given["estimated"]["smoothness"]["from"], "given");
    // Exact Diffusion is γ = 1; other methods are not what the theorem is about.
    let plain = desk.prdo("plan private.toml --set method.name=ed --json").json();
    assert_eq!((number(&plain, "gamma"), number(&plain, "sensitivity/ratio")), (1.0, 1.0));
    let other = desk.prdo("plan private.toml --set method.name=dsgd --json").json();
    assert!(
        other["covered"] == false
            && other["conditions"].is_null()
            && other["bounds"]["stationarity"].is_null()
    );
    assert!(number(&other, "noise/noise_multiplier") > 0.0 && number(&other, "lambda") > 0.0);
    let text = desk.prdo("plan private.toml --set method.name=dsgd").done().stdout;
    assert!(text.contains("does not cover this run") && !text.contains("optimization"), "{text}");
    let open = desk.prdo("plan private.toml --set method.name=ed").done().stdout;
    assert!(open.contains("As written (Exact Diffusion)"), "{open}");
}

/// What nodes mix by is what theory's figures of disagreement are about.
#[test]
fn exchanges_are_the_polynomials_of_the_theory() {
    for second in [0.2, 0.904_508, 0.9999] {
        let ends = Ends { smallest: 0.0, second };
        for (degree, place) in (2..12).flat_map(|k| (0..=20).map(move |p| (k, f64::from(p) / 20.0))) {
            let expected = chebyshev(place, second, degree);
            let found = Polynomial::shifted(degree, ends).at(place);
            assert!((found - expected).abs() < 1e-10, "{second}, {degree}, {place}: {found} {expected}");
            assert!((Polynomial::power(degree).at(place) - repeated(place, degree)).abs() < 1e-14);
        }
    }
}

/// K exchanges: λ is that of their polynomial, and the traffic K times, with what comes after the last round.
#[test]
fn further_exchanges_are_planned_with() {
    let desk = Desk::new();
    desk.write("private.toml", desk.prdo("example private").done().stdout);
    let asked = |set: &str| desk.prdo(&format!("plan private.toml --json{set}")).json();
    let (once, three) = (asked(""), asked(" --set method.exchanges=3 --set method.final_mixings=8"));
    let power = asked(" --set method.exchanges=3 --set method.polynomial=power");
    assert!((number(&power, "lambda") - number(&once, "lambda").powi(3)).abs() < 1e-12, "{power}");
    assert!(number(&three, "lambda") < number(&power, "lambda"));
    let bytes = |answer: &Json| number(answer, "cost/bytes");
    assert_eq!(bytes(&power), 3.0 * bytes(&once));
    let rounds = Document::read(&desk.path("private.toml")).unwrap().integer(Key::Rounds).unwrap() as f64;
    assert!((bytes(&three) / bytes(&once) - (3.0 + 8.0 / rounds)).abs() < 1e-9, "{three}");
}

#[test]
fn networks_have_estimates_and_say_so() {
    let desk = Desk::new();
    desk.write("mlp.toml", desk.prdo("example mlp").done().stdout);
    let answer = desk.prdo("plan mlp.toml --json").json();
    assert_eq!(answer["estimated"]["smoothness"]["from"], "estimated");
    let text = desk.prdo("plan mlp.toml").done().stdout;
    assert!(text.contains("a guide, not a guarantee"), "{text}");
}

#[test]
fn a_file_of_records_is_not_looked_at_unless_it_is_public() {
    let desk = Desk::new();
    let mut table = String::from("a,b,label,node\n");
    for k in 0..120 {
        table += &format!("{},{},{},{}\n", (k % 7) as f64 / 7.0, (k % 5) as f64 / 5.0, k % 2, k % 3);
    }
    desk.write("my-data.csv", table);
    desk.write("csv.toml", desk.prdo("example csv").done().stdout);
    let answer = desk.prdo("plan csv.toml --json").json();
    assert!(answer["estimated"]["smoothness"].is_null() && answer["bounds"]["stationarity"].is_null());
    assert!(answer["feasible"].is_null() && answer["schedule"]["feasible"] == true);
    assert!(answer["estimated"]["not_estimated_because"].as_str().unwrap().contains("--public-data"));
    assert!(number(&answer, "noise/noise_multiplier") > 0.0, "what is public is answered");
    let text = desk.prdo("plan csv.toml").done().stdout;
    assert!(text.contains("not in the budget") && text.contains("not known without L_s"), "{text}");
    let public = desk.prdo("plan csv.toml --public-data --json").json();
    assert_eq!(public["estimated"]["smoothness"]["from"], "proven");
    assert!(number(&public, "bounds/stationarity") > 0.0);
    // With every constant given nothing needs to be looked at.
    let levels = LEVELS.split(" --dimension").next().unwrap();
    let given = desk.prdo(&format!("plan csv.toml {levels} --json")).json();
    assert!(
        given["estimated"]["not_estimated_because"].is_null() && number(&given, "bounds/stationarity") > 0.0
    );
}

#[test]
fn the_picture_is_drawn() {
    let desk = Desk::new();
    let asked = format!("{RING} {LEVELS} --noise-variance 0.01");
    desk.prdo(&format!("{asked} --picture bound.svg")).done();
    assert!(desk.read("bound.svg").starts_with("<svg") && desk.read("bound.svg").contains("privacy"));
    desk.prdo(&format!("{asked} --picture bound.png")).done();
    assert!(desk.bytes("bound.png").starts_with(b"\x89PNG"));
    refused(&desk, &format!("{asked} --picture bound.gif"), &["--picture"]);
    refused(&desk, &format!("{RING} --picture bound.svg"), &["no bound to draw"]);
}

#[test]
fn bad_questions_are_refused_by_name() {
    let desk = Desk::new();
    desk.write("sweep.toml", common::SMALL.replace("rounds = 40", "rounds = [40, 50]"));
    desk.write("small.toml", common::SMALL);
    let ring = |more: &str| format!("{RING} {more}");
    for (typed, words) in [
        (ring("--smoothness -1"), "--smoothness -1 is not allowed"),
        (ring("--smoothness nan"), "--smoothness"),
        (ring("--initial-gap -1"), "--initial-gap -1 is not allowed"),
        (ring("--heterogeneity 1e99"), "--heterogeneity"),
        (ring("--noise-variance -1"), "--noise-variance -1"),
        (ring("--c-gamma 2"), "--c-gamma 2 is not allowed"),
        (ring("--c-alpha 0"), "--c-alpha 0 is not allowed"),
        (ring("--momentum 2"), "--momentum 2 is not allowed"),
        (ring("--momentum 0"), "--momentum 0 is not allowed"),
        (ring("--step 1"), "--smoothness"),
        (ring("--step 0 --smoothness 1"), "--step 0 is not allowed"),
        (ring("--epsilon 2"), "--records"),
        (ring("--epsilon 0 --delta 1e-5 --records 100 --clip-gradient 1"), "--epsilon"),
        (ring("--epsilon 1 --noise 2 --delta 1e-5 --records 100 --clip-gradient 1"), "--noise"),
        (ring("--noise 1 --clip-gradient -1 --clip-difference 1"), "--clip-gradient -1"),
        (ring("--records 10"), "--batch 16 is not allowed"),
        (ring("--records 100 --first-batch 101"), "--first-batch 101 is not allowed"),
        (ring("--dimension 0"), "--dimension"),
        ("plan".into(), "--graph"),
        ("plan --graph rang --nodes 4 --rounds 1 --batch 1".into(), "unknown graph"),
        ("plan --graph ring --rounds 1 --batch 1".into(), "--nodes"),
        (
            "plan --graph ring --nodes 8 --weights metropolis --lazy=false --rounds 1 --batch 1".into(),
            "--lazy",
        ),
        ("plan none.toml".into(), "none.toml"),
        ("plan sweep.toml".into(), "rounds is a list"),
        ("plan small.toml --rounds 7".into(), "--rounds"),
        ("plan small.toml --set rounds=0".into(), "rounds = 0 is not allowed"),
        ("plan small.toml --set batch.first=61".into(), "batch.first = 61 is not allowed"),
    ] {
        refused(&desk, &typed, &[words]);
    }
}

#[test]
fn the_help_has_examples_that_work() {
    let desk = Desk::new();
    let help = desk.prdo("plan --help").done().stdout;
    let example = help.split("Example: prdo ").nth(1).unwrap().lines().next().unwrap();
    assert!(example.starts_with("plan "), "{example}");
    desk.prdo(example).done();
    let long = help.split("by cause:\n  prdo ").nth(1).unwrap().split("For a run file").next().unwrap();
    desk.prdo(&long.replace("\\\n", " ").split_whitespace().collect::<Vec<_>>().join(" ")).done();
}

/// Commands in docs/plan.md with their output, as `console` blocks.
#[test]
fn the_page_shows_what_the_command_prints() {
    let desk = Desk::new();
    let page = include_str!("../../../../docs/plan.md");
    let blocks: Vec<&str> = page.split("```console\n$ prdo ").skip(1).collect();
    for block in &blocks {
        let (typed, output) = block.split("```").next().unwrap().split_once('\n').unwrap();
        assert_eq!(desk.prdo(typed).done().stdout.trim_end(), output.trim_end(), "prdo {typed}");
    }
    assert!(!blocks.is_empty());
}
