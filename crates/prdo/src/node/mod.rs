//! One member of a signed agreement at work on its own machine: from the agreement, the member's key and its own data
//! to a session that a driver can run.
//!
//! * [`Seat`] is who this is in the agreement and what the agreement means;
//! * [`records`] reads the member's own data and holds it against what was agreed on;
//! * [`account`] is the ledger of these records: what they have cost, and whether the run fits the budget;
//! * [`prepare`] takes the folders, seals the records and gives the session's setup;
//! * [`journal`] is what is written for people: the log and the status; [`status`] reads it back.
//!
//! What never happens here: a release (the gate's), a message (the session's), a change of anybody's files before
//! everything was checked.

pub mod account;
mod error;
pub mod journal;
pub mod prepare;
pub mod records;
mod seat;
pub mod status;

pub use error::NodeError;
pub use seat::Seat;
