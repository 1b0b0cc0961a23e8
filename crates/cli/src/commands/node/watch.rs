//! Watches a node at work: the bar, the log, the status file and the page.

use crate::commands::Failure;
use crate::commands::watch::Stop;
use crate::progress::{Figures, Progress, Spent};
use prdo::budget::words::short;
use prdo::disk::write_privately;
use prdo::store::{Level, Log, MemberSummary, Neighbour, State, Status, artefact, names, utc};
use prdo_member::Membership;
use prdo_member::journal::line_of;
use prdo_member::page::{Sample, Sheet};
use prdo_member::prepare::Measure;
use prdo_peer::driver::Watch;
use prdo_peer::machine::{LinkState, Note};
use prdo_peer::session::Session;
use prdo_peer::transport::Reason;
use prdo_peer::wire::hex;
use serde_json::json;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// The status is written at most this often.
const STATUS_EVERY: Duration = Duration::from_secs(1);
/// Rounds are logged, and accuracy is measured, at most this often.
const SLOW_EVERY: Duration = Duration::from_secs(10);
/// What seeded draws are worth.
pub const TEST_SEED: &str = "TEST SEED: not private";

/// Facts of a run that do not change.
pub struct Fixed {
    pub name: String,
    pub run: String,
    pub agreement: String,
    pub member: String,
    pub rounds: u32,
    pub names: Vec<String>,
    pub noise_multiplier: f64,
    pub listening: String,
    pub ledger: PathBuf,
    pub seeded: bool,
    pub started: String,
}

impl Fixed {
    pub fn of(seat: &Membership, listening: String, ledger: &Path, seeded: bool) -> Self {
        let terms = seat.agreement.terms();
        Self {
            name: terms.name.clone(),
            run: hex(&terms.run),
            agreement: hex(seat.agreement.hash()),
            member: seat.member.name.clone(),
            rounds: terms.rounds,
            names: terms.members.iter().map(|m| m.name.clone()).collect(),
            noise_multiplier: seat.planned.guarantee.noise_multiplier,
            listening,
            // From wherever somebody asks for the status.
            ledger: std::path::absolute(ledger).unwrap_or_else(|_| ledger.to_path_buf()),
            seeded,
            started: utc(SystemTime::now()),
        }
    }
}

/// What changes.
#[derive(Default)]
struct Now {
    round: u32,
    spent: f64,
    budget: f64,
    delta: f64,
    rate: f64,
    neighbours: Vec<(String, LinkState)>,
    accuracy: Option<f64>,
    /// Counts of the last answer that only the owner may see.
    clipped: Option<f64>,
}

pub struct Watcher {
    fixed: Fixed,
    now: Now,
    folder: PathBuf,
    log: Log,
    /// `progress.csv`, and the round of its last row.
    history: Option<File>,
    kept_round: Option<u32>,
    /// Whether accuracy was measured since.
    measured: bool,
    pub progress: Progress,
    sheet: Arc<Mutex<Sheet>>,
    measure: Option<Measure>,
    stop: Stop,
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
    pub fn new(
        fixed: Fixed,
        folder: &Path,
        rounds_done: u32,
        measure: Option<Measure>,
        stop: Stop,
        sheet: Arc<Mutex<Sheet>>,
    ) -> Result<Self, Failure> {
        let log = Log::open(folder).map_err(|e| Failure::Work(format!("log.jsonl: {e}")))?;
        let progress = Progress::new(u64::from(fixed.rounds), "rounds").from(u64::from(rounds_done));
        let mut watcher = Self {
            fixed,
            now: Now { round: rounds_done, ..Now::default() },
            folder: folder.to_path_buf(),
            log,
            history: history(folder),
            kept_round: (rounds_done > 0).then_some(rounds_done),
            measured: false,
            progress,
            sheet,
            measure,
            stop,
            why: BTreeMap::new(),
            began: (rounds_done, Instant::now()),
            status_at: None,
            slow_at: None,
            stranger_at: None,
            strangers: 0,
            measured_at: None,
            released: rounds_done > 0,
            conflict: None,
            model: None,
        };
        let f = &watcher.fixed;
        let fields = json!({ "member": f.member, "agreement": f.agreement, "rounds_done": rounds_done, "listening": f.listening });
        watcher.log.add(Level::Info, "started", fields);
        if watcher.fixed.seeded {
            watcher.log.add(Level::Warning, "test_seed", json!({ "message": TEST_SEED }));
        }
        Ok(watcher)
    }

