//! Many audits of the code as it ships, each with a seed of its own: none may raise an alarm.

use prdo_audit::{Audit, Shipped};
use std::time::Instant;

pub fn audits(words: &[String]) {
    let audits: u64 = words.first().map_or(1, |word| word.parse().unwrap());
    let method = words.get(1).map_or("prdo", |word| word).parse().unwrap();
    let quick = words.get(2).is_some_and(|word| word == "quick");
    let start: u64 = words.get(3).map_or(1, |word| word.parse().unwrap());
    let (mut alarms, mut least, mut most, mut worst) = (0, f64::INFINITY, 0.0_f64, 0.0_f64);
    let started = Instant::now();
    for seed in start..start + audits {
        let plan = if quick { Audit::quick(method) } else { Audit::full(method) }.unwrap();
        let report = Audit { seed, ..plan }.run(&Shipped, &mut |_| {}).unwrap();
        let first = &report.findings[0];
        let share = first.outcome.epsilon / first.claimed.upper;
        (least, most) = (least.min(share), most.max(share));
        for check in report.checks.iter().filter(|check| check.allowed.contains('±')) {
            worst = worst.max(check.figure.abs());
        }
        if audits == 1 {
            for c in &report.checks {
                println!(
                    "{:13} {:16} {:>12.6} {} ({}; {})",
                    c.setting, c.name, c.figure, c.passed, c.allowed, c.what
                );
            }
            for f in &report.findings {
                let o = &f.outcome;
                println!(
                    "{}: claimed {:.4}, proven {:.4}, without assumptions {:.4}",
                    f.setting.name, f.claimed.upper, o.epsilon, o.epsilon_plain
                );
                for p in &o.points {
                    println!(
                        "  α {:.4} β {:.4} ≤ {:.4}, claimed at least {:.4}",
                        p.false_alarms, p.misses, p.bounds.1, p.claimed
                    );
                }
            }
        }
        if !report.passed() {
            alarms += 1;
            println!("seed {seed}: ALARM {:?}", report.failed());
        }
        let done = seed - start + 1;
        if done.is_multiple_of(10) || done == audits {
            let seconds = started.elapsed().as_secs_f64();
            println!(
                "{done} audits of {method}, {alarms} alarms; proven/claimed ε {least:.3} to {most:.3}; largest score {worst:.2}; {seconds:.0} s"
            );
        }
    }
}
