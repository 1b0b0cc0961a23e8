//! What shows results to people: reports, the live dashboard, and the statistics behind their claims.
//!
//! ```text
//! a folder → what can be read of it and what cannot (run_folder.rs) → a page (single.rs, comparison_page.rs, member.rs)
//! ```
//!
//! A report is a self-contained HTML page with plots, the network's picture, the settings and a privacy statement.
//! [`dashboard`] shows a folder while it is written; [`http`] serves its page to this machine alone.
//!
//! What never happens here: training, printing, or reading anything but run files and what `prdo-store` has types for.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod against;
mod baseline;
mod chart;
mod comparison;
mod comparison_file;
mod comparison_page;
pub mod dashboard;
mod differences;
mod export;
mod glossary;
mod groups;
pub mod http;
mod latex;
mod layers;
mod member;
mod network;
mod page;
mod privacy;
mod records;
mod run_folder;
mod single;
pub mod statistics;
mod style;
mod verdict;
pub mod wording;

pub use comparison::ComparisonReport;
pub use differences::{Difference, Measure};
pub use groups::{Group, Spread};
pub use layers::describe;
pub use network::network_figure;
pub use page::{Page, escape, table};
pub use privacy::{StatedPairs, Statement, Tone, features_note, statement};
pub use run_folder::{Gap, Report};
pub use style::{measured_note, method_style};

use prdo_store::Contents;
use std::path::Path;

/// The report of a run's, a comparison's or a member's folder, built from its files. What is missing or damaged is
/// left out and listed.
pub fn from_folder(folder: &Path) -> Result<Report, String> {
    if !folder.is_dir() {
        return Err(format!("{} is not a folder", folder.display()));
    }
    match Contents::of(folder) {
        Contents::Run => single::from_folder(folder),
        Contents::Comparison => comparison_page::from_folder(folder),
        Contents::Member => member::from_folder(folder),
        Contents::Results | Contents::Nothing | Contents::Foreign => Err(run_folder::nothing(folder, &[])),
    }
}
