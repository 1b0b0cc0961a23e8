//! `prdo data`: data sets fetched, looked at and dealt out.

pub(super) mod catalogue;
mod checksum;
pub mod columns;
#[cfg(feature = "download")]
mod download;
#[cfg(not(feature = "download"))]
#[path = "no_download.rs"]
mod download;
mod error;
mod get;
mod info;
mod split;
mod unpack;
mod whole;

use super::Failure;
use crate::cli::data::{Data, Name, ReadArgs};
use prdo::data::{self, DataError, Format, Loaded, Options};

/// Does what was asked.
pub fn run(what: &Data) -> Result<(), Failure> {
    match what {
        Data::Get(args) => get::run(args),
        Data::Info(args) => info::run(args),
        Data::Split(args) => split::run(args),
    }
}

/// Name, folder and files of each data set that can be fetched.
pub fn known_sets() -> Vec<(&'static str, &'static str, Vec<&'static str>)> {
    let names = [("cifar10", Name::Cifar10), ("fashion-mnist", Name::FashionMnist), ("mnist", Name::Mnist)];
    let one = |(name, which)| {
        let set = catalogue::set(which);
        (name, set.folder, set.files.iter().map(|(file, _)| *file).collect())
    };
    names.map(one).into()
}

/// In which format what is at the path is to be read.
fn format(args: &ReadArgs) -> Result<Format, Failure> {
    args.format.map_or_else(|| Format::of(&args.path).map_err(wrong), Ok)
}

/// What is at the path, images as bytes. These columns of a CSV file may hold text.
fn load(args: &ReadArgs, format: Format, categories: Vec<String>) -> Result<Loaded, DataError> {
    let (label, node) = (args.label.clone(), args.node.clone());
    let options = Options { format: Some(format), label, node, categories, ..Options::default() };
    data::load(&args.path, &options)
}

/// Data that is not as it should be is wrong input.
fn wrong(error: DataError) -> Failure {
    Failure::Input(format!("data: {error}"))
}
