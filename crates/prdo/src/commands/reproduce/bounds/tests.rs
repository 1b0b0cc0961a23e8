//! The checks can fail: each wrong constant is noticed.

use super::case::{Case, Network};
use super::evidence::Evidence;
use super::inequality::{ALL, Inequality, Kind};
use super::problem::Problem;
use super::verdict::{Finding, allowance};
use prdo::theory::lemmas;

fn evidence_of<T>(name: &str, network: usize, private: bool, look: impl Fn(&Evidence<'_>) -> T) -> T {
    let problems = Problem::all().unwrap();
    let problem = problems.iter().find(|problem| problem.name == name).unwrap();
    let networks = Network::all().unwrap();
    let case = Case::new(problem, &networks[network], 60, private).unwrap();
    look(&Evidence::gather(&case, 6, &|| ()).unwrap())
}

fn named(label: &str, kind: Kind) -> &'static Inequality {
    ALL.iter().find(|one| one.label == label && one.kind == kind).unwrap()
}

fn violated(one: &Inequality, evidence: &Evidence<'_>) -> u64 {
    let found = Finding::of(one, evidence);
    assert!(found.checked > 0);
    found.violated(allowance(1000, 6))
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
        sides: |evidence, emit| {
            let setting = evidence.setting();
            for trace in &evidence.traces {
                for t in 1..trace.rounds.len() {
                    let (before, movement) = (trace.rounds[t - 1].mean_error, trace.rounds[t].movement);
                    let right = lemmas::next_mean_error(setting, &evidence.levels, before, movement);
                    let still = lemmas::next_mean_error(setting, &evidence.levels, before, 0.0);
                    let kept = (1.0 - setting.gamma()).powi(2) * before;
                    let fresh = still - kept;
                    let bound = kept + (right - still) + setting.gamma() * fresh;
                    emit(t, &[(evidence.expected_mean_error(trace, t), bound)]);
                }
            }
        },
        ..path_like(named("cv:h-recursion", Kind::Conditional))
    };
    for (problem, private) in [("log-cosh", false), ("quadratic", false), ("logistic", true)] {
        evidence_of(problem, 0, private, |evidence| {
            assert!(violated(&wrong, evidence) > 200, "{}", evidence.case);
        });
    }
}

#[test]
fn a_first_error_divided_by_the_wrong_number_is_noticed() {
    // n instead of n²: h₀ would be H₀/n, and H₀ = nσ²/b₀ without its n.
    let wrong = Inequality {
        sides: |evidence, emit| {
            let bound = evidence.bounds.first_local_error.total() / evidence.setting().nodes();
            let pairs: Vec<(f64, f64)> =
                evidence.traces.iter().map(|trace| (trace.rounds[0].local_error, bound)).collect();
            emit(0, &pairs);
        },
        ..path_like(named("cv:initial-errors", Kind::Mean))
    };
    evidence_of("quadratic", 0, false, |evidence| {
        let found = Finding::of(&wrong, evidence);
        assert!(found.most_above() > 3.0, "{}", found.most_above());
    });
}

#[test]
fn a_contraction_by_lambda_instead_of_its_root_is_noticed() {
    // And without the forcing: the energy does not fall that fast.
    let wrong = Inequality {
        sides: |evidence, emit| {
            for trace in &evidence.traces {
                for (t, pair) in trace.rounds.windows(2).enumerate() {
                    emit(t, &[(pair[1].energy, evidence.setting().lambda() * pair[0].energy)]);
                }
            }
        },
        ..path_like(named("cv:network-energy", Kind::Path))
    };
    evidence_of("logistic", 0, false, |evidence| assert!(violated(&wrong, evidence) > 50));
}

#[test]
fn wrong_sampling_would_be_noticed() {
    // If the gate divided by another batch size, or drew noise of another size, ‖E‖² would be off by a factor.
    let wrong = Inequality {
        sides: |evidence, emit| {
            let pairs: Vec<(f64, f64)> = evidence
                .traces
                .iter()
                .map(|trace| {
                    let expected: f64 =
                        (0..trace.rounds.len()).map(|t| evidence.expected_local_error(trace, t)).sum();
                    (trace.sum(|round| round.local_error), 0.8 * expected)
                })
                .collect();
            emit(0, &pairs);
        },
        ..path_like(named("cv:oracle-unbiased", Kind::Mean))
    };
    for private in [false, true] {
        evidence_of("quadratic", 0, private, |evidence| {
            let found = Finding::of(&wrong, evidence);
            assert!(found.most_above() > 3.0, "{}", found.most_above());
        });
    }
}

/// The same kind of inequality, to be given other sides.
fn path_like(one: &Inequality) -> Inequality {
    Inequality { label: one.label, says: one.says, kind: one.kind, rounding: one.rounding, sides: one.sides }
}
