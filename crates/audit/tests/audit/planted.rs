//! Every planted bug is caught, and code without one raises no alarm.

use crate::broken::Broken;
use prdo_algorithm::methods::directions::INTERVAL;
use prdo_algorithm::{Asks, Method, Settings};
use prdo_audit::{Audit, Report, Shipped, Subject};
use prdo_privacy::planted::{Bug, Need};

/// Small enough to be made for every bug of every method; the rarest effect here is still beyond ten standard errors.
fn small(method: Method, subject: &impl Subject) -> Report {
    let audit = Audit { runs: 500, pairs: 1000, grid_values: 100_000, ..Audit::quick(method).unwrap() };
    // So few runs prove little about ε.
    Audit { least_share: Some(0.3), ..audit }.run(subject, &mut |_| {}).unwrap()
}

/// The bugs of a method that no check saw.
fn missed(method: Method) -> Vec<Bug> {
    let (settings, mut asks) = (Settings::new(0.1).with(INTERVAL.is(1.0)), Vec::new());
    (0..3).for_each(|round| asks.push(method.asks(&settings, round)));
    let differences = asks.iter().any(|asks| matches!(asks, Asks::Recursive { .. }));
    let applicable = |bug: &Bug| match bug.needs() {
        None => true,
        Some(Need::Differences) => differences,
        Some(Need::Movement) => asks.iter().any(|asks| asks.kappa().is_some()),
        Some(Need::Scaled) => asks.iter().any(|asks| matches!(asks, Asks::Scaled { .. })),
    };
    let mut missed = Vec::new();
    for bug in Bug::ALL.into_iter().filter(applicable) {
        let report = small(method, &Broken(bug));
        println!("{method} {bug:?}: {}", report.failed().join(", "));
        if report.passed() {
            missed.push(bug);
        }
    }
    missed
}

#[test]
fn all_bugs_of_prdo_are_caught() {
    assert_eq!(missed(Method::Prdo), []);
}

#[test]
#[ignore = "slow: run by .ci/run"]
fn the_bugs_of_other_methods_are_caught() {
    for method in [Method::Ed, Method::Edm, Method::Mt, Method::Dsgd, Method::Diff2, Method::Dp2] {
        assert_eq!(missed(method), [], "{method}");
    }
}

#[test]
fn no_alarm_without_a_bug() {
    for method in Method::ALL.iter().copied() {
        let report = small(method, &Shipped);
        assert!(report.passed(), "{method}: {:?}", report.failed());
    }
}
