use super::best::{Search, best};
use super::choice::largest_step;
use super::*;
use prdo_accounting::{History, Method as Accounting};
use prdo_algorithm::graph::{GraphFamily, Parameters as GraphParameters, Weights};
use prdo_theory::{Conditions, Parameters, Setting, Setup};
use proptest::prelude::*;

fn ring_lambda(nodes: f64) -> f64 {
    0.5 * (1.0 + (2.0 * std::f64::consts::PI / nodes).cos())
}

fn budget(epsilon: f64) -> Noise {
    let account = Account { delta: 1e-5, accounting: Accounting::Numerical, spent: History::new() };
    let strength = Strength::Budget { epsilon, account };
    Noise::Scaled { gradient_clip: 1.0, difference_clip: None, strength }
}

/// A ring of 32 with every level given.
fn case(noise: Noise) -> Case {
    Case {
        nodes: 32,
        rounds: 1000,
        batch: 16,
        slots: Some(4000),
        lambda: ring_lambda(32.0),
        problem: Problem {
            smoothness: Some(Level::given(2.0)),
            initial_gap: Some(Level::given(0.7)),
            heterogeneity: Some(Level::given(0.1)),
            sampling_variance: Some(Level::given(1.0)),
            dimension: Some(20),
            start_gradient: None,
        },
        noise,
        pairs: None,
    }
}

fn judged(case: &Case, choice: &Choice) -> Judged {
    judge(case, &choose(case, choice).unwrap(), &mut Calibrator::default()).unwrap()
}

#[test]
fn the_schedule_on_a_ring_of_32_satisfies_the_conditions() {
    let judged = judged(&case(Noise::Absent), &Choice::default());
    assert!(judged.conditions.hold());
    assert_eq!(judged.setting.first_batch(), 161);
    assert!((judged.setting.gamma() * 1001_f64.powf(2.0 / 3.0) - 1.0).abs() < 1e-12);
    assert!((judged.c_gamma() - 1.0).abs() < 1e-12 && judged.c_alpha() > 0.25);
    let bounds = judged.bounds.unwrap();
    assert_eq!(bounds.stationarity.privacy, 0.0);
    assert_eq!(judged.stationarity(), Some(bounds.stationarity.total()));
    // The proof's multiplier is feasible too, and smaller.
    let sufficient = Choice { c_alpha: Multiplier::Sufficient, ..Choice::default() };
    let safe = super::tests::judged(&case(Noise::Absent), &sufficient);
    assert!(safe.conditions.hold() && safe.setting.step_size() < judged.setting.step_size());
}

#[test]
fn a_given_gamma_gets_the_largest_feasible_step() {
    for gamma in [1e-4, 0.02, 0.3, 1.0] {
        let choice = Choice { gamma: Some(gamma), ..Choice::default() };
        let setting = choose(&case(Noise::Absent), &choice).unwrap();
        assert!(Conditions::of(&setting).hold(), "γ = {gamma}");
        let more = Parameters { step_size: 1.0001 * setting.step_size(), ..*setting.parameters() };
        let more = Setting::new(*setting.setup(), more).unwrap();
        assert!(!Conditions::of(&more).hold(), "γ = {gamma}: a larger step is feasible");
    }
    // By schedule and by bisection it is the same.
    let scheduled = choose(&case(Noise::Absent), &Choice::default()).unwrap();
    let again = largest_step(scheduled.setup(), scheduled.gamma()).unwrap();
    assert!((again / scheduled.step_size() - 1.0).abs() < 1e-9);
}

#[test]
fn first_batches_fit_the_records() {
    let small = Case { slots: Some(100), ..case(Noise::Absent) };
    assert_eq!(choose(&small, &Choice::default()).unwrap().first_batch(), 100);
    let given = Choice { first_batch: Some(101), ..Choice::default() };
    let error = choose(&small, &given).unwrap_err().to_string();
    assert!(error.contains("first_batch = 101") && error.contains("at most 100"), "{error}");
    let error = choose(&Case { batch: 101, ..small }, &Choice::default()).unwrap_err().to_string();
    assert!(error.contains("batch = 101"), "{error}");
    let unknown = Case { slots: None, ..case(budget(1.0)) };
    assert!(matches!(choose(&unknown, &Choice::default()), Err(PlanError::SlotsMissing)));
}

