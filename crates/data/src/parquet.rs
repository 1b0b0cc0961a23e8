//! Parquet: flat tables of numeric columns, with the roles that [`csv`](super::csv) columns have.
//!
//! Label and node columns may be text. Read and written column by column, without Arrow. Only with the Cargo feature
//! `parquet`, which takes about a minute to build; without it, reading or writing one says so.

#[cfg(feature = "parquet")]
mod reader;
#[cfg(feature = "parquet")]
mod writer;

use super::formats::{FormatCard, Reading};
use super::{DataError, Layout};
#[cfg(feature = "parquet")]
pub use reader::parse;

pub(crate) const CARD: FormatCard = FormatCard {
    key: "parquet",
    name: "Parquet",
    about: "Apache Parquet, where built in",
    extensions: &["parquet"],
    ending: None,
    folder: None,
    layout: Layout::Columns,
    #[cfg(feature = "parquet")]
    reading: Reading::Built(|path, options| {
        let (name, file) = super::open(path)?;
        Ok(super::Loaded::Numbers(parse(&name, file, options)?))
    }),
    #[cfg(not(feature = "parquet"))]
    reading: Reading::Needs("parquet"),
};

/// The values of a column that is written.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnValues {
    Integers(Vec<i64>),
    /// Some may be missing.
    Numbers(Vec<Option<f64>>),
}

/// The bytes of a Parquet file, which errors call `file`, of named columns of one length; `author` names the program.
pub fn write(file: &str, columns: &[(&str, ColumnValues)], author: &str) -> Result<Vec<u8>, DataError> {
    #[cfg(feature = "parquet")]
    return writer::bytes(columns, author).map_err(|e| DataError::malformed(file, CARD.name, e.to_string()));
    #[cfg(not(feature = "parquet"))]
    {
        let _ = (columns, author);
        Err(DataError::NotBuilt { file: file.to_owned(), format: CARD.name, feature: CARD.key })
    }
}
