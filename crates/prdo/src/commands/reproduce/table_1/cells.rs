//! Fills cells: each is an ordinary run in a folder of its own, gone on with where it was left.

use super::plan::Plan;
use super::results::{Cell, Deal, FILE, Results};
use super::setting::{Key, thousands};
use crate::commands::Failure;
use crate::commands::run::{finished, restore, train_in};
use crate::commands::watch::{Stop, Watch};
use crate::progress::{Patience, tell};
use prdo::config::{Built, Document, build, resolved};
use prdo::output::{Folder, FolderError, parse_rows};
use prdo::simulator::Row;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What became of a cell.
pub enum Fate {
    /// It is finished.
    Finished,
    /// Another process is at it.
    Elsewhere,
    /// Ctrl-C.
    Stopped,
}

/// Someone who fills cells, one after the other.
pub struct Worker<'a> {
    plan: &'a Plan,
    data: PathBuf,
    stop: Stop,
    warned: Vec<String>,
    /// The first cell, built when its budget was tried: reading the images and finding its noise takes a while.
    first: Option<(Key, Built)>,
}

impl<'a> Worker<'a> {
    /// Finds the data and tries every budget without training, so that nothing starts when one of them is wrong.
    pub fn new(plan: &'a Plan, cells: &[Key]) -> Result<Self, Failure> {
        let data = plan.data()?;
        let (mut tried, mut first): (Vec<f64>, _) = (Vec::new(), None);
        for key in cells {
            if !tried.contains(&key.epsilon) {
                tried.push(key.epsilon);
                let built = built(key, &data)?;
                if tried.len() == 1 {
                    tell(&built.data);
                    first = Some((*key, built));
                }
            }
        }
        tell("seeded simulation: not private against anyone who knows the seed");
        Ok(Self { plan, data, stop: Stop::listen()?, warned: Vec::new(), first })
    }

    /// Fills one cell, the `number`th of `count`, or goes on with it.
    pub fn fill(&mut self, key: &Key, (number, count): (usize, usize)) -> Result<Fate, Failure> {
        let out = self.plan.out.as_path();
        let folder = match Folder::open(&out.join("cells").join(key.folder())) {
            Err(FolderError::InUse { .. }) => return Ok(Fate::Elsewhere),
            opened => opened?,
        };
        // Behind the lock: another process may have finished it in the meantime.
        let known = Results::read(out)?;
        if known.is_finished(key) {
            return Ok(Fate::Finished);
        }
        let document = document(key, &self.data)?;
        let mut built = match self.first.take().filter(|(first, _)| first == key) {
            Some((_, built)) => built,
            None => built(key, &self.data)?,
        };
        let deal = deal(key, &built);
        if let Some(cell) = left_finished(&folder, key, &document, &built)? {
            record(out, &deal, cell)?;
            return Ok(Fate::Finished);
        }
        let run_file = resolved::to_toml(&document, &built);
        let kept = restore(&folder, &mut built, &run_file)?;
        let round = built.prepared.training.round();
        let seconds = known.find(key).filter(|_| round > 0).map_or(0.0, |cell| cell.seconds);
        self.announce(key, (number, count), &built);
        let fresh = unfinished(key, &built, round, &kept, seconds);
        record(out, &deal, fresh.clone())?;
        let started = Instant::now();
        let note = |round: u32, rows: &[Row]| {
            let seconds = seconds + started.elapsed().as_secs_f64();
            record(out, &deal, Cell { rounds_done: round, curve: curve(rows), seconds, ..fresh.clone() })
        };
        let watch = Watch {
            stop: self.stop.clone(),
            checkpoint_every: self.plan.checkpoint_every,
            label: format!("cell {number} of {count}: {}  ", key.title()),
            before: Duration::try_from_secs_f64(seconds).unwrap_or_default(),
            again: "the same prdo reproduce table-1 command".to_string(),
            checkpointed: Box::new(note),
            tensorboard: false,
        };
        let trained = train_in(&folder, &document, &mut built, kept, watch)?;
        if trained.summary.is_none() {
            return Ok(Fate::Stopped);
        }
        record(out, &deal, complete(fresh.clone(), &trained.rows, trained.seconds)?)?;
        Ok(Fate::Finished)
    }

