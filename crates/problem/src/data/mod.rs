//! Data: reading it, generating it, dividing it among nodes.
//!
//! Everything here ends in a [`Table`]: dense records with a label each, every number finite; images stay bytes
//! (`Table<u8>`) until a model reads them. Readers turn files into a [`Dataset`] and say what is wrong with a
//! file by line or record, column and value; generators make the examples of the paper from a seed; [`Partition`] decides who holds which record in a simulation.
//!
//! What never happens here: a panic on any bytes of any file, an allocation that an untrusted header alone
//! decides, a statistic over the records (no standardising: means and variances of private records are private),
//! and randomness from anywhere but a seeded public stream.

pub mod cifar10;
pub mod columnar;
pub mod csv;
pub mod digits;
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
mod npy;
mod slips;
mod table;
#[cfg(test)]
mod tests;

use std::path::Path;

pub use dataset::{Dataset, ImageShape, Loaded};
pub use digits::digits;
pub use error::{DataError, Doubt, Place};
pub use feature::Feature;
pub use labels::{binary_labels, class_labels, renumbered_labels};
pub use partition::{Partition, class_table};
pub use slips::{alike, near_file, nearest_name, slips};
pub use split::split_records;
pub use survey::{ColumnSurvey, Outlier, check_columns, survey};
pub use table::Table;

/// The most bytes of features a reader makes out of a file that may be far smaller (sparse, compressed or
/// run-length coded).
pub const DENSE_LIMIT: u64 = 4_000_000_000;

/// How a file is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated values with a header: [`csv`].
    Csv,
    /// `label index:value …`, one record a line: [`libsvm`].
    LibSvm,
    /// The images and labels files of MNIST: [`idx`].
    Idx,
    /// The binary version of CIFAR-10: [`cifar10`].
    Cifar10,
    /// Arrays `x` and `y` (and `node`) as `numpy.savez` writes them: [`npz`].
    Npz,
    /// Apache Parquet: [`parquet`].
    Parquet,
}

impl Format {
    pub(crate) const KNOWN: &'static str = ".csv, .npz, .parquet, .libsvm or .svm or .t or .txt or no extension \
         (LibSVM text), .bin or a folder of data_batch_*.bin files (CIFAR-10), and a folder of *-ubyte files (IDX)";

    /// What the format is called.
    pub fn name(self) -> &'static str {
        match self {
            Format::Csv => "CSV",
            Format::LibSvm => "LibSVM text",
            Format::Idx => "IDX",
            Format::Cifar10 => "CIFAR-10",
            Format::Npz => "NPZ",
            Format::Parquet => "Parquet",
        }
    }

    /// The format that `path`'s name says it has; only for a folder is the disk looked at.
    ///
    /// A file with no extension is taken for LibSVM text, because that is how that collection names its files
    /// (`a9a`, `w8a`, and `a9a.t` for the test part); a name ending in `ubyte` is one file of an IDX pair.
    ///
    /// # Errors
    /// When the name says nothing known, or a folder holds neither `*-ubyte` nor `data_batch_*.bin` files.
    pub fn of(path: &Path) -> Result<Format, DataError> {
        let unknown = |found: String| DataError::UnknownFormat { file: path.display().to_string(), found };
        if path.is_dir() {
            return match (cifar10::looks_like(path), idx::looks_like(path)) {
                (true, _) => Ok(Format::Cifar10),
                (false, true) => Ok(Format::Idx),
                (false, false) => {
                    Err(unknown("a folder without *-ubyte or data_batch_*.bin files".to_owned()))
                }
            };
        }
        if path.file_name().is_some_and(|name| name.to_string_lossy().ends_with("ubyte")) {
            return Ok(Format::Idx);
        }
        let Some(extension) = path.extension() else {
            return Ok(Format::LibSvm);
        };
        match extension.to_string_lossy().to_ascii_lowercase().as_str() {
            "csv" => Ok(Format::Csv),
            "bin" => Ok(Format::Cifar10),
            "npz" => Ok(Format::Npz),
            "parquet" => Ok(Format::Parquet),
            "libsvm" | "svm" | "t" | "txt" => Ok(Format::LibSvm),
            "gz" | "bz2" | "xz" | "zip" | "zst" => {
                Err(unknown("a compressed file (unpack it first)".to_owned()))
            }
            sheet @ ("xlsx" | "xls" | "ods") => Err(unknown(format!(
                "a spreadsheet (save it as \"CSV UTF-8\" and give that file), extension {}",
                error::quoted(sheet)
            ))),
            other => Err(unknown(format!("extension {}", error::quoted(other)))),
        }
    }
}

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

impl Options {
    /// Refuses the first of the named options that is set, for a format that cannot honour it.
    fn refuse(&self, format: &'static str, names: &[&'static str]) -> Result<(), DataError> {
        for name in names {
            let value = match *name {
                "label" => self.label.clone(),
                "node" => self.node.clone(),
                "features" => self.features.as_ref().map(|names| error::listed(names)),
                "columns" => self.columns.as_ref().map(|names| error::listed(names)),
                "prefix" => self.prefix.clone(),
                _ => None,
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
    match path {
        path if cifar10::has_test(path) => Some("test"),
        path if idx::has_test(path) => Some("t10k"),
        _ => None,
    }
}

/// Reads the data at `path` as numbers, in the format `options` names or the path's name says.
///
/// # Errors
/// When the format is unknown or not built in, or the file cannot be read or is malformed.
pub fn read(path: &Path, options: &Options) -> Result<Dataset, DataError> {
    load(path, options)?.into_numbers(&path.display().to_string())
}

/// Reads the data at `path` and leaves images as bytes.
///
/// # Errors
/// As [`read`].
pub fn load(path: &Path, options: &Options) -> Result<Loaded, DataError> {
    let format = match options.format {
        Some(format) => format,
        None => Format::of(path)?,
    };
    Ok(match format {
        Format::Csv => Loaded::Numbers(csv::read(path, options)?),
        Format::LibSvm => Loaded::Numbers(libsvm::read(path, options)?),
        Format::Idx => Loaded::Images(idx::read(path, options)?),
        Format::Cifar10 => Loaded::Images(cifar10::read(path, options)?),
        Format::Npz => npz::load(path, options)?,
        Format::Parquet => Loaded::Numbers(parquet::read(path, options)?),
    })
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
