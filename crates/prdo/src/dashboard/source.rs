//! What a folder is, and how the run in it stands.

use super::member;
use super::network;
use super::reading::{Stamp, object, stamp, text};
use super::tail::Tail;
use crate::config::Document;
use crate::node::journal::utc;
use crate::node::prepare::AGREEMENT;
use crate::output::LIVE;
use prdo_algorithm::Method;
use prdo_peer::dir::Directory;
use serde_json::{Value as Json, json};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// A state this young is given to the next caller too: many pages cost as much as one.
const YOUNG: Duration = Duration::from_millis(200);

/// A folder to be watched: a run's, a node's, a comparison's, or one that is yet to become something.
pub struct Source {
    folder: PathBuf,
    kept: Mutex<Kept>,
}

/// What is not read again for every request.
#[derive(Default)]
pub(super) struct Kept {
    /// The curves.
    pub tail: Tail,
    /// Everything else, and when it was put together.
    state: Option<(Instant, Json)>,
    settings: Option<(Stamp, Arc<Settings>)>,
    /// A node's status, when it was read, and whether it was running.
    pub status: Option<(Instant, Json)>,
    /// What the picture of the network was made of, and the picture.
    network: Option<(Stamp, Json)>,
}

/// A run file that was read, or why it could not be.
type Settings = Result<Document, String>;

/// What a folder holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Nothing,
    Run,
    Node,
    /// A comparison, an experiment: something with results and a report, but no rounds of its own.
    Results,
    Foreign,
}

impl Source {
    /// A folder, which need not be there yet.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_path_buf(), kept: Mutex::new(Kept::default()) }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How things stand, with the rows from `from` on for a reader who has those of `epoch`.
    pub fn state(&self, epoch: u64, from: u64) -> Json {
        let mut kept = self.kept();
        let young =
            kept.state.as_ref().filter(|(at, _)| at.elapsed() < YOUNG).map(|(_, state)| state.clone());
        let mut state = match young {
            Some(state) => state,
            None => {
                let state = self.look(&mut kept);
                kept.state = Some((Instant::now(), state.clone()));
                state
            }
        };
        state["rows"] = kept.tail.since(epoch, usize::try_from(from).unwrap_or(usize::MAX));
        state
    }

    fn look(&self, kept: &mut Kept) -> Json {
        let mut state = match what(&self.folder) {
            What::Run => self.run(kept),
            What::Node => member::state(&self.folder, kept),
            What::Results => results(&self.folder),
            What::Nothing => nothing(&self.folder),
            What::Foreign => json!({
                "kind": "other",
                "state": "waiting",
                "message": "This folder holds no run. A run's folder has run.toml and metrics.csv; a node's has agreement.",
            }),
        };
        state["folder"] = self.folder.display().to_string().into();
        state["now"] = utc(SystemTime::now()).into();
        state["report"] = self.folder.join("report.html").is_file().into();
        state
    }

    /// The report, if there is one.
    pub fn report(&self) -> Option<String> {
        text(&self.folder.join("report.html"))
    }

    /// The picture of the network: places, edges and names.
    pub fn network(&self) -> Json {
        let file = if what(&self.folder) == What::Node { AGREEMENT } else { "run.toml" };
        let now = stamp(&self.folder.join(file));
        let mut kept = self.kept();
        if let Some((_, picture)) = kept.network.as_ref().filter(|(then, _)| *then == now) {
            return picture.clone();
        }
        let picture = match file {
            AGREEMENT => network::of_members(&self.folder),
            _ => self.settings(&mut kept).as_ref().as_ref().map_or(Json::Null, network::of_run),
        };
        kept.network = Some((now, picture.clone()));
        picture
    }

    fn settings(&self, kept: &mut Kept) -> Arc<Settings> {
        let path = self.folder.join("run.toml");
        let now = stamp(&path);
        if let Some((_, settings)) = kept.settings.as_ref().filter(|(then, _)| *then == now) {
            return Arc::clone(settings);
        }
        let read = match now {
            Some(_) => Document::read(&path).map_err(|error| format!("run.toml cannot be read: {error}")),
            None => Err("run.toml is missing: the settings and the network cannot be shown".to_string()),
        };
        let settings = Arc::new(read);
        kept.settings = Some((now, Arc::clone(&settings)));
        settings
    }

