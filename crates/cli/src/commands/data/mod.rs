//! `prdo data`: data sets fetched, inspected and split.

pub(super) mod catalogue;
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

use super::Failure;
use crate::cli::data::{Data, DataSetName, ReadArgs};
use prdo::data::{self, DataError, Format, Loaded, Options, nearest_name};
use prdo::disk::{folder_of, sync_folder};
use std::path::Path;

pub fn run(what: &Data) -> Result<(), Failure> {
    match what {
        Data::Get(args) => get::run(args),
        Data::Info(args) => info::run(args),
        Data::Split(args) => split::run(args),
    }
}

/// DataSetName, folder and files of each data set that can be fetched.
pub fn known_sets() -> Vec<(&'static str, &'static str, Vec<&'static str>)> {
    let names = [
        ("cifar10", DataSetName::Cifar10),
        ("fashion-mnist", DataSetName::FashionMnist),
        ("mnist", DataSetName::Mnist),
    ];
    let one = |(name, which)| {
        let set = catalogue::set(which);
        (name, set.folder, set.files.iter().map(|(file, _)| *file).collect())
    };
    names.map(one).into()
}

fn format(args: &ReadArgs) -> Result<Format, Failure> {
    args.format.map_or_else(|| Format::of(&args.path).map_err(wrong), Ok)
}

/// What is at the path, images as bytes. These columns of a CSV file may hold text.
fn load(args: &ReadArgs, format: Format, categories: Vec<String>) -> Result<Loaded, DataError> {
    let (label, node) = (args.label.clone(), args.node.clone());
    let options = Options { format: Some(format), label, node, categories, ..Options::default() };
    data::load(&args.path, &options)
}

pub fn wrong(error: DataError) -> Failure {
    Failure::Input(format!("data: {error}"))
}

/// Makes a finished folder durable and gives it its final name. Its files must be durable already.
fn publish(finished: &Path, target: &Path) -> std::io::Result<()> {
    // Temporary folders may be private to their owner; results should be as readable as any folder the user makes.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(finished, std::fs::Permissions::from_mode(0o755))?;
    }
    sync_folder(finished);
    std::fs::rename(finished, target)?;
    sync_folder(folder_of(target));
    Ok(())
}

/// The number of the column that an option names.
pub fn column_named(names: &[String], option: &str, name: &str) -> Result<usize, Failure> {
    names.iter().position(|own| own == name).ok_or_else(|| {
        let near =
            nearest_name(names, name).map_or(String::new(), |near| format!("; did you mean {near:?}?"));
        let names = names.join(", ");
        Failure::Input(format!("{option} {name:?}: no such column{near} (columns: {names})"))
    })
}
