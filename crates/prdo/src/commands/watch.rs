//! Watches one training in its folder: rows to `metrics.csv`, `live.json`, checkpoints, the bar, Ctrl-C.

use super::export::now;
use super::{Failure, work};
use crate::progress::{Curve, Figures, Progress, Spent};
use prdo::budget::words::short;
use prdo::config::Built;
use prdo::export::{EVENTS_FILE, EVENTS_FOLDER, events, row_event};
use prdo::node::journal::Level;
use prdo::output::{Course, Folder, Live, MetricsFile, format_moments, format_row, header, moments_header};
use prdo::simulator::{Moments, Observer, Row, Training};
use std::fs::File;
use std::io::Write;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Whether Ctrl-C was typed.
#[derive(Clone)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Listens for Ctrl-C. A second Ctrl-C ends the process at once: the last checkpoint is still whole.
    pub fn listen() -> Result<Self, Failure> {
        /// A process has one handler: whoever asks again looks at the same flag.
        static LISTENING: OnceLock<Stop> = OnceLock::new();
        if let Some(stop) = LISTENING.get() {
            return Ok(stop.clone());
        }
        let stop = Self(Arc::new(AtomicBool::new(false)));
        let flag = Arc::clone(&stop.0);
        let handler = move || {
            if flag.swap(true, Ordering::SeqCst) {
                std::process::exit(130);
            }
        };
        ctrlc::set_handler(handler).map_err(|e| Failure::Work(format!("cannot listen for Ctrl-C: {e}")))?;
        Ok(LISTENING.get_or_init(|| stop).clone())
    }

    /// The flag itself, for whoever looks at it.
    pub fn flag(&self) -> &AtomicBool {
        &self.0
    }

    /// Whether it was.
    pub fn asked(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// The time between checkpoints, from what was typed.
pub fn checkpoint_interval(seconds: f64) -> Result<Duration, Failure> {
    if !(seconds.is_finite() && seconds >= 0.0) {
        return Err(Failure::Input("--checkpoint-every must be a number of seconds of at least 0".into()));
    }
    Ok(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
}

/// What is told after every checkpoint: rounds done, and the rows so far.
pub type Checkpointed<'a> = Box<dyn FnMut(u32, &[Row]) -> Result<(), Failure> + 'a>;

/// How a training is watched.
pub struct Watch<'a> {
    /// Ends it, with a checkpoint.
    pub stop: Stop,
    /// Time between checkpoints.
    pub checkpoint_every: Duration,
    /// Stands before the figures beside the bar.
    pub label: String,
    /// How long it was trained before it was resumed.
    pub before: Duration,
    /// What to type to go on, should it be stopped.
    pub again: String,
    /// Told after every checkpoint.
    pub checkpointed: Checkpointed<'a>,
    /// Whether rows go to a TensorBoard event file too.
    pub tensorboard: bool,
}

/// Writes metrics and checkpoints while training goes on, and stops it on Ctrl-C.
pub struct Watcher<'a> {
    folder: &'a Folder,
    fingerprint: [u8; 32],
    metrics: MetricsFile,
    moments: Option<MetricsFile>,
    events: Option<File>,
    /// Every row so far.
    pub rows: Vec<Row>,
    /// The bar.
    pub progress: Progress,
    /// How things stand, for whoever looks at the folder.
    pub live: Live,
    watch: Watch<'a>,
    last_checkpoint: Instant,
    /// Why training was stopped, if the disk did it.
    pub failure: Option<Failure>,
}

impl<'a> Watcher<'a> {
    /// A watcher of a run that has these rows already.
    pub fn new(folder: &'a Folder, built: &Built, kept: Vec<Row>, watch: Watch<'a>) -> Result<Self, Failure> {
        let lines: Vec<String> = std::iter::once(header()).chain(kept.iter().map(format_row)).collect();
        let metrics = MetricsFile::create(&folder.path().join("metrics.csv"), &lines)?;
        let (schedule, round) = (built.prepared.schedule, built.prepared.training.round());
        let moments = match schedule.moments {
            true => Some(reopen_moments(folder, round)?),
            false => None,
        };
        let events = if watch.tensorboard { Some(reopen_events(folder, &kept)?) } else { None };
        let facts = &built.prepared.facts;
        let mut live = Live::begin(
            folder.path(),
            Course {
                rounds: schedule.rounds,
                from: round,
                budget: built.prepared.guarantee.map(|g| (g.epsilon, g.delta)),
                numbers: facts.nodes as u64 * facts.parameters as u64,
                before: watch.before,
                again: watch.again.clone(),
            },
        );
        built.warnings.iter().for_each(|warning| live.add(Level::Warning, warning.clone()));
        kept.last().into_iter().for_each(|row| live.row(row));
        Ok(Self {
            folder,
            fingerprint: built.fingerprint,
            metrics,
            moments,
            events,
            rows: kept,
            progress: Progress::new(u64::from(schedule.rounds), "rounds").from(u64::from(round)),
            live,
            watch,
            last_checkpoint: Instant::now(),
            failure: None,
        })
    }