    fn announce(&mut self, key: &Key, (number, count): (usize, usize), built: &Built) {
        for warning in &built.warnings {
            if !self.warned.contains(warning) {
                tell(&format!("warning: {warning}"));
                self.warned.push(warning.clone());
            }
        }
        let noise = built.prepared.guarantee.map_or(String::new(), |g| {
            format!(", z = {:.6} (ε = {:.6} proven)", g.noise_multiplier, g.epsilon)
        });
        let from = match built.prepared.training.round() {
            0 => String::new(),
            round => format!(", resuming after round {}", thousands(round)),
        };
        let rounds = thousands(key.group.rounds);
        tell(&format!("cell {number} of {count}: {}{noise}; {rounds} rounds{from}", key.title()));
    }
}

/// A cell, ready to run.
fn built(key: &Key, data: &Path) -> Result<Built, Failure> {
    let _slow = Patience::new("reading the images and calibrating the noise …");
    Ok(build(&document(key, data)?)?)
}

/// A cell's run file, read.
fn document(key: &Key, data: &Path) -> Result<Document, Failure> {
    Ok(Document::parse(&key.folder(), &key.run_file(data))?)
}

/// Changes the results file: read, changed and written while no other process does.
fn record(out: &Path, deal: &Deal, cell: Cell) -> Result<(), Failure> {
    let folder = Folder::wait(out, FILE)?;
    let mut results = Results::read(out)?;
    results.keep_deal(deal.clone());
    results.put(cell);
    folder.write(FILE, results.to_text().as_bytes())?;
    Ok(())
}

fn deal(key: &Key, built: &Built) -> Deal {
    Deal {
        setting: key.group.setting,
        data: built.data.clone(),
        counts: built.class_counts.clone().unwrap_or_default(),
        names: built.facts.class_names.clone().unwrap_or_default(),
    }
}

fn curve(rows: &[Row]) -> Vec<(u32, f64)> {
    rows.iter().filter_map(|row| Some((row.round, row.test_accuracy?))).collect()
}

fn unfinished(key: &Key, built: &Built, round: u32, rows: &[Row], seconds: f64) -> Cell {
    let guarantee = built.prepared.guarantee;
    Cell {
        key: *key,
        noise_multiplier: guarantee.map_or(0.0, |g| g.noise_multiplier),
        epsilon_proven: guarantee.map_or(f64::INFINITY, |g| g.epsilon),
        rounds_done: round,
        finished: false,
        seconds,
        curve: curve(rows),
    }
}

/// The same cell at its end.
fn complete(cell: Cell, rows: &[Row], seconds: f64) -> Result<Cell, Failure> {
    let rounds_done = cell.key.group.rounds;
    let cell = Cell { rounds_done, finished: true, seconds, curve: curve(rows), ..cell };
    match cell.accuracy() {
        Some(_) => Ok(cell),
        None => Err(Failure::Work(format!("{}: its metrics.csv lacks rounds to average", cell.key.folder()))),
    }
}

/// A cell whose run is finished in its folder though the results do not say so: the process was stopped just in
/// between, or the results file is gone.
fn left_finished(
    folder: &Folder,
    key: &Key,
    document: &Document,
    built: &Built,
) -> Result<Option<Cell>, Failure> {
    let Some(summary) = finished(folder, &resolved::to_toml(document, built))? else { return Ok(None) };
    let text = std::fs::read_to_string(folder.path().join("metrics.csv")).unwrap_or_default();
    let seconds = summary["seconds"].as_f64().unwrap_or(0.0);
    let cell = unfinished(key, built, 0, &[], 0.0);
    complete(cell, &parse_rows(&text), seconds).map(Some)
}
