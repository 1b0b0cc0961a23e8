//! The battery of checks, on the code as it ships and with each planted bug in it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[cfg(debug_assertions)]
mod broken;
mod clean;
/// A release build has no bugs to plant.
#[cfg(debug_assertions)]
mod pairs;
#[cfg(debug_assertions)]
mod planted;
mod release;