    /// Writes a checkpoint, and tells that it is there.
    pub fn checkpoint(&mut self, training: &dyn Training) -> Result<(), Failure> {
        self.metrics.sync().map_err(work("metrics.csv"))?;
        if let Some(moments) = &self.moments {
            moments.sync().map_err(work("moments.csv"))?;
        }
        self.folder.write("checkpoint/state", &training.save(&self.fingerprint))?;
        (self.watch.checkpointed)(training.round(), &self.rows)?;
        self.last_checkpoint = Instant::now();
        self.live.add(Level::Info, format!("checkpoint after round {}", training.round()));
        Ok(())
    }

    fn keep(&mut self, result: Result<(), Failure>) -> ControlFlow<()> {
        match result {
            Ok(()) => ControlFlow::Continue(()),
            Err(failure) => {
                self.failure = Some(failure);
                ControlFlow::Break(())
            }
        }
    }
}

/// `moments.csv` with its lines before `round`, ready for more.
fn reopen_moments(folder: &Folder, round: u32) -> Result<MetricsFile, Failure> {
    let path = folder.path().join("moments.csv");
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let mut lines = vec![moments_header().to_string()];
    let before =
        |line: &&str| line.split(',').next().and_then(|r| r.parse().ok()).is_some_and(|r: u32| r < round);
    lines.extend(text.lines().skip(1).filter(before).map(String::from));
    Ok(MetricsFile::create(&path, &lines)?)
}

/// The event file with the rows so far, ready for more.
fn reopen_events(folder: &Folder, kept: &[Row]) -> Result<File, Failure> {
    let name = format!("{EVENTS_FOLDER}/{EVENTS_FILE}");
    folder.write(&name, &events(kept, now()))?;
    File::options().append(true).open(folder.path().join(name)).map_err(work(EVENTS_FILE))
}

/// The figures of a run for a terminal or a line: accuracy where it has a meaning, gradient norm, ε.
fn figures(rows: &[Row], label: &str, spent: Option<(f64, f64, f64)>) -> Figures {
    /// As many values as a curve on a terminal can show.
    const VALUES: usize = 256;
    let every = rows.len().div_ceil(VALUES).max(1);
    let sampled = || rows.iter().rev().step_by(every).rev();
    let last = rows.last();
    let mut curves = Vec::new();
    let mut accuracy = String::new();
    if let Some(now) = last.and_then(|r| r.test_accuracy) {
        accuracy = format!("accuracy {:.1} %  ", 100.0 * now);
        let values = sampled().filter_map(|r| r.test_accuracy).collect();
        curves.push(Curve { name: "accuracy", values, log: false, now: format!("{:.1} %", 100.0 * now) });
    }
    let norm = last.map_or(f64::NAN, |r| r.grad_norm);
    // NaN and ∞ are one thing to whoever watches: the model ran away.
    let norm = if last.is_some() && !norm.is_finite() { "∞".into() } else { format!("{norm:.2e}") };
    let values = sampled().map(|r| r.grad_norm).collect();
    curves.push(Curve { name: "‖∇f‖", values, log: true, now: norm.clone() });
    let epsilon = spent.map_or(String::new(), |(epsilon, ..)| format!("ε {}", short(epsilon, 3)));
    Figures {
        text: format!("{label}‖∇f‖ {norm}  {accuracy}{epsilon}"),
        label: label.trim_end().to_string(),
        curves,
        spent: spent.map(|(epsilon, budget, delta)| Spent { epsilon, budget, delta }),
        note: if spent.is_none() { "not private (ε = ∞)".into() } else { String::new() },
    }
}

impl Observer for Watcher<'_> {
    fn row(&mut self, row: &Row) -> ControlFlow<()> {
        self.rows.push(*row);
        self.live.row(row);
        let mut result = self.metrics.append(&format_row(row)).map_err(work("metrics.csv"));
        if let (Ok(()), Some(events)) = (&result, &mut self.events) {
            result = events.write_all(&row_event(row, now())).map_err(work(EVENTS_FILE));
        }
        self.keep(result)
    }

    fn moments(&mut self, moments: &Moments) {
        if let Some(Err(error)) = self.moments.as_mut().map(|file| file.append(&format_moments(moments))) {
            self.failure = Some(work("moments.csv")(error));
        }
    }

    fn round(&mut self, training: &dyn Training) -> ControlFlow<()> {
        self.live.round(training);
        let (rows, label, spent) = (&self.rows, &self.watch.label, self.live.spent());
        self.progress.show(u64::from(training.round()), || figures(rows, label, spent));
        if self.failure.is_some() || self.watch.stop.asked() {
            return ControlFlow::Break(());
        }
        if self.last_checkpoint.elapsed() >= self.watch.checkpoint_every {
            let result = self.checkpoint(training);
            return self.keep(result);
        }
        ControlFlow::Continue(())
    }
}
