//! Parquet: flat tables of numeric columns, with the roles that [`csv`](super::csv) columns have.
//!
//! Label and node columns may be text. Read column by column, without Arrow. Only with the Cargo feature
//! `parquet`, which takes about a minute to build; without it, reading one says so.

use super::Layout;
use super::formats::{FormatCard, Reading};

#[cfg(feature = "parquet")]
mod built;
#[cfg(feature = "parquet")]
pub use built::{parse, read};

pub(crate) const CARD: FormatCard = FormatCard {
    key: "parquet",
    name: "Parquet",
    about: "Apache Parquet, where built in",
    extensions: &["parquet"],
    ending: None,
    folder: None,
    layout: Layout::Columns,
    #[cfg(feature = "parquet")]
    reading: Reading::Built(|path, options| Ok(super::Loaded::Numbers(read(path, options)?))),
    #[cfg(not(feature = "parquet"))]
    reading: Reading::Needs("parquet"),
};
