//! Why a run is not trained to its end.

use super::ResultsError;
use crate::error::RunError;
use prdo_simulator::{CheckpointError, SimulationError};
use prdo_store::artefact::Damage;
use prdo_store::{FolderError, names};
use std::path::PathBuf;

/// What an observer reports of itself.
pub type ObserverError = Box<dyn std::error::Error + Send + Sync>;

/// Why a run is not trained to its end.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// The folder.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The run itself.
    #[error(transparent)]
    Run(#[from] RunError),
    /// What it leaves behind.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// The statement of its records.
    #[error("{0}")]
    Statement(String),
    /// A file of the folder that cannot be read or written.
    #[error("{name}: {error}")]
    File {
        /// Which one.
        name: &'static str,
        /// Why.
        error: std::io::Error,
    },
    /// A finished run whose summary is not whole.
    #[error("summary.json is damaged: {0}")]
    Summary(Damage),
    /// A finished run with other settings.
    #[error("{} holds a finished run with other settings ({}): choose another --out", .folder.display(), some(.differences))]
    OtherRun {
        /// Where.
        folder: PathBuf,
        /// In which they differ.
        differences: Vec<String>,
    },
    /// A checkpoint that is not this run's.
    #[error(
        "{}: {error}{}\n  = help: {}train into another folder, or remove {} to begin again",
        .folder.join(names::CHECKPOINT).display(), why(.error, .differences.as_deref()), first(.error), .folder.display()
    )]
    Checkpoint {
        /// The run's folder.
        folder: PathBuf,
        /// What is wrong with it.
        error: CheckpointError,
        /// In which its settings differ, where they can be read.
        differences: Option<Vec<String>>,
    },
    /// Rows that end before the checkpoint.
    #[error("{} does not reach the checkpoint's round {round}: the folder is damaged", .file.display())]
    RowsMissing {
        /// The rows' file.
        file: PathBuf,
        /// The checkpoint's round.
        round: u32,
    },
    /// Whoever watched it.
    #[error("{0}")]
    Observer(#[source] ObserverError),
}

impl From<SimulationError> for TrainError {
    fn from(error: SimulationError) -> Self {
        RunError::from(error).into()
    }
}

impl TrainError {
    /// Whether the input was wrong (exit 2), rather than the work failing (exit 1).
    pub fn is_input(&self) -> bool {
        match self {
            Self::Folder(error) => error.is_input(),
            Self::Run(error) => error.is_input(),
            Self::Results(error) => error.is_input(),
            Self::Summary(_) | Self::OtherRun { .. } | Self::Checkpoint { .. } | Self::RowsMissing { .. } => {
                true
            }
            Self::Statement(_) | Self::File { .. } | Self::Observer(_) => false,
        }
    }
}

fn why(error: &CheckpointError, differences: Option<&[String]>) -> String {
    match (error, differences) {
        (CheckpointError::OtherRun, Some([])) => {
            ": the settings are the same, but the records, the graph's file or the version of prdo are not"
                .into()
        }
        (CheckpointError::OtherRun, Some(differences)) => format!(": {}", some(differences)),
        _ => String::new(),
    }
}

/// Cells of tables come here too, which know no --overwrite.
fn first(error: &CheckpointError) -> &'static str {
    if *error == CheckpointError::OtherRun { "put that back to go on with it, " } else { "" }
}

/// The first few differences.
fn some(differences: &[String]) -> String {
    const MOST: usize = 3;
    let mut shown = differences.iter().take(MOST).cloned().collect::<Vec<_>>().join("; ");
    if differences.len() > MOST {
        shown += &format!("; and {} more", differences.len() - MOST);
    }
    shown
}
