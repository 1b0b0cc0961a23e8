//! `prdo new`, as typed.

use super::values;
use clap::Args;
use std::path::PathBuf;

pub const EXAMPLES: &str = "Example: prdo new patients.csv --label readmitted --node hospital && prdo run patients.toml\n\
    Every setting is in the file, with a comment. Its ranges are read from your records, which is fine on your own\n\
    machine; before you train with others, replace them with public limits.";

#[derive(Debug, Args)]
pub struct NewArgs {
    /// Your table: a CSV file whose first line names the columns.
    #[arg(value_name = "TABLE.csv")]
    pub table: PathBuf,
    /// The column to be predicted.
    #[arg(long, value_name = "COLUMN")]
    pub label: Option<String>,
    /// The column that says which organisation holds a record; without it records are distributed at random.
    #[arg(long, value_name = "COLUMN")]
    pub node: Option<String>,
    /// How many organisations to distribute to, without such a column; default: 5.
    #[arg(long, value_name = "N", conflicts_with = "node",
        value_parser = clap::value_parser!(u32).range(2..=10_000))]
    pub nodes: Option<u32>,
    /// The privacy budget of the whole training: smaller is more private.
    #[arg(long, value_name = "E", default_value_t = 4.0, value_parser = values::number(&values::BUDGET))]
    pub epsilon: f64,
    /// The run file to write; default: the table's name with .toml, in the current folder.
    #[arg(long, value_name = "RUN.toml")]
    pub out: Option<PathBuf>,
    /// Replace an existing file.
    #[arg(long)]
    pub overwrite: bool,
}
