//! Feature maps: what a linear model reads instead of pixels or raw columns.
//!
//! A map is made of public constants alone: wavelets, filters and statistics of synthetic images, fixed ranges, random
//! directions from a public seed. Nothing in it is computed from records, so it costs no privacy, and the features of a
//! record depend on that record only, so that one record more or less changes one row. [`FeatureMap::hash`] names a map
//! with all its constants: peers compare it before they train.
//!
//! What never happens here: a statistic over records.
//!
//! # What is the same where
//! A map's constants have the same bits on every machine. The features of a record have the same bits on every machine
//! with fused multiply-add (all of the last ten years), and agree to about 1e-5 of their norm elsewhere: no privacy
//! depends on it, because a node clips whatever its own features are.

mod cache;
mod dead_leaves;
mod description;
mod error;
mod images;
mod patches;
mod scattering;
mod settings;
mod statistics;
mod table;
mod wavelets;

/// What a linear model's intercepts are multiplied by beside features of norm 1: with 1, half of every gradient's square
/// would be the intercept's. It is part of every map's description, so that only peers with the same one train together.
pub const INTERCEPT: f64 = 0.1;

pub use cache::{Cache, Found};
pub use description::{Description, MapKind};
pub use error::FeatureError;
pub use images::FeatureMap;
pub use patches::PatchSettings;
pub use settings::Settings;
pub use table::{Column, MISSING, TableMap, TableSettings, category_code};
