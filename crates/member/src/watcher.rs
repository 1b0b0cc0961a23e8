//! Watches a node at work: the log, the status file, the rows of its progress and the page.

use crate::journal::line_of;
use crate::page::{Sample, Sheet};
use crate::prepare::Measure;
use prdo::budget::words::short;
use prdo_disk::write_privately;
use prdo_peer::driver::Watch;
use prdo_peer::machine::{LinkState, Note};
use prdo_peer::session::Session;
use prdo_peer::transport::Reason;
use prdo_store::{Level, Log, MemberSummary, Neighbour, State, Status, artefact, names, utc};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// The status is written at most this often.
const STATUS_EVERY: Duration = Duration::from_secs(1);
/// Rounds are logged, and accuracy is measured, at most this often.
const SLOW_EVERY: Duration = Duration::from_secs(10);

/// Where somebody looks on: a terminal.
pub trait Screen {
    fn line(&mut self, text: &str);
    /// Called often: at least every tenth of a second.
    fn show(&mut self, status: &Status);
    fn finish(&mut self);
}

pub struct Watcher {
    /// How the node stands, and what does not change of the run.
    status: Status,
    /// The members by number.
    names: Vec<String>,
    neighbours: Vec<(String, LinkState)>,
    folder: PathBuf,
    log: Log,
    /// `progress.csv`, and the round of its last row.
    history: Option<File>,
    kept_round: Option<u32>,
    /// Whether accuracy was measured since.
    measured: bool,
    screen: Box<dyn Screen>,
    sheet: Arc<Mutex<Sheet>>,
    measure: Option<Measure>,
    stop: Arc<AtomicBool>,
    /// The last reason why there is no link, by neighbour.
    why: BTreeMap<String, String>,
    began: (u32, Instant),
    status_at: Option<Instant>,
    slow_at: Option<Instant>,
    stranger_at: Option<Instant>,
    strangers: u64,
    measured_at: Option<Instant>,
    /// Whether the gate was asked in this run.
    released: bool,
    /// Another agreement on the other side, found before anything was released.
    pub conflict: Option<String>,
    /// The model at the end.
    pub model: Option<Vec<f64>>,
}

impl Watcher {
    /// `status` has what is known of the run before it begins, and the round after which it resumes.
    ///
    /// # Errors
    /// A log that cannot be opened.
    pub fn new(
        status: Status,
        names: Vec<String>,
        folder: &Path,
        (measure, sheet): (Option<Measure>, Arc<Mutex<Sheet>>),
        screen: Box<dyn Screen>,
        stop: Arc<AtomicBool>,
    ) -> std::io::Result<Self> {
        let done = status.round.unwrap_or(0);
        let status = Status {
            round: Some(done),
            process: Some(std::process::id()),
            started: Some(utc(SystemTime::now())),
            rounds_per_second: Some(0.0),
            epsilon_spent: Some(0.0),
            budget: Some(0.0),
            delta: Some(0.0),
            clipped_gradient_fraction_unprotected: Some(None),
            ..status
        };
        let mut log = Log::open(folder)?;
        let started = json!({ "member": status.member, "agreement": status.agreement, "rounds_done": done,
            "listening": status.listening });
        log.add(Level::Info, "started", started);
        if let Some(message) = &status.test_seed {
            log.add(Level::Warning, "test_seed", json!({ "message": message }));
        }
        Ok(Self {
            status,
            names,
            neighbours: Vec::new(),
            folder: folder.to_path_buf(),
            log,
            history: history(folder),
            kept_round: (done > 0).then_some(done),
            measured: false,
            screen,
            sheet,
            measure,
            stop,
            why: BTreeMap::new(),
            began: (done, Instant::now()),
            status_at: None,
            slow_at: None,
            stranger_at: None,
            strangers: 0,
            measured_at: None,
            released: done > 0,
            conflict: None,
            model: None,
        })
    }

    fn round(&self) -> u32 {
        self.status.round.unwrap_or(0)
    }

    /// Why neighbours are not there, in words.
    pub fn reasons(&self) -> String {
        let each: Vec<_> = self.why.iter().map(|(peer, why)| format!("{peer}: {why}")).collect();
        each.join("; ")
    }

    /// What is logged, shown and written at the end.
    pub fn ended(&mut self, state: State, message: &str) {
        self.screen.finish();
        self.log.add(state.level(), state.name(), json!({ "rounds": self.round(), "message": message }));
        self.status.message = Some(message.to_string());
        self.write_status(state);
    }

    /// Two texts were signed: better to stop at once, while nothing has been released. This is this node's own finding,
    /// after the neighbour has proven its key, and never what others say.
    fn stop_if_conflict(&mut self, who: &str, why: &Reason) {
        if !self.released && why.is_other_agreement() {
            self.conflict = Some(format!("{who} takes part with another agreement: {why}"));
            self.stop.store(true, Ordering::SeqCst);
        }
    }

