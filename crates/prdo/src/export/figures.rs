//! Figures as files.

use prdo_disk::{DiskError, write_atomically};
use prdo_plot::{Figure, Format, PlotError};
use std::path::{Path, PathBuf};

/// A figure that cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum FigureError {
    /// It cannot be drawn.
    #[error("{file}: {error}")]
    Drawing {
        /// As which file.
        file: String,
        /// Why.
        error: PlotError,
    },
    /// The disk.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// Writes a figure as SVG, PNG and PDF: these files.
///
/// # Errors
/// A figure that cannot be drawn, or a disk that fails.
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
