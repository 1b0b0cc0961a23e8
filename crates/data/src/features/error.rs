//! Why features could not be had.

use crate::ImageShape;

/// A feature map that cannot be made, or records that it cannot read.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FeatureError {
    /// A setting outside its range.
    #[error("features.{field} = {value} is not allowed: it must be {allowed}")]
    Setting {
        /// Which setting.
        field: &'static str,
        /// What was given.
        value: String,
        /// What is allowed, in words.
        allowed: String,
    },
    /// Images of another size than the map's.
    #[error("the feature map reads images of {expected}, but these are {found}")]
    Shape {
        /// What the map was made for.
        expected: ImageShape,
        /// What there is.
        found: ImageShape,
    },
    /// Records that are no images.
    #[error("features = \"{name}\" reads images, but these records are not images")]
    NotImages {
        /// The features that were asked for.
        name: String,
    },
    /// A column that the map knows nothing about.
    #[error(
        "there is no range for column \"{column}\": add \"{column}: LOW to HIGH\" to features.ranges, or name it as a \
         category; ranges are not taken from the records, which are private"
    )]
    NoRange {
        /// The column.
        column: String,
    },
    /// A range that is none.
    #[error(
        "the range of column \"{column}\" is {low} to {high}: its ends must be finite numbers, the first below the second"
    )]
    Range {
        /// The column.
        column: String,
        /// Its lower end.
        low: f64,
        /// Its upper end.
        high: f64,
    },
    /// Columns in another order.
    #[error("column {place} is \"{found}\", but the feature map expects \"{expected}\" there")]
    Column {
        /// Which, from 1.
        place: usize,
        /// What the map expects.
        expected: String,
        /// What there is.
        found: String,
    },
    /// Another number of columns.
    #[error("the feature map reads {expected} columns, but these records have {found}")]
    Width {
        /// What the map reads.
        expected: usize,
        /// What there is.
        found: usize,
    },
    /// Nothing to compare a map with.
    #[error(
        "there is no hash of the feature map (resolved.features) to compare with, but it is {own} here: without one \
         nobody knows whether all have the same"
    )]
    Unnamed {
        /// The hash of the map that is here.
        own: String,
    },
    /// Two peers' maps differ.
    #[error("the feature maps differ: {own} here, {other} there")]
    Mismatch {
        /// The hash of one.
        own: String,
        /// The hash of the other.
        other: String,
    },
    /// More than fits in memory.
    #[error("{records} records of {features} features need more than {limit} bytes")]
    TooLarge {
        /// How many records.
        records: usize,
        /// How many features each.
        features: usize,
        /// The most that is allowed.
        limit: u64,
    },
}

impl FeatureError {
    /// A setting outside its range.
    pub(crate) fn setting(
        field: &'static str,
        value: impl std::fmt::Display,
        allowed: impl Into<String>,
    ) -> Self {
        Self::Setting { field, value: value.to_string(), allowed: allowed.into() }
    }
}
