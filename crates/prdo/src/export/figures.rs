//! Figures as files.

use prdo_disk::{DiskError, write_atomically};
use prdo_plot::{Figure, Format, PlotError};
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum FigureError {
    #[error("{file}: {error}")]
    Drawing { file: String, error: PlotError },
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// Writes a figure as SVG, PNG and PDF: these files.
pub fn write_figures(folder: &Path, name: &str, figure: &Figure) -> Result<Vec<PathBuf>, FigureError> {
    let mut written = Vec::new();
    for format in Format::ALL {
        let file = format!("{name}.{}", format.ending());
        let path = folder.join(&file);
        let bytes = figure.render(format).map_err(|error| FigureError::Drawing { file, error })?;
        write_atomically(&path, &bytes)?;
        written.push(path);
    }
    Ok(written)
}