    fn run(&self, kept: &mut Kept) -> Json {
        let mut problems = Vec::new();
        let live = object(&self.folder.join(LIVE), &mut problems);
        let summary = object(&self.folder.join("summary.json"), &mut problems);
        kept.tail.follow(&self.folder.join("metrics.csv"));
        problems.extend(kept.tail.problem("metrics.csv"));
        let settings = self.settings(kept);
        let document = settings.as_ref().as_ref();
        problems.extend(document.err().cloned());
        // What the report warns of, that the model did not learn, say.
        let warnings = summary["warnings"].as_array().into_iter().flatten();
        problems.extend(warnings.filter_map(|warning| warning.as_str().map(String::from)));
        let (state, message) = self.standing(&live, &summary);
        let tail = &kept.tail;
        let first =
            |options: [&Json; 2]| options.into_iter().find(|v| !v.is_null()).cloned().unwrap_or_default();
        let round = live["round"].as_f64().unwrap_or(0.0).max(tail.last("round").unwrap_or(0.0));
        let rate = live["rounds_per_second"].as_f64();
        // Of all rounds so far: a row has the totals.
        let each = |column| Some(tail.last(column)? / tail.last("round").filter(|r| *r > 0.0)?);
        // Whichever is younger: what was spent never becomes less.
        let spent = [live["epsilon_spent"].as_f64(), tail.last("epsilon_spent")];
        let spent = spent.into_iter().flatten().reduce(f64::max);
        let private = document.ok().and_then(|d| d.float("resolved.epsilon"));
        // Without either file nobody knows whether it is private.
        let is_private = document.ok().map(|_| private.is_some());
        json!({
            "kind": "run",
            "state": state,
            "message": message,
            "problems": problems,
            "title": title(document.ok()),
            "round": round,
            "rounds": first([&live["rounds"], &json!(document.ok().and_then(|d| d.integer("rounds")))]),
            "seconds": first([&live["seconds"], &summary["seconds"]]),
            "rounds_per_second": rate,
            "seconds_left": live["seconds_left"].as_f64().filter(|_| state == "running"),
            "gradients_per_second": rate.zip(each("gradient_evaluations")).map(|(rate, each)| rate * each),
            "bytes_per_second": rate.zip(each("bytes_sent")).map(|(rate, each)| rate * each),
            "private": first([&live["private"], &json!(is_private)]),
            "simulation": true,
            "epsilon_spent": spent,
            "epsilon": first([&live["epsilon"], &json!(private)]),
            "delta": first([&live["delta"], &json!(document.ok().and_then(|d| d.float("privacy.delta")))]),
            "disagreement": live["disagreement"].as_array().map_or(json!([]), |all| json!(all)),
            "process": live["process"],
            "updated": live["updated"],
            "facts": facts(document.ok(), &summary),
            "log": live["log"].as_array().map_or(json!([]), |lines| json!(lines)),
        })
    }

    /// Whether the run goes on, and what to say or do if it does not.
    fn standing(&self, live: &Json, summary: &Json) -> (&'static str, Option<String>) {
        let again = live["again"].as_str().unwrap_or("the command that began it, and --resume");
        if summary["finished"] == true {
            return ("finished", None);
        }
        let said = live["message"].as_str().unwrap_or("no reason was written").to_string();
        match live["state"].as_str() {
            Some("failed") => ("failed", Some(said)),
            Some("stopped") => ("stopped", Some(format!("{said}. Go on with: {again}"))),
            // Between the last round and the summary there are models and a report to write.
            Some("finished") => ("finished", None),
            _ if Directory::user(&self.folder).is_some() => ("running", None),
            _ => {
                let words = "Its process ended without a word (killed, or the machine stopped)";
                ("stopped", Some(format!("{words}. Go on with: {again}")))
            }
        }
    }
}

fn what(folder: &Path) -> What {
    let has = |name: &str| folder.join(name).exists();
    if has(AGREEMENT) {
        What::Node
    } else if has("comparison.json") || has("results.json") {
        What::Results
    } else if has("run.toml") || has("metrics.csv") || has(LIVE) {
        What::Run
    } else if has(".prdo-lock")
        || std::fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none())
    {
        What::Nothing
    } else {
        What::Foreign
    }
}

fn nothing(folder: &Path) -> Json {
    let message = match (folder.is_dir(), Directory::user(folder)) {
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
    let comparison = object(&folder.join("comparison.json"), &mut problems);
    let title = comparison["title"].as_str().unwrap_or("An experiment's results").to_string();
    let state = if Directory::user(folder).is_some() { "running" } else { "finished" };
    let message =
        "A comparison or an experiment has no curves of its own to follow: its report has them all.";
    json!({ "kind": "results", "state": state, "title": title, "message": message, "problems": problems })
}

fn title(document: Option<&Document>) -> String {
    let Some(document) = document else { return "A run".to_string() };
    let name = document.text("name").unwrap_or_default();
    let method = document.text("method.name").unwrap_or_default();
    let method = method.parse::<Method>().map_or(method, |m| m.card().title.to_string());
    format!("{name}: {method}")
}

/// What the run is, in a few lines.
fn facts(document: Option<&Document>, summary: &Json) -> Vec<(&'static str, String)> {
    let Some(document) = document else { return Vec::new() };
    let text = |path| document.get(path).map(|value| value.to_string().trim_matches('"').to_string());
    let data = summary["data"].as_str().map(str::to_string).or_else(|| text("data.source"));
    let keys = [
        ("model", "model.kind"),
        ("parameters", "resolved.parameters"),
        ("nodes", "graph.nodes"),
        ("graph", "graph.kind"),
        ("λ", "resolved.lambda"),
        ("records", "resolved.records"),
        ("step size", "method.step_size"),
        ("batch", "batch.size"),
        ("clip", "clip.gradient"),
        ("noise multiplier", "resolved.noise_multiplier"),
        ("seed", "seed"),
    ];
    let rest = keys.into_iter().filter_map(|(name, path)| Some((name, text(path)?)));
    data.map(|data| ("data", data)).into_iter().chain(rest).collect()
}
