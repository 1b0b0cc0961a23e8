//! The command as a person types it: one program for all its tests, one module for each subject.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

mod audit;
mod bad_input;
mod bench;
mod command;
mod comparisons;
mod dashboard;
mod data;
mod data_get;
mod docs;
mod features;
#[cfg(unix)]
mod frontier;
// The system's exponentials and logarithms may round differently elsewhere.
#[cfg(all(target_os = "linux", target_arch = "x86_64", feature = "peers", feature = "download"))]
mod golden;
mod hospitals;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod kept;
#[cfg(unix)]
mod kill;
mod mistakes;
#[cfg(all(target_os = "linux", feature = "peers", debug_assertions))]
mod netns;
mod networks;
#[cfg(all(unix, feature = "peers", debug_assertions))]
mod node;
mod node_agreement;
#[cfg(all(unix, feature = "peers", debug_assertions))]
mod node_features;
#[cfg(all(unix, feature = "peers", debug_assertions))]
mod node_many;
#[cfg(all(unix, feature = "peers", debug_assertions))]
mod node_pairs;
#[cfg(all(unix, feature = "peers", debug_assertions))]
mod node_refusals;
#[cfg(all(unix, feature = "peers"))]
mod node_walk;
mod own_table;
mod pairs;
mod plan;
mod privacy;
mod real_data;
mod report;
#[cfg(unix)]
mod table_1;
mod tools;
mod tune;
mod wires;
mod worth;
