//! The paper's table of private CIFAR-10 (`tab:cifar-private`), filled cell by cell, in as many pieces as one likes.
//!
//! `plan` is what was asked for, `setting` what a cell is, `cells` fills them, `results` is the file that remembers
//! them, `table` and `page` show what there is.

mod cells;
mod page;
mod plan;
mod results;
pub(super) mod setting;
mod table;

use crate::cli::Table1Args;
use crate::commands::{Failure, compare, set_threads};
use crate::progress::{say, tell};
use cells::{Fate, Worker};
use plan::Plan;
use prdo::output::Folder;
use results::{FILE, Results};
use serde_json::json;
use setting::Key;
use table::Table;

pub fn run(args: &Table1Args) -> Result<(), Failure> {
    set_threads(args.threads)?;
    let plan = Plan::new(args)?;
    let results = Results::read(&plan.out)?;
    if args.table_only {
        if !plan.out.join(FILE).is_file() {
            let shown = plan.out.join(FILE);
            return Err(Failure::Input(format!(
                "--table-only: there is no {}\n  = help: without --table-only cells are run; --out names the folder of a table",
                shown.display()
            )));
        }
        page::write(&plan, &results)?;
        show(&plan, &results, args.json);
        return Ok(());
    }
    let stopped = fill(&plan, &results)?;
    let results = Results::read(&plan.out)?;
    page::write(&plan, &results)?;
    if stopped {
        tell(&format!("stopped; go on with: {}", plan.command()));
        return Err(Failure::Work("interrupted".into()));
    }
    show(&plan, &results, args.json);
    Ok(())
}

/// Fills the cells that are not finished, one after the other; whether it was stopped.
fn fill(plan: &Plan, results: &Results) -> Result<bool, Failure> {
    let all = plan.cells();
    let left: Vec<Key> = all.iter().filter(|key| !results.is_finished(key)).copied().collect();
    if left.is_empty() {
        tell("every cell is finished already");
        return Ok(false);
    }
    let mut worker = Worker::new(plan, &left)?;
    // Someone else's folder is refused before a cell is put into it.
    drop(Folder::wait(&plan.out, FILE)?);
    for (k, key) in all.iter().enumerate().filter(|(_, key)| left.contains(key)) {
        match worker.fill(key, (k + 1, all.len()))? {
            Fate::Finished => page::write(plan, &Results::read(&plan.out)?)?,
            Fate::Elsewhere => tell(&format!("{}: another prdo process is at it", key.title())),
            Fate::Stopped => return Ok(true),
        }
    }
    Ok(false)
}

/// The table, or the JSON object.
fn show(plan: &Plan, results: &Results, json: bool) {
    let left = plan.cells().iter().filter(|key| !results.is_finished(key)).count();
    if json {
        let cells: Vec<_> = results.cells.iter().map(results::Cell::to_json).collect();
        say(&json!({"cells": cells, "unfinished": left}).to_string());
        return;
    }
    for (k, table) in Table::all(results, plan).iter().enumerate() {
        let title = if k == 0 { page::state(table, plan, results) } else { table.group.title() };
        say(&title);
        say("");
        let (head, rows) = table.rows();
        compare::print_table(&head.iter().map(String::as_str).collect::<Vec<_>>(), &rows);
        say("");
        table.verdict().iter().for_each(|line| say(line));
        say(&table.group.caption());
        say("");
    }
    say(&format!("report: {}", plan.out.join("report.html").display()));
    if left > 0 {
        say(&format!("to go on: {}", plan.command()));
    }
}
