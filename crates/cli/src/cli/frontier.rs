//! `prdo reproduce frontier`, as typed.

use super::values;
use clap::Args;
use clap::builder::TypedValueParser;
use prdo::algorithm::Method;
use prdo_paper::frontier::{Data, Map, Noise};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct FrontierArgs {
    /// Which image sets, separated by commas; default: those of the three that are in the folder (digits with --quick).
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = images())]
    pub data: Vec<Data>,
    /// The folder that holds cifar-10-batches-bin, fashion-mnist and mnist.
    #[arg(long, value_name = "DIR", default_value = "data")]
    pub folder: PathBuf,
    /// Which feature maps, separated by commas; default: scattering,scattering+patches (scattering with --quick).
    #[arg(long, value_name = "MAP,…", value_delimiter = ',', value_parser = maps())]
    pub features: Vec<Map>,
    /// Which methods, separated by commas; default: the paper's five.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = values::method)]
    pub methods: Vec<Method>,
    /// Whose noise, separated by commas; default: independent.
    #[arg(long, value_name = "KIND,…", value_delimiter = ',', value_parser = noises())]
    pub noise: Vec<Noise>,
    /// The budgets ε, separated by commas; default: 0.5,1,2,4,6,8 (1,8 with --quick). Any other uses the settings chosen
    /// for the nearest.
    #[arg(long, value_name = "E,…", value_delimiter = ',', value_parser = values::number(&values::BUDGET))]
    pub epsilon: Vec<f64>,
    /// The number of seeds, each with its own partition, batches and noise; default: 3.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub seeds: Option<u64>,
    /// The folder of the results; default: runs/frontier (runs/frontier-quick). Unfinished results in it are resumed.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// A version that takes seconds, on the bundled digits, to see that it works.
    #[arg(long)]
    pub quick: bool,
    /// Draws tables, figure and report from the finished runs, without training.
    #[arg(long)]
    pub table_only: bool,
    /// One JSON object on stdout instead of text.
    #[arg(long)]
    pub json: bool,
    /// How many threads to use; results do not depend on it.
    #[arg(long, value_name = "K")]
    pub threads: Option<usize>,
}

fn images() -> impl TypedValueParser<Value = Data> {
    let choices = [
        (Data::Cifar10, "Colour photographs of ten kinds of things"),
        (Data::FashionMnist, "Grey pictures of clothes"),
        (Data::Mnist, "Handwritten digits"),
        (Data::Digits, "The bundled digits of 8×8 pixels: the same machinery in seconds"),
    ];
    values::one_of(choices, Data::name)
}

fn maps() -> impl TypedValueParser<Value = Map> {
    let choices = [
        (Map::Scattering, "The wavelet scattering alone"),
        (Map::Patches, "The same with filters in addition"),
        (Map::ThreeScales, "And with a third scale; CIFAR-10 only"),
        (Map::ManyFilters, "And with 600 filters instead of 200; CIFAR-10 only"),
    ];
    values::one_of(choices, Map::name)
}

fn noises() -> impl TypedValueParser<Value = Noise> {
    let choices = [
        (Noise::Independent, "Every node its own"),
        (Noise::Pairs, "In pairs: ε against outsiders and any one node; three exchanges per round"),
    ];
    values::one_of(choices, Noise::name)
}
