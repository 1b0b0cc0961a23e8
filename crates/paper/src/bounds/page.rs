//! Files of the experiment: report, plots, tables.

use super::inequality::{ALL, Sense};
use super::results::{Results, Summary};
use super::slope::{Point, THEOREM};
use crate::error::Error;
use crate::typed::distinct;
use prdo::data::csv::text_of;
use prdo::export::write_figures;
use prdo::plot::{Bar, Bars, Chart, Figure, Scale, Series};
use prdo::report::{Page, table};
use prdo::store::{Folder, names};

pub fn write(folder: &Folder, results: &Results) -> Result<(), Error> {
    let figures = [("bounds", bounds(results)), ("ratios", ratios(results)), ("slopes", slopes(results))];
    for (name, figure) in &figures {
        write_figures(folder.path(), name, figure)?;
    }
    folder.write("inequalities.csv", csv(results.table()).as_bytes())?;
    folder.write("averages.csv", csv(results.averages()).as_bytes())?;
    folder.write("slopes.csv", csv(results.slope_table()).as_bytes())?;
    folder.write(names::REPORT, report(results, figures.map(|(_, figure)| figure)).as_bytes())?;
    folder.write(names::RESULTS, (serde_json::to_string_pretty(&results.file())? + "\n").as_bytes())?;
    Ok(())
}

fn csv((head, rows): (Vec<&'static str>, Vec<Vec<String>>)) -> String {
    text_of(std::iter::once(head.into_iter().map(String::from).collect()).chain(rows))
}

fn report(results: &Results, [bounds, ratios, slopes]: [Figure; 3]) -> String {
    let mut page = Page::new("The theorem and its proof, measured", &results.verdict());
    page.paragraph(&results.about());
    page.heading("Every inequality");
    page.paragraph(
        "Bound over measured is the least over all cases, seeds and rounds; below one an inequality would fail. An \
         inequality of every path holds without any average; a conditional one is about the expectation given the \
         past, which is computed exactly from all records; a mean of seeds is compared up to its standard error, and the \
         column beside says by how many of them a mean lies above its bound at most.",
    );
    let (head, rows) = results.table();
    page.add(&table(&head, &rows, &[]));
    page.figure(ratios);
    page.heading("The theorem's bounds");
    page.figure(bounds);
    let (head, rows) = results.averages();
    page.add(&table(&head, &rows, &[]));
    page.paragraph(
        "σ² and the clipping thresholds are proven for log-cosh and logistic regression. For quadratics, whose \
         gradients are not bounded, σ² is the largest conditional variance along the measured trajectories, the \
         smallest value for which the proof covers them, and the thresholds are held against every record of \
         every round.",
    );
    page.heading("The horizon");
    page.figure(slopes);
    let (head, rows) = results.slope_table();
    page.add(&table(&head, &rows, &[]));
    page.paragraph(&format!(
        "Scheduled runs without noise, {} seeds, one c_α for all horizons. The slope is that of log mean against log \
         T by least squares; its error comes from those of the means. The theorem bounds the average from above: as long \
         as αL_sT is small a run has hardly left its start, and its average falls slower than the bound, which is far \
         above it. Once a run settles, Σ‖∇f‖² is about Δ_f/α, and the average falls as 1/(αT), with the power −2/3.",
        results.slope_seeds
    ));
    page.note("A seeded simulation: the noise of its private cells can be recomputed by anyone.", true);
    page.heading("Repeat it");
    page.code(if results.quick { "prdo reproduce bounds --quick" } else { "prdo reproduce bounds" });
    page.finish()
}

/// Bound and measured stationarity against T: a panel for each problem, without noise and with it.
fn bounds(results: &Results) -> Figure {
    let mut figure = Figure::new("").columns(3).shared_legend();
    for private in [false, true] {
        for problem in distinct(results.summaries.iter().map(|case| case.problem.as_str())) {
            let of = if private { "with noise" } else { "without noise" };
            let mut chart = Chart::new(format!("{problem}, {of}"), "T", "(1/T)Σ‖∇f(x̄)‖²")
                .x_scale(Scale::Log)
                .y_scale(Scale::Log);
            let networks = distinct(results.summaries.iter().map(|case| case.network.as_str()));
            for (k, network) in networks.into_iter().enumerate() {
                let own = |case: &&Summary| {
                    (&*case.problem, &*case.network, case.private) == (problem, network, private)
                };
                let line = |of: &dyn Fn(&Summary) -> f64| -> Vec<(f64, f64)> {
                    results.summaries.iter().filter(own).map(|case| (case.rounds as f64, of(case))).collect()
                };
                let bound = line(&|case| case.stationarity.bound);
                let measured = line(&|case| case.stationarity.measured);
                chart = chart
                    .series(Series::new(format!("{network}: bound"), bound).style(2 * k))
                    .series(Series::new(format!("{network}: measured"), measured).style(2 * k + 1));
            }
            figure = figure.panel(chart);
        }
    }
    figure
}

fn ratios(results: &Results) -> Figure {
    let mut bars = Bars::new("Least bound over measured: 1 is tight", "bound / measured").scale(Scale::Log);
    for (one, found) in ALL.iter().zip(&results.findings).filter(|(one, _)| one.sense != Sense::Identity) {
        if let Some((ratio, _)) = &found.worst {
            bars = bars.bar(Bar::new(format!("{}: {}", one.label, one.says), *ratio));
        }
    }
    Figure::of(bars).panel_size(980.0, 26.0 * ALL.len() as f64)
}

/// The average squared gradient against T, with the theorem's slope beside it.
fn slopes(results: &Results) -> Figure {
    let mut figure = Figure::new("").columns(3).shared_legend();
    for problem in distinct(results.slopes.iter().map(|one| one.problem.as_str())) {
        let mut chart = Chart::new(problem, "T", "(1/T)Σ‖∇f(x̄)‖²").x_scale(Scale::Log).y_scale(Scale::Log);
        for one in results.slopes.iter().filter(|one| one.problem == problem) {
            let points = one.points.iter().map(|p| (p.rounds, p.mean)).collect();
            let edges = |p: &Point| (p.mean - 2.0 * p.standard_error, p.mean + 2.0 * p.standard_error);
            let band = one.points.iter().map(edges).collect();
            chart = chart.series(Series::new(one.network.as_str(), points).band(band));
        }
        // The theorem's slope, from where the fastest network begins.
        if let Some(one) = results.slopes.iter().rfind(|one| one.problem == problem)
            && let Some(first) = one.points.first()
        {
            let height = |p: &Point| first.mean * (p.rounds / first.rounds).powf(THEOREM);
            let line = one.points.iter().map(|p| (p.rounds, height(p)));
            chart = chart.series(Series::new("T^(−2/3)", line.collect()).style(4));
        }
        figure = figure.panel(chart);
    }
    figure
}
