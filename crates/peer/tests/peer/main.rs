//! The peer from outside: frames, the machine, links, faults. `tests/hostile` is a program of its own: it measures its
//! memory.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod faults;
#[cfg(feature = "iroh")]
mod links;
mod machine;
mod many;
#[cfg(feature = "iroh")]
mod net;
mod problem;
mod wire;
mod world;
