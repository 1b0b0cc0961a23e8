//! What a folder is, and how the run in it stands.

use super::member::{self, Homes};
use super::network;
use super::reading::{Stamp, object, stamp, text};
use super::tail::Tail;
use prdo_algorithm::Method;
use prdo_runfile::{Document, Key};
use prdo_store::{Comparison, Contents, Live, State, Status, Summary, names, utc};
use serde_json::{Value as Json, json};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// A state this young is given to the next caller too: many pages cost as much as one.
const YOUNG: Duration = Duration::from_millis(200);

/// A folder to be watched: a run's, a node's, a comparison's, or one that is yet to become something.
pub struct Source {
    folder: PathBuf,
    homes: Option<Homes>,
    cache: Mutex<Cache>,
}

/// What is not read again for every request.
#[derive(Default)]
pub(super) struct Cache {
    pub tail: Tail,
    /// Everything else, and when it was put together.
    state: Option<(Instant, Json)>,
    settings: Option<(Stamp, Arc<Settings>)>,
    /// A node's status, when it was read, and whether it was running.
    pub status: Option<(Instant, Status)>,
    /// What the picture of the network was made of, and the picture.
    network: Option<(Stamp, Json)>,
}

/// A run file that was read, or why it could not be.
type Settings = Result<Document, String>;

impl Source {
    /// A folder, which need not be there yet.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_path_buf(), homes: None, cache: Mutex::new(Cache::default()) }
    }

    /// The folder may be a node's home too.
    #[must_use]
    pub fn homes(self, homes: Homes) -> Self {
        Self { homes: Some(homes), ..self }
    }

    fn cache(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How things stand, with the rows from `from` on for a reader who has those of `epoch`.
    pub fn state(&self, epoch: u64, from: u64) -> Json {
        let mut cache = self.cache();
        let young =
            cache.state.as_ref().filter(|(at, _)| at.elapsed() < YOUNG).map(|(_, state)| state.clone());
        let mut state = match young {
            Some(state) => state,
            None => {
                let state = self.look(&mut cache);
                cache.state = Some((Instant::now(), state.clone()));
                state
            }
        };
        state["rows"] = cache.tail.since(epoch, usize::try_from(from).unwrap_or(usize::MAX));
        state
    }

    /// The next answer is of the folder as it is then, however young the last one is.
    pub(super) fn look_again(&self) {
        self.cache().state = None;
    }

    fn look(&self, cache: &mut Cache) -> Json {
        let mut state = match Contents::of(&self.folder) {
            Contents::Run => self.run(cache),
            Contents::Member => member::state(&self.folder, self.homes, cache),
            // Something with results and a report, but no rounds of its own.
            Contents::Comparison | Contents::Results => results(&self.folder),
            Contents::Nothing => nothing(&self.folder),
            Contents::Foreign => json!({
                "kind": "other",
                "state": "waiting",
                "message": "This folder holds no run. A run's folder has run.toml and metrics.csv; a node's has agreement.",
            }),
        };
        state["folder"] = self.folder.display().to_string().into();
        state["now"] = utc(SystemTime::now()).into();
        state["report"] = self.folder.join(names::REPORT).is_file().into();
        state
    }

    pub fn report(&self) -> Option<String> {
        text(&self.folder.join(names::REPORT))
    }

    /// The picture of the network: places, edges and names.
    pub fn network(&self) -> Json {
        let member = Contents::of(&self.folder) == Contents::Member;
        let file = if member { names::AGREEMENT } else { names::RUN_FILE };
        let now = stamp(&self.folder.join(file));
        let mut cache = self.cache();
        if let Some((_, picture)) = cache.network.as_ref().filter(|(then, _)| *then == now) {
            return picture.clone();
        }
        let picture = match member {
            true => network::of_members(&self.folder, self.homes),
            false => self.settings(&mut cache).as_ref().as_ref().map_or(Json::Null, network::of_run),
        };
        cache.network = Some((now, picture.clone()));
        picture
    }

    fn settings(&self, cache: &mut Cache) -> Arc<Settings> {
        let path = self.folder.join(names::RUN_FILE);
        let now = stamp(&path);
        if let Some((_, settings)) = cache.settings.as_ref().filter(|(then, _)| *then == now) {
            return Arc::clone(settings);
        }
        let read = match now {
            Some(_) => Document::read(&path).map_err(|error| format!("run.toml cannot be read: {error}")),
            None => Err("run.toml is missing: the settings and the network cannot be shown".to_string()),
        };
        let settings = Arc::new(read);
        cache.settings = Some((now, Arc::clone(&settings)));
        settings
    }

    fn run(&self, cache: &mut Cache) -> Json {
        let mut problems = Vec::new();
        let live: Live = object(&self.folder.join(names::LIVE), &mut problems).unwrap_or_default();
        let summary: Summary = object(&self.folder.join(names::SUMMARY), &mut problems).unwrap_or_default();
        cache.tail.follow(&self.folder.join(names::METRICS));
        problems.extend(cache.tail.problem(names::METRICS));
        let settings = self.settings(cache);
        let document = settings.as_ref().as_ref();
        problems.extend(document.err().cloned());
        // What the report warns of, that the model did not learn, say.
        problems.extend(summary.warnings.iter().cloned());
        let (state, message) = self.standing(&live, &summary);
        let tail = &cache.tail;
        let round = live.round.map_or(0.0, f64::from).max(tail.last("round").unwrap_or(0.0));
        let rate = live.rounds_per_second;
        // Of all rounds so far: a row has the totals.
        let each = |column| Some(tail.last(column)? / tail.last("round").filter(|r| *r > 0.0)?);
        // Whichever is younger: what was spent never becomes less.
        let spent = [live.epsilon_spent, tail.last("epsilon_spent")];
        let spent = spent.into_iter().flatten().reduce(f64::max);
        let private = document.ok().and_then(|d| d.float(Key::ResolvedEpsilon));
        // Without either file nobody knows whether it is private.
        let is_private = document.ok().map(|_| private.is_some());
        json!({
            "kind": "run",
            "state": state.name(),
            "message": message,
            "problems": problems,
            "title": title(document.ok()),
            "round": round,
            "rounds": live.rounds.map(u64::from).or_else(|| document.ok()?.integer(Key::Rounds)),
            "seconds": live.seconds.or(summary.seconds),
            "rounds_per_second": rate,
            "seconds_left": live.seconds_left.filter(|_| state == State::Running),
            "gradients_per_second": rate.zip(each("gradient_evaluations")).map(|(rate, each)| rate * each),
            "bytes_per_second": rate.zip(each("bytes_sent")).map(|(rate, each)| rate * each),
            "private": live.private.or(is_private),
            "simulation": true,
            "epsilon_spent": spent,
            "epsilon": live.epsilon.or(private),
            "delta": live.delta.or_else(|| document.ok()?.float(Key::PrivacyDelta)),
            "disagreement": live.disagreement,
            "process": live.process,
            "updated": live.updated,
            "facts": facts(document.ok(), &summary),
            "log": live.log,
        })
    }

    /// Whether the run is still running, and what to say or do if it is not.
    fn standing(&self, live: &Live, summary: &Summary) -> (State, Option<String>) {
        let again = live.again.as_deref().unwrap_or("the command that began it, and --resume");
        if summary.finished {
            return (State::Finished, None);
        }
        let message = live.message.as_deref().unwrap_or("no reason was written");
        match live.state {
            Some(State::Failed) => (State::Failed, Some(message.to_string())),
            Some(State::Stopped) => (State::Stopped, Some(format!("{message}. Resume with: {again}"))),
            // Between the last round and the summary there are models and a report to write.
            Some(State::Finished) => (State::Finished, None),
            Some(State::Running) | None if prdo_disk::holder(&self.folder).is_some() => {
                (State::Running, None)
            }
            Some(State::Running) | None => {
                let words = "Its process ended without a word (killed, or the machine stopped)";
                (State::Stopped, Some(format!("{words}. Resume with: {again}")))
            }
        }
    }
}

