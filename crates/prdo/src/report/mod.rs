//! Reports: self-contained HTML pages with plots, the network's picture, the settings and a privacy statement.
//!
//! ```text
//! a folder → what can be read of it and what cannot (found.rs) → a page (single.rs, comparison_page.rs, member.rs)
//! ```

mod baseline;
mod chart;
mod comparison;
mod comparison_file;
mod comparison_page;
mod differences;
mod export;
mod found;
mod groups;
mod latex;
mod layers;
mod member;
mod network;
mod page;
mod privacy;
mod records;
mod single;
mod style;
mod verdict;
mod words;

pub use comparison::{Cell, Comparison};
pub use differences::{Difference, Measure};
pub use found::Gap;
pub use groups::{Group, Spread};
pub use layers::describe;
pub use network::network_figure;
pub use page::{Page, escape, table};
pub use privacy::{Kind, Statement, features_note, statement};
pub use style::{measured_note, method_style};

use crate::plot::Figure;
use std::path::Path;

/// A report, and what it lacks.
#[derive(Clone, Debug)]
pub struct Report {
    /// The page.
    pub html: String,
    /// What is missing or damaged in the folder; the page lists it too.
    pub gaps: Vec<Gap>,
    /// Its main figure, for papers; nothing where there is nothing to draw.
    pub figure: Option<Figure>,
}

/// The report of a run's, a comparison's or a member's folder, built from its files. What is missing or damaged is
/// left out and listed.
///
/// # Errors
/// A folder of which nothing can be shown, in words.
pub fn from_folder(folder: &Path) -> Result<Report, String> {
    if !folder.is_dir() {
        return Err(format!("{} is not a folder", folder.display()));
    }
    match found::kind(folder) {
        Some(found::Kind::Run) => single::from_folder(folder),
        Some(found::Kind::Comparison) => comparison_page::from_folder(folder),
        Some(found::Kind::Member) => member::from_folder(folder),
        None => Err(nothing(folder, &[])),
    }
}

/// What to say of a folder that has nothing to show.
fn nothing(folder: &Path, gaps: &[Gap]) -> String {
    let listed: String = gaps.iter().map(|gap| format!("\n  {gap}")).collect();
    format!(
        "{} has nothing to report{listed}\n  a run's folder holds run.toml (settings), metrics.csv (measurements) and, once \
         it is finished, summary.json; a comparison's holds comparison.json",
        folder.display()
    )
}

/// The list of what is missing, on the page.
fn add_gaps(page: &mut Page, gaps: &[Gap]) {
    if gaps.is_empty() {
        return;
    }
    let items: String = gaps.iter().map(|gap| format!("<li>{}</li>", escape(&gap.to_string()))).collect();
    page.add(&format!(
        "<div class=\"note warn\">This report is not complete: some files are missing or damaged.\
         <ul class=\"gaps\">{items}</ul></div>\n"
    ));
}
