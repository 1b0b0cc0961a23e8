//! Noise in pairs: no alarm over the code as it ships, and every bug that only shares can have is caught.

use crate::broken::Broken;
use prdo_algorithm::Method;
use prdo_audit::{Audit, Report, Setting, Shipped, Subject};
use prdo_privacy::planted::{Bug, Need};

/// Both configurations with noise in pairs, small enough to be made for every bug.
fn small(method: Method, (colluders, ratio, complete): (usize, f64, bool), subject: &impl Subject) -> Report {
    let audit = Audit { runs: 500, pairs: 1000, grid_values: 100_000, ..Audit::quick(method).unwrap() };
    let settings = audit.settings.iter().map(|s| s.clone().in_pairs(colluders, ratio, complete).unwrap());
    let settings: Vec<Setting> = settings.collect();
    Audit { least_share: Some(0.3), settings, ..audit }.run(subject, &mut |_| {}).unwrap()
}

const AGREED: (usize, f64, bool) = (1, 3.0, true);

#[test]
fn bugs_of_shares_are_caught() {
    let general = [Bug::RoundsAsExchanges, Bug::NoiseMinusFivePercent, Bug::NoiseShared, Bug::RateDoubled];
    let of_pairs = Bug::ALL.into_iter().filter(|bug| bug.needs() == Some(Need::Pairs));
    let mut missed = Vec::new();
    for bug in of_pairs.chain(general) {
        let report = small(Method::Prdo, AGREED, &Broken(bug));
        println!("{bug:?}: {}", report.failed().join(", "));
        if report.passed() {
            missed.push(bug);
        }
    }
    assert_eq!(missed, []);
}

/// What only a test that knows the shares can see, and what only one of the shares themselves can.
#[test]
fn each_bug_is_seen_by_the_check_that_is_meant_for_it() {
    for (bug, check) in [
        (Bug::SharesReused, "noise-rounds"),
        (Bug::SharesOfOneSign, "shares"),
        (Bug::SharesOfAnotherRun, "fresh-shares"),
        (Bug::CoalitionForgotten, "pairs-coalition"),
        (Bug::NoOwnNoise, "pairs-all-others"),
        (Bug::SharesRounded, "shares"),
        (Bug::RoundsAsExchanges, "ledger"),
    ] {
        let failed = small(Method::Ed, AGREED, &Broken(bug)).failed();
        assert!(failed.contains(&check), "{bug:?}: {failed:?}");
    }
    // A sum that is rounded wrongly looks right in every other way.
    assert_eq!(small(Method::Ed, AGREED, &Broken(Bug::SharesRounded)).failed(), ["shares"]);
}

/// Charges follow rounds, not exchanges: Momentum Tracking has two in a round.
#[test]
fn no_alarm_without_a_bug_in_pairs() {
    let admits = |method: &Method| Setting::every_record(*method).unwrap().admits_pairs();
    assert!(
        !admits(&Method::Diff2)
            && Audit::quick(Method::Diff2).unwrap().with_pairs().unwrap().settings.len() == 2
    );
    for method in Method::ALL.iter().copied().filter(admits) {
        let report = small(method, AGREED, &Shipped);
        assert!(report.passed(), "{method}: {:?}", report.failed());
    }
    for agreed in [(0, 3.0, true), (2, 10.0, true), (1, 3.0, false), (0, 30.0, false)] {
        let report = small(Method::Prdo, agreed, &Shipped);
        assert!(report.passed(), "{agreed:?}: {:?}", report.failed());
    }
}

/// The best joint tests find what the theorem says, to a few per cent, and the attack proves nearly all of the claim.
#[test]
fn attacks_face_what_own_noise_and_shares_are_worth() {
    let audit = Audit::quick(Method::Prdo).unwrap().with_pairs().unwrap();
    let setting = audit.settings[2].clone();
    let mechanism = setting.pairs.clone().unwrap();
    let report = Audit { settings: vec![setting], ..audit }.run(&Shipped, &mut |_| {}).unwrap();
    assert!(report.passed(), "{:?}", report.failed());
    let found = |name: &str| report.checks.iter().find(|check| check.name == name).unwrap().figure;
    let worst = |size| mechanism.pairs().worst(mechanism.secrets(), size).unwrap().multiplier;
    for (name, expected) in
        [("pairs-outsiders", worst(0)), ("pairs-coalition", worst(1)), ("pairs-all-others", worst(3))]
    {
        assert!((found(name) / expected - 1.0).abs() < 0.03, "{name}: {} for {expected}", found(name));
    }
    assert!(found("strength") > 0.7 && found("strength") < 1.0);
}
