//! `prdo report`: rebuilds report.html from a run's files, and its figure for a paper.

use super::Failure;
use crate::progress::{say, tell};
use prdo::disk::write_atomically;
use prdo::export::write_figures;
use prdo::store::names;
use std::path::Path;

pub fn run(folder: &Path, figures: bool) -> Result<(), Failure> {
    let report = prdo::report::from_folder(folder).map_err(Failure::Input)?;
    for gap in &report.gaps {
        tell(&format!("warning: {gap}"));
    }
    let path = folder.join(names::REPORT);
    write_atomically(&path, report.html.as_bytes())?;
    let drawn = match &report.figure {
        Some(figure) if figures => write_figures(folder, names::FIGURE, figure)?,
        None if figures => {
            tell("warning: nothing to draw: no figure was written");
            Vec::new()
        }
        _ => Vec::new(),
    };
    [path].iter().chain(&drawn).for_each(|path| say(&path.display().to_string()));
    Ok(())
}
