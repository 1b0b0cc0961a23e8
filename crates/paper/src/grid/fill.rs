//! Fills cells, one after the other.

use super::{Grid, Key, Results, State};
use crate::error::Error;
use crate::front::{Facts, Front, Stage};
use prdo::build::Built;
use prdo::runfile::Document;
use prdo::simulator::Row;
use prdo::store::{Folder, FolderError, Worry, names, parse_rows};
use prdo::trainer::{ObserverError, Opened, Options, Stage as TrainStage, TrainObserver, Trainer};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Nothing is left that this process could do.
    Done,
    /// Ctrl-C: what was begun has a checkpoint.
    Interrupted,
}

/// What became of a cell.
enum Outcome {
    Finished,
    /// Another process is at it.
    Elsewhere,
    Interrupted,
}

pub fn fill<G: Grid>(grid: &G, front: &dyn Front) -> Result<End, Error> {
    let results = G::Results::read(grid.out())?;
    let all = grid.cells();
    let left: Vec<G::Key> = all.iter().filter(|key| results.state(key) != State::Done).copied().collect();
    if left.is_empty() {
        front.tell(&format!("every {} is finished already", G::Results::CELL));
        return Ok(End::Done);
    }
    let mut worker = Worker::new(grid, &left, front)?;
    for (k, key) in all.iter().enumerate().filter(|(_, key)| left.contains(key)) {
        match worker.fill(key, &format!("{} {} of {}", G::Results::CELL, k + 1, all.len()))? {
            Outcome::Finished if G::DRAWN_AFTER_EACH => grid.draw(&G::Results::read(grid.out())?)?,
            Outcome::Finished => {}
            Outcome::Elsewhere => front.tell(&format!("{}: another prdo process is at it", key.title())),
            Outcome::Interrupted => return Ok(End::Interrupted),
        }
    }
    Ok(End::Done)
}

struct Worker<'a, G: Grid> {
    grid: &'a G,
    front: &'a dyn Front,
    interrupt: Arc<AtomicBool>,
    /// What people were warned of already.
    warned: Vec<String>,
    /// The first cell that was tried: reading the records and finding its noise takes a while.
    first: Option<(G::Key, Document, Built)>,
}

impl<'a, G: Grid> Worker<'a, G> {
    fn new(grid: &'a G, left: &[G::Key], front: &'a dyn Front) -> Result<Self, Error> {
        let mut first = None;
        for key in grid.tried_first(left) {
            let (document, built) = build(grid, &key, front)?;
            if first.is_none() {
                front.tell(&built.data);
                first = Some((key, document, built));
            }
        }
        // Someone else's folder is refused before a cell is put into it.
        drop(Folder::wait(grid.out(), names::RESULTS)?);
        front.tell("seeded simulation: not private against anyone who knows the seed");
        let interrupt = front.listen().map_err(Error::Interrupt)?;
        Ok(Self { grid, front, interrupt, warned: Vec::new(), first })
    }

    /// Fills one cell, or resumes it. `number` says which of how many it is.
    fn fill(&mut self, key: &G::Key, number: &str) -> Result<Outcome, Error> {
        let cells = self.grid.out().join(format!("{}s", G::Results::CELL));
        let folder = match Folder::open(&cells.join(key.folder())) {
            Err(FolderError::InUse { .. }) => return Ok(Outcome::Elsewhere),
            opened => opened?,
        };
        // Behind the lock: another process may have finished it in the meantime.
        if G::Results::read(self.grid.out())?.state(key) == State::Done {
            return Ok(Outcome::Finished);
        }
        let (document, mut built) = match self.first.take().filter(|(first, ..)| first == key) {
            Some((_, document, built)) => (document, built),
            None => build(self.grid, key, self.front)?,
        };
        self.train(key, number, &folder, &document, &mut built)
    }

