//! What a comparison leaves in its folder.

use crate::export::{FigureError, write_figures};
use prdo_report::ComparisonReport;
use prdo_store::{Folder, FolderError, artefact, names};

#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error(transparent)]
    Figure(#[from] FigureError),
}

impl WriteError {
    /// Whether the input was wrong (exit 2), rather than the work failing (exit 1).
    pub fn is_input(&self) -> bool {
        match self {
            Self::Folder(error) => error.is_input(),
            Self::Figure(_) => false,
        }
    }
}

/// Tables, figures, page, and last, for it marks the folder as finished, the comparison itself.
pub fn write_comparison(comparison: &ComparisonReport, folder: &Folder) -> Result<(), WriteError> {
    folder.write(names::TABLE, comparison.to_csv().as_bytes())?;
    folder.write(names::TABLE_LATEX, comparison.to_latex().as_bytes())?;
    folder.write(names::DIFFERENCES, comparison.differences_to_csv().as_bytes())?;
    write_figures(folder.path(), names::FIGURE, &comparison.figure())?;
    folder.write(names::REPORT, comparison.to_html().as_bytes())?;
    folder.write(names::COMPARISON, artefact::text(&comparison.to_file()).as_bytes())?;
    Ok(())
}
