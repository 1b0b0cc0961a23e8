//! `prdo export`, as typed.

use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub enum Export {
    /// The model as ONNX: from features (of images: pixels from 0 to 1) to one score per class.
    #[command(after_help = "Example: prdo export onnx runs/cnn --out cnn.onnx")]
    Onnx {
        #[command(flatten)]
        args: ExportArgs,
        /// This node's own model instead of the average; nodes are counted from 0.
        #[arg(long, value_name = "I")]
        node: Option<usize>,
    },
    /// The metrics as a TensorBoard event file, in a folder for `tensorboard --logdir`.
    #[command(
        after_help = "Example: prdo export tensorboard runs/demo && tensorboard --logdir runs/demo/tensorboard"
    )]
    Tensorboard {
        #[command(flatten)]
        args: ExportArgs,
    },
    /// The metrics as a Parquet file, with the columns of metrics.csv.
    #[command(after_help = "Example: prdo export parquet runs/demo")]
    Parquet {
        #[command(flatten)]
        args: ExportArgs,
    },
}

#[derive(Debug, Args)]
pub struct ExportArgs {
    /// The run's folder.
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Where to write; default: in the run's folder.
    #[arg(long, value_name = "PATH")]
    pub out: Option<PathBuf>,
    /// Replace an existing file.
    #[arg(long)]
    pub overwrite: bool,
}
