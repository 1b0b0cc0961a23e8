//! Trains a run, in its folder if it has one: settings, rows, how it stands, checkpoints and results are written there,
//! and a run that was stopped goes on from its checkpoint to the same bits.
//!
//! Nothing is printed: a [`TrainObserver`] is told what happens.

mod error;
mod files;
mod in_memory;
mod results;
mod resume;
mod subject;

pub use error::{ObserverError, TrainError};
pub use results::{Results, ResultsError};
pub use subject::Identity;

use crate::build::Built;
use crate::run::Prepared;
use files::Files;
use prdo_runfile::Document;
use prdo_simulator::{End, Moments, Observer, Row, Training, train};
use prdo_store::{Folder, Level, State, Summary, Worry, names, worries};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};
use subject::Subject;

pub struct Options<'a> {
    /// Whether to stop now: looked at after every round.
    pub stop: &'a dyn Fn() -> bool,
    /// Time between checkpoints; there is one more when the run is stopped. `None` is none at all.
    pub checkpoint_every: Option<Duration>,
    /// What to type to go on, should it be stopped.
    pub again: String,
    /// Whether rows go to a TensorBoard event file too.
    pub tensorboard: bool,
    /// Whether the results of a finished run are measured and written.
    pub results: bool,
}

impl<'a> Options<'a> {
    /// Without checkpoints and results.
    pub fn quiet(stop: &'a dyn Fn() -> bool) -> Self {
        Self { stop, checkpoint_every: None, again: String::new(), tensorboard: false, results: false }
    }
}

pub struct Stage<'a> {
    pub round: u32,
    pub rows: &'a [Row],
    /// How long it trained, all its pieces together.
    pub seconds: f64,
    /// ε spent as of the last row or writing of `live.json`, the run's ε and δ; `None` without privacy or without a folder.
    pub spent: Option<(f64, f64, f64)>,
}

/// Is told how a training goes. An error ends it as it is, with no further checkpoint.
pub trait TrainObserver {
    /// A row was measured; it is kept unless this is an error.
    fn row(&mut self, _: &Row) -> Result<(), ObserverError> {
        Ok(())
    }
    fn round(&mut self, _: &Stage<'_>) -> Result<(), ObserverError> {
        Ok(())
    }
    fn checkpoint(&mut self, _: &Stage<'_>) -> Result<(), ObserverError> {
        Ok(())
    }
    /// No more rounds are trained, whatever the reason.
    fn rounds_over(&mut self) {}
    /// Every node's own model is measured next, which may take a while.
    fn measuring(&mut self) {}
    /// It was, and this is what should worry whoever looks at the run. The results are written next.
    fn measured(&mut self, _: Option<&Worry>) -> Result<(), ObserverError> {
        Ok(())
    }
}

impl TrainObserver for () {}

pub struct Trained {
    /// Whether it came to its end; if not, there is a checkpoint, where there are any.
    pub end: End,
    pub round: u32,
    pub rows: Vec<Row>,
    pub moments: Vec<Moments>,
    /// How long it took, all its pieces together.
    pub seconds: f64,
    /// Its results, if it came to its end and they were asked for.
    pub results: Option<Results>,
}

pub struct Trainer<'a> {
    subject: Subject<'a>,
    folder: Option<&'a Folder>,
    rows: Vec<Row>,
    moments: Vec<Moments>,
    before: Duration,
}

pub enum Opened<'a> {
    Finished(Box<Summary>),
    Unfinished(Trainer<'a>),
}

impl<'a> Trainer<'a> {
    fn of(subject: Subject<'a>, folder: Option<&'a Folder>) -> Self {
        Self { subject, folder, rows: Vec::new(), moments: Vec::new(), before: Duration::ZERO }
    }

    /// Of a run that leaves nothing on disk.
    pub fn new(document: &'a Document, built: &'a mut Built) -> Self {
        Self::of(Subject::File { document, built }, None)
    }

