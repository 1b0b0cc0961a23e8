//! Run files: what was typed, checked against the schema, and what was meant by it.
//!
//! `schema` is the list of keys; `document` reads TOML and checks every key's name, type and range; `network`,
//! `layers`, `model`, `recipe`, `records` and `build` turn the values into a run; `terms` does so from public facts alone,
//! `outline` as far as a plan needs it; `resolved` writes them back with everything filled in.

mod build;
mod document;
mod features;
pub mod layers;
mod model;
mod network;
mod outline;
mod place;
mod recipe;
mod records;
pub mod resolved;
pub mod schema;
mod terms;

pub(crate) use build::common_class;
pub use build::{Built, FeatureFacts, NetworkFacts, Validation, build, build_own, build_showing};
pub use document::Document;
pub use features::{Extracting, FeaturePlan, Map, Refused, declared_columns, missing_numbers};
pub use model::{BoxedModel, Form, OWN, OwnModel, PlannedModel, model_kind, network_of, plan_model};
pub use network::{Wiring, wiring};
pub use outline::{Outline, outline};
pub use place::{ConfigError, Place, Subject};
pub(crate) use recipe::recipe;
pub use recipe::{Recipe, earlier_texts};
pub use records::{Given, Holdings, Kept, Source, holdings, intercept, kept_holdings, public_facts};
pub use schema::Value;
pub use terms::{Planned, Public, agreed, terms};
