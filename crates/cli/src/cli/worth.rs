//! `prdo worth`, as typed.

use super::OutArgs;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct WorthArgs {
    /// The run file: it must be private, and its model must predict classes.
    #[arg(value_name = "RUN.toml")]
    pub file: PathBuf,
    /// Repeat everything with this many seeds: the run file's and the ones after it.
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub seeds: u32,
    /// Overrides a key of the run file; may be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Overrides rounds or a key of method, batch or clip in the runs without privacy; may be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    pub open: Vec<String>,
    #[command(flatten)]
    pub out: OutArgs,
}

pub const EXAMPLES: &str = "Example: prdo worth adult.toml --seeds 3 --out worth\n\
    Four kinds of runs: all organisations together and each alone on its own records, with the run file's privacy, and\n\
    the same without noise and clipping. All are measured on the same held-out records. Seeded simulation: not private.";
