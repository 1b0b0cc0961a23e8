//! `prdo reproduce frontier`, as typed.

use super::values;
use clap::{Args, ValueEnum};
use prdo::algorithm::Method;
use std::path::PathBuf;

/// `prdo reproduce frontier`.
#[derive(Debug, Args)]
pub struct FrontierArgs {
    /// Which images, separated by commas; default: all three that are in the folder (digits with --quick).
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_enum)]
    pub data: Vec<Data>,
    /// The folder that holds cifar-10-batches-bin, fashion-mnist and mnist.
    #[arg(long, value_name = "DIR", default_value = "data")]
    pub folder: PathBuf,
    /// Which feature maps, separated by commas; default: both.
    #[arg(long, value_name = "MAP,…", value_delimiter = ',', value_enum)]
    pub features: Vec<Map>,
    /// Which methods, separated by commas; default: all five.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = values::method)]
    pub methods: Vec<Method>,
    /// Which ε, separated by commas; default: 0.5,1,2,4,6,8 (1,8 with --quick). Another one has the settings that were
    /// chosen for the nearest.
    #[arg(long, value_name = "E,…", value_delimiter = ',', value_parser = values::budget)]
    pub epsilon: Vec<f64>,
    /// How many seeds; each has a partition, batches and noise of its own. Default: 3.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub seeds: Option<u64>,
    /// The folder of the results; default: runs/frontier (runs/frontier-quick). What is there is gone on with.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// The same in seconds, on the bundled digits, to see that it works.
    #[arg(long)]
    pub quick: bool,
    /// Draws tables, figure and report from what is done, without training.
    #[arg(long)]
    pub table_only: bool,
    /// One JSON object on stdout instead of text.
    #[arg(long)]
    pub json: bool,
    /// How many threads to use; results do not depend on it.
    #[arg(long, value_name = "K")]
    pub threads: Option<usize>,
}

/// A set of images.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Data {
    /// Colour photographs of ten kinds of things.
    Cifar10,
    /// Grey pictures of clothes.
    FashionMnist,
    /// Handwritten digits.
    Mnist,
    /// The bundled digits of 8×8 pixels: the same machinery in seconds.
    Digits,
}

/// A feature map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Map {
    /// The wavelet scattering alone.
    Scattering,
    /// With filters beside it.
    #[value(name = "scattering+patches")]
    Patches,
}
