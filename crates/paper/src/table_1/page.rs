//! Figures, report and files of the table, from the results alone.

use super::super::error::Error;
use super::super::grid::{Grid as _, Results as _, State};
use super::plan::Plan;
use super::results::{Cell, Results};
use super::setting::{Setting, paper_name};
use super::table::{Table, csv, latex_tables, markdown};
use prdo::algorithm::Method;
use prdo::export::write_figures;
use prdo::plot::{Chart, Figure, Heat, Series};
use prdo::report::{Page, Spread, method_style, table};
use prdo::store::{Folder, names};

/// Writes everything that can be drawn from what is done so far.
pub fn write(plan: &Plan, results: &Results) -> Result<(), Error> {
    let folder = Folder::wait(&plan.out, names::RESULTS)?;
    let tables = Table::all(results, plan);
    let left = (plan.unfinished(results) > 0).then(|| plan.command());
    folder.write("table.md", markdown(&tables, left.as_deref()).as_bytes())?;
    folder.write(names::TABLE, csv(results).as_bytes())?;
    folder.write(names::TABLE_LATEX, latex_tables(&tables).as_bytes())?;
    for table in tables.iter().filter(|table| has_curves(table)) {
        write_figures(folder.path(), &format!("accuracy{}", table.group.slug()), &accuracy(table))?;
    }
    for deal in results.deals.iter().filter(|deal| !deal.counts.is_empty()) {
        let name = if deal.setting == Setting::Paper { "partition" } else { "partition-quick" };
        write_figures(folder.path(), name, &partition(results, deal.setting))?;
    }
    folder.write(names::REPORT, report(plan, results, &tables).as_bytes())?;
    Ok(())
}

/// The budgets at which something was measured.
fn measured(table: &Table<'_>) -> Vec<f64> {
    let there = |epsilon: &f64| {
        table.methods().iter().any(|m| table.at(*m, *epsilon).iter().any(|cell| !cell.curve.is_empty()))
    };
    table.epsilons().iter().copied().filter(there).collect()
}

fn has_curves(table: &Table<'_>) -> bool {
    !measured(table).is_empty()
}

/// Accuracy against rounds, a panel for each budget at which something was measured.
fn accuracy(table: &Table<'_>) -> Figure {
    let budgets = measured(table);
    let mut figure = Figure::new("").columns(budgets.len().clamp(1, 3)).shared_legend();
    for epsilon in &budgets {
        let mut chart = Chart::new(format!("ε = {epsilon}"), "round", "test accuracy (%)")
            .x_range(0.0, f64::from(table.group.rounds));
        for method in table.methods() {
            let cells = shown(table.at(*method, *epsilon));
            if !cells.is_empty() {
                chart = chart.series(series(*method, &cells));
            }
        }
        figure = figure.panel(chart);
    }
    figure.panel_size(400.0, 320.0)
}

/// Finished seeds, or the one that is furthest: a seed just begun must not cut the others short.
fn shown(cells: Vec<&Cell>) -> Vec<&Cell> {
    let finished: Vec<&Cell> = cells.iter().filter(|cell| cell.finished).copied().collect();
    let furthest = || cells.iter().max_by_key(|cell| cell.curve.len()).copied().into_iter().collect();
    if finished.is_empty() { furthest() } else { finished }
}

/// The mean over seeds, and their range, at the rounds that all of them have reached.
fn series(method: Method, cells: &[&Cell]) -> Series {
    let (mut points, mut band) = (Vec::new(), Vec::new());
    for (round, _) in
        cells.iter().flat_map(|cell| &cell.curve).take(cells.first().map_or(0, |c| c.curve.len()))
    {
        let at = |cell: &&Cell| cell.curve.iter().find(|(r, _)| r == round).map(|(_, a)| 100.0 * a);
        let Some(values) = cells.iter().map(at).collect::<Option<Vec<f64>>>() else { break };
        let Some(spread) = Spread::of(&values) else { break };
        points.push((f64::from(*round), spread.mean));
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        band.push((low, values.iter().copied().fold(f64::NEG_INFINITY, f64::max)));
    }
    let series = Series::new(paper_name(method), points).style(method_style(method));
    if cells.len() > 1 { series.band(band) } else { series }
}

/// Which node holds how much of which class.
fn partition(results: &Results, setting: Setting) -> Figure {
    let deal = results.deals.iter().find(|deal| deal.setting == setting);
    let (counts, names) = deal.map(|deal| (deal.counts.clone(), deal.names.clone())).unwrap_or_default();
    let heat = Heat::new("Records of each class at each node", counts);
    Figure::of(if names.is_empty() { heat } else { heat.column_labels(names) })
}

/// What is done, in a line.
pub fn state(table: &Table<'_>, plan: &Plan, results: &Results) -> String {
    let cells: Vec<State> = plan.cells().iter().map(|key| results.state(key)).collect();
    let done = cells.iter().filter(|state| **state == State::Done).count();
    let begun = cells.iter().filter(|state| matches!(state, State::Interrupted { .. })).count();
    let begun = if begun > 0 { format!(", {begun} begun") } else { String::new() };
    let note = table.group.note().map_or(String::new(), |note| format!(" ({note})"));
    format!("{}: {done} of {} cells finished{begun}{note}.", table.group.title(), cells.len())
}

fn report(plan: &Plan, results: &Results, tables: &[Table<'_>]) -> String {
    let lead = tables.first().map_or(String::new(), |table| {
        let mut lines = vec![state(table, plan, results)];
        lines.extend(table.verdict());
        lines.join("\n")
    });
    let title = match plan.group.setting {
        Setting::Quick => "Table 1 in small: digits instead of CIFAR-10",
        Setting::Paper => "Table 1: private CIFAR-10",
    };
    let mut page = Page::new(title, &lead);
    for table in tables {
        add_table(&mut page, table);
    }
    let mut settings: Vec<Setting> = tables.iter().map(|table| table.group.setting).collect();
    settings.sort_unstable();
    settings.dedup();
    for setting in settings {
        if let Some(deal) = results.deals.iter().find(|deal| deal.setting == setting) {
            page.heading("Who holds what");
            page.paragraph(&deal.data);
            page.figure(partition(results, setting));
        }
    }
    page.note(
        "Seeded simulations: not private against anyone who knows the seed. ε is what the same runs with secret draws \
         would promise for every record (add/remove, complete transcript).",
        true,
    );
    page.heading("Go on");
    page.paragraph(
        "The same command goes on after the last checkpoint; finished cells stay. One cell is one folder:",
    );
    page.code(&plan.command());
    page.code("prdo run cells/NAME/run.toml --out again");
    page.finish()
}

fn add_table(page: &mut Page, own: &Table<'_>) {
    page.heading(&own.group.title());
    if let Some(note) = own.group.note() {
        page.note(&note, true);
    }
    let (head, rows) = own.rows();
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    page.add(&table(&head, &rows, &[]));
    page.paragraph(&own.group.caption());
    if has_curves(own) {
        page.figure(accuracy(own));
    }
}
