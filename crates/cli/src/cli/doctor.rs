//! `prdo doctor`, as typed.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// The folder to look for data sets in.
    #[arg(long, value_name = "DIR", default_value = "data")]
    pub data: PathBuf,
    /// One JSON object on stdout instead of text.
    #[arg(long)]
    pub json: bool,
}
