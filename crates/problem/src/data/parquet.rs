//! Parquet: flat tables of numeric columns, with the roles that [`csv`](super::csv) columns have.
//!
//! Label and node columns may be text. Read column by column, without Arrow. Only with the Cargo feature
//! `parquet`, which takes about a minute to build; without it, [`read`] says so.

use std::path::Path;

use super::{DataError, Dataset, Options};

/// Reads the Parquet file at `path`.
///
/// # Errors
/// When this build has no Parquet, the file cannot be read or is malformed, a column that is needed is neither
/// number nor text, or a value is missing.
#[cfg(not(feature = "parquet"))]
pub fn read(path: &Path, _options: &Options) -> Result<Dataset, DataError> {
    Err(DataError::NotBuilt { file: path.display().to_string(), format: "Parquet", feature: "parquet" })
}

/// Reads the Parquet file at `path`.
///
/// # Errors
/// When the file cannot be read or is malformed, a column that is needed is neither number nor text, or a value
/// is missing.
#[cfg(feature = "parquet")]
pub fn read(path: &Path, options: &Options) -> Result<Dataset, DataError> {
    let (name, file) = super::open(path)?;
    built::parse(&name, file, options)
}

#[cfg(feature = "parquet")]
pub use built::parse;

#[cfg(feature = "parquet")]
mod built;
