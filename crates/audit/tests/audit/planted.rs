//! Every planted bug is caught, and code without one raises no alarm.

use crate::broken::Broken;
use prdo_algorithm::methods::directions::{CLIPS, Clipping, INTERVAL};
use prdo_algorithm::{Asks, Method, Settings};
use prdo_audit::{Audit, Report, Shipped, Subject};
use prdo_privacy::planted::{Bug, Need};

/// Small enough to be made for every bug of every method; the rarest effect here is still beyond ten standard errors.
fn small(method: Method, clipping: Clipping, subject: &impl Subject) -> Report {
    let mut audit = Audit { runs: 500, pairs: 1000, grid_values: 100_000, ..Audit::quick(method).unwrap() };
    for setting in &mut audit.settings {
        setting.settings = setting.settings.clone().with(CLIPS.is(clipping));
    }
    // So few runs prove little about ε.
    Audit { least_share: Some(0.3), ..audit }.run(subject, &mut |_| {}).unwrap()
}

/// The bugs of a method that no check saw.
fn missed(method: Method, clipping: Clipping) -> Vec<Bug> {
    let settings = Settings::new(0.1).with(INTERVAL.is(1.0)).with(CLIPS.is(clipping));
    let asks: Vec<Asks> = (0..3).map(|round| method.asks(&settings, round)).collect();
    let differences = asks.iter().any(|asks| matches!(asks, Asks::Recursive { .. }));
    let applicable = |bug: &Bug| match (bug.needs(), bug) {
        // What is clipped as one has no clip for differences.
        (Some(Need::Differences), Bug::DifferenceUnclipped) => differences && clipping != Clipping::Combined,
        (Some(Need::Differences), _) => differences,
        (Some(Need::Movement), _) => asks.iter().any(|asks| asks.kappa().is_some()),
        (Some(Need::Scaled), _) => asks.iter().any(|asks| matches!(asks, Asks::Scaled { .. })),
        // `pairs.rs` plants them.
        (Some(Need::Pairs), _) => false,
        (None, _) => true,
    };
    let mut missed = Vec::new();
    for bug in Bug::ALL.into_iter().filter(applicable) {
        let report = small(method, clipping, &Broken(bug));
        println!("{method} {clipping:?} {bug:?}: {}", report.failed().join(", "));
        if report.passed() {
            missed.push(bug);
        }
    }
    missed
}

#[test]
fn all_bugs_of_prdo_are_caught() {
    assert_eq!(missed(Method::Prdo, Clipping::Separate), []);
}

#[test]
#[ignore = "slow: run by .ci/run"]
fn the_bugs_of_other_methods_are_caught() {
    for method in [Method::Ed, Method::Edm, Method::Mt, Method::Dsgd, Method::Diff2, Method::Dp2] {
        assert_eq!(missed(method, Clipping::Separate), [], "{method}");
    }
    for clipping in [Clipping::Movement, Clipping::Combined] {
        assert_eq!(missed(Method::Prdo, clipping), [], "{clipping:?}");
    }
}

#[test]
fn no_alarm_without_a_bug() {
    for method in Method::ALL.iter().copied() {
        let report = small(method, Clipping::Separate, &Shipped);
        assert!(report.passed(), "{method}: {:?}", report.failed());
    }
    for clipping in [Clipping::Movement, Clipping::Combined] {
        let report = small(Method::Prdo, clipping, &Shipped);
        assert!(report.passed(), "{clipping:?}: {:?}", report.failed());
    }
}
