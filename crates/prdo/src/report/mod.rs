//! Reports: self-contained HTML pages with plots, the network's picture, the settings and a privacy statement.

mod comparison;
mod comparison_file;
mod groups;
mod layers;
mod network;
mod page;
mod privacy;
mod single;
mod style;

pub use comparison::{Cell, Comparison};
pub use groups::{Group, Spread};
pub use layers::describe;
pub use network::network_figure;
pub use page::{Page, escape, table};
pub use privacy::{Kind, Statement, features_note, statement};
pub use style::{measured_note, method_style};

use std::path::Path;

/// The report of a run's or a comparison's folder, built from its files.
///
/// # Errors
/// What is missing or damaged, in words.
pub fn from_folder(folder: &Path) -> Result<String, String> {
    if !folder.is_dir() {
        return Err(format!("{} is not a folder", folder.display()));
    }
    if folder.join("comparison.json").is_file() {
        return Ok(Comparison::read(folder)?.to_html());
    }
    single::from_folder(folder)
}