#[test]
fn the_difference_clip_is_the_fixed_point_of_its_iteration() {
    let setup = Setup { nodes: 8, rounds: 100, batch: 10, lambda: 0.5, smoothness: 3.0 };
    for (step_size, gamma, z, d) in [(0.01, 0.1, 1.0, 50), (0.05, 0.5, 2.0, 10), (1e-4, 0.001, 5.0, 1000)] {
        let setting = Setting::new(setup, Parameters { step_size, gamma, first_batch: 1000 }).unwrap();
        let clip = difference_clip(&setting, 2.0, z, d).unwrap();
        let next = |c: f64| {
            let scale: f64 = gamma * 2.0 + (1.0 - gamma) * c;
            let variance = (z * scale / (gamma * 10.0)).powi(2);
            3.0 * step_size * (4.0 + d as f64 * gamma * variance / (2.0 - gamma)).sqrt()
        };
        let iterated = (0..2000).fold(0.0, |c, _| next(c));
        assert!((clip / iterated - 1.0).abs() < 1e-9, "{clip} against {iterated}");
    }
    // So much noise that no clip is large enough; and no differences at γ = 1.
    let wild = Setting::new(setup, Parameters { step_size: 0.3, gamma: 0.1, first_batch: 10 }).unwrap();
    assert_eq!(difference_clip(&wild, 1.0, 10.0, 1000), None);
    let plain = Setting::new(setup, Parameters { step_size: 0.3, gamma: 1.0, first_batch: 10 }).unwrap();
    assert_eq!(difference_clip(&plain, 1.5, 10.0, 1000), Some(1.5));
}

#[test]
fn noise_follows_from_the_budget_and_the_sensitivity() {
    let private = judged(&case(budget(2.0)), &Choice::default());
    let noise = private.noise.unwrap();
    let (s, z) = (noise.sensitivity.unwrap(), noise.multiplier.unwrap());
    let expected = z * s.scale() / (private.setting.gamma() * 16.0);
    assert!((noise.variance.sqrt() / expected - 1.0).abs() < 1e-12);
    assert!((noise.first_variance.unwrap().sqrt() / (z / 161.0) - 1.0).abs() < 1e-12);
    assert!(noise.clip_assumed && !noise.clips() && !noise.by_renyi);
    // The z of this plan costs no more than the budget, and not much less.
    let Noise::Scaled { strength: Strength::Budget { account, .. }, .. } = &case(budget(2.0)).noise else {
        panic!("a budget")
    };
    let cost = Calibrator::default().cost(&case(budget(2.0)), 161, z, account).unwrap();
    assert!(cost <= 2.0 && cost > 1.999, "{cost}");
    // A rough one is at least the Rényi accountant's.
    let mut calibrator = Calibrator::default();
    let case = case(budget(2.0));
    let Noise::Scaled { strength, .. } = &case.noise else { panic!("scaled") };
    let rough = calibrator.rough(&case, strength, 161).unwrap();
    assert!(rough > z && rough < 1.4 * z, "{rough} against {z}");
    // γ = 1: S = C_g, whatever C_Δ is.
    let plain = judged_at_one(&case);
    assert_eq!(plain.noise.unwrap().sensitivity.unwrap().scale(), 1.0);
}

fn judged_at_one(case: &Case) -> Judged {
    judged(case, &Choice { gamma: Some(1.0), ..Choice::default() })
}

#[test]
fn a_first_round_with_more_noise_counts() {
    // b₀ far below b: the first round's noise is the larger one, and the bound must not be that of the smaller.
    let small = Choice { first_batch: Some(1), ..Choice::default() };
    let judged = judged(&case(budget(2.0)), &small);
    let noise = judged.noise.unwrap();
    assert!(noise.first_variance.unwrap() > noise.variance);
    let levels = case(budget(2.0)).levels(noise.first_variance.unwrap()).unwrap();
    let expected = prdo_theory::Bounds::of(&judged.setting, &levels).unwrap();
    assert_eq!(judged.bounds.unwrap().stationarity, expected.stationarity);
}

#[test]
fn suggestions_are_feasible_and_no_worse_than_what_they_are_compared_with() {
    let case = case(budget(2.0));
    let question = Question {
        case: case.clone(),
        own: None,
        schedule: Choice::default(),
        family: Some(Family {
            kind: GraphFamily::Ring,
            parameters: GraphParameters::default(),
            weights: Weights::Paper,
            lazy: false,
        }),
    };
    let answer = answer(&question).unwrap();
    let (found, same, plain) =
        (answer.suggestion.unwrap(), answer.same_rounds.unwrap(), answer.exact_diffusion.unwrap());
    for candidate in [&found, &same, &plain] {
        assert!(Conditions::of(&candidate.setting).hold());
        assert!(candidate.setting.first_batch() <= 4000);
    }
    assert_eq!(same.setting.setup().rounds, 1000);
    assert_eq!(plain.setting.gamma(), 1.0);
    let now = answer.schedule.stationarity().unwrap();
    assert!(same.bound.total() <= now * 1.001, "{} against {now}", same.bound.total());
    assert!(
        found.bound.total() <= same.bound.total() * 1.02 && found.bound.total() <= plain.bound.total() * 1.02
    );
    // No neighbour on a fine grid around the best is better by much.
    let clip = found.sensitivity.unwrap().difference_clip();
    assert!(
        (clip / difference_clip(&found.setting, 1.0, found.multiplier.unwrap(), 20).unwrap() - 1.0).abs()
            < 1e-9
    );

    let row = |what: &str| {
        answer.changes.iter().find(|c| c.what.starts_with(what)).unwrap_or_else(|| panic!("{what}"))
    };
    let bound = |change: &Change| change.judged.bounds.unwrap().stationarity;
    let z = |change: &Change| change.judged.noise.unwrap().multiplier.unwrap();
    let now = row("as it is");
    assert!(z(row("½ε")) > z(now) && z(row("2ε")) < z(now) && z(row("10N")) < z(row("2N")));
    assert!(bound(row("½ε")).privacy > bound(now).privacy);
    assert_eq!((row("complete").lambda, bound(row("complete")).heterogeneity), (0.0, 0.0));
    assert!(row("2n").lambda > now.lambda && row("torus").lambda < now.lambda);
    assert!(answer.changes.iter().all(|c| c.judged.conditions.hold()));
}

