//! One file per command.

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
mod table;
mod target;
mod tune;
mod watch;
mod worth;

use crate::cli::{Cli, Command};
use prdo::compare::{CompareError, WriteError};
use prdo::disk::DiskError;
use prdo::error::RunError;
use prdo::export::FigureError;
use prdo::parts::PartsError;
use prdo::predict::PredictError;
use prdo::runfile::{ConfigError, Document};
use prdo::store::FolderError;
use prdo::trainer::TrainError;
use prdo_member::NodeError;
use std::fmt;
use std::path::Path;

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

impl Failure {
    fn new(is_input: bool, message: String) -> Self {
        if is_input { Failure::Input(message) } else { Failure::Work(message) }
    }
}

/// Errors that know themselves whether the input was wrong, those that are always its fault, and those that never are.
macro_rules! failures {
    (by kind: $($kind:ty),*; of input: $($input:ty),*; of work: $($work:ty),*) => {
        $(impl From<$kind> for Failure {
            fn from(error: $kind) -> Self {
                Failure::new(error.is_input(), error.to_string())
            }
        })*
        $(impl From<$input> for Failure {
            fn from(error: $input) -> Self {
                Failure::Input(error.to_string())
            }
        })*
        $(impl From<$work> for Failure {
            fn from(error: $work) -> Self {
                Failure::Work(error.to_string())
            }
        })*
    };
}

failures! {
    by kind: RunError, FolderError, TrainError, PartsError, CompareError, WriteError, NodeError, prdo_bench::Error, prdo_paper::Error;
    of input: ConfigError, PredictError;
    of work: DiskError, FigureError, serde_json::Error
}

pub fn work(what: &'static str) -> impl Fn(std::io::Error) -> Failure {
    move |error| Failure::Work(format!("{what}: {error}"))
}

/// The run file, with the changes of `--set`.
pub fn read_run_file(path: &Path, set: &[String]) -> Result<Document, Failure> {
    let mut document = Document::read(path)?;
    for assignment in set {
        document.set(assignment)?;
    }
    Ok(document)
}

/// A word as a shell takes it.
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_=./,:+".contains(c);
    match word.chars().all(plain) && !word.is_empty() {
        true => word.to_string(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

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
pub fn use_threads(threads: Option<usize>) -> Result<(), Failure> {
    let Some(threads) = threads else { return Ok(()) };
    if !(1..=1024).contains(&threads) {
        return Err(Failure::Input(format!("--threads {threads} is not allowed: it must be from 1 to 1024")));
    }
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build_global()
        .map_err(|e| Failure::Work(format!("cannot start {threads} threads: {e}")))
}
