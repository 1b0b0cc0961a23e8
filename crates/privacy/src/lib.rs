//! THE GATE: the only place where private records are read.
//!
//! ```text
//! Shard → [ Gate: batch → per-record gradient → clip → exact sum → charge → noise ] → Released
//! ```
//!
//! A node's records are sealed in a [`Shard`] and nothing but the [`Gate`] reads them. A method asks a
//! [`Query`]; the gate samples, clips, sums on a public integer grid, charges the [`Ledger`] and only then
//! draws noise. What comes out is a [`Released`] value: [`Noised`] if it went through the mechanism,
//! [`Exposed`] if not. The two cannot be mixed and only `Noised` values can be turned into bytes for a
//! neighbour.
//!
//! What never happens here: input or output (what must be durable goes through a [`Book`], a [`Statement`] is a text:
//! files are their owners'; the operating system is asked for a [`Secret`] and nothing else), clocks, a sensitivity typed
//! in by hand, a release before its charge, a division by the realised batch size.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod answer;
pub mod by_round;
pub mod clip;
pub mod engine;
pub mod gate;
pub mod grid;
pub mod ledger;
pub mod linear;
pub mod model;
pub mod noise;
pub mod packed;
pub mod pairs;
pub mod planted;
pub mod protection;
pub mod query;
pub mod released;
pub mod rules;
pub mod sampling;
pub mod start;
pub mod statement;
pub mod streams;

pub use answer::{Answer, Answerer, Diagnostics, GateError};
pub use by_round::{ByRound, ByRoundError};
pub use clip::Clip;
pub use engine::{Differentiator, Engine, Piece, Worker};
pub use gate::{Gate, Measurement, Shard, ShardError};
pub use ledger::{Book, BookError, Ledger, LedgerError};
pub use linear::Linear;
pub use model::{Data, Model, Records};
pub use noise::simulated_shares;
pub use packed::{Dither, Packed, Packing, PublicDither};
pub use pairs::{NodeShares, PairKey, PairMechanism, PairSettings, SecretsOf, ShareKeys, SharesError};
pub use prdo_accounting::History;
pub use protection::{Exposed, Noised, Protection};
pub use query::{Clips, Query};
pub use released::{ComputedError, DecodeError, Released};
pub use rules::{OpenRules, PrivateRules};
pub use sampling::{Batch, Batches, Sampling, SamplingError};
pub use start::{Start, StartError};
pub use statement::{Statement, StatementError};
pub use streams::{Origin, Purpose, Secret, Stream};
