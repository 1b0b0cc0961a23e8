//! Run files: what was typed, checked against the schema, and what was meant by it.
//!
//! `schema` is the list of keys; `document` reads TOML and checks every key's name, type and range; `network`,
//! `layers`, `records` and `build` turn the values into a run; `resolved` writes them back with everything filled in.

mod build;
mod document;
pub mod layers;
mod network;
mod place;
mod records;
pub mod resolved;
pub mod schema;

pub use build::{BoxedModel, Built, NetworkFacts, Validation, build};
pub use document::Document;
pub use network::{Wiring, wiring};
pub use place::{ConfigError, Place};
pub use records::{Holdings, Kept, holdings, kept_holdings};
pub use schema::Value;
