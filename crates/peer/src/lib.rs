//! A real peer: one organisation's node on its own machine, neighbour to neighbour, no server.
//!
//! * [`machine`] is the round logic as a sans-I/O machine: events in, effects out. It knows no socket, no file and
//!   no clock, so that a seeded simulator drives the very code that ships;
//! * [`wire`] is what travels: a fixed header bound to run, agreement, sender, receiver and exchange, then bytes;
//! * [`disk`] is where things are kept, durably: a folder ([`dir`]) or, in tests, memory that fails ([`memory`]);
//! * [`ledger`] is the file of all charges to a set of records, [`home`] the folder of one run at one node;
//! * [`transport`] is how neighbours are reached;
//! * [`driver`] joins the four: it is the only place where effects become deeds.
//!
//! What never happens here: reading a record (the gate does), drawing noise, sending what is not `Noised`, sending
//! what is not durable.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod dir;
pub mod disk;
pub mod home;
pub mod ledger;
pub mod memory;
pub mod transport;
pub mod wire;
