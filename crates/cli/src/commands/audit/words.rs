//! What an audit found, for people.

use super::Audited;
use crate::commands::table::print_table;
use crate::progress::say;
use prdo::report::against::against;
use prdo::store::{Folder, names};
use prdo_audit::{Check, RunSetting, Setting};

pub fn verdict(audited: &Audited) -> String {
    let report = &audited.report;
    let (all, failed) = (report.checks.len(), report.checks.iter().filter(|check| !check.passed).count());
    if failed > 0 {
        let names = report.failed().join(", ");
        return format!(
            "The code is NOT as private as claimed: {failed} of {all} checks failed ({names}). Do not release \
             anything with it."
        );
    }
    let epsilon = report.findings.first().map_or(String::new(), |f| {
        let share = 100.0 * f.outcome.epsilon / f.claimed.upper;
        let weak = " Little can be proven where so little is released; sensitivity, noise and batches were checked all the same.";
        format!(
            " The best attack proves ε ≥ {:.2}; claimed is ε ≤ {:.2} at δ = {:e} ({share:.0} %).{}",
            f.outcome.epsilon,
            f.claimed.upper,
            f.setting.delta,
            if share < 25.0 { weak } else { "" }
        )
    });
    format!("Nothing was found: all {all} checks passed.{epsilon}")
}

pub fn scaled(real: &RunSetting, setting: &Setting, dimension: usize) -> String {
    let (b0, b) = setting.batches;
    format!(
        "The run has {} rounds, rates {:.6} (first {:.6}) and {dimension} parameters; audited were {} rounds, rates {b}/{n} \
         (first {b0}/{n}) and 4 parameters, on a ring of 4 nodes, with the run's method, clipping norms, noise \
         multiplier and δ. The claimed ε below is for exactly what was audited.{}",
        real.rounds,
        real.rates.1,
        real.rates.0,
        setting.rounds,
        pairs(real, setting).unwrap_or_default(),
        n = setting.slots,
    )
}

/// What became of noise in pairs.
fn pairs(real: &RunSetting, setting: &Setting) -> Option<String> {
    let (run, small) = (real.pairs?, setting.pairs.as_deref()?);
    Some(format!(
        " Noise is in pairs, at the run's ratio, with secrets between {}: worth that multiplier against {}{}.",
        if small.secrets().is_complete() { "all four" } else { "neighbours" },
        against(small.colluders()),
        match run.colluders == small.colluders() {
            true => String::new(),
            false => format!(" (in the run against {})", against(run.colluders)),
        }
    ))
}

pub fn rows(checks: &[Check]) -> (Vec<&'static str>, Vec<Vec<String>>) {
    let row = |c: &Check| {
        let passed = if c.passed { "ok" } else { "FAILED" };
        vec![c.name.into(), c.setting.clone(), passed.into(), figure(c.figure), c.allowed.clone()]
    };
    (vec!["check", "setting", "", "found", "allowed"], checks.iter().map(row).collect())
}

/// A figure with as many digits as matter.
pub fn figure(x: f64) -> String {
    if x == x.trunc() && x.abs() < 1e9 { format!("{x}") } else { format!("{x:.4}") }
}

pub fn show(audited: &Audited, folder: &Folder) {
    let (head, rows) = rows(&audited.report.checks);
    print_table(&head, &rows);
    say("");
    if let Some(scaled) = &audited.scaled {
        say(scaled);
    }
    for f in &audited.report.findings {
        say(&format!(
            "{}: claimed ε ≤ {:.4}, proven by attack ε ≥ {:.4} ({:.4} by Clopper–Pearson alone), {} runs of each world",
            f.setting.name, f.claimed.upper, f.outcome.epsilon, f.outcome.epsilon_plain, f.runs
        ));
    }
    if let Some(p) = &audited.one_run {
        say(&format!(
            "one run, {} parameters, {} canaries: {} of {} guesses right, ε ≥ {:.4}; claimed ε ≤ {:.4}",
            p.dimension, p.canaries, p.guesses.1, p.guesses.0, p.epsilon, p.claimed.upper
        ));
    }
    say(&audited.images.sentence());
    say(&verdict(audited));
    say("Runs of an audit are seeded simulations: this speaks about the code, not about a secret.");
    say(&format!("report: {} ({:.0} s)", folder.path().join(names::REPORT).display(), audited.seconds));
}
