//! Why a run is not trained to its end.

use super::ResultsError;
use crate::error::RunError;
use prdo_simulator::{CheckpointError, SimulationError};
use prdo_store::artefact::Damage;
use prdo_store::{FolderError, names};
use std::path::PathBuf;

pub type ObserverError = Box<dyn std::error::Error + Send + Sync>;

#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    Results(#[from] ResultsError),
    #[error("{0}")]
    Statement(String),
    #[error("{name}: {error}")]
    File { name: &'static str, error: std::io::Error },
    #[error("summary.json is damaged: {0}")]
    Summary(Damage),
    #[error("{} holds a finished run with other settings ({}): choose another --out", .folder.display(), some(.differences))]
    OtherRun { folder: PathBuf, differences: Vec<String> },
    #[error(
        "{}: {error}{}\n  = help: {}train into another folder, or remove {} to start again",
        .folder.join(names::CHECKPOINT).display(), why(.error, .differences.as_deref()), first(.error), .folder.display()
    )]
    Checkpoint {
        folder: PathBuf,
        error: CheckpointError,
        /// In which its settings differ, where they can be read.
        differences: Option<Vec<String>>,
    },
    #[error("{} does not reach the checkpoint's round {round}: the folder is damaged", .file.display())]
    RowsMissing { file: PathBuf, round: u32 },
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
    if *error == CheckpointError::OtherRun { "put that back to resume it, " } else { "" }
}

fn some(differences: &[String]) -> String {
    const MOST: usize = 3;
    let mut shown = differences.iter().take(MOST).cloned().collect::<Vec<_>>().join("; ");
    if differences.len() > MOST {
        shown += &format!("; and {} more", differences.len() - MOST);
    }
    shown
}
