//! `prdo data`: data sets fetched, looked at and dealt out.

mod catalogue;
mod checksum;
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
use crate::cli::data::{Data, FileFormat, ReadArgs};
use prdo::data::{self, DataError, Format, Loaded, Options};

/// Does what was asked.
pub fn run(what: &Data) -> Result<(), Failure> {
    match what {
        Data::Get(args) => get::run(args),
        Data::Info(args) => info::run(args),
        Data::Split(args) => split::run(args),
    }
}

/// What is at the path, images as bytes, and in which format.
fn load(args: &ReadArgs) -> Result<(Format, Loaded), Failure> {
    let format = match args.format {
        None => Format::of(&args.path).map_err(wrong)?,
        Some(FileFormat::Csv) => Format::Csv,
        Some(FileFormat::Npz) => Format::Npz,
        Some(FileFormat::Libsvm) => Format::LibSvm,
        Some(FileFormat::Idx) => Format::Idx,
        Some(FileFormat::Cifar10) => Format::Cifar10,
        Some(FileFormat::Parquet) => Format::Parquet,
    };
    let (label, node) = (args.label.clone(), args.node.clone());
    let options = Options { format: Some(format), label, node, ..Options::default() };
    Ok((format, data::load(&args.path, &options).map_err(wrong)?))
}

/// Data that is not as it should be is wrong input.
fn wrong(error: DataError) -> Failure {
    Failure::Input(format!("data: {error}"))
}
