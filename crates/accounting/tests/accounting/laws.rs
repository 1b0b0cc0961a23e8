//! What must hold whatever the numbers are.

use prdo_accounting::*;
use proptest::prelude::*;

fn history(q: f64, z: f64, rounds: u64) -> History {
    History::new().and(Event::sampled_gaussian(q, z).unwrap(), rounds)
}

fn epsilon(q: f64, z: f64, rounds: u64, delta: f64) -> Bounds {
    let bounds = numerical::epsilon(&history(q, z, rounds), delta).unwrap();
    assert!(bounds.lower >= 0.0 && bounds.lower <= bounds.upper && bounds.upper.is_finite(), "{bounds:?}");
    bounds
}

/// Values spread evenly in the logarithm.
fn log_range(low: f64, high: f64) -> impl Strategy<Value = f64> {
    (low.ln()..high.ln()).prop_map(f64::exp)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn costs_grow_with_rate_and_rounds_and_fall_with_noise_and_delta(
        q in log_range(1e-3, 0.5), z in log_range(0.6, 20.0), rounds in 20_u64..50_000, delta in log_range(1e-12, 1e-2),
        more in 1.001_f64..1.5,
    ) {
        let here = epsilon(q, z, rounds, delta);
        prop_assert!(epsilon(q * more, z, rounds, delta).upper >= here.lower);
        prop_assert!(epsilon(q, z * more, rounds, delta).lower <= here.upper);
        prop_assert!(epsilon(q, z, rounds + 1 + rounds / 100, delta).upper >= here.lower);
        prop_assert!(epsilon(q, z, rounds, (delta * more).min(0.5)).lower <= here.upper);
        // Where the intervals are narrow, strictly so.
        let clear = 1e-6 * here.upper;
        if here.lower > 1e-6 && here.width() < clear {
            prop_assert!(epsilon(q * more, z, rounds, delta).upper > here.lower);
            prop_assert!(epsilon(q, z * more, rounds, delta).lower < here.upper);
        }
    }

    #[test]
    fn the_three_accountants_are_ordered(
        q in log_range(1e-3, 0.5), z in log_range(0.6, 8.0), rounds in 10_u64..20_000,
    ) {
        let history = history(q, z, rounds);
        let [exact, renyi, paper] = [Method::Numerical, Method::Renyi, Method::Paper]
            .map(|method| Accountant::new(method).epsilon(&history, 1e-5).unwrap().upper);
        prop_assert!(exact <= renyi * (1.0 + 1e-8) && renyi <= paper * (1.0 + 1e-8), "{} {} {}", exact, renyi, paper);
    }

    #[test]
    fn delta_and_epsilon_are_inverse(
        q in log_range(5e-3, 0.5), z in log_range(0.8, 8.0), rounds in 50_u64..20_000, delta in log_range(1e-10, 1e-3),
    ) {
        let history = history(q, z, rounds);
        let at = numerical::epsilon(&history, delta).unwrap();
        prop_assert!(numerical::delta(&history, at.upper).unwrap().lower <= delta);
        prop_assert!(at.lower == 0.0 || numerical::delta(&history, at.lower).unwrap().upper >= delta);
        let there = numerical::delta(&history, at.upper).unwrap();
        prop_assert!(there.width() <= 1e-6 * there.upper, "{:?}", there);
    }

    #[test]
    fn rate_one_is_the_limit_and_gaussians_add_up(z in log_range(0.5, 20.0), rounds in 1_u64..1000) {
        let one = epsilon(1.0, z, rounds, 1e-6);
        let near = epsilon(1.0 - 1e-9, z, rounds, 1e-6);
        prop_assert!((one.upper / near.upper - 1.0).abs() < 1e-6, "{:?} {:?}", one, near);
        // n releases with σ are one with σ/√n.
        let merged = epsilon(1.0, z / (rounds as f64).sqrt().max(z / 1e6), 1, 1e-6);
        prop_assert!((one.upper / merged.upper - 1.0).abs() < 1e-7);
    }

    #[test]
    fn calibrated_noise_meets_the_target_and_a_little_less_does_not(
        target in log_range(0.1, 10.0), q in log_range(5e-3, 0.5), rounds in 20_u64..5_000, first in 0.01_f64..1.0,
    ) {
        let budget = Target::new(target, 1e-5).unwrap();
        let rates = [(first, 1), (q, rounds)];
        for method in [Method::Numerical, Method::Renyi, Method::Paper] {
            let accountant = Accountant::new(method);
            let z = calibrate::noise_multiplier(&accountant, &budget, &rates).unwrap();
            let cost = |z: f64| {
                let event = |q| Event::sampled_gaussian(q, z).unwrap();
                let history = History::new().and(event(first), 1).and(event(q), rounds);
                accountant.epsilon(&history, 1e-5).unwrap().upper
            };
            prop_assert!(cost(z) <= target, "{:?}: z = {}", method, z);
            prop_assert!(cost(z * (1.0 - 1e-6)) > target, "{:?}: z = {} is more than needed", method, z);
        }
    }

    #[test]
    fn rounds_and_rates_that_fit_fit_and_no_more(
        target in log_range(0.2, 8.0), q in log_range(5e-3, 0.3), z in log_range(0.8, 5.0),
    ) {
        let (accountant, budget) = (Accountant::default(), Target::new(target, 1e-5).unwrap());
        let event = Event::sampled_gaussian(q, z).unwrap();
        match calibrate::rounds(&accountant, &budget, &History::new(), event) {
            Ok(most) => {
                prop_assert!(epsilon(q, z, most, 1e-5).upper <= target);
                prop_assert!(epsilon(q, z, most + 1, 1e-5).upper > target);
            }
            Err(error) => {
                let refused = matches!(error, AccountingError::NothingFits { .. });
                prop_assert!(refused);
                prop_assert!(epsilon(q, z, 1, 1e-5).upper > target);
            }
        }
        let rate = calibrate::rate(&accountant, &budget, z, 100).unwrap();
        prop_assert!(epsilon(rate, z, 100, 1e-5).upper <= target);
        prop_assert!(rate == 1.0 || epsilon(rate * (1.0 + 1e-6), z, 100, 1e-5).upper > target);
    }

    #[test]
    fn what_is_covered_costs_no_more(
        q in log_range(1e-2, 0.4), z in log_range(0.8, 4.0), rounds in 10_u64..500, fewer in 0.1_f64..1.0, more in 1.0_f64..2.0,
    ) {
        let event = |q, z| Event::sampled_gaussian(q, z).unwrap();
        let large = History::new().and(event(q, z), rounds).and(event(0.5 * q, z), 10);
        let small = History::new().and(event(q * fewer, z * more), rounds).and(event(0.4 * q, z), 3);
        prop_assert!(small.is_within(&large));
        let [small, large] = [&small, &large].map(|h| numerical::epsilon(h, 1e-5).unwrap());
        prop_assert!(small.lower <= large.upper);
    }
}