    /// What became of the run.
    pub fn summary(&self, unconfirmed: &[String], time: Duration) -> MemberSummary {
        let status = self.status.clone();
        MemberSummary {
            finished: true,
            name: status.name,
            run: status.run,
            agreement: status.agreement,
            member: status.member,
            rounds: status.round,
            epsilon_spent: status.epsilon_spent,
            budget: status.budget,
            delta: status.delta,
            noise_multiplier: status.noise_multiplier,
            colluders: status.colluders,
            test_accuracy: status.test_accuracy,
            unconfirmed: Some(unconfirmed.to_vec()),
            test_seed: status.test_seed,
            rounds_before: Some(self.began.0),
            seconds: Some(time.as_secs_f64()),
        }
    }

    /// What the session says of itself.
    fn take(&mut self, session: &Session) {
        let found = session.status();
        let name = |number: usize| self.names.get(number).cloned().unwrap_or_default();
        self.neighbours = found.neighbours.into_iter().map(|(n, state)| (name(n), state)).collect();
        let seconds = self.began.1.elapsed().as_secs_f64();
        let rate = f64::from(self.round().saturating_sub(self.began.0)) / seconds.max(1e-3);
        let counts = found.diagnostics;
        let clipped = (counts.records > 0).then(|| counts.clipped_gradients as f64 / counts.records as f64);
        let status = &mut self.status;
        status.epsilon_spent = Some(found.spent);
        (status.budget, status.delta) = (Some(found.budget.epsilon()), Some(found.budget.delta()));
        status.rounds_per_second = Some(rate);
        status.clipped_gradient_fraction_unprotected = Some(clipped);
    }

    fn measure(&mut self, session: &Session) {
        if let Some(measure) = &self.measure {
            self.status.test_accuracy = measure(session.machine().model());
            self.measured = true;
        }
    }

    /// A status that cannot be written is no reason to stop: what matters is in the ledger.
    fn write_status(&mut self, state: State) {
        let neighbour = |(name, state): &(String, LinkState)| Neighbour {
            name: name.clone(),
            state: state.to_string(),
            why: self.why.get(name).filter(|_| *state == LinkState::NotReached).cloned(),
        };
        self.status.neighbours = self.neighbours.iter().map(neighbour).collect();
        let left = self.status.rounds.unwrap_or(0).saturating_sub(self.round());
        let seconds = self.status.rounds_per_second.map(|rate| f64::from(left) / rate);
        self.status.seconds_left = seconds.filter(|seconds| seconds.is_finite());
        self.status.state = Some(state);
        self.status.updated = Some(utc(SystemTime::now()));
        let text = artefact::text(&self.status);
        let _ = write_privately(&self.folder.join(names::STATUS), text.as_bytes());
        *self.sheet.lock().unwrap_or_else(PoisonError::into_inner) = self.page(state);
    }

    /// The state in words: whom a running node waits for.
    fn state_in_words(&self, state: State) -> String {
        let away = |(name, state): &&(String, LinkState)| *state == LinkState::NotReached && !name.is_empty();
        let names: Vec<_> = self.neighbours.iter().filter(away).map(|(name, _)| name.as_str()).collect();
        match state {
            State::Running if !names.is_empty() => format!("running, waiting for {}", names.join(", ")),
            State::Running | State::Stopped | State::Finished | State::Failed => state.name().to_string(),
        }
    }

    fn page(&self, state: State) -> Sheet {
        let status = &self.status;
        let text = |value: &Option<String>| value.clone().unwrap_or_default();
        let number = |value: Option<f64>| value.unwrap_or(0.0);
        let (rounds, rate) = (status.rounds.unwrap_or(0), number(status.rounds_per_second));
        let (spent, budget) = (number(status.epsilon_spent), number(status.budget));
        let row = |name: &str, value: String| (name.to_string(), value);
        let left = status.seconds_left.filter(|_| state == State::Running);
        let left = left.map_or(String::new(), |seconds| format!(", {seconds:.0} s left"));
        let privacy = format!("ε = {} spent of {budget} at δ = {:e}", short(spent, 4), number(status.delta));
        let mut rows = vec![
            row("state", self.state_in_words(state)),
            row("as of", text(&status.updated)),
            row("round", format!("{} of {rounds}{left}", self.round())),
            row("rounds per second", format!("{rate:.2}")),
            row("privacy", privacy),
            row("agreement", text(&status.agreement)),
            row("listening", text(&status.listening)),
        ];
        rows.extend(status.test_seed.clone().map(|draws| row("draws", draws)));
        rows.extend(status.test_accuracy.map(|a| row("test accuracy", format!("{:.2} %", 100.0 * a))));
        for Neighbour { name, state, why } in &status.neighbours {
            let why = why.as_ref().map_or(String::new(), |why| format!(" ({why})"));
            rows.push(row(&format!("neighbour {name}"), format!("{state}{why}")));
        }
        let mut samples = vec![
            Sample::counter("prdo_round", "Rounds done.", self.round().into()),
            Sample::gauge("prdo_rounds", "Rounds of the run.", rounds.into()),
            Sample::gauge("prdo_rounds_per_second", "Rounds per second since the start.", rate),
            Sample::counter("prdo_epsilon_spent", "Epsilon spent by these records, in all runs.", spent),
            Sample::gauge("prdo_epsilon_budget", "Epsilon that may be spent.", budget),
        ];
        for (name, state) in &self.neighbours {
            let up = f64::from(u8::from(*state != LinkState::NotReached));
            let sample = Sample::gauge("prdo_neighbour_up", "Whether the link is up.", up);
            samples.push(sample.with("neighbour", name));
        }
        let title = format!("{} in {}", text(&status.member), text(&status.name));
        // Every user of this machine can read the page: not what is for the owner of the records alone.
        let status = artefact::line(&status.clone().without_secrets()) + "\n";
        Sheet { title, rows, status, samples }
    }