    /// Of a run in its folder: at its end, at its last checkpoint or at its beginning.
    pub fn open(
        folder: &'a Folder,
        document: &'a Document,
        built: &'a mut Built,
    ) -> Result<Opened<'a>, TrainError> {
        let subject = Subject::File { document, built };
        if let Some(summary) = resume::finished(folder, &subject.run_file())? {
            return Ok(Opened::Finished(Box::new(summary)));
        }
        Self::of(subject, Some(folder)).restored(folder).map(Opened::Unfinished)
    }

    /// Of a run that a program made, in a folder: at its last checkpoint or at its beginning.
    pub fn open_made(
        folder: &'a Folder,
        prepared: &'a mut Prepared,
        identity: Identity,
    ) -> Result<Self, TrainError> {
        Self::of(Subject::Made { prepared, identity }, Some(folder)).restored(folder)
    }

    fn restored(mut self, folder: &Folder) -> Result<Self, TrainError> {
        if let Some(kept) = resume::restore(folder, &mut self.subject)? {
            (self.rows, self.moments, self.before) = (kept.rows, kept.moments, kept.before);
        }
        Ok(self)
    }

    pub fn stage(&self) -> Stage<'_> {
        let round = self.prepared().training.round();
        Stage { round, rows: &self.rows, seconds: self.before.as_secs_f64(), spent: None }
    }

    pub fn prepared(&self) -> &Prepared {
        self.subject.prepared()
    }

    /// The run file's run, if this is one.
    pub fn built(&self) -> Option<&Built> {
        match &self.subject {
            Subject::File { built, .. } => Some(built),
            Subject::Made { .. } => None,
        }
    }

    /// Trains to the end or until it is stopped (then there is a checkpoint).
    pub fn train(
        self,
        options: &Options<'_>,
        observer: &mut dyn TrainObserver,
    ) -> Result<Trained, TrainError> {
        let Self { mut subject, folder, rows, moments, before } = self;
        if let Some(folder) = folder {
            folder.write(names::RUN_FILE, subject.run_file().as_bytes())?;
        }
        subject.enter_statement().map_err(TrainError::Statement)?;
        let started = Instant::now();
        let open = |folder| Files::open(folder, &subject, (&rows, &moments), (before, options));
        let files = folder.map(open).transpose()?;
        let mut watcher = Watcher {
            files,
            rows,
            moments,
            began: (before, started),
            options,
            observer,
            last_checkpoint: started,
            failure: None,
        };
        let ended = watcher.train(&mut subject);
        let round = subject.prepared().training.round();
        watcher.say_how_it_ended(round, &ended);
        let (end, results) = ended?;
        let seconds = watcher.elapsed().as_secs_f64();
        Ok(Trained { end, round, rows: watcher.rows, moments: watcher.moments, seconds, results })
    }
}

/// Keeps what is measured, writes it down and stops the run when asked.
struct Watcher<'a> {
    files: Option<Files<'a>>,
    rows: Vec<Row>,
    moments: Vec<Moments>,
    /// How long it was trained before, and when it began now.
    began: (Duration, Instant),
    options: &'a Options<'a>,
    observer: &'a mut dyn TrainObserver,
    last_checkpoint: Instant,
    /// Why training was stopped, if nobody asked for it.
    failure: Option<TrainError>,
}

