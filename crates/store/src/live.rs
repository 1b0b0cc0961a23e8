//! `live.json`: how a run stands at this moment, for whoever watches its folder.
//!
//! It is replaced whole, at most once a second, and never takes more than about a hundredth of the run's time: each
//! writing is timed, what it shows included, and the next waits a hundred times as long. It is not made durable,
//! since a run that goes on writes another one and the results do not depend on it.

use crate::log::{Level, utc};
use crate::{artefact, names};
use prdo_simulator::{Row, Training};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// How a run stands, as the file has it; what an earlier version did not write is empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Live {
    pub state: Option<State>,
    pub message: Option<String>,
    /// The command that resumes it, should it be stopped.
    pub again: Option<String>,
    pub process: Option<u32>,
    pub started: Option<String>,
    pub updated: Option<String>,
    pub round: Option<u32>,
    pub rounds: Option<u32>,
    pub seconds: Option<f64>,
    pub rounds_per_second: Option<f64>,
    pub seconds_left: Option<f64>,
    pub private: Option<bool>,
    pub epsilon_spent: Option<f64>,
    pub epsilon: Option<f64>,
    pub delta: Option<f64>,
    pub simulation: bool,
    /// Each node's distance from the average; nothing where that is not finite.
    pub disagreement: Vec<Option<f64>>,
    pub log: Vec<LogLine>,
}

/// Whether a run or a node is at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    Running,
    /// Before its end, to be resumed later.
    Stopped,
    Finished,
    Failed,
}

impl State {
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Stopped => "stopped",
            Self::Finished => "finished",
            Self::Failed => "failed",
        }
    }

    /// How much a line of the log matters that says so.
    pub fn level(self) -> Level {
        match self {
            Self::Failed => Level::Error,
            Self::Running | Self::Stopped | Self::Finished => Level::Info,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLine {
    pub time: String,
    pub level: Level,
    pub text: String,
}

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
pub struct Outlook {
    pub rounds: u32,
    /// Rounds done when this process began.
    pub from: u32,
    /// ε that the whole run may spend, and δ; `None` without privacy.
    pub budget: Option<(f64, f64)>,
    /// Numbers of all nodes' models together.
    pub numbers: u64,
    /// How long earlier processes trained.
    pub before: Duration,
    /// The command that resumes it, should it be stopped.
    pub again: String,
}

/// Keeps `live.json` of a run's folder.
pub struct LiveFile {
    path: PathBuf,
    outlook: Outlook,
    began: (SystemTime, Instant),
    /// When the last writing began, and how long it took.
    last: Option<(Instant, Duration)>,
    log: Vec<LogLine>,
    round: u32,
    row_at: Instant,
    epsilon: Option<f64>,
    disagreement: Vec<f64>,
}

/// How long the run in a folder took so far, all its pieces together.
pub fn time_before(folder: &Path) -> Duration {
    let seconds = read(&folder.join(names::LIVE)).seconds.unwrap_or(0.0);
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::ZERO)
}

/// What a file says, as far as it can be read.
fn read(path: &Path) -> Live {
    let live = fs::read(path).ok().and_then(|bytes| artefact::salvage(&bytes).ok());
    live.map(|(live, _)| live).unwrap_or_default()
}

impl LiveFile {
    /// Says that a run begins or is resumed in a folder; the log of the process before is kept.
    pub fn begin(folder: &Path, outlook: Outlook) -> Self {
        let path = folder.join(names::LIVE);
        let log = if outlook.from > 0 { read(&path).log } else { Vec::new() };
        let now = Instant::now();
        let round = outlook.from;
        let mut live = Self {
            path,
            outlook,
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
            if round > 0 { format!("resumed after round {round}") } else { "started".into() },
        );
        live.write(State::Running, None);
        // The first look at the nodes' models has not been timed yet: this is what it may take.
        let numbers = live.outlook.numbers.saturating_mul(PER_NUMBER);
        live.last = Some((now, Duration::from_nanos(numbers)));
        live
    }

    /// Adds a line to the log; it is written with what is written next.
    pub fn add(&mut self, level: Level, text: String) {
        self.log.push(LogLine { time: utc(SystemTime::now()), level, text });
        let over = self.log.len().saturating_sub(LINES);
        self.log.drain(..over);
    }

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
        if self.row_at.elapsed() > YOUNG && self.outlook.budget.is_some() {
            self.epsilon = training.epsilon_spent();
        }
        self.write(State::Running, None);
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
        let (epsilon, delta) = self.outlook.budget?;
        Some((self.epsilon.unwrap_or(0.0), epsilon, delta))
    }

    /// The run has ended: how, and why in words.
    pub fn end(&mut self, state: State, message: &str) {
        self.add(state.level(), message.to_string());
        self.write(state, Some(message));
    }

    /// A file that cannot be written is no reason to stop: the run's results do not depend on it.
    fn write(&self, state: State, message: Option<&str>) {
        let text = format!("{}\n", artefact::line(&self.now(state, message)));
        // One process has the folder, so the name is nobody else's, and what a crash leaves is replaced by the next.
        let fresh = self.path.with_file_name(format!(".{}.tmp", names::LIVE));
        let written = fs::File::create(&fresh).and_then(|mut file| file.write_all(text.as_bytes()));
        let _ = written.and_then(|()| fs::rename(&fresh, &self.path));
    }

    fn now(&self, state: State, message: Option<&str>) -> Live {
        let Outlook { rounds, from, budget, before, ref again, .. } = self.outlook;
        let here = self.began.1.elapsed();
        let rate = f64::from(self.round.saturating_sub(from)) / here.as_secs_f64().max(1e-3);
        let left = f64::from(rounds.saturating_sub(self.round)) / rate;
        Live {
            state: Some(state),
            message: message.map(String::from),
            again: Some(again.clone()),
            process: Some(std::process::id()),
            started: Some(utc(self.began.0)),
            updated: Some(utc(SystemTime::now())),
            round: Some(self.round),
            rounds: Some(rounds),
            seconds: Some((before + here).as_secs_f64()),
            rounds_per_second: Some(rate),
            seconds_left: Some(left).filter(|s| s.is_finite() && state == State::Running),
            private: Some(budget.is_some()),
            epsilon_spent: self.epsilon,
            epsilon: budget.map(|b| b.0),
            delta: budget.map(|b| b.1),
            simulation: true,
            disagreement: self.disagreement.iter().map(|d| Some(short(*d))).collect(),
            log: self.log.clone(),
        }
    }
}

