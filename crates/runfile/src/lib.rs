//! Run files: what was typed, checked, and what is meant by it.
//!
//! `schema` is the list of keys, from `value` (types and ranges), `names` (of choices) and `parameters` (of methods);
//! `document` reads TOML and checks every key's name, type and range; `run_file` makes of that, once, a [`RunFile`] of
//! enums and structs, a file for each section; `effect` says which settings a run does not
//! read; `wiring` builds the graph with its weights; `resolved` writes a run file back with everything filled in. Nobody
//! else knows what a key is called.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod batch;
mod data;
mod document;
mod effect;
mod features;
mod graph;
mod layers;
mod method;
mod model;
mod model_kind;
mod names;
mod parameters;
mod partition;
mod place;
mod privacy;
pub mod resolved;
mod run_file;
mod schema;
mod value;
mod wiring;

pub use batch::{BatchSection, ClipSection};
pub use data::{DataFile, DataSection, DataSource, FilePath, Generated, GeneratedLaw};
pub use document::{Document, GivenMethod, GivenRecords, NO_PRIVACY};
pub use features::{
    ColumnRange, FeaturesSection, MapSettings, PatchOptions, ScatteringOptions, TableOptions,
};
pub use graph::{GraphKind, GraphSection};
pub use method::MethodSection;
pub use model::ModelSection;
pub use model_kind::{ModelKind, NetworkKind, StartLaw};
pub use names::{OWN_METHOD, sampling_name};
pub use partition::{PartitionKind, PartitionSection};
pub use place::{ConfigError, Place, Subject};
pub use privacy::{PrivacySection, earlier_texts};
pub use run_file::{MetricsSection, ResolvedSection, RunFile};
pub use schema::{Key, Section, nearest};
pub use value::{Value, ValueType};
pub use wiring::{Wiring, wiring};
