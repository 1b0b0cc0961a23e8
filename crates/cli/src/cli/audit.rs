//! `prdo audit`, as typed.

use super::{OutArgs, values};
use clap::Args;
use prdo::algorithm::Method;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct AuditArgs {
    /// A private run file; its method, rates, noise, γ and clipping norms are audited on a small model.
    #[arg(value_name = "RUN.toml")]
    pub file: Option<PathBuf>,
    /// The method, without a run file.
    #[arg(long, value_name = "NAME", default_value = "prdo", value_parser = values::method, conflicts_with = "file")]
    pub method: Method,
    /// A tenth of the runs, in seconds; bounds are weaker.
    #[arg(long)]
    pub quick: bool,
    /// Also one run of real model size (the run file's, or 550,570) with a thousand canaries in it.
    #[arg(long)]
    pub one_run: bool,
    /// Overrides a key of the run file; may be given several times.
    #[arg(long, value_name = "KEY=VALUE", requires = "file")]
    pub set: Vec<String>,
    /// Seed of everything drawn (except the operating system's secrets, which are compared).
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub out: OutArgs,
}
