//! `prdo bench`, as typed.

use super::values;
use clap::{Args, Subcommand};
use prdo_kernels::Level;

#[derive(Debug, Subcommand)]
pub enum Bench {
    /// The privacy accountant: one ε, a calibration, ε at every round, and the Rényi accountants beside it.
    #[command(after_help = "Example: prdo bench accountant --json")]
    Accountant {
        /// One JSON object on stdout instead of text.
        #[arg(long)]
        json: bool,
    },
    /// Per-record gradients of a network through the gate, against this processor's multiply-add peak.
    #[command(after_help = "Example: prdo bench gradients --model lenet --threads 1 --json\n\
        GFLOP/s count the operations of the definition (`flops` in the JSON), whatever the kernels do: one that\n\
        saves work can exceed 100 % of the peak. records_per_second is the best round, median the middle one.")]
    Gradients(GradientsArgs),
}

#[derive(Debug, Args)]
pub struct GradientsArgs {
    /// One JSON object on stdout instead of text.
    #[arg(long)]
    pub json: bool,
    /// How many threads to use; default: as many as the machine has.
    #[arg(long, value_name = "K", value_parser = values::whole::<usize>(&values::THREADS))]
    pub threads: Option<usize>,
    /// Records per round.
    #[arg(long, value_name = "B", default_value = "100", value_parser = values::whole::<usize>(&values::BATCH))]
    pub batch: usize,
    /// The network: vgg-small on 3x32x32 images, or lenet on 1x28x28.
    #[arg(long, value_name = "NAME", default_value = "vgg-small", value_parser = values::network)]
    pub model: String,
    /// The engine's instruction set: portable, avx2 or avx512; default: the fastest available. The gate's own sums always
    /// use the fastest.
    #[arg(long, value_name = "SET", value_parser = values::level)]
    pub level: Option<Level>,
    /// About how long to measure.
    #[arg(long, value_name = "S", default_value = "10", value_parser = values::number(&values::SECONDS))]
    pub seconds: f64,
}
