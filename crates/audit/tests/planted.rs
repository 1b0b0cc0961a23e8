//! Every planted bug is caught, and code without one raises no alarm.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use prdo_algorithm::Method;
use prdo_audit::{Audit, Report, Shipped, Subject};
use prdo_peer::session::Session;
use prdo_privacy::planted::{self, Bug};
use prdo_privacy::{Gate, Model, Noised};

/// The code with one bug in it.
struct Broken(Bug);

impl Subject for Broken {
    fn gate<M: Model>(&self, mut gate: Gate<M, Noised>) -> Gate<M, Noised> {
        gate.plant(self.0);
        gate
    }

    fn session(&self, mut session: Session) -> Session {
        if self.0 == Bug::SecondRelease {
            session.plant_second_release();
        }
        session
    }
}

fn quick(method: Method, subject: &impl Subject) -> Report {
    Audit::quick(method).unwrap().run(subject, &mut |_| {}).unwrap()
}

/// The bugs of a method that no check saw.
fn missed(method: Method) -> Vec<Bug> {
    let applicable = |bug: &Bug| method.card().differences || !bug.needs_differences();
    let mut missed = Vec::new();
    for bug in Bug::ALL.into_iter().filter(applicable) {
        let report = quick(method, &Broken(bug));
        println!("{method} {bug:?}: {}", report.failed().join(", "));
        if report.passed() {
            missed.push(bug);
        }
    }
    missed
}

#[test]
fn bugs_are_possible_here() {
    // (And in no build without debug assertions: `nothing_is_planted_in_a_release_build`.)
    assert!(planted::POSSIBLE);
}

#[test]
fn all_seventeen_bugs_of_prdo_are_caught() {
    assert_eq!(missed(Method::Prdo), []);
}

#[test]
fn the_baselines_bugs_are_caught() {
    for method in [Method::Ed, Method::Edm, Method::Mt, Method::Dsgd] {
        assert_eq!(missed(method), [], "{method}");
    }
}

#[test]
fn no_alarm_without_a_bug() {
    for method in Method::ALL.iter().copied() {
        let report = quick(method, &Shipped);
        assert!(report.passed(), "{method}: {:?}", report.failed());
    }
}
