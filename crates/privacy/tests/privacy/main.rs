//! The gate's promises. `tests/wall.rs` and `tests/planted.rs` are programs of their own: they are about how code is
//! compiled.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod gate;
mod linear;
mod pairs;
mod single;
