//! A real peer: one organisation's node on its own machine, neighbour to neighbour, no server.
//!
//! * [`machine`] is the round logic as a sans-I/O machine: events in, effects out. It knows no socket, no file and
//!   no clock, so that a seeded simulator drives the very code that ships;
//! * [`session`] joins the machine with the gate it asks and the folder it keeps things in; [`driver`] adds the network
//!   and the clock;
//! * [`wire`] is what travels: a fixed header bound to run, agreement, sender, receiver and exchange, then bytes;
//! * [`identity`] and [`agreement`] are who takes part and what all have signed; [`share_key`] is what two members draw shares
//!   from where noise is in pairs;
//! * [`home`] and [`ledger`] are what is kept, on a [`disk`] (a folder of real files: [`dir`]); [`transport`] is how
//!   neighbours are reached: [`local`] within one process, `iroh` over QUIC.
//!
//! What never happens here: reading a record (the gate does), drawing noise, sending what is not `Noised`, sending
//! what is not durable; a page, a log or a line for people (what happens is reported to a [`driver::Watch`]). Of data sets it
//! knows the public shape that all have signed ([`agreement::Facts`]) and nothing else.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod agreement;
pub mod dir;
pub mod disk;
pub mod driver;
pub mod home;
pub mod identity;
#[cfg(feature = "iroh")]
pub mod iroh;
pub mod ledger;
pub mod local;
pub mod machine;
pub mod memory;
mod private_file;
pub mod session;
pub mod share_key;
pub mod transport;
pub mod wire;
