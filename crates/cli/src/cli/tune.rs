//! `prdo tune`, as typed.

use super::OutArgs;
use super::values;
use clap::Args;
use prdo::algorithm::Method;
use std::path::PathBuf;

/// `prdo tune`.
#[derive(Debug, Args)]
pub struct TuneArgs {
    /// The run file: its budget stays; method, rounds, batch, step, momentum and clips are looked for around what it
    /// says.
    #[arg(value_name = "RUN.toml")]
    pub file: PathBuf,
    #[command(flatten)]
    pub on: On,
    #[command(flatten)]
    pub size: Size,
    /// Which methods, separated by commas; default: all five.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = values::method)]
    pub methods: Vec<Method>,
    /// Settings tried for each method.
    #[arg(long, value_name = "K", default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub trials: u32,
    /// Seeds with which each method's best settings are tried again.
    #[arg(long, value_name = "K", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub seeds: u32,
    /// Keys that stay as the run file says, separated by commas.
    #[arg(long, value_name = "KEY,…", value_delimiter = ',')]
    pub keep: Vec<String>,
    /// Overrides a key of the run file; may be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    #[command(flatten)]
    pub out: OutArgs,
}

/// What is tuned on. Generated and bundled data need none of these.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub struct On {
    /// The run file's records are public: a benchmark's, say.
    #[arg(long)]
    pub public_data: bool,
    /// Public records of the same form, in place of the run file's.
    #[arg(long, value_name = "FILE")]
    pub stand_in: Option<PathBuf>,
    /// Records drawn at random, with the features, classes and numbers of the run file's. With map = "table" under
    /// [features] they are drawn from its ranges and categories, and the data file is not opened.
    #[arg(long)]
    pub generated: bool,
    /// Only the records that data.validation sets aside, which need no protection.
    #[arg(long)]
    pub unprotected_validation: bool,
    /// The protected records themselves: every trial is a release, with noise, entered in this statement before it
    /// begins.
    #[arg(long, value_name = "STATEMENT")]
    pub charge: Option<PathBuf>,
}

/// How large the records are that are drawn from a `[features]` section.
#[derive(Debug, Args)]
pub struct Size {
    /// With --generated and [features]: how many organisations there are; default: graph.nodes.
    #[arg(long, value_name = "N", requires = "generated", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub nodes: Option<u32>,
    /// With --generated and [features]: how many records the smallest organisation has.
    #[arg(long, value_name = "N", requires = "generated", value_parser = clap::value_parser!(u32).range(2..=1 << 28))]
    pub records: Option<u32>,
}

/// Examples under `--help`.
pub const EXAMPLES: &str = "Example: prdo tune mine.toml --generated --out tuned && prdo run tuned/tuned.toml\n\
    With text columns (map = \"table\"): prdo tune mine.toml --generated --nodes 3 --records 800 --out tuned\n\
    Tuning on protected records is a release of its own, for every setting that is tried. So it is done on\n\
    generated or bundled data, on records that you declare public, on a stand-in, or is charged to a statement.";
