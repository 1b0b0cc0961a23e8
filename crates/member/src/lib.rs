//! One member of a signed agreement at work on its own machine: from the agreement, the member's key and its own data
//! to a session that a driver can run.
//!
//! * [`agreed`] makes terms to sign and says what an agreement means; [`Membership`] is who this is in it;
//! * [`records`] reads the member's own data and holds it against what was agreed on;
//! * [`account`] is the ledger of these records: what they have cost, and whether the run fits the budget;
//! * [`prepare`] takes the folders, seals the records and gives the session's setup;
//! * [`watcher`] writes the log ([`journal`]) and the status for people; [`status`] reads it back; [`page`] serves it;
//!   [`HOMES`] shows it on the dashboard;
//! * [`predict`] opens the model that a home holds in the end.
//!
//! What never happens here: a release (the gate's), a message (the session's), a change of anybody's files before
//! everything was checked.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod account;
pub mod agreed;
mod error;
pub mod journal;
mod membership;
pub mod page;
pub mod predict;
pub mod prepare;
pub mod records;
mod shares;
pub mod status;
mod watched;
pub mod watcher;

pub use error::NodeError;
pub use membership::Membership;
pub use watched::HOMES;
