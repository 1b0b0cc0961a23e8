//! Why an experiment does not come to its end.

use prdo::error::RunError;
use prdo::export::FigureError;
use prdo::runfile::ConfigError;
use prdo::store::FolderError;
use prdo::theory::TheoryError;
use prdo::trainer::{ObserverError, TrainError};
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    RunFile(#[from] ConfigError),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error(transparent)]
    Theory(#[from] TheoryError),
    #[error("cannot write the results: {0}")]
    Json(#[from] serde_json::Error),
    #[error("{choice} is not allowed with {with}{why}")]
    Choice { choice: String, with: String, why: &'static str },
    /// `name` is what `prdo data get` calls it; `option` says where else to look for `folder`.
    #[error(
        "{title} is not there: looked for {file} in {}\n  = help: `prdo data get {name}` fetches it into data/; {option} \
         DIR names the folder that holds {folder}; --quick needs no data", places(.looked)
    )]
    NoData {
        title: &'static str,
        name: &'static str,
        file: &'static str,
        looked: Vec<PathBuf>,
        option: &'static str,
        folder: &'static str,
    },
    #[error(
        "{} has {found} bytes; CIFAR-10's has {expected}, 10000 images\n  = help: `prdo data get cifar10` fetches it whole",
        .file.display()
    )]
    TruncatedData { file: PathBuf, found: u64, expected: u64 },
    #[error("{option} {}: {error}", .path.display())]
    Path { option: &'static str, path: PathBuf, error: std::io::Error },
    #[error("cannot read {}: {error}", .file.display())]
    Unreadable { file: PathBuf, error: std::io::Error },
    /// A results file that is damaged, or not one of these.
    #[error(
        "cannot resume from {}: {why}\n  = help: it is kept as it is; move it away, or choose another --out",
        .file.display()
    )]
    NotUnderstood { file: PathBuf, why: String },
    #[error(
        "--table-only: {} holds no results\n  = help: without --table-only {cell}s are run; --out names the folder that \
         holds their results", .file.display()
    )]
    NoResults { file: PathBuf, cell: &'static str },
    /// A finished run that lacks what its cell needs.
    #[error("{cell}: its {file} lacks {what}")]
    Lacks { cell: String, file: &'static str, what: &'static str },
    #[error(
        "no settings were chosen for {what}; crates/paper/src/frontier/settings.csv lists those that were"
    )]
    NoSettings { what: String },
    #[error(transparent)]
    Train(TrainError),
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
            | Self::TruncatedData { .. }
            | Self::Path { .. }
            | Self::Unreadable { .. }
            | Self::NotUnderstood { .. }
            | Self::NoSettings { .. }
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