    /// Why neighbours are not there, in words.
    pub fn reasons(&self) -> String {
        let each: Vec<_> = self.why.iter().map(|(peer, why)| format!("{peer}: {why}")).collect();
        each.join("; ")
    }

    /// What is logged, shown and written at the end.
    pub fn ended(&mut self, state: State, message: &str) {
        self.progress.finish();
        self.log.add(state.level(), state.name(), json!({ "rounds": self.now.round, "message": message }));
        self.write_status(state, Some(message));
    }

    /// Two texts were signed: better to stop at once, while nothing has been released. This is this node's own finding,
    /// after the neighbour has proven its key, and never what others say.
    fn stop_if_conflict(&mut self, who: &str, why: &Reason) {
        if !self.released && why.is_other_agreement() {
            self.conflict = Some(format!("{who} takes part with another agreement: {why}"));
            self.stop.flag().store(true, Ordering::SeqCst);
        }
    }

    /// What became of the run.
    pub fn summary(&self, unconfirmed: &[String], time: Duration) -> MemberSummary {
        let (f, n) = (&self.fixed, &self.now);
        MemberSummary {
            finished: true,
            name: Some(f.name.clone()),
            run: Some(f.run.clone()),
            agreement: Some(f.agreement.clone()),
            member: Some(f.member.clone()),
            rounds: Some(n.round),
            epsilon_spent: Some(n.spent),
            budget: Some(n.budget),
            delta: Some(n.delta),
            noise_multiplier: Some(f.noise_multiplier),
            test_accuracy: n.accuracy,
            unconfirmed: Some(unconfirmed.to_vec()),
            test_seed: f.seeded.then(|| TEST_SEED.to_string()),
            rounds_before: Some(self.began.0),
            seconds: Some(time.as_secs_f64()),
        }
    }

    fn take(&mut self, session: &Session) {
        let status = session.status();
        let name = |number: usize| self.fixed.names.get(number).cloned().unwrap_or_default();
        self.now.neighbours = status.neighbours.into_iter().map(|(n, state)| (name(n), state)).collect();
        self.now.spent = status.spent;
        (self.now.budget, self.now.delta) = (status.budget.epsilon(), status.budget.delta());
        let seconds = self.began.1.elapsed().as_secs_f64();
        self.now.rate = f64::from(self.now.round - self.began.0.min(self.now.round)) / seconds.max(1e-3);
        let counts = status.diagnostics;
        self.now.clipped =
            (counts.records > 0).then(|| counts.clipped_gradients as f64 / counts.records as f64);
    }

    fn measure(&mut self, session: &Session) {
        if let Some(measure) = &self.measure {
            self.now.accuracy = measure(session.machine().model());
            self.measured = true;
        }
    }

    fn status(&self, state: State, message: Option<&str>) -> Status {
        let (f, n) = (&self.fixed, &self.now);
        let neighbour = |(name, state): &(String, LinkState)| {
            let why = self.why.get(name).filter(|_| *state == LinkState::NotReached);
            Neighbour { name: name.clone(), state: state.to_string(), why: why.cloned() }
        };
        let left = f64::from(f.rounds.saturating_sub(n.round)) / n.rate;
        Status {
            state: Some(state),
            process: Some(std::process::id()),
            updated: Some(utc(SystemTime::now())),
            started: Some(f.started.clone()),
            name: Some(f.name.clone()),
            run: Some(f.run.clone()),
            agreement: Some(f.agreement.clone()),
            member: Some(f.member.clone()),
            listening: Some(f.listening.clone()),
            ledger: Some(f.ledger.clone()),
            round: Some(n.round),
            rounds: Some(f.rounds),
            rounds_per_second: Some(n.rate),
            seconds_left: Some(left).filter(|s| s.is_finite()),
            epsilon_spent: Some(n.spent),
            budget: Some(n.budget),
            delta: Some(n.delta),
            noise_multiplier: Some(f.noise_multiplier),
            neighbours: n.neighbours.iter().map(neighbour).collect(),
            test_accuracy: n.accuracy,
            clipped_gradient_fraction_unprotected: Some(n.clipped),
            test_seed: f.seeded.then(|| TEST_SEED.to_string()),
            message: message.map(String::from),
            ..Status::default()
        }
    }

