//! Tables, figures and report of the frontier, from the results alone.

use super::experiment::Frontier;
use super::points::Point;
use super::results::{Figures, Results};
use crate::error::Error;
use crate::grid::Grid as _;
use crate::grid::show::{self, SIMULATED, add_resume, ascending, paper_name};
use crate::images::Data;
use crate::table_1::setting::{BUDGETS as PAPER_BUDGETS, paper_accuracy};
use prdo::algorithm::Method;
use prdo::export::write_figures;
use prdo::plot::{Chart, Figure, Scale, Series};
use prdo::report::{Page, method_style, table};
use prdo::store::{Folder, names};

pub const CAPTION: &str = "Test accuracy (%) of the average model after the last round, mean ± sample deviation over seeds (each \
    with a partition of its own); δ = 1e-5; settings chosen on validation records.";

/// The colour of the paper's points: none of the methods'.
const PAPERS_STYLE: usize = 6;

/// Where the styles of methods with noise in pairs begin.
const PAIRS_STYLES: usize = 9;

/// One data set as rows and columns.
pub struct DataSetTable {
    pub title: String,
    pub head: Vec<String>,
    /// A row for each map and method.
    pub rows: Vec<Vec<String>>,
    /// Who is ahead at which budget.
    pub verdict: Vec<String>,
}

