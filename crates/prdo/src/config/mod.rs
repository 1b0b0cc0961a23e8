//! What a run file means as a run.
//!
//! `layers`, `model`, `features`, `recipe`, `records` and `build` turn a [`RunFile`](prdo_runfile::RunFile)
//! into a run; `terms` does so from public facts alone, `outline` as far as a plan needs it; `resolved` writes its
//! settings back with everything filled in.

mod build;
mod features;
pub mod layers;
mod model;
mod outline;
mod recipe;
mod records;
pub mod resolved;
mod terms;

pub(crate) use build::common_class;
pub use build::{Built, FeatureFacts, NetworkFacts, Validation, build, build_own, build_showing};
pub use features::{Extracting, FeaturePlan, Map, Refused, declared_columns};
pub use model::{BoxedModel, Form, OwnModel, PlannedModel, network_of, plan_model};
pub use outline::{Outline, outline};
pub use prdo_runfile::{Wiring, wiring};
pub use recipe::Recipe;
pub(crate) use recipe::recipe;
pub use records::{Holdings, Kept, Source, holdings, kept_holdings, public_facts};
pub use terms::{Planned, Public, terms};