    /// A status that cannot be written is no reason to stop: what matters is in the ledger.
    fn write_status(&mut self, state: State, message: Option<&str>) {
        let status = self.status(state, message);
        let _ = write_privately(&self.folder.join(names::STATUS), artefact::text(&status).as_bytes());
        *self.sheet.lock().unwrap_or_else(PoisonError::into_inner) = self.page(state, status);
    }

    /// The state in words: whom a running node waits for.
    fn state_in_words(&self, state: State) -> String {
        let away = |(name, state): &&(String, LinkState)| *state == LinkState::NotReached && !name.is_empty();
        let names: Vec<_> = self.now.neighbours.iter().filter(away).map(|(name, _)| name.as_str()).collect();
        match state {
            State::Running if !names.is_empty() => format!("running, waiting for {}", names.join(", ")),
            State::Running | State::Stopped | State::Finished | State::Failed => state.name().to_string(),
        }
    }

    fn page(&self, state: State, status: Status) -> Sheet {
        let (f, n) = (&self.fixed, &self.now);
        let row = |name: &str, value: String| (name.to_string(), value);
        let left = status.seconds_left.filter(|_| state == State::Running);
        let left = left.map_or(String::new(), |seconds| format!(", {seconds:.0} s left"));
        let mut rows = vec![
            row("state", self.state_in_words(state)),
            row("as of", status.updated.clone().unwrap_or_default()),
            row("round", format!("{} of {}{left}", n.round, f.rounds)),
            row("rounds a second", format!("{:.2}", n.rate)),
            row("privacy", format!("ε = {} spent of {} at δ = {:e}", short(n.spent, 4), n.budget, n.delta)),
            row("agreement", f.agreement.clone()),
            row("listening", f.listening.clone()),
        ];
        if f.seeded {
            rows.push(row("draws", TEST_SEED.into()));
        }
        rows.extend(n.accuracy.map(|a| row("test accuracy", format!("{:.2} %", 100.0 * a))));
        for (name, state) in &n.neighbours {
            let why = self.why.get(name).filter(|_| *state == LinkState::NotReached);
            let why = why.map_or(String::new(), |why| format!(" ({why})"));
            rows.push(row(&format!("neighbour {name}"), format!("{state}{why}")));
        }
        let mut samples = vec![
            Sample::counter("prdo_round", "Rounds done.", n.round.into()),
            Sample::gauge("prdo_rounds", "Rounds of the run.", f.rounds.into()),
            Sample::gauge("prdo_rounds_per_second", "Rounds a second since the start.", n.rate),
            Sample::counter("prdo_epsilon_spent", "Epsilon spent by these records, in all runs.", n.spent),
            Sample::gauge("prdo_epsilon_budget", "Epsilon that may be spent.", n.budget),
        ];
        for (name, state) in &n.neighbours {
            let up = f64::from(u8::from(*state != LinkState::NotReached));
            let sample = Sample::gauge("prdo_neighbour_up", "Whether the link is up.", up);
            samples.push(sample.with("neighbour", name));
        }
        // Every user of this machine can read the page: not what is for the owner of the records alone.
        let status = artefact::line(&status.without_secrets()) + "\n";
        Sheet { title: format!("{} in {}", f.member, f.name), rows, status, samples }
    }

