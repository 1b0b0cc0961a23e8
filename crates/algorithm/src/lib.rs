//! Decentralized methods as pure state machines of one node, and the graphs they run on.
//!
//! A [`Node`] sees the world at two points only: the answer to its query, and its neighbours' messages. It
//! has no clock, no file, no socket and no randomness, so the very same code runs in the simulator, on a peer
//! over the network and in a fault-injecting test, and the three give bit-identical models.
//!
//! What never happens here: reading a record, drawing noise, knowing what the model is.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod graph;
pub mod message;
pub mod methods;
pub mod node;

pub use message::{Inbox, Message, Shape};
pub use methods::{
    Asks, Card, Combine, Definition, Exchanges, Method, Neighbourhood, Settings, SettingsError, Startable,
};
pub use node::{Failure, Node};