impl Watcher<'_> {
    fn train(&mut self, subject: &mut Subject<'_>) -> Result<(End, Option<Results>), TrainError> {
        let schedule = subject.prepared().schedule;
        let end = train(subject.training(), &schedule, self);
        self.observer.rounds_over();
        if let Some(files) = &mut self.files {
            files.live.last_look(&*subject.prepared().training);
        }
        let end = end?;
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        match end {
            End::Stopped => self.checkpoint(&*subject.prepared().training).map(|()| (end, None)),
            End::Finished if !self.options.results => Ok((end, None)),
            End::Finished => Ok((end, self.finish(subject)?)),
        }
    }

    fn finish(&mut self, subject: &Subject<'_>) -> Result<Option<Results>, TrainError> {
        self.observer.measuring();
        let results = subject.results(&self.rows, self.elapsed())?;
        let worry = worries(&self.rows, subject.common_class());
        self.observer.measured(worry.as_ref()).map_err(TrainError::Observer)?;
        if let (Some(files), Some(results)) = (&self.files, &results) {
            results.write(files.folder)?;
        }
        Ok(results)
    }

    fn say_how_it_ended(&mut self, round: u32, ended: &Result<(End, Option<Results>), TrainError>) {
        let Some(files) = &mut self.files else { return };
        match ended {
            Ok((End::Finished, _)) => {
                files.live.end(State::Finished, &format!("finished after round {round}"));
            }
            Ok((End::Stopped, _)) => {
                let kept = if self.options.checkpoint_every.is_some() { ", with a checkpoint" } else { "" };
                files.live.end(State::Stopped, &format!("stopped after round {round}{kept}"));
            }
            Err(failure) => files.live.end(State::Failed, &failure.to_string()),
        }
    }

    fn elapsed(&self) -> Duration {
        self.began.0 + self.began.1.elapsed()
    }

    fn checkpoint(&mut self, training: &dyn Training) -> Result<(), TrainError> {
        if self.files.is_none() || self.options.checkpoint_every.is_none() {
            return Ok(());
        }
        let (round, seconds) = (training.round(), self.elapsed().as_secs_f64());
        if let Some(files) = &mut self.files {
            files.checkpoint(training)?;
            let stage = Stage { round, rows: &self.rows, seconds, spent: files.live.spent() };
            self.observer.checkpoint(&stage).map_err(TrainError::Observer)?;
            files.live.add(Level::Info, format!("checkpoint after round {round}"));
        }
        self.last_checkpoint = Instant::now();
        Ok(())
    }

    fn note_row(&mut self, row: &Row) -> Result<(), TrainError> {
        self.observer.row(row).map_err(TrainError::Observer)?;
        self.rows.push(*row);
        self.files.as_mut().map_or(Ok(()), |files| files.row(row))
    }

    /// Whether to go on.
    fn note_round(&mut self, training: &dyn Training) -> Result<bool, TrainError> {
        let seconds = self.elapsed().as_secs_f64();
        let spent = self.files.as_mut().and_then(|files| {
            files.live.round(training);
            files.live.spent()
        });
        let stage = Stage { round: training.round(), rows: &self.rows, seconds, spent };
        self.observer.round(&stage).map_err(TrainError::Observer)?;
        if (self.options.stop)() {
            return Ok(false);
        }
        if self.options.checkpoint_every.is_some_and(|every| self.last_checkpoint.elapsed() >= every) {
            self.checkpoint(training)?;
        }
        Ok(true)
    }

    fn keep(&mut self, result: Result<bool, TrainError>) -> ControlFlow<()> {
        match result {
            Ok(true) => ControlFlow::Continue(()),
            Ok(false) => ControlFlow::Break(()),
            Err(failure) => {
                self.failure = Some(failure);
                ControlFlow::Break(())
            }
        }
    }
}

impl Observer for Watcher<'_> {
    fn row(&mut self, row: &Row) -> ControlFlow<()> {
        let result = self.note_row(row).map(|()| true);
        self.keep(result)
    }

    fn moments(&mut self, moments: &Moments) {
        self.moments.push(*moments);
        if let Some(Err(failure)) = self.files.as_mut().map(|files| files.moments(moments)) {
            self.failure = Some(failure);
        }
    }

    fn round(&mut self, training: &dyn Training) -> ControlFlow<()> {
        if self.failure.is_some() {
            return ControlFlow::Break(());
        }
        let result = self.note_round(training);
        self.keep(result)
    }
}

#[cfg(test)]
mod tests;
