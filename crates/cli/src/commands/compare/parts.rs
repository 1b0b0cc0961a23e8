//! The runs of a comparison in its folder, before all are finished.

use super::{Labels, Planned};
use crate::commands::watch::Stop;
use crate::commands::{Failure, work};
use prdo::build::{Built, build};
use prdo::runfile::{Document, Key, Value};
use prdo::simulator::{End, Row};
use prdo::store::{Cell, Folder, FolderError, Part, artefact, names};
use prdo::trainer::{Opened, Options, TrainError, Trainer};
use std::path::Path;
use std::time::Duration;

const CHECKPOINT_EVERY: Duration = Duration::from_secs(20);

pub enum Fate {
    Finished(Box<Cell>),
    Failed(String),
    Stopped,
}

fn cell(labels: &Labels, document: &Document, built: &Built, (rows, seconds): (Vec<Row>, f64)) -> Cell {
    let method = built.method;
    let outcome = built.prepared.outcome(rows, Vec::new());
    let measured = outcome.last().is_some_and(|row| row.test_accuracy.is_some());
    let shown = |value: &Value| value.to_string().trim_matches('"').to_string();
    Cell {
        method,
        labels: labels
            .iter()
            .filter(|(k, _)| *k != Key::Seed.path())
            .map(|(k, v)| (k.to_string(), shown(v)))
            .collect(),
        seed: document.run_file().seed,
        rows: outcome.rows,
        node_accuracy: outcome.node_accuracy,
        test_auc: outcome.test_auc,
        most_common_class: built.common_class.filter(|_| measured),
        guarantee: outcome.guarantee,
        seconds,
        clip: built.clip,
        gamma: method.card().differences.then_some(method.asks(&built.settings, 1).gamma()),
        rounds: u64::from(built.prepared.schedule.rounds),
    }
}

/// A file for each run that is finished, a folder for each that is begun, until the comparison is written.
pub struct Parts<'a> {
    pub folder: &'a Folder,
    /// The command that resumes them.
    pub command: String,
}

impl Parts<'_> {
    /// Begins with those in the folder, which stay unless they are to be replaced. Finished runs of a comparison with other
    /// settings would be lost, and are refused.
    pub fn open(&self, planned: &[Planned], overwrite: bool) -> Result<(), Failure> {
        let folder = self.folder;
        if overwrite {
            self.remove()?;
        }
        let settings: String = planned.iter().map(|(_, document)| document.settings() + "\n").collect();
        let there = std::fs::read_to_string(folder.path().join(names::PARTS_SETTINGS));
        if there.is_ok_and(|there| there != settings) && self.any() {
            return Err(Failure::Input(format!(
                "{} holds finished runs of an interrupted comparison with other settings, which are kept: choose another \
                 --out, or add --overwrite",
                folder.path().display()
            )));
        }
        Ok(folder.write(names::PARTS_SETTINGS, settings.as_bytes())?)
    }

    /// Whether any run is finished.
    fn any(&self) -> bool {
        let entries =
            std::fs::read_dir(self.folder.path().join(names::PARTS)).into_iter().flatten().flatten();
        entries.into_iter().any(|entry| entry.path().extension().is_some_and(|end| end == "json"))
    }

    pub fn remove(&self) -> Result<(), Failure> {
        let path = self.folder.path().join(names::PARTS);
        if path.is_dir() { std::fs::remove_dir_all(path).map_err(work(names::PARTS)) } else { Ok(()) }
    }

    /// One run: as it was finished before, if its settings and records are still the same, or trained now.
    pub fn cell(
        &self,
        number: usize,
        labels: &Labels,
        document: &Document,
        built: Option<Built>,
        stop: &Stop,
    ) -> Result<Fate, Failure> {
        if stop.asked() {
            return Ok(Fate::Stopped);
        }
        let built = built.map_or_else(|| build(document), Ok)?;
        let fingerprint: String = built.fingerprint.iter().map(|byte| format!("{byte:02x}")).collect();
        let name = format!("{}/{number}.json", names::PARTS);
        let read = std::fs::read(self.folder.file(&name)).ok();
        let kept = read.and_then(|bytes| serde_json::from_slice::<Part>(&bytes).ok());
        if let Some(part) = kept.filter(|part| part.fingerprint == fingerprint) {
            return Ok(Fate::Finished(Box::new(part.run)));
        }
        let begun = self.folder.file(&format!("{}/{number}", names::PARTS));
        let fate = match self.train(&begun, labels, document, built, stop) {
            // Its records are others now, or its files are not whole: it begins anew, as a finished one would.
            Err(TrainError::Checkpoint { .. } | TrainError::RowsMissing { .. }) => {
                std::fs::remove_dir_all(&begun).map_err(work(names::PARTS))?;
                self.train(&begun, labels, document, build(document)?, stop)?
            }
            fate => fate?,
        };
        if let Fate::Finished(cell) = &fate {
            let part = Part { fingerprint, run: (**cell).clone() };
            self.folder.write(&name, artefact::line(&part).as_bytes())?;
            std::fs::remove_dir_all(&begun).map_err(work(names::PARTS))?;
        }
        Ok(fate)
    }

    /// Trains a run in its folder, from its last checkpoint if it has one.
    fn train(
        &self,
        begun: &Path,
        labels: &Labels,
        document: &Document,
        mut built: Built,
        stop: &Stop,
    ) -> Result<Fate, TrainError> {
        let folder = Folder::open(begun)?;
        let trainer = match Trainer::open(&folder, document, &mut built)? {
            Opened::Unfinished(trainer) => trainer,
            Opened::Finished(_) => {
                return Err(FolderError::Finished { path: begun.display().to_string() }.into());
            }
        };
        let options = Options {
            stop: &|| stop.asked(),
            checkpoint_every: Some(CHECKPOINT_EVERY),
            again: self.command.clone(),
            tensorboard: false,
            results: false,
        };
        let trained = match trainer.train(&options, &mut ()) {
            Err(TrainError::Run(error)) => return Ok(Fate::Failed(error.to_string())),
            trained => trained?,
        };
        Ok(match trained.end {
            End::Stopped => Fate::Stopped,
            End::Finished => {
                Fate::Finished(Box::new(cell(labels, document, &built, (trained.rows, trained.seconds))))
            }
        })
    }
}
