//! Models from outside.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod network;
mod vgg_fixture;
