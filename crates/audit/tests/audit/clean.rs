//! The whole battery on the code as it ships: what the issue of an audit must be.

use prdo_algorithm::{Combine, Method};
use prdo_audit::{Audit, Setting, Shipped, control, record_play};

#[test]
fn the_full_battery_passes_and_proves_nearly_what_is_claimed() {
    let report = Audit::full(Method::Prdo).unwrap().run(&Shipped, &mut |_| {}).unwrap();
    assert!(report.passed(), "{:?}", report.failed());
    let first = &report.findings[0];
    let share = first.outcome.epsilon / first.claimed.upper;
    assert!((0.85..1.0).contains(&share), "{share}");
    let ratio = report.checks.iter().find(|check| check.name == "record-play").unwrap();
    assert!(ratio.figure > 0.999_999 && ratio.figure <= 1.0 + record_play::SLACK, "{}", ratio.figure);
}

/// The methods that send what they learned one round later are undone as well.
#[test]
fn combining_first_hides_nothing_from_the_adversary() {
    for method in [Method::Dsgd, Method::Mt] {
        let mut audit = Audit { runs: 500, pairs: 300, ..Audit::quick(method).unwrap() };
        audit.least_share = Some(0.3);
        for setting in &mut audit.settings {
            setting.settings = setting.settings.clone().combine(Combine::First);
        }
        let report = audit.run(&Shipped, &mut |_| {}).unwrap();
        assert!(report.passed(), "{method}: {:?}", report.failed());
    }
}

#[test]
fn an_audit_is_the_same_for_any_number_of_threads() {
    let made = |threads: usize| {
        let audit = Audit { runs: 300, pairs: 200, grid_values: 1000, ..Audit::quick(Method::Prdo).unwrap() };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let report = pool.install(|| audit.run(&Shipped, &mut |_| {}).unwrap());
        report.checks.iter().map(|check| check.figure).collect::<Vec<f64>>()
    };
    assert_eq!(made(1), made(3));
}

#[test]
fn values_beside_the_grid_are_seen() {
    let setting = Setting::sampled(Method::Prdo).unwrap();
    let spacing = control::grid(setting.clip.gradient(), setting.noise_multiplier);
    assert_eq!(spacing, f64::powi(2.0, -32));
    for steps in [0.0, 1.0, -7.0, 123_456_789_012.0] {
        for size in [1.0, 2.0, 3.0, 100.0] {
            assert!(control::is_on_grid(steps * spacing / size, size, spacing));
            assert!(!control::is_on_grid((steps + 0.5) * spacing / size, size, spacing));
            assert!(!control::is_on_grid((steps * spacing / size).next_up(), size, spacing));
        }
    }
    assert!(!control::is_on_grid(f64::NAN, 2.0, spacing));
    assert_eq!(control::off_grid(&Shipped, &setting, 200_000, 3).unwrap(), (200_000, 0));
}
