//! The figures and the report of an audit.

use super::{Audited, words};
use crate::commands::Failure;
use prdo::export::write_figures;
use prdo::plot::{Chart, Figure, LegendPlace, Series};
use prdo::report::{Page, table};
use prdo::store::{Folder, names};
use prdo_audit::Finding;
use prdo_audit::tradeoff::Curve;

const POINTS: u32 = 200;

pub fn write(folder: &Folder, audited: &Audited) -> Result<(), Failure> {
    let curves = trade_off(&audited.report.findings)?;
    let images = Figure { panel_width: 900.0, ..Figure::of(audited.images.picture()) };
    for (name, figure) in [("trade-off", &curves), ("images", &images)] {
        write_figures(folder.path(), name, figure)?;
    }
    folder.write(names::REPORT, report(audited, curves, images).as_bytes())?;
    Ok(())
}

/// What the attack achieves, and what the claim leaves to any attack.
fn trade_off(findings: &[Finding]) -> Result<Figure, Failure> {
    let mut figure = Figure::new("Can anyone tell whether the record is there?").panel_size(470.0, 400.0);
    for finding in findings {
        let setting = &finding.setting;
        let history = setting.history(setting.noise_multiplier).map_err(super::failure)?;
        let claimed = Curve::of(&history).map_err(super::failure)?;
        let at = |k: u32| f64::from(k) / f64::from(POINTS);
        let line = (0..=POINTS).map(|k| (at(k), claimed.least_miss_rate(at(k)))).collect();
        let mut points: Vec<_> = finding.outcome.points.iter().collect();
        points.sort_by(|a, b| a.false_alarms.total_cmp(&b.false_alarms));
        let seen = points.iter().map(|p| (p.false_alarms, p.misses)).collect();
        let title = format!(
            "{}: ε ≤ {:.2} claimed, ε ≥ {:.2} proven",
            setting.name, finding.claimed.upper, finding.outcome.epsilon
        );
        let chart = Chart::new(title, "false alarms", "misses")
            .series(Series::new("claimed: no attack gets below", line).style(0))
            .series(Series::new("the best attack, as measured", seen).style(1))
            .series(Series::new("guessing", vec![(0.0, 1.0), (1.0, 0.0)]).style(3))
            .x_range(0.0, 1.0)
            .y_range(0.0, 1.0)
            .legend(LegendPlace::Inside);
        figure = figure.panel(chart);
    }
    Ok(figure)
}

fn report(audited: &Audited, curves: Figure, images: Figure) -> String {
    let mut page = Page::new("Audit of the code's privacy", &words::verdict(audited));
    if let Some(first) = audited.report.findings.first() {
        let passed = audited.report.checks.iter().filter(|check| check.passed).count();
        page.cards(&[
            (format!("{passed} of {}", audited.report.checks.len()), "checks passed"),
            (format!("{:.3}", first.claimed.upper), "ε claimed, at most"),
            (format!("{:.3}", first.outcome.epsilon), "ε proven by attack, at least"),
            (format!("{}", 2 * first.runs), "runs under attack"),
        ]);
    }
    if let Some(scaled) = &audited.scaled {
        page.note(scaled, false);
    }
    page.paragraph(
        "Real nodes, gates and messages on a ring of four. The adversary chooses every record but one, the model and the \
         start, reads every message, undoes the method, and decides by the optimal test whether the one record is there.",
    );
    if audited.report.findings.iter().any(|finding| finding.setting.pairs.is_some()) {
        page.paragraph(
            "With noise in pairs it weighs the answers of all nodes together, less the shares whose keys its coalition has: as \
             outsiders, as a coalition of the agreed size, and as all others together. The claim and its curve are about the second.",
        );
    }
    page.heading("The attack against the claim");
    page.figure(curves);
    page.paragraph(
        "A perfect attack would have no false alarms and no misses (the corner at the bottom left); guessing gives the \
         diagonal. If the accountant is right, no attack gets below the claimed curve. Points right on it mean that \
         the attack is as good as any can be and the claim is not wasteful; significantly below it would be a proof \
         that the code is broken.",
    );
    page.heading("An image from one message");
    page.figure(images);
    page.paragraph(&audited.images.sentence());
    if let Some(p) = &audited.one_run {
        page.heading("One run of real size");
        page.paragraph(&format!(
            "A model of {} values, {} rounds, {} canaries, each present or not by the toss of a coin. Of {} guesses {} \
             were right, which proves ε ≥ {:.3} with confidence 95 %; claimed is ε ≤ {:.3}. One run proves less than \
             thousands, but its model has the real size.",
            p.dimension, p.rounds, p.canaries, p.guesses.0, p.guesses.1, p.epsilon, p.claimed.upper
        ));
    }
    page.heading("Every check");
    let (mut head, mut rows) = words::rows(&audited.report.checks);
    head.push("what it is");
    rows.iter_mut().zip(&audited.report.checks).for_each(|(row, check)| row.push(check.what.clone()));
    page.add(&table(&head, &rows, &[]));
    page.heading("What it does not say");
    page.paragraph(
        "An audit can show that code is broken, never that it is not. It speaks about the code, not about a run: secrets are \
         seeded here so that the same audit can be repeated. It does not see how long things take, what a computer's \
         memory or its owner lets out, or what happens to models and data outside of prdo.",
    );
    page.heading("Repeat it");
    page.code(&audited.command);
    page.finish()
}
