//! Why an experiment does not come to its end.

use prdo::error::RunError;
use prdo::export::FigureError;
use prdo::runfile::ConfigError;
use prdo::store::FolderError;
use prdo::theory::TheoryError;
use prdo::trainer::{ObserverError, TrainError};
use std::path::{Path, PathBuf};

/// Why an experiment does not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A run file is refused.
    #[error(transparent)]
    RunFile(#[from] ConfigError),
    /// A run is refused or fails.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A folder cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A number is outside its range in the theory.
    #[error(transparent)]
    Theory(#[from] TheoryError),
    /// Results that cannot be written as JSON.
    #[error("results cannot be written: {0}")]
    Json(#[from] serde_json::Error),
    /// Two choices that do not go together.
    #[error("{choice} is not allowed with {with}{why}")]
    Choice {
        /// What was chosen.
        choice: String,
        /// Beside what.
        with: String,
        /// Why not, and what to do.
        why: &'static str,
    },
    /// Images that are not there.
    #[error(
        "{title} is not there: looked for {file} in {}\n  = help: `prdo data get {name}` fetches it into data/; {option} \
         DIR names the folder that holds {folder}; --quick needs no data", places(.looked)
    )]
    NoData {
        /// What people call them.
        title: &'static str,
        /// The name to fetch them by.
        name: &'static str,
        /// The file that was looked for.
        file: &'static str,
        /// Where.
        looked: Vec<PathBuf>,
        /// The option that says where else to look, and for the folder of this name.
        option: &'static str,
        /// See there.
        folder: &'static str,
    },
    /// A file of CIFAR-10 that is not whole.
    #[error(
        "{} has {found} bytes; CIFAR-10's has {whole}, 10000 images\n  = help: `prdo data get cifar10` fetches it whole",
        .file.display()
    )]
    CutData {
        /// Which one.
        file: PathBuf,
        /// Its bytes.
        found: u64,
        /// Those it should have.
        whole: u64,
    },
    /// A path that the system does not understand.
    #[error("{option} {}: {error}", .path.display())]
    Path {
        /// The option that names it.
        option: &'static str,
        /// The path.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A results file that the system does not give.
    #[error("cannot read {}: {error}", .file.display())]
    Unreadable {
        /// Which one.
        file: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A results file that is damaged, or not one of these.
    #[error(
        "{} cannot be gone on with: {why}\n  = help: it is kept as it is; move it away, or choose another --out",
        .file.display()
    )]
    NotUnderstood {
        /// Which one.
        file: PathBuf,
        /// Why.
        why: String,
    },
    /// Tables were to be drawn of nothing.
    #[error(
        "--table-only: {} holds no results\n  = help: without --table-only {cell}s are run; --out names the folder that \
         holds their results", .file.display()
    )]
    NoResults {
        /// The file that would hold them.
        file: PathBuf,
        /// What a cell is called.
        cell: &'static str,
    },
    /// A finished run that lacks what its cell needs.
    #[error("{cell}: its {file} lacks {what}")]
    Lacks {
        /// The cell's folder.
        cell: String,
        /// The run's file.
        file: &'static str,
        /// What is not in it.
        what: &'static str,
    },
    /// A run that is not trained to its end.
    #[error(transparent)]
    Train(TrainError),
    /// A figure that cannot be written.
    #[error(transparent)]
    Figure(#[from] FigureError),
    /// The program around the experiments cannot be interrupted.
    #[error("{0}")]
    Interrupt(#[source] ObserverError),
}

impl Error {
    /// Whether the input was wrong (exit 2), rather than the work failing (exit 1).
    pub fn is_input(&self) -> bool {
        match self {
            Self::Run(error) => error.is_input(),
            Self::Folder(error) => error.is_input(),
            Self::Train(error) => error.is_input(),
            Self::RunFile(_)
            | Self::Choice { .. }
            | Self::NoData { .. }
            | Self::CutData { .. }
            | Self::Path { .. }
            | Self::Unreadable { .. }
            | Self::NotUnderstood { .. }
            | Self::NoResults { .. } => true,
            Self::Theory(_) | Self::Json(_) | Self::Lacks { .. } | Self::Figure(_) | Self::Interrupt(_) => {
                false
            }
        }
    }
}

/// What an experiment said at a checkpoint comes back as it was.
impl From<TrainError> for Error {
    fn from(error: TrainError) -> Self {
        match error {
            TrainError::Observer(own) => match own.downcast() {
                Ok(own) => *own,
                Err(other) => Self::Train(TrainError::Observer(other)),
            },
            other => Self::Train(other),
        }
    }
}

fn places(looked: &[PathBuf]) -> String {
    let shown = looked.iter().map(PathBuf::as_path).map(Path::display);
    shown.map(|place| place.to_string()).collect::<Vec<_>>().join(" and in ")
}