    /// Neighbours and their state, ε and accuracy, for the terminal.
    fn figures(now: &Now) -> Figures {
        let neighbours: Vec<_> =
            now.neighbours.iter().map(|(name, state)| format!("{name} {state}")).collect();
        let neighbours = neighbours.join(", ");
        let accuracy = now.accuracy.map_or(String::new(), |a| format!("accuracy {:.1} %  ", 100.0 * a));
        let spent = Spent { epsilon: now.spent, budget: now.budget, delta: now.delta };
        Figures {
            text: format!("ε {:.3} of {}  {accuracy}{neighbours}", now.spent, now.budget),
            spent: Some(spent).filter(|spent| spent.budget > 0.0),
            note: format!("{accuracy}{neighbours}"),
            ..Figures::default()
        }
    }

    /// A row of `progress.csv`, so that curves can be drawn later: a thousand of them in all, or a few more.
    fn keep_row(&mut self, over: bool) {
        let n = &self.now;
        let step = (self.fixed.rounds / 1000).max(1);
        if self
            .kept_round
            .is_some_and(|kept| n.round < kept.saturating_add(step) && !(over && n.round > kept))
        {
            return;
        }
        let accuracy = n.accuracy.filter(|_| self.measured).map_or(String::new(), |a| a.to_string());
        let row = format!("{},{},{accuracy},{}", n.round, n.spent, n.rate);
        if self.history.as_mut().is_some_and(|file| file.write_all(format!("{row}\n").as_bytes()).is_ok()) {
            (self.kept_round, self.measured) = (Some(self.now.round), false);
        }
    }

    /// Anybody can knock with any number of keys: they are counted, and one is named now and then.
    fn stranger(&mut self, who: &str, why: &str) {
        self.strangers += 1;
        if Self::due(&mut self.stranger_at, SLOW_EVERY) {
            let count = self.strangers;
            self.log.add(Level::Warning, "stranger", json!({ "key": who, "why": why, "turned_away": count }));
            self.progress
                .line(&format!("refused {who}, who is no neighbour: {why} ({count} turned away so far)"));
        }
    }

    /// Keeps why a neighbour is not there; whether that is something new.
    fn is_new(&mut self, peer: &str, why: &str) -> bool {
        self.why.insert(peer.to_string(), why.to_string()).as_deref() != Some(why)
    }

    fn due(at: &mut Option<Instant>, every: Duration) -> bool {
        let due = at.is_none_or(|at| at.elapsed() >= every);
        if due {
            *at = Some(Instant::now());
        }
        due
    }
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
            Note::Connected { peer } => self.why.remove(peer).is_some() || self.now.round == self.began.0,
            Note::Lost { peer, why, .. } => {
                self.stop_if_conflict(peer, why);
                self.is_new(peer, &why.to_string())
            }
            Note::Refused { peer, why } | Note::RefusedBy { peer, why } => self.is_new(peer, why),
            Note::Round { rounds } => {
                self.now.round = *rounds;
                let last = *rounds == self.fixed.rounds;
                if !(last || Self::due(&mut self.slow_at, SLOW_EVERY)) {
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
            self.progress.line(&note.to_string());
        }
    }

    fn refused(&mut self, who: &str, why: &Reason) {
        let words = why.to_string();
        if !self.fixed.names.iter().any(|name| name == who) {
            return self.stranger(who, &words);
        }
        self.log.add(Level::Warning, "refused", json!({ "peer": who, "why": words }));
        if self.is_new(who, &words) {
            self.progress.line(&format!("refused {who}: {words}"));
        }
        self.stop_if_conflict(who, why);
    }

    fn look(&mut self, session: &Session) {
        let over = session.machine().is_over();
        self.now.round = session.machine().round();
        self.released = !session.machine().is_meeting();
        if over {
            self.model = Some(session.machine().model().to_vec());
            self.measure(session);
        }
        if over || Self::due(&mut self.status_at, STATUS_EVERY) {
            self.take(session);
            if self.now.round > self.began.0 && Self::due(&mut self.measured_at, SLOW_EVERY) {
                self.measure(session);
            }
            self.keep_row(over);
            self.write_status(State::Running, None);
        }
        let now = &self.now;
        self.progress.show(u64::from(now.round), || Self::figures(now));
    }
}
