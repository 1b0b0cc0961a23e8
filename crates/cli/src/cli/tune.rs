//! `prdo tune`, as typed.

use super::OutArgs;
use super::values;
use clap::Args;
use prdo::algorithm::Method;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct TuneArgs {
    /// The run file: its budget stays; method, rounds, batch, step, momentum and clips are searched around its values.
    #[arg(value_name = "RUN.toml")]
    pub file: PathBuf,
    #[command(flatten)]
    pub on: RecordsArgs,
    #[command(flatten)]
    pub size: DrawnArgs,
    /// Which methods, separated by commas; default: the paper's five.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = values::method)]
    pub methods: Vec<Method>,
    /// How many settings to try for each method.
    #[arg(long, value_name = "K", default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub trials: u32,
    /// How many seeds to repeat each method's best settings with.
    #[arg(long, value_name = "K", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub seeds: u32,
    /// Keys to keep as in the run file, separated by commas.
    #[arg(long, value_name = "KEY,…", value_delimiter = ',')]
    pub keep: Vec<String>,
    /// Overrides a key of the run file; may be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    #[command(flatten)]
    pub out: OutArgs,
}

#[derive(Debug, Args)]
#[group(multiple = false)]
pub struct RecordsArgs {
    /// The run file's records are public, such as a benchmark's.
    #[arg(long)]
    pub public_data: bool,
    /// Public records of the same form, in place of the run file's.
    #[arg(long, value_name = "FILE")]
    pub stand_in: Option<PathBuf>,
    /// Records drawn at random, with the features, classes and numbers of the run file's. With map = "table" under
    /// [features] they are drawn from its ranges and categories, and the data file is not opened.
    #[arg(long)]
    pub generated: bool,
    /// Use only the records that data.validation sets aside, which need no protection.
    #[arg(long)]
    pub unprotected_validation: bool,
    /// Use the protected records themselves: every trial is a release, with noise, entered in this statement before it
    /// begins.
    #[arg(long, value_name = "STATEMENT")]
    pub charge: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct DrawnArgs {
    /// With --generated and [features]: the number of organisations; default: graph.nodes.
    #[arg(long, value_name = "N", requires = "generated", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub nodes: Option<u32>,
    /// With --generated and [features]: the number of records of the smallest organisation.
    #[arg(long, value_name = "N", requires = "generated", value_parser = clap::value_parser!(u32).range(2..=1 << 28))]
    pub records: Option<u32>,
}

pub const EXAMPLES: &str = "Example: prdo tune mine.toml --generated --out tuned && prdo run tuned/tuned.toml\n\
    With text columns (map = \"table\"): prdo tune mine.toml --generated --nodes 3 --records 800 --out tuned\n\
    Every setting tried on protected records is a release of its own. So tuning uses generated or bundled data,\n\
    records that you declare public or a stand-in, or is charged to a statement.";
