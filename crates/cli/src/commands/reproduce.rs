//! `prdo reproduce`: from what was typed to an experiment, and what is printed of it.

use crate::cli::frontier::{Data, FrontierArgs, Map};
use crate::cli::{Experiment, ExperimentArgs, Table1Args, TableNoise, TableStart};
use crate::commands::compare::print_table;
use crate::commands::run::built_with_bar;
use crate::commands::watch::{Bar, Stop, checkpoint_interval};
use crate::commands::{Failure, set_threads, use_threads};
use crate::progress::{Progress, say, tell};
use prdo::config::Built;
use prdo::network::Law;
use prdo::runfile::{ConfigError, Document};
use prdo::store::{Folder, names};
use prdo::trainer::{ObserverError, TrainObserver};
use prdo_paper::grid::{self, Grid, Results as _};
use prdo_paper::{Error, Front, bounds, figure_1, frontier, sensitivity_example, table_1};
use serde::Serialize;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        if error.is_input() { Failure::Input(error.to_string()) } else { Failure::Work(error.to_string()) }
    }
}

/// The terminal, for experiments made of runs.
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
        Experiment::Table1(args) => run_table_1(args),
        Experiment::Frontier(args) => run_frontier(args),
    }
}

fn run_figure_1(args: &ExperimentArgs) -> Result<(), Failure> {
    let folder = new_folder(args, "figure-1")?;
    let bar = RunsBar::new(figure_1::runs(args.quick));
    let measured = figure_1::measure(args.quick, &|what| bar.tick(what))?;
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
        false => Err(Failure::Work("the proposition does not hold on this run".into())),
    }
}

fn run_bounds(args: &ExperimentArgs) -> Result<(), Failure> {
    let folder = new_folder(args, "bounds")?;
    let experiment = bounds::Bounds::new(args.quick)?;
    let bar = RunsBar::new(experiment.runs());
    let results = experiment.measure(&|| bar.tick(""))?;
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
        n => Err(Failure::Work(format!("{n} inequalities do not hold on these runs"))),
    }
}

fn run_table_1(args: &Table1Args) -> Result<(), Failure> {
    set_threads(args.threads)?;
    let plan = table_1::Table1::new(table_1_request(args)?)?;
    let results = fill(&plan, args.table_only)?;
    let left = plan.unfinished(&results);
    if args.json {
        #[derive(Serialize)]
        struct Shown<'a> {
            cells: &'a [table_1::Cell],
            unfinished: usize,
        }
        return say_json(&Shown { cells: &results.cells, unfinished: left });
    }
    for (k, table) in table_1::AccuracyTable::all(&results, &plan).iter().enumerate() {
        say(&if k == 0 { table_1::state(table, &plan, &results) } else { table.group.title() });
        say("");
        let (head, rows) = table.rows();
        print_strings(&head, &rows);
        say("");
        table.verdict().iter().for_each(|line| say(line));
        say(&table.group.caption());
        say("");
    }
    say_how_to_go_on(&plan, left);
    Ok(())
}

fn run_frontier(args: &FrontierArgs) -> Result<(), Failure> {
    set_threads(args.threads)?;
    let plan = frontier::Frontier::new(frontier_request(args))?;
    plan.skipped.iter().for_each(|line| tell(line));
    let results = fill(&plan, args.table_only)?;
    let (points, left) = (frontier::Point::all(&results), plan.unfinished(&results));
    if args.json {
        #[derive(Serialize)]
        struct Shown {
            points: Vec<frontier::PointRow>,
            unfinished: usize,
        }
        return say_json(&Shown {
            points: points.iter().map(frontier::Point::row).collect(),
            unfinished: left,
        });
    }
    for table in frontier::tables(&points) {
        say(&table.title);
        say("");
        print_strings(&table.head, &table.rows);
        say("");
        table.verdict.iter().for_each(|line| say(line));
        say("");
    }
    say(frontier::CAPTION);
    say_how_to_go_on(&plan, left);
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
            tell(&format!("stopped; go on with: {}", grid.command()));
            Err(Failure::Work("interrupted".into()))
        }
    }
}

