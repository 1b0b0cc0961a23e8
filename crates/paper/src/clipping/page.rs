//! Files of the experiment: figure, tables, report.

use super::contestant::Contestant;
use super::results::Results;
use super::tables::Table;
use super::{differences, words};
use crate::error::Error;
use prdo::data::csv::text_of;
use prdo::export::write_figures;
use prdo::plot::{Chart, Figure, Scale, Series};
use prdo::report::{Page, table};
use prdo::store::{Folder, names};

pub const FIGURE: &str = "clipping";

/// Of the parts, in their order.
const FILES: [&str; 4] = ["fixed-points.csv", "floors.csv", "differences.csv", "minibatch.csv"];
const TITLES: [&str; 4] = ["Fixed points", "Against C", "Clipping the differences", "Minibatches"];

pub fn write(folder: &Folder, results: &Results) -> Result<(), Error> {
    let figure = figure(results);
    write_figures(folder.path(), FIGURE, &figure)?;
    for (name, (_, table)) in FILES.into_iter().zip(results.sections()) {
        folder.write(name, csv(table).as_bytes())?;
    }
    folder.write(names::REPORT, report(results, figure).as_bytes())?;
    folder.write(names::RESULTS, (serde_json::to_string_pretty(results)? + "\n").as_bytes())?;
    Ok(())
}

fn csv((head, rows): Table) -> String {
    text_of(std::iter::once(head.into_iter().map(String::from).collect()).chain(rows))
}

fn report(results: &Results, figure: Figure) -> String {
    let mut page = Page::new("What clipping does to where methods stop", &results.verdict());
    page.paragraph(&words::ways());
    page.figure(figure);
    for (title, (about, (head, rows))) in TITLES.into_iter().zip(results.sections()) {
        page.heading(title);
        page.paragraph(&about);
        page.add(&table(&head, &rows, &[]));
    }
    if results.quick {
        page.note("A smaller version of the experiment, to see that it works.", true);
    }
    page.note("Not private: this experiment clips without noise (ε = ∞).", true);
    page.heading("Repeat it");
    page.code(if results.quick { "prdo reproduce clipping --quick" } else { "prdo reproduce clipping" });
    page.finish()
}

fn figure(results: &Results) -> Figure {
    Figure::new("")
        .panel(floors(results, "Worst records at each C, σ = 1", "C_g", |point| point.clip))
        .panel(floors(results, "The same against the sensitivity", "S", |point| point.sensitivity))
        .panel(difference_bias(results))
        .panel(minibatch(results))
        .columns(2)
        .shared_legend()
}

fn series(of: Contestant, points: Vec<(f64, f64)>) -> Series {
    Series::new(of.title(), points).style(of.place())
}

fn floors(results: &Results, title: &str, label: &str, x: fn(&super::floor::Point) -> f64) -> Chart {
    let mut chart = Chart::new(title, label, "‖∇f(x̄)‖").x_scale(Scale::Log).y_scale(Scale::Log);
    for floor in &results.floors {
        let points = floor.points.iter().map(|point| (x(point), point.grad_norm));
        chart = chart.series(series(floor.method, points.collect()));
    }
    chart
}

/// The bias that clipping differences adds, and two standard errors.
fn difference_bias(results: &Results) -> Chart {
    let mut chart =
        Chart::new("Differences clipped alone, minibatches", "C_Δ", "bias of x̄").x_scale(Scale::Log);
    let clips: Vec<f64> = results.differences.iter().filter_map(|one| one.clip).collect();
    for of in Contestant::PRDO {
        let own: Vec<&differences::Point> =
            results.differences.iter().filter(|one| one.method == of).collect();
        // Without a C_Δ of its own: a level line.
        let places = |one: &differences::Point| one.clip.map_or_else(|| clips.clone(), |clip| vec![clip]);
        let spread = |one: &&differences::Point| {
            let value = (one.bias, one.bias_error);
            places(one).into_iter().map(move |clip| (clip, value)).collect::<Vec<_>>()
        };
        let mut values: Vec<(f64, (f64, f64))> = own.iter().flat_map(spread).collect();
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        values.dedup_by(|a, b| a.0 == b.0);
        let band = values.iter().map(|(_, (bias, error))| (bias - 2.0 * error, bias + 2.0 * error));
        let points = values.iter().map(|(x, (bias, _))| (*x, *bias)).collect();
        chart = chart.series(series(of, points).band(band.collect()));
    }
    chart
}

fn minibatch(results: &Results) -> Chart {
    let title = "Logistic regression, minibatches";
    let mut chart = Chart::new(title, "S", "late ‖∇f(x̄)‖").x_scale(Scale::Log).y_scale(Scale::Log);
    for of in Contestant::ALL {
        let own = results.minibatch.points.iter().filter(|one| one.method == of);
        chart = chart.series(series(of, own.map(|one| (one.sensitivity, one.late_grad_norm)).collect()));
    }
    chart
}
