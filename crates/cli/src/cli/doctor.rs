//! `prdo doctor`, as typed.

use clap::Args;
use std::path::PathBuf;

/// `prdo doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// The folder in which data sets are looked for.
    #[arg(long, value_name = "DIR", default_value = "data")]
    pub data: PathBuf,
    /// One JSON object on stdout instead of text.
    #[arg(long)]
    pub json: bool,
}