pub fn tables(points: &[Point<'_>]) -> Vec<DataSetTable> {
    points.chunk_by(|a, b| a.data == b.data).map(one_table).collect()
}

/// Of the points of one data set.
fn one_table(points: &[Point<'_>]) -> DataSetTable {
    let data = points[0].data;
    let epsilons = ascending(points.iter().map(|point| point.epsilon).collect());
    let mut head = vec!["features".to_string(), "method".to_string()];
    head.extend(epsilons.iter().map(|epsilon| format!("ε = {epsilon}")));
    let (mut rows, mut verdict) = (Vec::new(), Vec::new());
    for of_map in points.chunk_by(|a, b| a.map == b.map) {
        for own in of_map.chunk_by(same_contestant) {
            let at = |epsilon: &f64| own.iter().find(|point| point.epsilon == *epsilon);
            let mut row = vec![own[0].map.to_string(), own[0].contestant()];
            row.extend(epsilons.iter().map(|epsilon| at(epsilon).map_or("–".to_string(), Point::show)));
            rows.push(row);
        }
        for of_noise in of_map.chunk_by(|a, b| a.noise == b.noise) {
            verdict.extend(epsilons.iter().filter_map(|epsilon| leader(of_noise, *epsilon)));
        }
    }
    if data == Data::Cifar10 {
        rows.extend(papers_rows(&epsilons));
    }
    let title = format!("{}: private softmax regression on fixed features", data.title());
    DataSetTable { title, head, rows, verdict }
}

fn same_contestant(a: &Point<'_>, b: &Point<'_>) -> bool {
    (a.method, a.noise) == (b.method, b.noise)
}

fn papers_rows(epsilons: &[f64]) -> Vec<Vec<String>> {
    let row = |method: &Method| {
        let mut row = vec!["the paper's network".to_string(), paper_name(*method)];
        let found =
            |epsilon: &f64| paper_accuracy(*method, *epsilon).map_or("–".into(), |a| format!("{a:.2}"));
        row.extend(epsilons.iter().map(found));
        row
    };
    Method::PAPER.iter().map(row).collect()
}

/// Who is ahead with one map at one budget, among methods with the same seeds.
fn leader(points: &[Point<'_>], epsilon: f64) -> Option<String> {
    let mut here: Vec<&Point<'_>> = points.iter().filter(|point| point.epsilon == epsilon).collect();
    here.sort_by(|a, b| b.accuracy().mean.total_cmp(&a.accuracy().mean));
    let first = here.first()?;
    if here.iter().any(|point| point.seeds() != first.seeds()) {
        return None;
    }
    let ranked: Vec<_> = here.iter().map(|point| (point.method, point.percent())).collect();
    let noise = if first.noise.is_independent() { "" } else { ", noise in pairs" };
    Some(format!("{}{noise}, ε = {epsilon}: {}", first.map, show::leader(&ranked)?))
}

/// Accuracy against ε, a panel for each data set and map.
fn frontier(points: &[Point<'_>]) -> Figure {
    let panels = points.chunk_by(|a, b| (a.data, a.map) == (b.data, b.map)).map(panel);
    panels.fold(Figure::new("").columns(2).shared_legend(), Figure::panel).panel_size(400.0, 320.0)
}

fn panel(points: &[Point<'_>]) -> Chart {
    let (data, map) = (points[0].data, points[0].map);
    let mut chart =
        Chart::new(format!("{}, {map}", data.title()), "ε", "test accuracy (%)").x_scale(Scale::Log);
    for own in points.chunk_by(same_contestant) {
        let spreads: Vec<_> = own.iter().map(|p| (p.epsilon, p.percent())).collect();
        let line = spreads.iter().map(|(epsilon, s)| (*epsilon, s.mean)).collect();
        let band = spreads.iter().map(|(_, s)| (s.mean - s.deviation, s.mean + s.deviation)).collect();
        // Beside the colours of the methods.
        let style =
            method_style(own[0].method) + if own[0].noise.is_independent() { 0 } else { PAIRS_STYLES };
        chart = chart.series(Series::new(own[0].contestant(), line).band(band).style(style));
    }
    if data == Data::Cifar10 {
        let found = |epsilon: &f64| Some((*epsilon, paper_accuracy(Method::Prdo, *epsilon)?));
        let line = PAPER_BUDGETS.iter().filter_map(found).collect();
        chart = chart.series(Series::new("PRDO, the paper's network", line).style(PAPERS_STYLE));
    }
    chart
}

fn details(points: &[Point<'_>]) -> (Vec<&'static str>, Vec<Vec<String>>) {
    let head = "data,features,method,ε,ε proven,z,rate,T,C,step,accuracy,worst node,validation,parameters,MB sent,s,seeds";
    let row = |point: &Point<'_>| {
        let mean = point.means();
        // Settings are the same for every seed; their mean may be off in its last digit.
        let set = |figure: fn(&Figures) -> f64| {
            point.cells.first().map_or(0.0, |cell| figure(&cell.figures)).to_string()
        };
        vec![
            point.data.to_string(),
            point.map.to_string(),
            point.contestant(),
            point.epsilon.to_string(),
            format!("{:.4}", mean.epsilon_proven),
            format!("{:.4}", mean.noise_multiplier),
            format!("{:.4}", mean.rate),
            format!("{:.0}", mean.rounds),
            set(|f| f.clip),
            set(|f| f.step_size),
            point.show(),
            format!("{:.2}", 100.0 * mean.lowest_node_accuracy),
            format!("{:.2}", 100.0 * mean.validation_accuracy),
            format!("{:.0}", mean.parameters),
            format!("{:.1}", mean.bytes_sent / 1e6),
            format!("{:.1}", mean.seconds),
            point.cells.len().to_string(),
        ]
    };
    (head.split(',').collect(), points.iter().map(row).collect())
}

/// Writes everything that can be drawn from what is done so far.
pub fn write(asked: &Frontier, results: &Results) -> Result<(), Error> {
    let folder = Folder::wait(&asked.out, names::RESULTS)?;
    let points = Point::all(results);
    folder.write("table.md", markdown(&points, asked).as_bytes())?;
    folder.write(names::TABLE, csv(&points)?.as_bytes())?;
    if !points.is_empty() {
        write_figures(folder.path(), "frontier", &frontier(&points))?;
    }
    folder.write(names::REPORT, report(&points, asked).as_bytes())?;
    Ok(())
}

fn markdown(points: &[Point<'_>], asked: &Frontier) -> String {
    let mut text = format!("# Accuracy against ε\n\n{CAPTION}\n\n");
    for table in tables(points) {
        text += &format!("## {}\n\n{}\n", table.title, show::markdown(&table.head, &table.rows));
        table.verdict.iter().for_each(|line| text += &format!("- {line}\n"));
        text += "\n";
    }
    let (head, rows) = details(points);
    text += &format!("## Every point with its settings\n\n{}\n", show::markdown(&head, &rows));
    text + &format!("To resume: `{}`\n", asked.command())
}

/// `table.csv`: a line for each point, figures with all their digits.
fn csv(points: &[Point<'_>]) -> Result<String, Error> {
    let mut text = String::new();
    for (k, point) in points.iter().enumerate() {
        let json = serde_json::to_value(point.row())?;
        let Some(fields) = json.as_object() else { continue };
        if k == 0 {
            text += &format!("{}\n", fields.keys().cloned().collect::<Vec<_>>().join(","));
        }
        let value = |v: &serde_json::Value| v.as_str().map_or_else(|| v.to_string(), String::from);
        text += &format!("{}\n", fields.values().map(value).collect::<Vec<_>>().join(","));
    }
    Ok(text)
}

fn report(points: &[Point<'_>], asked: &Frontier) -> String {
    let all = tables(points);
    let runs: usize = points.iter().map(|point| point.cells.len()).sum();
    let sets = if all.len() == 1 { "data set" } else { "data sets" };
    let lead = format!("{runs} runs on {} {sets}. {CAPTION}", all.len());
    let mut page = Page::new("Accuracy against ε", &lead);
    if !points.is_empty() {
        page.figure(frontier(points));
    }
    for one in &all {
        page.heading(&one.title);
        page.add(&table(&one.head.iter().map(String::as_str).collect::<Vec<_>>(), &one.rows, &[]));
        one.verdict.iter().for_each(|line| page.paragraph(line));
    }
    page.note(
        &format!(
            "The feature maps are made of public constants and see no private record: they cost no privacy. {SIMULATED} \
             That settings were chosen on validation records of the same public benchmark is not part of ε."
        ),
        true,
    );
    let (head, rows) = details(points);
    page.folded("Every point with its settings", |page| page.add(&table(&head, &rows, &[])));
    add_resume(&mut page, asked);
    page.finish()
}

#[cfg(test)]
mod tests {
    use super::super::results::tests::cell;
    use super::*;
    use crate::grid::Results as _;

    #[test]
    fn tables_show_means_and_say_when_a_lead_may_be_chance() {
        let mut results = Results::default();
        for (seed, edm, prdo) in [(1, 0.70, 0.60), (2, 0.72, 0.62)] {
            results.put(cell(Method::Edm, 8.0, seed, edm));
            results.put(cell(Method::Prdo, 8.0, seed, prdo));
            results.put(cell(Method::Edm, 1.0, seed, edm));
            results.put(cell(Method::Prdo, 1.0, seed, edm - 0.001));
        }
        let points = Point::all(&results);
        let table = &tables(&points)[0];
        assert_eq!(table.head, ["features", "method", "ε = 1", "ε = 8"]);
        assert_eq!(table.rows[0], ["scattering", "PRDO", "70.90 ± 1.41", "61.00 ± 1.41"]);
        assert!(table.verdict[0].contains("within the spread over 2 seeds"), "{:?}", table.verdict);
        assert!(
            table.verdict[1]
                .ends_with("DP-EDM has the highest accuracy, 71.00 %, before PRDO with 61.00 % (2 seeds).")
        );
        let csv = csv(&points).unwrap();
        assert_eq!(
            csv.lines().take(2).collect::<Vec<_>>(),
            [
                "data,features,method,noise,epsilon,delta,accuracy_mean,accuracy_std,seeds,lowest_node_accuracy,\
                 validation_accuracy,noise_multiplier,epsilon_proven,rate,rounds,clip,step_size,parameters,seconds,bytes_sent",
                "digits,scattering,prdo,independent,1.0,0.00001,0.709,0.014142135623730963,2,0.0,0.0,1.5,0.0,0.0,0.0,0.0,0.0,0.0,2.0,1000000.0",
            ]
        );
        assert_eq!(csv.lines().count(), 5);
        // Other seeds are no comparison.
        results.cells.pop();
        assert_eq!(tables(&Point::all(&results))[0].verdict.len(), 1);
    }
}
