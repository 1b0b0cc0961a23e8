//! The runs of a job that has many (a comparison, a search, what joining is worth), in its folder until all are finished:
//! a file for each that is finished, a folder with a checkpoint for each that is begun. The same command resumes them.

use crate::build::Built;
use crate::error::RunError;
use crate::run::Prepared;
use crate::trainer::{Identity, Opened, Options, TrainError, Trained, Trainer};
use prdo_runfile::{ConfigError, Document};
use prdo_simulator::End;
use prdo_store::{Folder, FolderError, Part, artefact, names};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};
use std::time::Duration;

const CHECKPOINT_EVERY: Duration = Duration::from_secs(20);

#[derive(Debug, thiserror::Error)]
pub enum PartsError {
    #[error(
        "{} holds finished runs of an interrupted {job} with other settings, which are kept: choose another --out, or add \
         --overwrite", .folder.display()
    )]
    OtherSettings { folder: PathBuf, job: &'static str },
    #[error("{}: {error}", names::PARTS)]
    Disk { error: std::io::Error },
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Train(#[from] TrainError),
}

impl PartsError {
    /// Whether the input was wrong (exit 2), rather than the work failing (exit 1).
    pub fn is_input(&self) -> bool {
        match self {
            Self::OtherSettings { .. } | Self::Config(_) => true,
            Self::Disk { .. } => false,
            Self::Folder(error) => error.is_input(),
            Self::Train(error) => error.is_input(),
        }
    }
}

/// How a part ended.
#[derive(Debug)]
pub enum Fate<T> {
    Finished(T),
    /// It cannot be trained to its end; the others can.
    Failed(RunError),
    Stopped,
}

/// What a part trains.
pub trait Work {
    /// Names its settings and its records.
    fn fingerprint(&self) -> [u8; 32];
    /// In the folder of the part, at its last checkpoint or at its beginning.
    fn open<'a>(&'a mut self, folder: &'a Folder) -> Result<Trainer<'a>, TrainError>;
}

/// The run of a run file.
pub struct FileRun<'d> {
    pub document: &'d Document,
    pub built: Built,
}

impl Work for FileRun<'_> {
    fn fingerprint(&self) -> [u8; 32] {
        self.built.fingerprint
    }

    fn open<'a>(&'a mut self, folder: &'a Folder) -> Result<Trainer<'a>, TrainError> {
        match Trainer::open(folder, self.document, &mut self.built)? {
            Opened::Unfinished(trainer) => Ok(trainer),
            Opened::Finished(_) => {
                Err(FolderError::Finished { path: folder.path().display().to_string() }.into())
            }
        }
    }
}

/// A run that a program made.
pub struct MadeRun {
    pub prepared: Prepared,
    pub identity: Identity,
}

impl Work for MadeRun {
    fn fingerprint(&self) -> [u8; 32] {
        self.identity.fingerprint
    }

    fn open<'a>(&'a mut self, folder: &'a Folder) -> Result<Trainer<'a>, TrainError> {
        Trainer::open_made(folder, &mut self.prepared, self.identity.clone())
    }
}

/// A fingerprint as files have it.
pub fn shown(fingerprint: &[u8; 32]) -> String {
    fingerprint.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub struct Parts<'a> {
    pub folder: &'a Folder,
    /// What the job is called: "comparison".
    pub job: &'static str,
    /// The command that resumes it.
    pub command: String,
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

impl Parts<'_> {
    /// Begins with those in the folder, which stay unless they are to be replaced. Finished runs of a job with other settings
    /// would be lost, and are refused.
    pub fn open(&self, settings: &str, overwrite: bool) -> Result<(), PartsError> {
        if overwrite {
            self.remove()?;
        }
        let there = std::fs::read_to_string(self.folder.file(names::PARTS_SETTINGS));
        if there.is_ok_and(|there| there != settings) && self.finished() > 0 {
            return Err(PartsError::OtherSettings {
                folder: self.folder.path().to_path_buf(),
                job: self.job,
            });
        }
        Ok(self.folder.write(names::PARTS_SETTINGS, settings.as_bytes())?)
    }

    /// How many are finished.
    pub fn finished(&self) -> usize {
        let entries = std::fs::read_dir(self.folder.file(names::PARTS)).into_iter().flatten().flatten();
        entries.filter(|entry| entry.path().extension().is_some_and(|end| end == "json")).count()
    }

    pub fn remove(&self) -> Result<(), PartsError> {
        let path = self.folder.file(names::PARTS);
        if path.is_dir() { gone(&path) } else { Ok(()) }
    }

    /// What a part found when it was finished, if it was, with the same settings and records.
    pub fn kept<T: DeserializeOwned>(&self, name: &str, fingerprint: &str) -> Option<T> {
        let bytes = std::fs::read(self.file(name)).ok()?;
        let part = serde_json::from_slice::<Part<T>>(&bytes).ok()?;
        (part.fingerprint == fingerprint).then_some(part.run)
    }

    /// Keeps what a part found.
    pub fn keep<T: Serialize>(&self, name: &str, fingerprint: &str, run: &T) -> Result<(), PartsError> {
        let part = Part { fingerprint: fingerprint.to_owned(), run };
        let file = format!("{}/{name}.json", names::PARTS);
        Ok(self.folder.write(&file, artefact::line(&part).as_bytes())?)
    }

    /// One part: as it was finished before, if its settings and records are still the same, or trained now from its last
    /// checkpoint. `again` prepares it once more, for a checkpoint that does not fit.
    pub fn part<W: Work, T: Serialize + DeserializeOwned>(
        &self,
        name: &str,
        mut work: W,
        again: impl FnOnce() -> Result<W, PartsError>,
        found: impl FnOnce(&W, Trained) -> T,
    ) -> Result<Fate<T>, PartsError> {
        if (self.stop)() {
            return Ok(Fate::Stopped);
        }
        let fingerprint = shown(&work.fingerprint());
        if let Some(run) = self.kept(name, &fingerprint) {
            return Ok(Fate::Finished(run));
        }
        let begun = self.folder.file(&format!("{}/{name}", names::PARTS));
        let trained = match self.train(&begun, &mut work) {
            // Its records are others now, or its files are not whole: it begins anew, as a finished one would.
            Err(TrainError::Checkpoint { .. } | TrainError::RowsMissing { .. }) => {
                gone(&begun)?;
                work = again()?;
                self.train(&begun, &mut work)
            }
            trained => trained,
        };
        match trained {
            Err(TrainError::Run(error)) => Ok(Fate::Failed(error)),
            Err(error) => Err(error.into()),
            Ok(trained) if trained.end == End::Stopped => Ok(Fate::Stopped),
            Ok(trained) => {
                let run = found(&work, trained);
                self.keep(name, &fingerprint, &run)?;
                gone(&begun)?;
                Ok(Fate::Finished(run))
            }
        }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.file(&format!("{}/{name}.json", names::PARTS))
    }

    fn train(&self, begun: &Path, work: &mut impl Work) -> Result<Trained, TrainError> {
        let folder = Folder::open(begun)?;
        let trainer = work.open(&folder)?;
        let stop = || (self.stop)();
        let options = Options {
            checkpoint_every: Some(CHECKPOINT_EVERY),
            again: self.command.clone(),
            ..Options::quiet(&stop)
        };
        trainer.train(&options, &mut ())
    }
}

fn gone(path: &Path) -> Result<(), PartsError> {
    std::fs::remove_dir_all(path).map_err(|error| PartsError::Disk { error })
}
