//! `live.json`: how a run stands at this moment, for whoever watches its folder.
//!
//! It is replaced whole, at most once a second, and never takes more than about a hundredth of the run's time: each
//! writing is timed, what it shows included, and the next waits a hundred times as long. It is not made durable,
//! since a run that goes on writes another one and the results do not depend on it.

use crate::node::journal::{Level, utc};
use prdo_simulator::{Row, Training};
use serde_json::{Value as Json, json};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// The file's name.
pub const LIVE: &str = "live.json";
/// Written at most this often.
const EVERY: Duration = Duration::from_secs(1);
/// A writing may take this part of the time until the next.
const SHARE: u32 = 100;
/// Lines of the log that are kept.
const LINES: usize = 60;
/// Nanoseconds that one number of one node's model takes, before anything was timed.
const PER_NUMBER: u64 = 2;
/// ε of a row this young is not computed again.
const YOUNG: Duration = Duration::from_secs(2);

/// What does not change while a run goes on.
#[derive(Clone, Debug)]
pub struct Course {
    /// T.
    pub rounds: u32,
    /// Rounds done when this process began.
    pub from: u32,
    /// ε that the whole run may spend, and δ; `None` without privacy.
    pub budget: Option<(f64, f64)>,
    /// Numbers of all nodes' models together.
    pub numbers: u64,
    /// How long earlier processes trained.
    pub before: Duration,
    /// What to type to go on, should it be stopped.
    pub again: String,
}

/// Keeps `live.json` of a run's folder.
pub struct Live {
    path: PathBuf,
    course: Course,
    began: (SystemTime, Instant),
    /// When the last writing began, and how long it took.
    last: Option<(Instant, Duration)>,
    log: Vec<Json>,
    round: u32,
    row_at: Instant,
    epsilon: Option<f64>,
    disagreement: Vec<f64>,
}

/// How long the run in a folder took so far, all its pieces together.
pub fn time_before(folder: &Path) -> Duration {
    let live: Json = fs::read(folder.join(LIVE))
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or_default();
    let seconds = live["seconds"].as_f64().unwrap_or(0.0);
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::ZERO)
}

impl Live {
    /// Says that a run begins or goes on in a folder; the log of the process before is kept.
    pub fn begin(folder: &Path, course: Course) -> Self {
        let path = folder.join(LIVE);
        let before = if course.from > 0 { fs::read(&path).unwrap_or_default() } else { Vec::new() };
        let before: Json = serde_json::from_slice(&before).unwrap_or_default();
        let log = before["log"].as_array().cloned().unwrap_or_default();
        let now = Instant::now();
        let round = course.from;
        let mut live = Self {
            path,
            course,
            began: (SystemTime::now(), now),
            last: None,
            log,
            round,
            row_at: now,
            epsilon: None,
            disagreement: Vec::new(),
        };
        live.add(
            Level::Info,
            if round > 0 { format!("going on after round {round}") } else { "started".into() },
        );
        live.write("running", None);
        // The first look at the nodes' models has not been timed yet: this is what it may take.
        let numbers = live.course.numbers.saturating_mul(PER_NUMBER);
        live.last = Some((now, Duration::from_nanos(numbers)));
        live
    }

    /// Adds a line to the log; it is written with what is written next.
    pub fn add(&mut self, level: Level, text: String) {
        self.log.push(json!({ "time": utc(SystemTime::now()), "level": level.name(), "text": text }));
        let over = self.log.len().saturating_sub(LINES);
        self.log.drain(..over);
    }

    /// A row was measured.
    pub fn row(&mut self, row: &Row) {
        (self.row_at, self.epsilon) = (Instant::now(), row.epsilon_spent);
    }

    /// A round is done: writes how things stand, if it is time.
    pub fn round(&mut self, training: &dyn Training) {
        self.round = training.round();
        let wait = self.last.map_or(Duration::ZERO, |(_, took)| EVERY.max(took.saturating_mul(SHARE)));
        if self.last.is_some_and(|(at, _)| at.elapsed() < wait) {
            return;
        }
        let start = Instant::now();
        self.disagreement = training.disagreement();
        if self.row_at.elapsed() > YOUNG && self.course.budget.is_some() {
            self.epsilon = training.epsilon_spent();
        }
        self.write("running", None);
        self.last = Some((start, start.elapsed()));
    }

