//! `prdo reproduce`: from what was typed to an experiment, and what is printed of it.

use crate::cli::figure_1::{Figure1Args, OneOrAll};
use crate::cli::frontier::FrontierArgs;
use crate::cli::table_1::Table1Args;
use crate::cli::{Experiment, ExperimentArgs};
use crate::commands::run::built_with_bar;
use crate::commands::table::print_table;
use crate::commands::watch::{Bar, Stop, checkpoint_interval};
use crate::commands::{Failure, use_threads};
use crate::progress::{Counter, say, tell};
use prdo::build::Built;
use prdo::runfile::{ConfigError, Document};
use prdo::store::{Folder, names};
use prdo::trainer::{ObserverError, TrainObserver};
use prdo_paper::grid::{self, Grid, Results as _};
use prdo_paper::{Error, Front, bounds, clipping, figure_1, frontier, sensitivity_example, table_1};
use serde::Serialize;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

struct Terminal;

impl Front for Terminal {
    fn tell(&self, line: &str) {
        tell(line);
    }

    fn build(&self, document: &Document) -> Result<Built, ConfigError> {
        built_with_bar(document)
    }

    fn listen(&self) -> Result<Arc<AtomicBool>, ObserverError> {
        Stop::listen().map(|stop| Arc::clone(stop.flag())).map_err(|failure| failure.to_string().into())
    }

    fn observer(&self, label: String, rounds: u32, done: u32) -> Box<dyn TrainObserver + '_> {
        Box::new(Bar::new(label, rounds, done))
    }
}

pub fn run(experiment: &Experiment) -> Result<(), Failure> {
    match experiment {
        Experiment::Figure1(args) => run_figure_1(args),
        Experiment::SensitivityExample(args) => run_sensitivity_example(args),
        Experiment::Bounds(args) => run_bounds(args),
        Experiment::Clipping(args) => run_clipping(args),
        Experiment::Table1(args) => run_table_1(args),
        Experiment::Frontier(args) => run_frontier(args),
    }
}

fn run_figure_1(Figure1Args { experiment: args, methods }: &Figure1Args) -> Result<(), Failure> {
    let contestants = OneOrAll::contestants(methods);
    let folder = new_folder(args, "figure-1")?;
    let bar = Counter::new(figure_1::runs(args.quick, &contestants), "runs");
    let measured = figure_1::measure(args.quick, &contestants, &|what| bar.step(what))?;
    drop(bar);
    measured.write(&folder)?;
    if args.out.json {
        return say_json(&measured.results);
    }
    say(&measured.about());
    say("");
    let (head, rows) = measured.table();
    print_table(&head, &rows);
    say("");
    say(&measured.about_costs());
    let (head, rows) = measured.costs();
    print_table(&head, &rows);
    say("");
    say(&measured.verdict());
    say(&format!(
        "{:.1} s; figure: {}, report: {}",
        measured.results.seconds,
        folder.path().join("figure-1.png").display(),
        folder.path().join(names::REPORT).display()
    ));
    Ok(())
}

fn run_sensitivity_example(args: &ExperimentArgs) -> Result<(), Failure> {
    let folder = new_folder(args, "sensitivity-example")?;
    let findings = sensitivity_example::check(args.quick)?;
    sensitivity_example::write(&folder, &findings)?;
    let results = findings.results;
    if args.out.json {
        say_json(&results)?;
    } else {
        let (head, rows) = results.table();
        print_table(&head, &rows);
        say("");
        say(results.verdict());
        say(&format!("report: {}", folder.path().join(names::REPORT).display()));
    }
    match results.holds {
        true => Ok(()),
        false => Err(Failure::Work("the proposition does not hold in this run".into())),
    }
}

fn run_bounds(args: &ExperimentArgs) -> Result<(), Failure> {
    let folder = new_folder(args, "bounds")?;
    let experiment = bounds::Bounds::new(args.quick)?;
    let bar = Counter::new(experiment.runs(), "runs");
    let results = experiment.measure(&|| bar.step(""))?;
    drop(bar);
    bounds::write(&folder, &results)?;
    if args.out.json {
        say_json(&results.file())?;
    } else {
        say(&results.about());
        say("");
        let (head, rows) = results.table();
        print_table(&head, &rows);
        say("");
        let (head, rows) = results.slope_table();
        print_table(&head, &rows);
        say("");
        say(&results.verdict());
        let report = folder.path().join(names::REPORT);
        say(&format!("{:.1} s; report: {}", results.seconds, report.display()));
    }
    match results.violated() {
        0 => Ok(()),
        n => Err(Failure::Work(format!("{n} inequalities do not hold in these runs"))),
    }
}

fn run_clipping(args: &ExperimentArgs) -> Result<(), Failure> {
    let folder = new_folder(args, "clipping")?;
    let bar = Counter::new(clipping::runs(args.quick), "runs");
    let results = clipping::measure(args.quick, &|what| bar.step(what))?;
    drop(bar);
    clipping::write(&folder, &results)?;
    if args.out.json {
        return say_json(&results);
    }
    say(&clipping::ways());
    for (about, (head, rows)) in results.sections() {
        say("");
        say(&about);
        say("");
        print_table(&head, &rows);
    }
    say("");
    say(&results.verdict());
    say(&format!(
        "{:.1} s; figure: {}, report: {}",
        results.seconds,
        folder.path().join(format!("{}.png", clipping::FIGURE)).display(),
        folder.path().join(names::REPORT).display()
    ));
    Ok(())
}

