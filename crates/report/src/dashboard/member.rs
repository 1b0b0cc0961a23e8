//! How a member of an agreement stands, from the home of its node. Nothing is shown beyond what `prdo node status` says
//! to others than the owner.

use super::reading::text;
use super::source::Cache;
use prdo_algorithm::graph::Graph;
use prdo_store::{Entry, LogLine, State, Status, last_entries, names};
use serde_json::{Value as Json, json};
use std::path::Path;
use std::time::{Duration, Instant};

const LINES: usize = 40;
/// The status of a node that is not there is read again after this time: its ledger takes a while to add up.
const STILL: Duration = Duration::from_secs(5);

/// How a node's home is read: its agreement and its ledger are no artefacts of `prdo-store`, so whoever knows them says how.
#[derive(Clone, Copy)]
pub struct Homes {
    pub status: fn(&Path) -> Result<Status, String>,
    pub members: fn(&Path) -> Result<Members, String>,
}

pub struct Members {
    pub names: Vec<String>,
    pub graph: Graph,
}

pub(super) fn state(home: &Path, homes: Option<Homes>, cache: &mut Cache) -> Json {
    let Some(homes) = homes else { return damaged("Homes of nodes are not read here.", home) };
    cache.tail.follow(&home.join(names::PROGRESS));
    let is_young =
        |(at, status): &(Instant, Status)| status.state != Some(State::Running) && at.elapsed() < STILL;
    let (at, status) = match cache.status.take().filter(is_young) {
        Some(old) => old,
        None => match (homes.status)(home) {
            Ok(status) => (Instant::now(), status.without_secrets()),
            Err(error) => return damaged(&error, home),
        },
    };
    cache.status = Some((at, status.clone()));
    let name = status.name.as_deref().unwrap_or_default();
    let title = match status.member.as_deref().unwrap_or_default() {
        "" => name.to_string(),
        member => format!("{member} in {name}"),
    };
    json!({
        "kind": "node",
        "state": status.state_name(),
        "message": status.said(),
        "problems": cache.tail.problem(names::PROGRESS).into_iter().collect::<Vec<_>>(),
        "title": title,
        "member": status.member,
        "round": status.round,
        "rounds": status.rounds,
        "rounds_per_second": status.rounds_per_second,
        "seconds_left": status.seconds_left.filter(|_| status.state == Some(State::Running)),
        "private": true,
        "simulation": false,
        "test_seed": status.test_seed,
        "epsilon_spent": status.epsilon_spent,
        "epsilon": status.budget,
        "delta": status.delta,
        "test_accuracy": status.test_accuracy,
        "neighbours": status.neighbours,
        "process": status.process,
        "updated": status.updated,
        "facts": facts(&status),
        "log": log(home),
    })
}

fn damaged(problem: &str, home: &Path) -> Json {
    let message = "What this node wrote cannot be read; the run itself does not depend on it.";
    json!({
        "kind": "node", "state": "unknown", "title": "A node", "message": message, "problems": [problem],
        "private": true, "simulation": false, "log": log(home),
    })
}

fn facts(status: &Status) -> Vec<(&'static str, String)> {
    let facts = [
        ("agreement", status.agreement.clone()),
        ("listening", status.listening.clone()),
        ("noise multiplier", status.noise_multiplier.map(|z| json!(z).to_string())),
        ("rounds charged", status.rounds_charged.map(|rounds| rounds.to_string())),
        ("ledger", status.ledger_problem.clone()),
    ];
    facts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// The last lines of the log: time, level, and the rest in words.
fn log(home: &Path) -> Vec<LogLine> {
    // `last_entries` opens what is there: not a pipe.
    if text(&home.join(names::LOG)).is_none() {
        return Vec::new();
    }
    let line = |entry: Entry| {
        let text = format!("{}  {}", entry.event.replace('_', " "), entry.details().replace('"', ""));
        LogLine { time: entry.time, level: entry.level, text: text.trim().to_string() }
    };
    last_entries(home, LINES).into_iter().map(line).collect()
}