#[test]
fn covering_is_not_claimed_where_it_does_not_hold() {
    let event = |q, z| Event::sampled_gaussian(q, z).unwrap();
    let base = History::new().and(event(0.1, 1.0), 10);
    for other in [
        History::new().and(event(0.1, 1.0), 11),
        History::new().and(event(0.11, 1.0), 1),
        History::new().and(event(0.1, 0.99), 1),
        History::new().and(event(0.1, 1.0), 10).and(event(0.001, 50.0), 1),
        History::new().and(Event::not_private(), 1),
    ] {
        assert!(!other.is_within(&base), "{other:?}");
    }
    assert!(base.is_within(&History::new().and(Event::not_private(), 10)));
    assert!(History::new().is_within(&base));
}

#[test]
fn nothing_costs_nothing_and_not_private_costs_everything() {
    for method in [Method::Numerical, Method::Renyi, Method::Paper] {
        let accountant = Accountant::new(method);
        assert_eq!(accountant.epsilon(&History::new(), 1e-5).unwrap().upper, 0.0);
        let open = history(0.1, 1.0, 5).and(Event::not_private(), 1);
        assert_eq!(
            accountant.epsilon(&open, 1e-5).unwrap(),
            Bounds { lower: f64::INFINITY, upper: f64::INFINITY }
        );
    }
    assert_eq!(numerical::delta(&History::new(), 0.0).unwrap(), Bounds { lower: 0.0, upper: 0.0 });
    let open = History::new().and(Event::not_private(), 1);
    assert_eq!(numerical::delta(&open, 3.0).unwrap(), Bounds { lower: 1.0, upper: 1.0 });
}

#[test]
fn delta_large_enough_needs_no_epsilon() {
    // δ(0) is the total variation distance: 2Φ(1/2σ) − 1 at rate 1.
    assert_eq!(epsilon(1.0, 10.0, 1, 0.05), Bounds { lower: 0.0, upper: 0.0 });
    assert_eq!(epsilon(1e-4, 1.0, 10, 1e-2), Bounds { lower: 0.0, upper: 0.0 });
    assert!(epsilon(1.0, 10.0, 1, 0.03).lower > 0.0);
}