fn run_table_1(args: &Table1Args) -> Result<(), Failure> {
    use_threads(args.threads)?;
    let plan = table_1::Table1::new(table_1_request(args)?)?;
    let results = fill(&plan, args.table_only)?;
    let left = plan.unfinished(&results);
    if args.json {
        return say_json(&json!({ "cells": results.cells, "unfinished": left }));
    }
    for (k, table) in table_1::AccuracyTable::all(&results, &plan).iter().enumerate() {
        say(&if k == 0 { table_1::state(table, &plan, &results) } else { table.group.title() });
        say("");
        let (head, rows) = table.rows();
        print_table(&head, &rows);
        say("");
        table.verdict().iter().for_each(|line| say(line));
        say(&table.group.caption());
        say("");
    }
    say_how_to_resume(&plan, left);
    Ok(())
}

fn run_frontier(args: &FrontierArgs) -> Result<(), Failure> {
    use_threads(args.threads)?;
    let plan = frontier::Frontier::new(frontier_request(args))?;
    plan.skipped.iter().for_each(|line| tell(line));
    let results = fill(&plan, args.table_only)?;
    let (points, left) = (frontier::Point::all(&results), plan.unfinished(&results));
    if args.json {
        let points: Vec<_> = points.iter().map(frontier::Point::row).collect();
        return say_json(&json!({ "points": points, "unfinished": left }));
    }
    for table in frontier::tables(&points) {
        say(&table.title);
        say("");
        print_table(&table.head, &table.rows);
        say("");
        table.verdict.iter().for_each(|line| say(line));
        say("");
    }
    say(frontier::CAPTION);
    say_how_to_resume(&plan, left);
    Ok(())
}

/// Fills a grid, unless only its tables are asked for, and draws what there is.
fn fill<G: Grid>(grid: &G, table_only: bool) -> Result<G::Results, Failure> {
    if table_only && G::Results::read(grid.out())?.cells().is_empty() {
        let (file, cell) = (grid.out().join(names::RESULTS), G::Results::CELL);
        return Err(Error::NoResults { file, cell }.into());
    }
    let end = if table_only { grid::End::Done } else { grid::fill(grid, &Terminal)? };
    let results = G::Results::read(grid.out())?;
    grid.draw(&results)?;
    match end {
        grid::End::Done => Ok(results),
        grid::End::Interrupted => {
            tell(&format!("stopped; resume with: {}", grid.command()));
            Err(Failure::Work("interrupted".into()))
        }
    }
}

fn say_how_to_resume(grid: &impl Grid, left: usize) {
    say(&format!("report: {}", grid.out().join(names::REPORT).display()));
    if left > 0 {
        say(&format!("to resume: {}", grid.command()));
    }
}

fn table_1_request(args: &Table1Args) -> Result<table_1::Request, Failure> {
    Ok(table_1::Request {
        data: args.data.clone(),
        methods: args.methods.clone(),
        epsilons: args.epsilon.clone(),
        rounds: args.rounds,
        seeds: args.seeds.clone(),
        noise: args.noise,
        start: args.start,
        out: args.out.clone(),
        quick: args.quick,
        checkpoint_every: checkpoint_interval(args.checkpoint_every)?,
    })
}

fn frontier_request(args: &FrontierArgs) -> frontier::Request {
    frontier::Request {
        data: args.data.clone(),
        folder: args.folder.clone(),
        maps: args.features.clone(),
        methods: args.methods.clone(),
        noises: args.noise.clone(),
        epsilons: args.epsilon.clone(),
        seeds: args.seeds,
        out: args.out.clone(),
        quick: args.quick,
        table_only: args.table_only,
    }
}

fn new_folder(args: &ExperimentArgs, name: &str) -> Result<Folder, Failure> {
    use_threads(args.out.threads)?;
    Ok(Folder::create(args.out.out.as_deref(), name, args.out.overwrite)?)
}

fn say_json(value: &impl Serialize) -> Result<(), Failure> {
    say(&serde_json::to_string(value)?);
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::cli::{Cli, Command};
    use clap::Parser;

    fn typed(words: &str) -> Experiment {
        match Cli::try_parse_from(words.split_whitespace()).unwrap().command {
            Command::Reproduce(experiment) => experiment,
            other => unreachable!("{other:?}"),
        }
    }

    fn command_to_resume(words: &str) -> String {
        match typed(words) {
            Experiment::Table1(args) => {
                table_1::Table1::new(table_1_request(&args).unwrap()).unwrap().command()
            }
            Experiment::Frontier(args) => frontier::Frontier::new(frontier_request(&args)).unwrap().command(),
            other => unreachable!("{other:?}"),
        }
    }

    #[test]
    fn the_command_to_resume_repeats_what_was_asked() {
        for options in [
            "table-1",
            "table-1 --quick",
            "table-1 --data images --methods ed,mt --epsilon 4,0.5 --rounds 500 --seeds 1,2 --out x/y",
            "table-1 --noise paper --start fan-in --out 'a'",
            "frontier --quick",
            "frontier --quick --methods ed,prdo --epsilon 2 --seeds 1 --out x/y",
            "frontier --folder images --data mnist --features scattering --table-only",
        ] {
            let words = format!("prdo reproduce {options}");
            let expected = words.replace("'a'", "''\\''a'\\'''").replace(" --table-only", "");
            assert_eq!(command_to_resume(&words), expected);
        }
    }

    #[test]
    fn what_is_typed_is_what_results_call_it() {
        for data in frontier::Data::ALL {
            for map in frontier::Map::USUAL {
                let words = format!("prdo reproduce frontier --data {data} --features {map}");
                let Experiment::Frontier(args) = typed(&words) else { unreachable!("{words}") };
                let request = frontier_request(&args);
                assert_eq!((request.data, request.maps), (vec![data], vec![map]));
            }
        }
    }
}
