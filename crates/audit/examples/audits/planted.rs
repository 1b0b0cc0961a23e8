//! Which checks catch which planted bug.

use prdo_audit::{Audit, Subject};
use prdo_peer::session::Session;
use prdo_privacy::planted::Bug;
use prdo_privacy::{Gate, Model, Noised};
use std::time::Instant;

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

pub fn audits(words: &[String]) {
    let method: prdo_algorithm::Method = words.first().map_or("prdo", |word| word).parse().unwrap();
    let full = words.get(1).is_some_and(|word| word == "full");
    let only = words.get(2);
    for bug in Bug::ALL {
        let applies = method.card().differences || !bug.needs_differences();
        if !applies || only.is_some_and(|only| *only != format!("{bug:?}")) {
            continue;
        }
        let plan = if full { Audit::full(method) } else { Audit::quick(method) }.unwrap();
        let started = Instant::now();
        let mut said = |what: &str| {
            if only.is_some() {
                println!("{:.2} s: {what}", started.elapsed().as_secs_f64());
            }
        };
        let report = plan.run(&Broken(bug), &mut said).unwrap();
        let seconds = started.elapsed().as_secs_f64();
        let verdict = if report.passed() { "MISSED" } else { "caught" };
        println!("| {bug:?} | {verdict} | {} | {seconds:.1} s |", report.failed().join(", "));
    }
}
