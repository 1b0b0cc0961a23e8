//! One file a command.

mod audit;
mod bench;
mod compare;
mod dashboard;
mod data;
mod demo;
mod doctor;
mod example;
mod export;
mod graph;
mod new;
mod node;
mod plan;
mod predict;
mod privacy;
mod report;
mod reproduce;
mod run;
mod shell;
mod target;
mod tune;
mod watch;
mod worth;

use crate::cli::{Cli, Command, OutArgs};
use prdo::disk::DiskError;
use prdo::error::RunError;
use prdo::export::FigureError;
use prdo::runfile::ConfigError;
use prdo::store::FolderError;
use prdo::trainer::TrainError;
use std::fmt;

/// Why a command did not do what was asked.
#[derive(Debug)]
pub enum Failure {
    /// The input was wrong: exit 2, nothing was trained or released.
    Input(String),
    /// The work failed: exit 1.
    Work(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Input(message) | Failure::Work(message) => f.write_str(message),
        }
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Failure::Input(error.to_string())
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        if error.is_input() { Failure::Input(error.to_string()) } else { Failure::Work(error.to_string()) }
    }
}

impl From<FolderError> for Failure {
    fn from(error: FolderError) -> Self {
        if error.is_input() { Failure::Input(error.to_string()) } else { Failure::Work(error.to_string()) }
    }
}

impl From<DiskError> for Failure {
    fn from(error: DiskError) -> Self {
        Failure::Work(error.to_string())
    }
}

impl From<TrainError> for Failure {
    fn from(error: TrainError) -> Self {
        if error.is_input() { Failure::Input(error.to_string()) } else { Failure::Work(error.to_string()) }
    }
}

impl From<FigureError> for Failure {
    fn from(error: FigureError) -> Self {
        Failure::Work(error.to_string())
    }
}

/// A failure of the work, with what was tried.
pub fn work(what: &'static str) -> impl Fn(std::io::Error) -> Failure {
    move |error| Failure::Work(format!("{what}: {error}"))
}

/// Does what was asked.
pub fn dispatch(cli: Cli) -> Result<(), Failure> {
    match cli.command {
        Command::Demo(args) => demo::run(&args),
        Command::New(args) => new::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Reproduce(args) => reproduce::run(&args),
        Command::Example(args) => example::run(&args),
        Command::Graph(args) => graph::run(&args),
        Command::Privacy(question) => privacy::run(&question),
        Command::Plan(args) => plan::run(&args),
        Command::Tune(args) => tune::run(&args),
        Command::Worth(args) => worth::run(&args),
        Command::Audit(args) => audit::run(&args),
        Command::Data(what) => data::run(&what),
        Command::Node(what) => node::run(&what),
        Command::Bench(what) => bench::run(&what),
        Command::Watch(args) => dashboard::run(&args),
        Command::Predict(args) => predict::run(&args),
        Command::Export(what) => export::run(&what),
        Command::Doctor(args) => doctor::run(&args),
        Command::Completions { shell } => shell::completions(shell),
        Command::Man { out } => shell::man(out.as_deref()),
        Command::Report { folder, figures } => report::run(&folder, figures),
    }
}

/// Sets the number of threads, once, before any work.
pub fn use_threads(args: &OutArgs) -> Result<(), Failure> {
    set_threads(args.threads)
}

/// The same, for a command that has no [`OutArgs`].
pub fn set_threads(threads: Option<usize>) -> Result<(), Failure> {
    let Some(threads) = threads else { return Ok(()) };
    if !(1..=1024).contains(&threads) {
        return Err(Failure::Input(format!("--threads {threads} is not allowed: it must be from 1 to 1024")));
    }
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build_global()
        .map_err(|e| Failure::Work(format!("cannot start {threads} threads: {e}")))
}
