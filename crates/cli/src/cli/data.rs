//! `prdo data`, as typed.

use super::values;
use clap::builder::TypedValueParser;
use clap::{Args, Subcommand, ValueEnum};
use prdo::data::Format;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub enum Data {
    /// Fetches a data set, verifies its SHA-256 and installs it atomically.
    #[command(after_help = "Example: prdo data get cifar10\n\
        Without a network: prdo data get cifar10 --from cifar-10-binary.tar.gz\n\
        Rerun the command to resume an interrupted download.")]
    Get(GetArgs),
    /// What a file holds: format, records, columns or image shape, classes, nodes, ranges.
    #[command(after_help = "Example: prdo data info data/cifar-10-batches-bin --json\n\
        For a CSV file it shows every column and a [features] section that reads them: prdo data info people.csv")]
    Info(InfoArgs),
    /// Splits a data set into one file per node, to rehearse with.
    #[command(
        after_help = "Example: prdo data split data/cifar-10-batches-bin --nodes 10 --partition dirichlet \
        --concentration 0.1 --validation 5000 --out shares\n\
        Your own table, one file per value of a column: prdo data split loans.csv --node branch \
        --out shares"
    )]
    Split(SplitArgs),
}

#[derive(Debug, Args)]
pub struct GetArgs {
    /// The data set.
    #[arg(value_enum)]
    pub name: DataSetName,
    /// Where to get it instead of the official place: a URL, an archive, or a folder with the official files.
    #[arg(long, value_name = "URL|FILE")]
    pub from: Option<String>,
    /// The folder to put the data set's folder in.
    #[arg(long, value_name = "DIR", default_value = "data")]
    pub out: PathBuf,
    /// Verify against this SHA256SUMS file instead of the official sums, for your own stand-ins.
    #[arg(long, value_name = "FILE")]
    pub checksums: Option<PathBuf>,
}

/// The data sets.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum DataSetName {
    /// 60,000 colour images of 32 x 32 pixels, ten classes (A. Krizhevsky, 2009); 170 MB.
    Cifar10,
    /// 70,000 grey images of clothes, 28 x 28 pixels, ten classes (Zalando, 2017); 31 MB.
    FashionMnist,
    /// 70,000 grey images of handwritten digits, 28 x 28 pixels (Y. LeCun et al., 1998); 12 MB.
    Mnist,
}

/// How to read a file.
#[derive(Debug, Args)]
pub struct ReadArgs {
    /// The file or folder; for `split`, `digits` is the bundled data set.
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
    /// The format; default: by the file's extension.
    #[arg(long, value_parser = formats(), value_name = "FORMAT")]
    pub format: Option<Format>,
    /// The label column of a table; default: label or y.
    #[arg(long, value_name = "COLUMN")]
    pub label: Option<String>,
    /// The column that says which node holds a record; default: node, if it exists.
    #[arg(long, value_name = "COLUMN")]
    pub node: Option<String>,
}

fn formats() -> impl TypedValueParser<Value = Format> {
    values::one_of(Format::ALL.iter().map(|format| (*format, format.about())), Format::key)
}

#[derive(Debug, Args)]
pub struct InfoArgs {
    #[command(flatten)]
    pub read: ReadArgs,
    /// One JSON object on stdout instead of text.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct SplitArgs {
    #[command(flatten)]
    pub read: ReadArgs,
    /// The number of nodes; without it, --node names the column of a CSV file that says who gets a record.
    #[arg(long, value_name = "N", required_unless_present = "node")]
    pub nodes: Option<usize>,
    /// How records are distributed.
    #[arg(long, value_enum, value_name = "KIND", default_value = "iid")]
    pub partition: PartitionKind,
    /// Dirichlet concentration: smaller is more heterogeneous (the paper's 0.1); default: 0.5.
    #[arg(long, value_name = "C")]
    pub concentration: Option<f64>,
    /// Label shards per node, for `--partition shards`; default: 2.
    #[arg(long, value_name = "K")]
    pub shards: Option<usize>,
    /// The seed of the partition and of the split (public).
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Set this many records aside first, in a separate file.
    #[arg(long, value_name = "K", default_value_t = 0)]
    pub validation: usize,
    /// The folder for the nodes' files; it must be empty or absent.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// One JSON object on stdout instead of text.
    #[arg(long)]
    pub json: bool,
}

/// The partitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PartitionKind {
    /// Random samples.
    Iid,
    /// Equally many records each, with class proportions that differ.
    Dirichlet,
    /// Equally many records each, of few classes.
    Shards,
}
