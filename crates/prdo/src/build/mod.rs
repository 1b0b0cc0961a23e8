//! Builds runs from run files.
//!
//! `network`, `model`, `features`, `recipe` and `records` build the parts of a run, `run` joins them; `terms` builds a run
//! from public facts alone, `outline` as far as `prdo plan` needs it; `resolved` writes its settings back with everything
//! filled in.

mod features;
mod fingerprint;
mod model;
pub mod network;
mod outline;
mod recipe;
mod records;
pub mod resolved;
mod run;
mod statement;
mod terms;

pub use features::{Extracting, FeatureDesign, Map, Refused, declared_columns};
pub(crate) use fingerprint::{hash_network, hash_records};
pub use model::{BoxedModel, Form, OwnModel, PlannedModel, network_of, plan_model};
pub use outline::{Outline, outline};
pub use prdo_runfile::{Wiring, wiring};
pub use recipe::Recipe;
pub(crate) use recipe::recipe;
pub use records::{AnyHoldings, Holdings, Source, any_holdings, holdings, public_facts};
pub(crate) use run::common_class;
pub use run::{Built, FeatureFacts, NetworkFacts, Validation, build, build_own, build_showing};
pub use terms::{Planned, Public, terms};