fn nothing(folder: &Path) -> Json {
    let message = match (folder.is_dir(), prdo_disk::holder(folder)) {
        (_, Some(_)) => {
            "A prdo process works in this folder and has written nothing yet. Comparisons write at their end."
        }
        (true, None) => "The folder is empty. This page shows a run as soon as one begins in it.",
        (false, None) => "The folder is not there yet. This page shows a run as soon as one begins in it.",
    };
    json!({ "kind": "empty", "state": "waiting", "message": message })
}

fn results(folder: &Path) -> Json {
    let mut problems = Vec::new();
    let comparison: Option<Comparison> = object(&folder.join(names::COMPARISON), &mut problems);
    let title = comparison.and_then(|comparison| comparison.title);
    let title = title.unwrap_or_else(|| "An experiment's results".to_string());
    let state = if prdo_disk::holder(folder).is_some() { "running" } else { "finished" };
    let message =
        "A comparison or an experiment has no curves of its own to follow: its report has them all.";
    json!({ "kind": "results", "state": state, "title": title, "message": message, "problems": problems })
}

fn title(document: Option<&Document>) -> String {
    let Some(document) = document else { return "A run".to_string() };
    let name = document.name();
    let method = document.text(Key::MethodName).unwrap_or_default();
    let method = method.parse::<Method>().map_or(method, |m| m.card().title.to_string());
    format!("{name}: {method}")
}

fn facts(document: Option<&Document>, summary: &Summary) -> Vec<(&'static str, String)> {
    let Some(document) = document else { return Vec::new() };
    let text = |key| document.get(key).map(|value| value.to_string().trim_matches('"').to_string());
    let data = summary.data.clone().or_else(|| text(Key::DataSource));
    let keys = [
        ("model", Key::ModelKind),
        ("parameters", Key::ResolvedParameters),
        ("nodes", Key::GraphNodes),
        ("graph", Key::GraphKind),
        ("λ", Key::ResolvedLambda),
        ("records", Key::ResolvedRecords),
        ("step size", Key::MethodStepSize),
        ("batch", Key::BatchSize),
        ("clip", Key::ClipGradient),
        ("noise multiplier", Key::ResolvedNoiseMultiplier),
        ("seed", Key::Seed),
    ];
    let rest = keys.into_iter().filter_map(|(name, key)| Some((name, text(key)?)));
    data.map(|data| ("data", data)).into_iter().chain(rest).collect()
}
