//! Tuning's table, plot and page.

use super::{Tuned, head, score, symbols};
use prdo::plot::{Chart, Figure, Series};
use prdo::report::{Page, method_style, table};
use prdo::runfile::Key;
use prdo::tune::numbers;
use std::fmt::Write;

/// One line per trial.
pub fn trials_csv(tuned: &Tuned<'_>) -> String {
    let own: Vec<&str> = numbers().map(|(_, number, _)| number.name).collect();
    let mut text = format!(
        "method,score,rounds,batch,step_size,clip_gradient,clip_difference,{},noise_multiplier,seconds\n",
        own.join(",")
    );
    for trial in &tuned.answer.trials {
        let all = tuned.settings(trial);
        let value = |key: Key| all.iter().find(|(k, _)| *k == key).map_or("", |(_, v)| v.as_str());
        let keys = [Key::Rounds, Key::BatchSize, Key::MethodStepSize, Key::ClipGradient, Key::ClipDifference];
        let keys = keys.into_iter().chain(numbers().map(|(key, ..)| key));
        let cells: Vec<&str> = keys.map(value).collect();
        let noise = trial.noise_multiplier.map_or(String::new(), |z| format!("{z:?}"));
        let name = trial.settings.method.card().name;
        let _ = writeln!(text, "{name},{:?},{},{noise},{:.3}", trial.mean(), cells.join(","), trial.seconds);
    }
    text
}

/// The best so far, trial by trial, and every trial against its step.
pub fn figure(tuned: &Tuned<'_>) -> Figure {
    let accuracy = tuned.answer.best.first().is_some_and(|best| best.mean() > 0.0);
    let label = if accuracy { "accuracy" } else { "−‖∇f‖" };
    let mut steps =
        Chart::new("Best for each step size", "step size α", label).x_scale(prdo::plot::Scale::Log);
    let mut ranks = Chart::new("Scores in order", "rank", label);
    for method in &tuned.effort.methods {
        let own = tuned.answer.trials.iter().filter(|t| t.settings.method == *method && t.mean().is_finite());
        let mut points: Vec<(f64, f64)> = own.map(|t| (t.settings.step_size, t.mean())).collect();
        let mut scores: Vec<f64> = points.iter().map(|(_, s)| *s).collect();
        scores.sort_by(|a, b| b.total_cmp(a));
        let ranked = scores.iter().enumerate().map(|(k, s)| (k as f64 + 1.0, *s)).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (title, style) = (method.card().title, method_style(*method));
        steps = steps.series(Series::new(title, envelope(&points)).style(style));
        ranks = ranks.series(Series::new(title, ranked).style(style));
    }
    Figure::new("").columns(2).panel(steps).panel(ranks).panel_size(460.0, 300.0)
}

/// The best of each group of neighbouring steps.
fn envelope(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    const GROUPS: usize = 8;
    let size = points.len().div_ceil(GROUPS).max(1);
    let best = |group: &[(f64, f64)]| group.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1));
    points.chunks(size).filter_map(best).collect()
}

pub fn html(tuned: &Tuned<'_>, file: &str, figure: Figure) -> String {
    let best = tuned.answer.best.first();
    let lead = match best {
        Some(best) => format!(
            "{} with the settings below reaches {} on {}; {} trials.",
            best.settings.method.card().title,
            score(best.mean()),
            tuned.found.title,
            tuned.answer.trials.len()
        ),
        None => "Nothing was tried.".to_string(),
    };
    let mut page = Page::new(&format!("Tuned: {file}"), &lead);
    page.heading("Each method's best");
    let rows: Vec<Vec<String>> = tuned.answer.best.iter().map(|trial| tuned.row(trial)).collect();
    page.add(&table(&head(&symbols()), &rows, &[0]));
    page.figure(figure);
    if let Some(caution) = tuned.found.caution {
        page.note(caution, true);
    }
    if let Some(edges) = tuned.edges() {
        page.note(&edges, true);
    }
    page.heading("What it cost");
    match tuned.cost() {
        Some(cost) => page.note(&cost, tuned.found.charged),
        None => page.paragraph("The run is not private: there is nothing to account for."),
    }
    page.paragraph(
        "Each method had the same number of trials: six tenths spread evenly over the ranges, the rest near its best so \
         far; its best three were then tried with every seed. The noise of a trial is what the budget asks for on the \
         records that are meant.",
    );
    page.heading("Run it");
    page.code("prdo run tuned.toml");
    page.finish()
}
