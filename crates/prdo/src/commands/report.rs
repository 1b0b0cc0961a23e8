//! `prdo report`: rebuilds report.html from a run's files, and its figure for a paper.

use super::Failure;
use crate::progress::{say, tell};
use prdo::output::write_atomically;
use prdo::plot::{Figure, Format};
use std::path::{Path, PathBuf};

pub fn run(folder: &Path, figures: bool) -> Result<(), Failure> {
    let report = prdo::report::from_folder(folder).map_err(Failure::Input)?;
    for gap in &report.gaps {
        tell(&format!("warning: {gap}"));
    }
    let path = folder.join("report.html");
    write_atomically(&path, report.html.as_bytes())?;
    let drawn = match &report.figure {
        Some(figure) if figures => write_figures(folder, "figure", figure)?,
        None if figures => {
            tell("warning: there is nothing to draw: no figure was written");
            Vec::new()
        }
        _ => Vec::new(),
    };
    [path].iter().chain(&drawn).for_each(|path| say(&path.display().to_string()));
    Ok(())
}

/// Writes a figure as SVG, PNG and PDF: these files.
pub fn write_figures(folder: &Path, name: &str, figure: &Figure) -> Result<Vec<PathBuf>, Failure> {
    let mut written = Vec::new();
    for format in Format::ALL {
        let name = format!("{name}.{}", format.ending());
        let bytes = figure.render(format).map_err(|e| Failure::Work(format!("{name}: {e}")))?;
        let path = folder.join(name);
        write_atomically(&path, &bytes)?;
        written.push(path);
    }
    Ok(written)
}
