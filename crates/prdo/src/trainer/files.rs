//! What a folder gets while a run trains in it.

use super::subject::Subject;
use super::{Options, TrainError};
use crate::export::{events, now, row_event};
use prdo_simulator::{Moments, Row, Training};
use prdo_store::{
    Folder, Level, LinesFile, LiveFile, Outlook, format_moments, format_row, header, moments_header, names,
};
use std::fs::File;
use std::io::Write;
use std::time::Duration;

pub struct Files<'a> {
    pub folder: &'a Folder,
    /// How things stand, for whoever looks at the folder.
    pub live: LiveFile,
    /// Names the run in its checkpoint; without it there are none.
    fingerprint: Option<[u8; 32]>,
    metrics: LinesFile,
    moments: Option<LinesFile>,
    events: Option<File>,
}

pub fn failed(name: &'static str) -> impl Fn(std::io::Error) -> TrainError {
    move |error| TrainError::File { name, error }
}

impl<'a> Files<'a> {
    pub fn open(
        folder: &'a Folder,
        subject: &Subject<'_>,
        (rows, moments): (&[Row], &[Moments]),
        (before, options): (Duration, &Options<'_>),
    ) -> Result<Self, TrainError> {
        let lines = std::iter::once(header()).chain(rows.iter().map(format_row)).collect::<Vec<_>>();
        let metrics = LinesFile::create(&folder.file(names::METRICS), &lines)?;
        let prepared = subject.prepared();
        let (schedule, facts) = (prepared.schedule, &prepared.facts);
        let moments = match schedule.moments {
            true => {
                let lines = moments.iter().map(format_moments);
                let lines: Vec<String> = std::iter::once(moments_header().to_string()).chain(lines).collect();
                Some(LinesFile::create(&folder.file(names::MOMENTS), &lines)?)
            }
            false => None,
        };
        let events = if options.tensorboard { Some(reopen_events(folder, rows)?) } else { None };
        let mut live = LiveFile::begin(
            folder.path(),
            Outlook {
                rounds: schedule.rounds,
                from: prepared.training.round(),
                budget: prepared.guarantee.map(|g| (g.epsilon, g.delta)),
                numbers: facts.nodes as u64 * facts.parameters as u64,
                before,
                again: options.again.clone(),
            },
        );
        subject.warnings().iter().for_each(|warning| live.add(Level::Warning, warning.clone()));
        rows.last().into_iter().for_each(|row| live.row(row));
        let fingerprint = options.checkpoint_every.map(|_| subject.fingerprint());
        Ok(Self { folder, live, fingerprint, metrics, moments, events })
    }

    pub fn row(&mut self, row: &Row) -> Result<(), TrainError> {
        self.live.row(row);
        self.metrics.append(&format_row(row)).map_err(failed(names::METRICS))?;
        match &mut self.events {
            Some(events) => events.write_all(&row_event(row, now())).map_err(failed(names::EVENTS)),
            None => Ok(()),
        }
    }

    pub fn moments(&mut self, moments: &Moments) -> Result<(), TrainError> {
        match &mut self.moments {
            Some(file) => file.append(&format_moments(moments)).map_err(failed(names::MOMENTS)),
            None => Ok(()),
        }
    }

    /// Writes a checkpoint after everything that it says is there.
    pub fn checkpoint(&mut self, training: &dyn Training) -> Result<(), TrainError> {
        let Some(fingerprint) = &self.fingerprint else { return Ok(()) };
        self.metrics.sync().map_err(failed(names::METRICS))?;
        if let Some(moments) = &self.moments {
            moments.sync().map_err(failed(names::MOMENTS))?;
        }
        Ok(self.folder.write(names::CHECKPOINT, &training.save(fingerprint))?)
    }
}

fn reopen_events(folder: &Folder, rows: &[Row]) -> Result<File, TrainError> {
    let name = format!("{}/{}", names::TENSORBOARD, names::EVENTS);
    folder.write(&name, &events(rows, now()))?;
    File::options().append(true).open(folder.file(&name)).map_err(failed(names::EVENTS))
}
