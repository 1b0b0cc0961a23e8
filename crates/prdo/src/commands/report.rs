//! `prdo report`: rebuilds report.html from a run's files, and its figure for a paper.

use super::Failure;
use crate::progress::{say, tell};
use prdo::output::write_atomically;
use prdo::plot::{Figure, Format};
use std::path::Path;

pub fn run(folder: &Path, figures: bool) -> Result<(), Failure> {
    let report = prdo::report::from_folder(folder).map_err(Failure::Input)?;
    for gap in &report.gaps {
        tell(&format!("warning: {gap}"));
    }
    let path = folder.join("report.html");
    write_atomically(&path, report.html.as_bytes())?;
    match &report.figure {
        Some(figure) if figures => write_figures(folder, "figure", figure)?,
        None if figures => tell("warning: there is nothing to draw: no figure was written"),
        _ => {}
    }
    say(&format!("{}", path.display()));
    Ok(())
}

/// Writes a figure as SVG, PNG and PDF.
pub fn write_figures(folder: &Path, name: &str, figure: &Figure) -> Result<(), Failure> {
    for format in Format::ALL {
        let name = format!("{name}.{}", format.ending());
        let bytes = figure.render(format).map_err(|e| Failure::Work(format!("{name}: {e}")))?;
        write_atomically(&folder.join(name), &bytes)?;
    }
    Ok(())
}