#[test]
fn earlier_runs_count_towards_the_budget() {
    let (accountant, budget) = (Accountant::default(), Target::new(2.0, 1e-5).unwrap());
    let first = history(0.02, 2.0, 500);
    let alone = calibrate::noise_multiplier(&accountant, &budget, &[(0.02, 500)]).unwrap();
    let after = calibrate::noise_multiplier_after(&accountant, &budget, &first, &[(0.02, 500)]).unwrap();
    assert!(after > alone);
    let mut both = first.clone();
    both.append(&history(0.02, after, 500));
    assert_eq!(both.len(), 1000);
    assert!(numerical::epsilon(&both, 1e-5).unwrap().upper <= 2.0);
    let spent = history(0.5, 0.5, 100);
    let known = Calibrations::default();
    for (spent, z) in [(&first, after), (&History::new(), alone), (&first, after), (&History::new(), alone)] {
        let again = known.noise_multiplier_after(&Accountant::default(), &budget, spent, &[(0.02, 500)]);
        assert_eq!(again.unwrap(), z);
    }
    let refused = calibrate::noise_multiplier_after(&accountant, &budget, &spent, &[(0.02, 1)]);
    assert!(matches!(refused, Err(AccountingError::Unreachable { .. })), "{refused:?}");
}

#[test]
fn the_first_release_may_have_its_own_rate_and_noise() {
    let event = |q, z| Event::sampled_gaussian(q, z).unwrap();
    let base = epsilon(0.02, 1.5, 1000, 1e-5);
    let costlier = History::new().and(event(0.3, 1.5), 1).and(event(0.02, 1.5), 999);
    let quieter = History::new().and(event(0.02, 3.0), 1).and(event(0.02, 1.5), 999);
    assert!(numerical::epsilon(&costlier, 1e-5).unwrap().lower > base.upper);
    assert!(numerical::epsilon(&quieter, 1e-5).unwrap().upper < base.lower);
    assert!(numerical::epsilon(&quieter, 1e-5).unwrap().lower > epsilon(0.02, 1.5, 999, 1e-5).upper);
}

#[test]
fn a_ledger_asks_at_every_round_and_is_told_the_same_as_by_the_accountant() {
    let budget = Target::new(1.0, 1e-5).unwrap();
    let event = Event::sampled_gaussian(0.05, 2.0).unwrap();
    let most = calibrate::rounds(&Accountant::default(), &budget, &History::new(), event).unwrap();
    let accountant = Accountant::default();
    let mut history = History::new();
    for round in 0..most {
        assert!(accountant.allows(&history, event, &budget).unwrap(), "round {round} of {most}");
        history.add(event, 1);
    }
    assert!(!accountant.allows(&history, event, &budget).unwrap());
    // Another budget is another question.
    assert!(accountant.allows(&history, event, &Target::new(1.1, 1e-5).unwrap()).unwrap());
    assert!(!accountant.allows(&history, event, &Target::new(1.0, 1e-6).unwrap()).unwrap());
}

#[test]
fn bad_input_is_refused_with_its_range() {
    let bad = [0.0, -0.1, 1.1, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e-13];
    for rate in bad {
        let message = Event::sampled_gaussian(rate, 1.0).unwrap_err().to_string();
        assert!(message.contains("rate") && message.contains("at most 1"), "{message}");
    }
    for z in [0.0, -1.0, f64::NAN, f64::INFINITY, 0.009, 1e7] {
        let message = Event::gaussian(z).unwrap_err().to_string();
        assert!(message.contains("noise_multiplier") && message.contains("from 0.01 to 1e6"), "{message}");
    }
    let some = history(0.1, 1.0, 10);
    for delta in [0.0, 1.0, -1e-5, 2.0, f64::NAN, f64::INFINITY] {
        for method in [Method::Numerical, Method::Renyi, Method::Paper] {
            let message = Accountant::new(method).epsilon(&some, delta).unwrap_err().to_string();
            assert!(message.contains("delta") && message.contains("below 1"), "{message}");
        }
        assert!(numerical::epsilon(&some, delta).is_err() && Target::new(1.0, delta).is_err());
    }
    for epsilon in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(numerical::delta(&some, epsilon).unwrap_err().to_string().contains("epsilon"));
    }
    for epsilon in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(Target::new(epsilon, 1e-5).unwrap_err().to_string().contains("epsilon"));
    }
    let accountant = Accountant::default();
    let budget = Target::new(1.0, 1e-5).unwrap();
    for rates in [&[][..], &[(0.1, 0)]] {
        let message = calibrate::noise_multiplier(&accountant, &budget, rates).unwrap_err().to_string();
        assert!(message.contains("rounds") && message.contains("at least 1"), "{message}");
    }
    assert!(calibrate::rate(&accountant, &budget, 1.0, 0).is_err());
    let tiny = Target::new(1e-9, 1e-12).unwrap();
    let impossible = calibrate::noise_multiplier(&accountant, &tiny, &[(1.0, 1_000_000)]);
    assert!(matches!(impossible, Err(AccountingError::Unreachable { .. })), "{impossible:?}");
    let event = Event::gaussian(0.1).unwrap();
    let nothing = calibrate::rounds(&accountant, &budget, &History::new(), event);
    assert!(matches!(nothing, Err(AccountingError::NothingFits { .. })), "{nothing:?}");
    assert_eq!(Method::named("pld"), None);
}
