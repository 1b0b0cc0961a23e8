//! What the command shows of one training, and Ctrl-C.

use super::{Failure, shell_word};
use crate::cli::OutArgs;
use crate::progress::{Curve, Figures, Patience, Progress, Spent, tell};
use prdo::budget::words::short;
use prdo::parts::Parts;
use prdo::simulator::Row;
use prdo::store::{Folder, Worry};
use prdo::trainer::{ObserverError, Stage, TrainObserver};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

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

    pub fn flag(&self) -> &Arc<AtomicBool> {
        &self.0
    }

    pub fn asked(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

pub fn checkpoint_interval(seconds: f64) -> Result<Duration, Failure> {
    if !(seconds.is_finite() && seconds >= 0.0) {
        return Err(Failure::Input("--checkpoint-every must be a number of seconds of at least 0".into()));
    }
    Ok(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
}

pub struct Bar {
    label: String,
    progress: Progress,
    patience: Option<Patience>,
}

impl Bar {
    pub fn new(label: String, rounds: u32, done: u32) -> Self {
        let progress = Progress::new(u64::from(rounds), "rounds").from(u64::from(done));
        Self { label, progress, patience: None }
    }
}

impl TrainObserver for Bar {
    fn round(&mut self, stage: &Stage<'_>) -> Result<(), ObserverError> {
        self.progress.show(u64::from(stage.round), || figures(stage.rows, &self.label, stage.spent));
        Ok(())
    }

    fn rounds_over(&mut self) {
        self.progress.finish();
    }

    fn measuring(&mut self) {
        self.patience = Some(Patience::new("measuring every node's own model …"));
    }

    fn measured(&mut self, worry: Option<&Worry>) -> Result<(), ObserverError> {
        self.patience = None;
        worry.into_iter().for_each(|worry| tell(&format!("warning: {}", worry.words)));
        Ok(())
    }
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
    // NaN and ∞ are one thing to whoever watches: training diverged.
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

/// The command as it was typed, for a folder that is begun.
pub fn resume_command(out: &OutArgs, folder: &Folder) -> String {
    let mut words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--overwrite").collect();
    if out.out.is_none() {
        words.extend(["--out".into(), folder.path().display().to_string()]);
    }
    format!("prdo{}", words.iter().map(|word| format!(" {}", shell_word(word))).collect::<String>())
}

/// Says what is kept of a job that was stopped, and how to resume it.
pub fn interrupted(parts: &Parts<'_>, all: usize, what: &str) -> Failure {
    let shown = parts.folder.path().display();
    tell(&format!("stopped: {} of {all} {what} are finished and kept in {shown}", parts.finished()));
    tell(&format!("resume with: {}", parts.command));
    Failure::Work("interrupted".into())
}
