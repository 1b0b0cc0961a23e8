//! Data: reading it, generating it, dividing it among nodes, mapping it to features.
//!
//! Everything here ends in a [`Table`]: dense records with a label each, every number finite; images stay bytes
//! (`Table<u8>`) until a model reads them. Readers turn files into a [`Dataset`] and say what is wrong with a
//! file by line or record, column and value: [`Format`] is the table of them. Generators make the examples of the paper from
//! a seed; [`Partition`] decides who holds which record in a simulation; [`features`] are made of public constants.
//!
//! What never happens here: a model, a panic on any bytes of any file, an allocation that an untrusted header alone
//! decides, a feature that depends on other records (no standardising: means and variances of private records are
//! private), and randomness from anywhere but a seeded public stream.
//!
//! What is counted over records is for their owner: [`survey()`] says what a file's columns hold, a [`Dataset`]'s doubts and
//! blanks which values may be slips. A [`fingerprint`] names a set of records for its own ledger.
#![deny(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod cifar10;
pub mod csv;
pub mod digits;
pub mod features;
pub mod fingerprint;
pub mod generate;
pub mod idx;
pub mod labels;
pub mod libsvm;
pub mod npz;
pub mod parquet;
pub mod partition;
pub mod split;
pub mod stand_in;
pub mod survey;

mod columns;
mod dataset;
mod error;
mod feature;
mod formats;
mod npy;
mod slips;
mod table;
#[cfg(test)]
mod tests;

use std::path::Path;

pub use dataset::{Dataset, ImageShape, Loaded};
pub use digits::digits;
pub use error::{BadCell, DataError, Doubt, Place};
pub use feature::Feature;
pub use formats::{Format, Layout};
pub use labels::{binary_labels, class_labels, renumbered_labels};
pub use partition::{Partition, class_table};
pub use slips::{alike, near_file, nearest_name, slips};
pub use split::split_records;
pub use survey::{ColumnSurvey, Outlier, check_columns, survey};
pub use table::Table;

/// The most bytes of features a reader makes out of a file that may be far smaller (sparse, compressed or
/// run-length coded).
pub const DENSE_LIMIT: u64 = 4_000_000_000;

/// How to read a file. An option that the file's format has no use for is refused, not ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The format; by default the one [`Format::of`] finds.
    pub format: Option<Format>,
    /// The column (CSV, Parquet) or array (NPZ) of labels; by default `label`, else `y`.
    pub label: Option<String>,
    /// The column or array that says which node holds a record; by default `node`, if there is one.
    pub node: Option<String>,
    /// The columns to learn from, in this order (CSV, Parquet); by default all others, in the file's order.
    pub features: Option<Vec<String>>,
    /// The names of all columns of a CSV file that has no header.
    pub columns: Option<Vec<String>>,
    /// Columns of a CSV file whose text may be any category: what is no number becomes the number that
    /// [`category_code`](crate::features::category_code) gives it.
    pub categories: Vec<String>,
    /// Columns of numbers of a CSV file in which a cell that stands for nothing is read as
    /// [`MISSING`](crate::features::MISSING); in others it is refused.
    pub missing: Vec<String>,
    /// How many features a record has: widens LibSVM records, and is checked in all other formats.
    pub width: Option<usize>,
    /// Which part of a folder of images to read: `train` (the default), or `t10k` (IDX) or `test` (CIFAR-10).
    pub prefix: Option<String>,
    /// Which names labels may have (CSV, Parquet).
    pub class_names: ClassNames,
    /// Labels may be missing from CSV, Parquet and NPZ data: then every label is 0.
    pub unlabelled: bool,
}

/// Which names a column of labels may hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClassNames {
    /// Any.
    #[default]
    Any,
    /// No word that usually stands for a missing value, and no two that differ only in case or blanks: those are slips,
    /// and each would become a class of its own.
    Plausible,
    /// So many, whatever they are.
    Number(usize),
}

/// An option that only some formats have a use for.
#[derive(Clone, Copy)]
enum Setting {
    Label,
    Node,
    Features,
    Columns,
    Prefix,
}

impl Options {
    /// Refuses the first of these options that is set, for a format that cannot honour it.
    fn refuse(&self, format: &'static str, settings: &[Setting]) -> Result<(), DataError> {
        let list = |names: &Option<Vec<String>>| names.as_ref().map(|names| error::listed(names));
        for setting in settings {
            let (name, value) = match setting {
                Setting::Label => ("label", self.label.clone()),
                Setting::Node => ("node", self.node.clone()),
                Setting::Features => ("features", list(&self.features)),
                Setting::Columns => ("columns", list(&self.columns)),
                Setting::Prefix => ("prefix", self.prefix.clone()),
            };
            if let Some(value) = value {
                return Err(DataError::argument(name, value, format!("nothing, for {format} data")));
            }
        }
        Ok(())
    }

    /// Refuses data whose records do not have the declared width.
    fn check_width(&self, file: &str, found: usize) -> Result<(), DataError> {
        match self.width {
            Some(width) if width != found => {
                let allowed = format!("{found}, which is what {file} holds");
                Err(DataError::argument("width", width, allowed))
            }
            _ => Ok(()),
        }
    }
}

/// The [`Options::prefix`] of the test images that a folder of images brings along, if it does.
pub fn test_part(path: &Path) -> Option<&'static str> {
    Format::ALL.iter().rev().find_map(|format| format.test_part(path))
}

/// Reads the data at `path` as numbers, in the format `options` names or the path's name says.
pub fn read(path: &Path, options: &Options) -> Result<Dataset, DataError> {
    load(path, options)?.into_numbers(&path.display().to_string())
}

/// Reads the data at `path` and leaves images as bytes.
pub fn load(path: &Path, options: &Options) -> Result<Loaded, DataError> {
    let format = options.format.map_or_else(|| Format::of(path), Ok)?;
    format.load(path, options)
}

/// `path` opened, and its name for errors.
fn open(path: &Path) -> Result<(String, std::fs::File), DataError> {
    let name = path.display().to_string();
    match std::fs::File::open(path) {
        Ok(file) => Ok((name, file)),
        Err(source) => Err(DataError::Io { file: name, source }),
    }
}

/// Refuses more than [`DENSE_LIMIT`] bytes of features; else how many features that is.
fn dense_len(what: &str, records: usize, width: usize) -> Result<usize, DataError> {
    let bytes = (records as u128).saturating_mul(width as u128).saturating_mul(8);
    if bytes > u128::from(DENSE_LIMIT) {
        let (records, width) = (records.to_string(), width.to_string());
        return Err(DataError::TooLarge { what: what.to_owned(), records, width, limit: DENSE_LIMIT });
    }
    Ok(records * width)
}
