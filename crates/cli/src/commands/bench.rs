//! `prdo bench`, from what was typed to what is printed.

use crate::cli::bench::{Bench, GradientsArgs};
use crate::commands::Failure;
use crate::commands::table::print_table;
use crate::progress::{Progress, say};
use prdo_bench::gradients::Setting;
use prdo_bench::{Block, accountant, gradients};
use prdo_kernels::Level;
use serde_json::Value as Json;

pub fn run(what: &Bench) -> Result<(), Failure> {
    match what {
        Bench::Accountant { json } => run_accountant(*json),
        Bench::Gradients(args) => run_gradients(args),
    }
}

fn run_accountant(json: bool) -> Result<(), Failure> {
    let mut bar = None;
    let times = accountant::measure(&mut |round, epsilon| {
        bar.get_or_insert_with(|| Progress::new(accountant::ROUNDS, "rounds"))
            .at(round, || format!("ε ≤ {epsilon:.4}"));
    })?;
    drop(bar);
    show(json, || times.json(), || times.blocks());
    Ok(())
}

fn run_gradients(args: &GradientsArgs) -> Result<(), Failure> {
    let threads = args.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let setting = Setting {
        model: args.model.clone(),
        batch: args.batch,
        level: args.level.unwrap_or_else(Level::best),
        threads,
        seconds: args.seconds,
    };
    let mut bar = Progress::new(100, "% of the time");
    let found = gradients::measure(&setting, &mut |percent| bar.at(percent, || "measured".to_string()))?;
    drop(bar);
    show(args.json, || gradients::json(&setting, &found), || gradients::blocks(&setting, &found));
    Ok(())
}

fn show(json: bool, object: impl FnOnce() -> Json, blocks: impl FnOnce() -> Vec<Block>) {
    if json {
        return say(&object().to_string());
    }
    for block in blocks() {
        match block {
            Block::Line(text) => say(&text),
            Block::Table(head, rows) => {
                print_table(&head, &rows);
            }
        }
    }
}