#[test]
fn without_noise_the_best_gamma_and_step_are_looked_for_at_the_same_horizon() {
    let case = case(Noise::Absent);
    let search = Search { rounds: (1, 10), knots: 3, gamma: None };
    let found = best(&case, &search, &mut Calibrator::default()).unwrap().unwrap();
    assert_eq!(found.setting.setup().rounds, 1000);
    let scheduled = judged(&case, &Choice::default()).stationarity().unwrap();
    assert!(found.bound.total() <= scheduled);
}

#[test]
fn a_vacuous_bound_is_called_so_and_told_what_would_help() {
    let mut calibrator = Calibrator::default();
    let mut verdict_of = |case: &Case| {
        let judged = judged(case, &Choice::default());
        let found =
            best(case, &Search { rounds: vacuous::horizons(case), knots: 5, gamma: None }, &mut calibrator);
        vacuous::verdict(case, &judged, found.unwrap().as_ref(), &mut calibrator).unwrap()
    };
    // 2·L_s·Δ_f = 2.8, and the optimisation part alone is above it on this slow ring.
    let slow = verdict_of(&case(Noise::Absent));
    assert!(slow.vacuous && slow.because == ["optimisation"] && !slow.measured);
    assert!((slow.start - 2.8).abs() < 1e-12);
    let rounds = slow.help.rounds.unwrap();
    assert!(rounds > 1000 && rounds.is_multiple_of(10_000));
    // A complete graph and a long horizon: it says something.
    let fast = Case { lambda: 0.0, rounds: 100_000, slots: None, ..case(Noise::Absent) };
    assert!(!verdict_of(&fast).vacuous);
    // What was measured at the start counts where it is the smaller.
    let mut small = case(Noise::Absent);
    small.problem.start_gradient = Some(0.01);
    assert_eq!((verdict_of(&small).start, verdict_of(&small).measured), (0.01, true));
}

#[test]
fn unknown_levels_leave_the_bound_unknown_but_not_the_schedule() {
    let mut unknown = case(Noise::Absent);
    unknown.problem = Problem::default();
    let judged = judged(&unknown, &Choice::default());
    assert!(judged.bounds.is_none() && judged.conditions.hold());
    // In units of L_s: αL_s is what it is with any L_s.
    let with = super::tests::judged(&case(Noise::Absent), &Choice::default());
    assert!((judged.setting.step_size() / (2.0 * with.setting.step_size()) - 1.0).abs() < 1e-12);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever is asked, there is an answer or a refusal.
    #[test]
    fn no_question_panics(
        nodes in 1_u64..2_000_000_000, rounds in prop::sample::select(vec![1_u64, 2, 17, 1_000_000, 1_000_000_000_000, u64::MAX]),
        batch in prop::sample::select(vec![0_u64, 1, 7, 100_000_000, u64::MAX]),
        slots in prop::sample::select(vec![None, Some(1_u64), Some(1000), Some(u64::MAX)]),
        lambda in prop::sample::select(vec![0.0, 0.5, 1.0 - 1e-15, 1.0, -1.0, f64::NAN]),
        levels in prop::array::uniform4(prop::sample::select(vec![0.0, 1e-30, 1.0, 1e30, 1e60, f64::INFINITY, f64::NAN, -1.0])),
        z in prop::sample::select(vec![1e-30, 1.0, 1e30, f64::NAN]),
        gamma in prop::sample::select(vec![None, Some(1e-30), Some(0.5), Some(1.0), Some(f64::NAN)]),
    ) {
        let level = |k: usize| Some(Level::given(levels[k]));
        let noise = Noise::Scaled {
            gradient_clip: 1.0,
            difference_clip: None,
            strength: Strength::Multiplier { z, account: None },
        };
        let case = Case {
            nodes, rounds, batch, slots, lambda, noise, pairs: None,
            problem: Problem {
                smoothness: level(0), initial_gap: level(1), heterogeneity: level(2), sampling_variance: level(3),
                dimension: Some(5), start_gradient: None,
            },
        };
        let question = Question { case, own: None, schedule: Choice { gamma, ..Choice::default() }, family: None };
        if let Ok(answer) = answer(&question) {
            prop_assert!(!answer.schedule.bounds.is_some_and(|b| b.stationarity.total().is_nan()));
        }
    }
}