fn say_how_to_go_on(grid: &impl Grid, left: usize) {
    say(&format!("report: {}", grid.out().join(names::REPORT).display()));
    if left > 0 {
        say(&format!("to go on: {}", grid.command()));
    }
}

fn table_1_request(args: &Table1Args) -> Result<table_1::Request, Failure> {
    Ok(table_1::Request {
        data: args.data.clone(),
        methods: args.methods.clone(),
        epsilons: args.epsilon.clone(),
        rounds: args.rounds,
        seeds: args.seeds.clone(),
        noise: match args.noise {
            TableNoise::Accountant => table_1::Noise::Accountant,
            TableNoise::Paper => table_1::Noise::Paper,
        },
        start: match args.start {
            TableStart::FanIn => Law::FanIn,
            TableStart::Glorot => Law::Glorot,
        },
        out: args.out.clone(),
        quick: args.quick,
        checkpoint_every: checkpoint_interval(args.checkpoint_every)?,
    })
}

fn frontier_request(args: &FrontierArgs) -> frontier::Request {
    let data = |data: &Data| match data {
        Data::Cifar10 => frontier::Data::Cifar10,
        Data::FashionMnist => frontier::Data::FashionMnist,
        Data::Mnist => frontier::Data::Mnist,
        Data::Digits => frontier::Data::Digits,
    };
    let map = |map: &Map| match map {
        Map::Scattering => frontier::Map::Scattering,
        Map::Patches => frontier::Map::Patches,
    };
    frontier::Request {
        data: args.data.iter().map(data).collect(),
        folder: args.folder.clone(),
        maps: args.features.iter().map(map).collect(),
        methods: args.methods.clone(),
        epsilons: args.epsilon.clone(),
        seeds: args.seeds,
        out: args.out.clone(),
        quick: args.quick,
        table_only: args.table_only,
    }
}

fn new_folder(args: &ExperimentArgs, name: &str) -> Result<Folder, Failure> {
    use_threads(&args.out)?;
    Ok(Folder::create(args.out.out.as_deref(), name, args.out.overwrite)?)
}

/// A bar of runs that many threads move.
struct RunsBar(Mutex<(Progress, u64)>);

impl RunsBar {
    fn new(runs: u64) -> Self {
        Self(Mutex::new((Progress::new(runs, "runs"), 0)))
    }

    fn tick(&self, what: &str) {
        if let Ok(mut guard) = self.0.lock() {
            guard.1 += 1;
            let done = guard.1;
            guard.0.at(done, || what.to_string());
        }
    }
}

fn print_strings(head: &[String], rows: &[Vec<String>]) {
    print_table(&head.iter().map(String::as_str).collect::<Vec<_>>(), rows);
}

fn say_json(value: &impl Serialize) -> Result<(), Failure> {
    say(&serde_json::to_string(value).map_err(Error::from)?);
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

    fn command_to_go_on(words: &str) -> String {
        match typed(words) {
            Experiment::Table1(args) => {
                table_1::Table1::new(table_1_request(&args).unwrap()).unwrap().command()
            }
            Experiment::Frontier(args) => frontier::Frontier::new(frontier_request(&args)).unwrap().command(),
            other => unreachable!("{other:?}"),
        }
    }

    #[test]
    fn the_command_to_go_on_repeats_what_was_asked() {
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
            assert_eq!(command_to_go_on(&words), expected);
        }
    }

    #[test]
    fn what_is_typed_is_what_results_call_it() {
        for data in frontier::Data::ALL {
            for map in frontier::Map::ALL {
                let words = format!("prdo reproduce frontier --data {data} --features {map}");
                let Experiment::Frontier(args) = typed(&words) else { unreachable!("{words}") };
                let request = frontier_request(&args);
                assert_eq!((request.data, request.maps), (vec![data], vec![map]));
            }
        }
    }
}