/// Four digits are enough for a colour; the file stays small with a thousand nodes.
fn short(x: f64) -> f64 {
    format!("{x:.3e}").parse().unwrap_or(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outlook(from: u32) -> Outlook {
        Outlook {
            rounds: 10,
            from,
            budget: Some((2.0, 1e-5)),
            numbers: 8,
            before: Duration::ZERO,
            again: "x".into(),
        }
    }

    /// As version 0.1.0 wrote it.
    const WRITTEN: &str = include_str!("../tests/live.json");

    fn read(folder: &Path) -> Live {
        artefact::parse(&fs::read(folder.join(names::LIVE)).unwrap()).unwrap()
    }

    #[test]
    fn what_was_read_is_written_to_the_byte() {
        let live: Live = artefact::parse(WRITTEN.as_bytes()).unwrap();
        assert_eq!((live.state, live.round), (Some(State::Finished), Some(40)));
        assert_eq!(artefact::line(&live) + "\n", WRITTEN);
        let away = WRITTEN.replacen("[0.0004228,", "[null,", 1);
        let live: Live = artefact::parse(away.as_bytes()).unwrap();
        assert_eq!(artefact::line(&live) + "\n", away);
    }

    #[test]
    fn a_run_says_how_it_stands_and_keeps_the_log_when_it_is_resumed() {
        let folder = tempfile::tempdir().unwrap();
        let mut live = LiveFile::begin(folder.path(), outlook(0));
        let first = read(folder.path());
        assert_eq!((first.state, first.round), (Some(State::Running), Some(0)));
        for k in 0..2 * LINES {
            live.add(Level::Warning, format!("line {k}"));
        }
        live.end(State::Stopped, "stopped after round 4");
        assert_eq!(read(folder.path()).log.len(), LINES);
        LiveFile::begin(folder.path(), outlook(4));
        let again = read(folder.path());
        let text = |back: usize| again.log[LINES - back].text.as_str();
        assert_eq!((text(2), text(1)), ("stopped after round 4", "resumed after round 4"));
        assert_eq!((again.state, again.seconds_left), (Some(State::Running), None));
        LiveFile::begin(folder.path(), outlook(0));
        assert_eq!(read(folder.path()).log.len(), 1);
        assert!(!folder.path().join(".live.json.tmp").exists());
    }

    #[test]
    fn a_folder_that_is_gone_stops_nobody() {
        let mut live = LiveFile::begin(Path::new("/nowhere/at/all"), outlook(0));
        live.end(State::Finished, "done");
    }

    #[test]
    fn four_digits() {
        assert_eq!((short(0.0), short(1.23456e-7), short(9.9996)), (0.0, 1.235e-7, 10.0));
        assert!(short(f64::NAN).is_nan());
    }
}
