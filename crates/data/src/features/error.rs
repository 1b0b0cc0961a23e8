//! Why features could not be had.

use crate::ImageShape;

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FeatureError {
    #[error("features.{field} = {value} is not allowed: it must be {allowed}")]
    Setting { field: &'static str, value: String, allowed: String },
    #[error("the feature map reads images of {expected}, but these are {found}")]
    Shape { expected: ImageShape, found: ImageShape },
    #[error("features = \"{name}\" reads images, but these records are not images")]
    NotImages { name: String },
    #[error(
        "there is no range for column \"{column}\": add \"{column}: LOW to HIGH\" to features.ranges, or name it as a \
         category; ranges are not taken from the records, which are private"
    )]
    NoRange { column: String },
    #[error(
        "the range of column \"{column}\" is {low} to {high}: its ends must be finite numbers, the first below the second"
    )]
    Range { column: String, low: f64, high: f64 },
    #[error("column {place} is \"{found}\", but the feature map expects \"{expected}\" there")]
    Column {
        /// Which, from 1.
        place: usize,
        expected: String,
        found: String,
    },
    #[error("the feature map reads {expected} columns, but these records have {found}")]
    Width { expected: usize, found: usize },
    /// Nothing to compare a map with.
    #[error(
        "there is no hash of the feature map (resolved.features) to compare with, but it is {own} here: without one \
         nobody knows whether all have the same"
    )]
    Unnamed { own: String },
    #[error("the feature maps differ: {own} here, {other} there")]
    Mismatch { own: String, other: String },
    #[error("{records} records of {features} features need more than {limit} bytes")]
    TooLarge { records: usize, features: usize, limit: u64 },
}

impl FeatureError {
    pub(crate) fn setting(
        field: &'static str,
        value: impl std::fmt::Display,
        allowed: impl Into<String>,
    ) -> Self {
        Self::Setting { field, value: value.to_string(), allowed: allowed.into() }
    }
}
