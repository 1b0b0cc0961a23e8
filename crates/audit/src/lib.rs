//! Attacks on the privacy of the code that ships.
//!
//! The accountant says what a run costs *if* the code does what the paper says. This crate looks whether it does: real
//! nodes, real gates and real messages on a ring of four, with an adversary that is as strong as differential privacy
//! allows. It chooses every record but one, the models and the secrets, records every answer that leaves a gate, of which
//! all that travels is made, and then says whether that one record was there.
//!
//! 1. [`record_play`]: the same secret on two data sets that differ in one record. The noise is then the same, so the
//!    difference of two releases *is* the difference of the queries: it must be within the declared sensitivity.
//! 2. [`moments`]: statistics of the noise and of the batches, from the answers.
//! 3. [`likelihood`]: the optimal test, against the claimed trade-off curve, and the ε that it proves.
//!
//! With noise in pairs the adversary weighs all answers together, with and without the secrets of a coalition ([`view`]), and
//! every share is checked value by value ([`share_play`]).
//!
//! Beside them: [`restart`] (one payload per round, whatever dies), [`control`] (what is sent, and how much, does not depend
//! on records; values lie on the public grid), [`one_run`] (many canaries in one run of real size) and
//! [`reconstruction`] (a record rebuilt from a message, when there is no noise). [`battery`] puts it all together.
//!
//! What never happens here: trusting a figure of the gate other than the declared ones that are being checked. All that is
//! known of a run are its gates' answers, its messages, its published models, and what the adversary chose itself.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod battery;
pub mod canary;
pub mod chosen_gradients;
pub mod control;
pub mod error;
pub mod likelihood;
pub mod moments;
pub mod network;
pub mod one_run;
pub mod reconstruction;
pub mod record_play;
pub mod restart;
pub mod setting;
pub mod share_play;
pub mod statistics;
pub mod subject;
pub mod tradeoff;
pub mod view;

pub use battery::{Audit, Check, Finding, Report};
pub use error::AuditError;
pub use setting::{RunPairs, RunSetting, Setting};
pub use subject::{Shipped, Subject};