    /// A row of `progress.csv`, so that curves can be drawn later: a thousand of them in all, or a few more.
    fn keep_row(&mut self, over: bool) {
        let (status, round) = (&self.status, self.round());
        let step = (status.rounds.unwrap_or(0) / 1000).max(1);
        let is_kept = |kept: u32| round < kept.saturating_add(step) && !(over && round > kept);
        if self.kept_round.is_some_and(is_kept) {
            return;
        }
        let accuracy =
            status.test_accuracy.filter(|_| self.measured).map_or(String::new(), |a| a.to_string());
        let (spent, rate) = (status.epsilon_spent.unwrap_or(0.0), status.rounds_per_second.unwrap_or(0.0));
        let row = format!("{round},{spent},{accuracy},{rate}\n");
        if self.history.as_mut().is_some_and(|file| file.write_all(row.as_bytes()).is_ok()) {
            (self.kept_round, self.measured) = (Some(round), false);
        }
    }

    /// Anybody can knock with any number of keys: they are counted, and one is named now and then.
    fn stranger(&mut self, who: &str, why: &str) {
        self.strangers += 1;
        if due(&mut self.stranger_at, SLOW_EVERY) {
            let count = self.strangers;
            self.log.add(Level::Warning, "stranger", json!({ "key": who, "why": why, "turned_away": count }));
            self.screen
                .line(&format!("refused {who}, who is no neighbour: {why} ({count} turned away so far)"));
        }
    }

    /// Keeps why a neighbour is not there; whether that is something new.
    fn is_new(&mut self, peer: &str, why: &str) -> bool {
        self.why.insert(peer.to_string(), why.to_string()).as_deref() != Some(why)
    }
}

fn due(at: &mut Option<Instant>, every: Duration) -> bool {
    let due = at.is_none_or(|at| at.elapsed() >= every);
    if due {
        *at = Some(Instant::now());
    }
    due
}

/// `progress.csv`, ready for more rows. It is no reason to stop if it cannot be written.
fn history(folder: &Path) -> Option<File> {
    let path = folder.join(names::PROGRESS);
    if !path.exists() {
        write_privately(&path, b"round,epsilon_spent,test_accuracy,rounds_per_second\n").ok()?;
    }
    File::options().append(true).open(&path).ok()
}

impl Watch for Watcher {
    fn note(&mut self, note: &Note) {
        let news = match note {
            Note::Connected { peer } => self.why.remove(peer).is_some() || self.round() == self.began.0,
            Note::Lost { peer, why, .. } => {
                self.stop_if_conflict(peer, why);
                self.is_new(peer, &why.to_string())
            }
            Note::Refused { peer, why } | Note::RefusedBy { peer, why } => self.is_new(peer, why),
            Note::Round { rounds } => {
                self.status.round = Some(*rounds);
                let last = self.status.rounds == Some(*rounds);
                if !(last || due(&mut self.slow_at, SLOW_EVERY)) {
                    return;
                }
                false
            }
            Note::Resent { .. } => false,
            Note::Waiting { .. } | Note::Lingering => true,
        };
        let (level, event, fields) = line_of(note);
        self.log.add(level, event, fields);
        if news {
            self.screen.line(&note.to_string());
        }
    }

    fn refused(&mut self, who: &str, why: &Reason) {
        let words = why.to_string();
        if !self.names.iter().any(|name| name == who) {
            return self.stranger(who, &words);
        }
        self.log.add(Level::Warning, "refused", json!({ "peer": who, "why": words }));
        if self.is_new(who, &words) {
            self.screen.line(&format!("refused {who}: {words}"));
        }
        self.stop_if_conflict(who, why);
    }

    fn look(&mut self, session: &Session) {
        let over = session.machine().is_over();
        self.status.round = Some(session.machine().round());
        self.released = !session.machine().is_meeting();
        if over {
            self.model = Some(session.machine().model().to_vec());
            self.measure(session);
        }
        if over || due(&mut self.status_at, STATUS_EVERY) {
            self.take(session);
            if self.round() > self.began.0 && due(&mut self.measured_at, SLOW_EVERY) {
                self.measure(session);
            }
            self.keep_row(over);
            self.write_status(State::Running);
        }
        self.screen.show(&self.status);
    }
}
