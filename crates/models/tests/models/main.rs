//! Models from outside.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod network;
mod vgg_fixture;
