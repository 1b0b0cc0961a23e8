//! Figures, report and files of the table, from the results alone.

use super::experiment::Table1;
use super::results::{Cell, Partition, Results};
use super::setting::Setting;
use super::table::{AccuracyTable, csv, latex_tables, markdown};
use crate::error::Error;
use crate::grid::show::{SIMULATED, add_resume, paper_name};
use crate::grid::{Grid as _, Results as _, State};
use prdo::algorithm::Method;
use prdo::export::write_figures;
use prdo::plot::{Chart, Figure, Heat, Series};
use prdo::report::{Page, method_style, table};
use prdo::store::{Folder, names};

/// Writes everything that can be drawn from what is done so far.
pub fn write(asked: &Table1, results: &Results) -> Result<(), Error> {
    let folder = Folder::wait(&asked.out, names::RESULTS)?;
    let tables = AccuracyTable::all(results, asked);
    let left = (asked.unfinished(results) > 0).then(|| asked.command());
    folder.write("table.md", markdown(&tables, left.as_deref()).as_bytes())?;
    folder.write(names::TABLE, csv(results).as_bytes())?;
    folder.write(names::TABLE_LATEX, latex_tables(&tables).as_bytes())?;
    for table in tables.iter().filter(|table| has_curves(table)) {
        write_figures(folder.path(), &format!("accuracy{}", table.group.slug()), &accuracy(table))?;
    }
    for partition in results.partitions.iter().filter(|partition| !partition.counts.is_empty()) {
        let name = if partition.setting == Setting::Paper { "partition" } else { "partition-quick" };
        write_figures(folder.path(), name, &class_counts(partition))?;
    }
    folder.write(names::REPORT, report(asked, results, &tables).as_bytes())?;
    Ok(())
}

/// The budgets at which something was measured.
fn measured(table: &AccuracyTable<'_>) -> Vec<f64> {
    let there = |epsilon: &f64| {
        table.methods().iter().any(|m| table.at(*m, *epsilon).iter().any(|cell| !cell.curve.is_empty()))
    };
    table.epsilons().iter().copied().filter(there).collect()
}

fn has_curves(table: &AccuracyTable<'_>) -> bool {
    !measured(table).is_empty()
}

/// Accuracy against rounds, a panel for each budget at which something was measured.
fn accuracy(table: &AccuracyTable<'_>) -> Figure {
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
    let at = |round: u32| {
        let of = |cell: &&Cell| cell.curve.iter().find(|(r, _)| *r == round).map(|(_, a)| 100.0 * a);
        Some((f64::from(round), cells.iter().map(of).collect::<Option<Vec<f64>>>()?))
    };
    let rounds = cells.first().into_iter().flat_map(|cell| &cell.curve).map(|(round, _)| *round);
    Series::mean_of(paper_name(method), rounds.map_while(at)).style(method_style(method))
}

/// Which node holds how much of which class.
fn class_counts(partition: &Partition) -> Figure {
    let heat = Heat::new("Records of each class at each node", partition.counts.clone());
    Figure::of(if partition.names.is_empty() { heat } else { heat.column_labels(partition.names.clone()) })
}

pub fn state(table: &AccuracyTable<'_>, asked: &Table1, results: &Results) -> String {
    let cells: Vec<State> = asked.cells().iter().map(|key| results.state(key)).collect();
    let done = cells.iter().filter(|state| **state == State::Done).count();
    let begun = cells.iter().filter(|state| matches!(state, State::Interrupted { .. })).count();
    let begun = if begun > 0 { format!(", {begun} begun") } else { String::new() };
    let note = table.group.note().map_or(String::new(), |note| format!(" ({note})"));
    format!("{}: {done} of {} cells finished{begun}{note}.", table.group.title(), cells.len())
}

fn report(asked: &Table1, results: &Results, tables: &[AccuracyTable<'_>]) -> String {
    let lead = tables.first().map_or(String::new(), |table| {
        let mut lines = vec![state(table, asked, results)];
        lines.extend(table.verdict());
        lines.join("\n")
    });
    let title = match asked.group.setting {
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
        if let Some(partition) = results.partitions.iter().find(|partition| partition.setting == setting) {
            page.heading("Who holds what");
            page.paragraph(&partition.data);
            page.figure(class_counts(partition));
        }
    }
    page.note(SIMULATED, true);
    add_resume(&mut page, asked);
    page.finish()
}

fn add_table(page: &mut Page, own: &AccuracyTable<'_>) {
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
