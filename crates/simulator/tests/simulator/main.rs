//! The simulator from outside.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::needless_range_loop)]

mod identities;