    /// Trains the run of a cell in its folder, and enters how far it is.
    fn train(
        &mut self,
        key: &G::Key,
        number: &str,
        folder: &Folder,
        document: &Document,
        built: &mut Built,
    ) -> Result<Outcome, Error> {
        let facts = Facts::of(built);
        let grid = self.grid;
        let enter = |stage: &Stage| enter(grid, |results| grid.enter(results, key, &facts, stage));
        let rounds = built.prepared.schedule.rounds;
        let trainer = match Trainer::open(folder, document, built)? {
            // The process before was stopped between the end of the run and its entry, or the results file is gone.
            Opened::Finished(summary) => {
                let text = std::fs::read_to_string(folder.file(names::METRICS)).unwrap_or_default();
                let (rows, seconds) = (parse_rows(&text), summary.seconds.unwrap_or(0.0));
                enter(&Stage { round: rounds, rows, seconds, summary: Some(*summary) })?;
                return Ok(Outcome::Finished);
            }
            Opened::Unfinished(trainer) => trainer,
        };
        let done = trainer.stage().round;
        if let Some(line) = grid.announcement(key, &facts, done) {
            self.warn(&facts.warnings);
            self.front.tell(&format!("{number}: {line}"));
        }
        enter(&Stage::from(&trainer.stage()))?;
        let options = Options {
            stop: &|| self.interrupt.load(Ordering::SeqCst),
            checkpoint_every: Some(grid.checkpoint_every()),
            again: grid.command(),
            tensorboard: false,
            results: true,
        };
        let shown = self.front.observer(format!("{number}: {}  ", key.title()), rounds, done);
        let trained = trainer.train(&options, &mut Entering { shown, enter: &enter })?;
        let Some(results) = trained.results else { return Ok(Outcome::Interrupted) };
        let (rows, seconds) = (trained.rows, trained.seconds);
        enter(&Stage { round: trained.round, rows, seconds, summary: Some(results.summary) })?;
        Ok(Outcome::Finished)
    }

    /// Says each warning once.
    fn warn(&mut self, warnings: &[String]) {
        for warning in warnings {
            if !self.warned.contains(warning) {
                self.front.tell(&format!("warning: {warning}"));
                self.warned.push(warning.clone());
            }
        }
    }
}

/// Shows how the run of a cell goes, and enters how far it is at every checkpoint.
struct Entering<'a> {
    shown: Box<dyn TrainObserver + 'a>,
    enter: &'a dyn Fn(&Stage) -> Result<(), Error>,
}

impl TrainObserver for Entering<'_> {
    fn row(&mut self, row: &Row) -> Result<(), ObserverError> {
        self.shown.row(row)
    }

    fn round(&mut self, stage: &TrainStage<'_>) -> Result<(), ObserverError> {
        self.shown.round(stage)
    }

    fn checkpoint(&mut self, stage: &TrainStage<'_>) -> Result<(), ObserverError> {
        (self.enter)(&stage.into())?;
        self.shown.checkpoint(stage)
    }

    fn rounds_over(&mut self) {
        self.shown.rounds_over();
    }

    fn measuring(&mut self) {
        self.shown.measuring();
    }

    fn measured(&mut self, worry: Option<&Worry>) -> Result<(), ObserverError> {
        self.shown.measured(worry)
    }
}

fn build<G: Grid>(grid: &G, key: &G::Key, front: &dyn Front) -> Result<(Document, Built), Error> {
    let document = Document::parse(&key.folder(), &grid.run_file(key)?)?;
    let built = front.build(&document)?;
    Ok((document, built))
}

/// Changes the results file: read, changed and written while no other process does.
fn enter<G: Grid>(grid: &G, change: impl FnOnce(&mut G::Results) -> Result<(), Error>) -> Result<(), Error> {
    let folder = Folder::wait(grid.out(), names::RESULTS)?;
    let before = G::Results::read(grid.out())?;
    let mut results = before.clone();
    change(&mut results)?;
    if results != before {
        folder.write(names::RESULTS, results.to_text()?.as_bytes())?;
    }
    Ok(())
}
