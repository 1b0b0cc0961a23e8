//! The checks can fail: each wrong constant is noticed.

use super::case::{Case, Network};
use super::evidence::Evidence;
use super::file::File;
use super::inequality::{ALL, Inequality, Sense, Sides, not_above_exact};
use super::problem::Problem;
use super::results::{Results, Summary};
use super::verdict::{Finding, allowance};
use prdo::theory::lemmas;

/// As in the whole experiment.
const SEEDS: u64 = 20;

fn evidence_of<T>(name: &str, network: usize, private: bool, look: impl Fn(&Evidence<'_>) -> T) -> T {
    let problems = Problem::all().unwrap();
    let problem = problems.iter().find(|problem| problem.name == name).unwrap();
    let networks = Network::all().unwrap();
    let case = Case::new(problem, &networks[network], 60, private).unwrap();
    look(&Evidence::gather(&case, SEEDS, &|| ()).unwrap())
}

fn named(label: &str, sense: Sense) -> &'static Inequality {
    ALL.iter().find(|one| one.label == label && one.sense == sense).unwrap()
}

fn violated(one: &Inequality, evidence: &Evidence<'_>) -> u64 {
    let found = Finding::of(one, evidence);
    assert!(found.checked > 0);
    // As many means as in the whole experiment.
    found.violated(allowance(51_000, SEEDS))
}

#[test]
fn all_inequalities_hold() {
    for (problem, network, private) in [("log-cosh", 0, true), ("quadratic", 1, false), ("logistic", 2, true)]
    {
        evidence_of(problem, network, private, |evidence| {
            for one in ALL.iter().filter(|one| one.label != "cv:oracle-variance") {
                assert_eq!(violated(one, evidence), 0, "{} ({}), {}", one.label, one.says, evidence.case);
            }
        });
    }
}

#[test]
fn gamma_cubed_instead_of_squared_is_noticed() {
    let wrong = Inequality {
        sides: Sides::EachLaterRound(|evidence, trace, t| {
            let setting = evidence.setting();
            let (before, movement) = (trace.rounds[t - 1].mean_error, trace.rounds[t].movement);
            let right = lemmas::next_mean_error(setting, &evidence.levels, before, movement);
            let still = lemmas::next_mean_error(setting, &evidence.levels, before, 0.0);
            let kept = (1.0 - setting.gamma()).powi(2) * before;
            let fresh = still - kept;
            (evidence.expected_mean_error(trace, t), kept + (right - still) + setting.gamma() * fresh)
        }),
        ..*named("cv:h-recursion", Sense::Conditional)
    };
    for (problem, private) in [("log-cosh", false), ("quadratic", false), ("logistic", true)] {
        evidence_of(problem, 0, private, |evidence| {
            assert!(violated(&wrong, evidence) > 700, "{}", evidence.case);
        });
    }
}

#[test]
fn a_first_error_without_the_number_of_nodes_is_noticed() {
    let wrong = Inequality {
        sides: Sides::EachRun(|evidence, trace| {
            let bound = evidence.bounds.first_local_error.total() / evidence.setting().nodes();
            (evidence.expected_local_error(trace, 0), bound)
        }),
        ..*named("cv:initial-errors", Sense::Conditional)
    };
    evidence_of("quadratic", 0, false, |evidence| assert_eq!(violated(&wrong, evidence), SEEDS));
}

#[test]
fn a_contraction_by_lambda_instead_of_its_root_is_noticed() {
    // And without the forcing: the energy does not fall that fast.
    let wrong = Inequality {
        sides: Sides::EachLaterRound(|evidence, trace, t| {
            (trace.rounds[t].energy, evidence.setting().lambda() * trace.rounds[t - 1].energy)
        }),
        ..*named("cv:network-energy", Sense::Path)
    };
    evidence_of("logistic", 0, false, |evidence| assert!(violated(&wrong, evidence) > 200));
}

#[test]
fn wrong_sampling_and_wrong_noise_are_noticed() {
    // If the gate divided by another batch size, or drew too much noise, the errors would be off by a factor.
    let too_much = Inequality {
        sides: Sides::Seeds(|evidence, trace| {
            let (drawn, expected) = not_above_exact(evidence, trace);
            (drawn, 0.7 * expected)
        }),
        ..*named("cv:oracle-unbiased", Sense::Mean)
    };
    let too_little = Inequality {
        sides: Sides::Seeds(|evidence, trace| {
            let (drawn, expected) = not_above_exact(evidence, trace);
            (1.3 * expected, drawn)
        }),
        ..*named("cv:oracle-unbiased", Sense::Mean)
    };
    for private in [false, true] {
        evidence_of("quadratic", 0, private, |evidence| {
            for wrong in [&too_much, &too_little] {
                let above = Finding::of(wrong, evidence).most_above();
                assert_eq!(violated(wrong, evidence), 1, "{above} standard errors");
            }
        });
    }
}

#[test]
fn what_is_written_is_read_back() {
    evidence_of("log-cosh", 0, true, |evidence| {
        let findings = ALL.iter().map(|one| Finding::of(one, evidence)).collect();
        let judged = vec![(Summary::of(evidence), findings)];
        let results = Results::new(judged, Vec::new(), SEEDS, SEEDS, true, 0.1 + 0.2);
        let text = serde_json::to_string_pretty(&results.file()).unwrap();
        let read: File = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string_pretty(&read).unwrap(), text);
    });
}