    /// Training is over: a last look at the nodes, if that takes no more than its share of the time.
    pub fn last_look(&mut self, training: &dyn Training) {
        self.round = training.round();
        let took = self.last.map_or(Duration::ZERO, |(_, took)| took);
        if took.saturating_mul(SHARE) <= self.began.1.elapsed() {
            self.disagreement = training.disagreement();
        }
    }

    /// The largest ε any node has spent as of the last row or writing, the run's ε and δ; `None` without privacy.
    pub fn spent(&self) -> Option<(f64, f64, f64)> {
        let (epsilon, delta) = self.course.budget?;
        Some((self.epsilon.unwrap_or(0.0), epsilon, delta))
    }

    /// The run has ended: how, and why in words.
    pub fn end(&mut self, state: &str, message: &str) {
        let level = if state == "failed" { Level::Error } else { Level::Info };
        self.add(level, message.to_string());
        self.write(state, Some(message));
    }

    /// A file that cannot be written is no reason to stop: the run's results do not depend on it.
    fn write(&self, state: &str, message: Option<&str>) {
        let text = format!("{}\n", self.to_json(state, message));
        // One process has the folder, so the name is nobody else's, and what a crash leaves is replaced by the next.
        let fresh = self.path.with_file_name(".live.json.tmp");
        let written = fs::File::create(&fresh).and_then(|mut file| file.write_all(text.as_bytes()));
        let _ = written.and_then(|()| fs::rename(&fresh, &self.path));
    }

    fn to_json(&self, state: &str, message: Option<&str>) -> Json {
        let Course { rounds, from, budget, before, ref again, .. } = self.course;
        let here = self.began.1.elapsed();
        let rate = f64::from(self.round.saturating_sub(from)) / here.as_secs_f64().max(1e-3);
        let left = f64::from(rounds.saturating_sub(self.round)) / rate;
        json!({
            "state": state,
            "message": message,
            "again": again,
            "process": std::process::id(),
            "started": utc(self.began.0),
            "updated": utc(SystemTime::now()),
            "round": self.round,
            "rounds": rounds,
            "seconds": (before + here).as_secs_f64(),
            "rounds_per_second": rate,
            "seconds_left": Some(left).filter(|s| s.is_finite() && state == "running"),
            "private": budget.is_some(),
            "epsilon_spent": self.epsilon,
            "epsilon": budget.map(|b| b.0),
            "delta": budget.map(|b| b.1),
            "simulation": true,
            "disagreement": self.disagreement.iter().map(|d| short(*d)).collect::<Vec<_>>(),
            "log": self.log,
        })
    }
}

/// Four digits are enough for a colour; the file stays small with a thousand nodes.
fn short(x: f64) -> f64 {
    format!("{x:.3e}").parse().unwrap_or(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course(from: u32) -> Course {
        Course {
            rounds: 10,
            from,
            budget: Some((2.0, 1e-5)),
            numbers: 8,
            before: Duration::ZERO,
            again: "x".into(),
        }
    }

    fn read(folder: &Path) -> Json {
        serde_json::from_slice(&fs::read(folder.join(LIVE)).unwrap()).unwrap()
    }

    #[test]
    fn a_run_says_how_it_stands_and_keeps_the_log_when_it_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let mut live = Live::begin(folder.path(), course(0));
        assert_eq!(
            (&read(folder.path())["state"], &read(folder.path())["round"]),
            (&json!("running"), &json!(0))
        );
        for k in 0..2 * LINES {
            live.add(Level::Warning, format!("line {k}"));
        }
        live.end("stopped", "stopped after round 4");
        assert_eq!(read(folder.path())["log"].as_array().unwrap().len(), LINES);
        Live::begin(folder.path(), course(4));
        let again = read(folder.path());
        let text = |back: usize| again["log"][LINES - back]["text"].clone();
        assert_eq!((text(2), text(1)), (json!("stopped after round 4"), json!("going on after round 4")));
        assert_eq!((&again["state"], &again["seconds_left"]), (&json!("running"), &Json::Null));
        Live::begin(folder.path(), course(0));
        assert_eq!(read(folder.path())["log"].as_array().unwrap().len(), 1);
        assert!(!folder.path().join(".live.json.tmp").exists());
    }

    #[test]
    fn a_folder_that_is_gone_stops_nobody() {
        let mut live = Live::begin(Path::new("/nowhere/at/all"), course(0));
        live.end("finished", "done");
    }

    #[test]
    fn four_digits() {
        assert_eq!((short(0.0), short(1.23456e-7), short(9.9996)), (0.0, 1.235e-7, 10.0));
        assert!(short(f64::NAN).is_nan());
    }
}
