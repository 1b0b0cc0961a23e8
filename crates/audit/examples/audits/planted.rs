//! Which checks catch which planted bug.

use crate::broken::Broken;
use prdo_algorithm::Asks;
use prdo_algorithm::methods::directions::INTERVAL;
use prdo_audit::Audit;
use prdo_privacy::planted::{Bug, Need};
use std::time::Instant;

pub fn audits(words: &[String]) {
    let method: prdo_algorithm::Method = words.first().map_or("prdo", |word| word).parse().unwrap();
    let full = words.get(1).is_some_and(|word| word == "full");
    let only = words.get(2);
    for bug in Bug::ALL {
        let settings = prdo_algorithm::Settings::new(0.1).with(INTERVAL.is(1.0));
        let asks: Vec<Asks> = (0..3).map(|round| method.asks(&settings, round)).collect();
        let applies = match bug.needs() {
            None => true,
            Some(Need::Differences) => asks.iter().any(|asks| matches!(asks, Asks::Recursive { .. })),
            Some(Need::Movement) => asks.iter().any(|asks| asks.kappa().is_some()),
            Some(Need::Pairs) => false,
            Some(Need::Scaled) => asks.iter().any(|asks| matches!(asks, Asks::Scaled { .. })),
        };
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
