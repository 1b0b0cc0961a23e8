//! Watches a node at work: the bar, the log, the status file and the page.

use crate::commands::Failure;
use crate::commands::watch::Stop;
use crate::progress::{Figures, Progress, Spent};
use prdo::budget::words::short;
use prdo::node::Seat;
use prdo::node::journal::{Level, Log, PROGRESS, STATUS, line_of, utc};
use prdo::node::prepare::Measure;
use prdo::node::status::without_secrets;
use prdo::output::write_privately;
use prdo::peer::driver::Watch;
use prdo::peer::machine::Note;
use prdo::peer::page::{Sample, Sheet};
use prdo::peer::session::Session;
use prdo::peer::wire::hex;
use serde_json::{Value as Json, json};
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
    pub fn of(seat: &Seat, listening: String, ledger: &Path, seeded: bool) -> Self {
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
    neighbours: Vec<(String, &'static str)>,
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
    pub fn ended(&mut self, state: &str, message: &str) {
        self.progress.finish();
        let level = if state == "failed" { Level::Error } else { Level::Info };
        self.log.add(level, state, json!({ "rounds": self.now.round, "message": message }));
        self.write_status(state, Some(message));
    }

    /// Two texts were signed: better to stop at once, while nothing has been released. This node's own finding begins so,
    /// after the neighbour has proven its key; what others say never does.
    fn stop_if_conflict(&mut self, who: &str, why: &str) {
        if !self.released && why.starts_with("its agreement has the hash ") {
            self.conflict = Some(format!("{who} takes part with another agreement: {why}"));
            self.stop.flag().store(true, Ordering::SeqCst);
        }
    }

    /// What became of the run.
    pub fn summary(&self, unconfirmed: &[String], time: Duration) -> Json {
        let (f, n) = (&self.fixed, &self.now);
        json!({
            "finished": true,
            "name": f.name,
            "run": f.run,
            "agreement": f.agreement,
            "member": f.member,
            "rounds": n.round,
            "epsilon_spent": n.spent,
            "budget": n.budget,
            "delta": n.delta,
            "noise_multiplier": f.noise_multiplier,
            "test_accuracy": n.accuracy,
            "unconfirmed": unconfirmed,
            "test_seed": f.seeded.then_some(TEST_SEED),
            "rounds_before": self.began.0,
            "seconds": time.as_secs_f64(),
        })
    }

    fn take(&mut self, session: &Session) {
        let (machine, gate) = (session.machine(), session.gate());
        let name = |number: usize| self.fixed.names.get(number).cloned().unwrap_or_default();
        self.now.neighbours = machine.neighbours().into_iter().map(|(n, state)| (name(n), state)).collect();
        self.now.spent = gate.spent();
        (self.now.budget, self.now.delta) = (gate.budget().epsilon(), gate.budget().delta());
        let seconds = self.began.1.elapsed().as_secs_f64();
        self.now.rate = f64::from(self.now.round - self.began.0.min(self.now.round)) / seconds.max(1e-3);
        let counts = session.diagnostics();
        self.now.clipped =
            (counts.records > 0).then(|| counts.clipped_gradients as f64 / counts.records as f64);
    }

    fn measure(&mut self, session: &Session) {
        if let Some(measure) = &self.measure {
            self.now.accuracy = measure(session.machine().model());
            self.measured = true;
        }
    }

    fn status(&self, state: &str, message: Option<&str>) -> Json {
        let (f, n) = (&self.fixed, &self.now);
        let neighbour = |(name, state): &(String, &'static str)| {
            let why = self.why.get(name).filter(|_| *state == "not reached");
            json!({ "name": name, "state": state, "why": why })
        };
        let left = f64::from(f.rounds.saturating_sub(n.round)) / n.rate;
        json!({
            "state": state,
            "process": std::process::id(),
            "updated": utc(SystemTime::now()),
            "started": f.started,
            "name": f.name,
            "run": f.run,
            "agreement": f.agreement,
            "member": f.member,
            "listening": f.listening,
            "ledger": f.ledger,
            "round": n.round,
            "rounds": f.rounds,
            "rounds_per_second": n.rate,
            "seconds_left": Some(left).filter(|s| s.is_finite()),
            "epsilon_spent": n.spent,
            "budget": n.budget,
            "delta": n.delta,
            "noise_multiplier": f.noise_multiplier,
            "neighbours": n.neighbours.iter().map(neighbour).collect::<Vec<_>>(),
            "test_accuracy": n.accuracy,
            "clipped_gradient_fraction_unprotected": n.clipped,
            "test_seed": f.seeded.then_some(TEST_SEED),
            "message": message,
        })
    }

    /// A status that cannot be written is no reason to stop: what matters is in the ledger.
    fn write_status(&mut self, state: &str, message: Option<&str>) {
        let status = self.status(state, message);
        let _ = write_privately(&self.folder.join(STATUS), format!("{status:#}\n").as_bytes());
        *self.sheet.lock().unwrap_or_else(PoisonError::into_inner) = self.page(state, &status);
    }

    /// The state in words: whom a running node waits for.
    fn state_in_words(&self, state: &str) -> String {
        let away = |(name, state): &&(String, &'static str)| *state == "not reached" && !name.is_empty();
        let names: Vec<_> = self.now.neighbours.iter().filter(away).map(|(name, _)| name.as_str()).collect();
        match state {
            "running" if !names.is_empty() => format!("running, waiting for {}", names.join(", ")),
            _ => state.to_string(),
        }
    }

    fn page(&self, state: &str, status: &Json) -> Sheet {
        let (f, n) = (&self.fixed, &self.now);
        let row = |name: &str, value: String| (name.to_string(), value);
        let left = status["seconds_left"].as_f64().filter(|_| state == "running");
        let left = left.map_or(String::new(), |seconds| format!(", {seconds:.0} s left"));
        let mut rows = vec![
            row("state", self.state_in_words(state)),
            row("as of", status["updated"].as_str().unwrap_or_default().into()),
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
            let why = self.why.get(name).filter(|_| *state == "not reached");
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
            let up = f64::from(u8::from(*state != "not reached"));
            let sample = Sample::gauge("prdo_neighbour_up", "Whether the link is up.", up);
            samples.push(sample.with("neighbour", name));
        }
        // Every user of this machine can read the page: not what is for the owner of the records alone.
        let shown = without_secrets(status.clone());
        Sheet { title: format!("{} in {}", f.member, f.name), rows, status: format!("{shown}\n"), samples }
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
    let path = folder.join(PROGRESS);
    if !path.exists() {
        write_privately(&path, b"round,epsilon_spent,test_accuracy,rounds_per_second\n").ok()?;
    }
    File::options().append(true).open(&path).ok()
}

impl Watch for Watcher {
    fn note(&mut self, note: &Note) {
        let news = match note {
            Note::Connected { peer } => self.why.remove(peer).is_some() || self.now.round == self.began.0,
            Note::Lost { peer, why, .. } | Note::Refused { peer, why } | Note::RefusedBy { peer, why } => {
                self.why.insert(peer.clone(), why.clone()).as_ref() != Some(why)
            }
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
        if let Note::Lost { peer, why, .. } = note {
            self.stop_if_conflict(peer, why);
        }
        let (level, event, fields) = line_of(note);
        self.log.add(level, event, fields);
        if news {
            self.progress.line(&note.to_string());
        }
    }

    fn refused(&mut self, who: &str, why: &str) {
        if !self.fixed.names.iter().any(|name| name == who) {
            return self.stranger(who, why);
        }
        self.log.add(Level::Warning, "refused", json!({ "peer": who, "why": why }));
        if self.why.insert(who.to_string(), why.to_string()).as_deref() != Some(why) {
            self.progress.line(&format!("refused {who}: {why}"));
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
            self.write_status("running", None);
        }
        let now = &self.now;
        self.progress.show(u64::from(now.round), || Self::figures(now));
    }
}
