//! `prdo reproduce table-1`, as typed.

use super::values;
use clap::Args;
use clap::builder::TypedValueParser;
use prdo::algorithm::Method;
use prdo::network::Law;
use prdo_paper::table_1::Noise;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct Table1Args {
    /// The folder that holds cifar-10-batches-bin.
    #[arg(long, value_name = "DIR", default_value = "data")]
    pub data: PathBuf,
    /// Which methods, separated by commas; default: the paper's five.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = values::method)]
    pub methods: Vec<Method>,
    /// The budgets ε, separated by commas; default: 4,6,8 (8 with --quick).
    #[arg(long, value_name = "E,…", value_delimiter = ',', value_parser = values::number(&values::BUDGET))]
    pub epsilon: Vec<f64>,
    /// The number of rounds T, at least 5; unless it is the paper's 9500 the noise is calibrated for it, and the results say so.
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u32).range(5..=10_000_000))]
    pub rounds: Option<u32>,
    /// Seeds of batches and noise, separated by commas: a cell for each, their mean and deviation in the table.
    #[arg(long, value_name = "S,…", value_delimiter = ',', default_value = "1",
        value_parser = clap::value_parser!(u64).range(0..=i64::MAX as u64))]
    pub seeds: Vec<u64>,
    /// Noise multipliers from the accountant, or the three that the paper gives.
    #[arg(long, value_parser = table_noise(), default_value = "accountant", value_name = "NOISE")]
    pub noise: Noise,
    /// How the network's initial weights are drawn; the paper does not say.
    #[arg(long, value_parser = table_start(), default_value = "glorot", value_name = "START")]
    pub start: Law,
    /// The folder of the table; default: runs/table-1 (runs/table-1-quick). Unfinished results in it are resumed.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// A version that takes seconds, on the bundled digits with a linear model, to see that it works; says so in its results.
    #[arg(long)]
    pub quick: bool,
    /// Draws table, figures and report from the finished cells, without training.
    #[arg(long)]
    pub table_only: bool,
    /// Seconds between checkpoints.
    #[arg(long, value_name = "SECONDS", default_value_t = 180.0)]
    pub checkpoint_every: f64,
    /// One JSON object on stdout instead of text.
    #[arg(long)]
    pub json: bool,
    /// How many threads to use; results do not depend on it.
    #[arg(long, value_name = "K")]
    pub threads: Option<usize>,
}

/// Where a table's noise multipliers come from.
fn table_noise() -> impl TypedValueParser<Value = Noise> {
    let choices = [
        (Noise::Accountant, "Calibrated for the budget and the rounds, with proof"),
        (Noise::Paper, "2.464143, 1.807607 and 1.480246 for ε = 4, 6, 8 over 9500 rounds"),
    ];
    values::one_of(choices, Noise::name)
}

/// How a table's networks start.
fn table_start() -> impl TypedValueParser<Value = Law> {
    let choices = [
        (Law::Glorot, "Weights uniform within √(6/(inputs + outputs)), biases 0: Keras's default"),
        (Law::FanIn, "Uniform within 1/√inputs, biases too: PyTorch's default"),
    ];
    values::one_of(choices, Law::name)
}
