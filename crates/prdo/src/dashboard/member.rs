//! How a member of an agreement stands, from the home of its node. Nothing is shown beyond what `prdo node status` says
//! to others than the owner.

use super::reading::text;
use super::source::Kept;
use crate::node::journal::{PROGRESS, last_lines};
use crate::node::status::{read, without_secrets};
use serde_json::{Value as Json, json};
use std::path::Path;
use std::time::{Duration, Instant};

/// Lines of the log that are shown.
const LINES: usize = 40;
/// The status of a node that is not there is read again after this time: its ledger takes a while to add up.
const STILL: Duration = Duration::from_secs(5);

pub(super) fn state(home: &Path, kept: &mut Kept) -> Json {
    kept.tail.follow(&home.join(PROGRESS));
    let old = kept.status.take().filter(|(at, status)| status["state"] != "running" && at.elapsed() < STILL);
    let (at, status) = match old {
        Some(old) => old,
        None => match read(home) {
            Ok(status) => (Instant::now(), without_secrets(status)),
            Err(error) => return damaged(&error.to_string(), home),
        },
    };
    kept.status = Some((at, status.clone()));
    let number = |key: &str| status[key].clone();
    let words = |key: &str| status[key].as_str().unwrap_or_default();
    let title = match words("member") {
        "" => words("name").to_string(),
        member => format!("{member} in {}", words("name")),
    };
    let said = status["message"].as_str().filter(|said| *said != words("state"));
    json!({
        "kind": "node",
        "state": words("state"),
        "message": said,
        "problems": kept.tail.problem(PROGRESS).into_iter().collect::<Vec<_>>(),
        "title": title,
        "member": number("member"),
        "round": number("round"),
        "rounds": number("rounds"),
        "rounds_per_second": number("rounds_per_second"),
        "seconds_left": status["seconds_left"].as_f64().filter(|_| words("state") == "running"),
        "private": true,
        "simulation": false,
        "test_seed": number("test_seed"),
        "epsilon_spent": number("epsilon_spent"),
        "epsilon": number("budget"),
        "delta": number("delta"),
        "test_accuracy": number("test_accuracy"),
        "neighbours": status["neighbours"].as_array().cloned().unwrap_or_default(),
        "process": number("process"),
        "updated": number("updated"),
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

fn facts(status: &Json) -> Vec<(&'static str, String)> {
    let keys = [
        ("agreement", "agreement"),
        ("listening", "listening"),
        ("noise multiplier", "noise_multiplier"),
        ("rounds charged", "rounds_charged"),
        ("ledger", "ledger_problem"),
    ];
    let shown = |value: &Json| match value {
        Json::Null => None,
        Json::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    };
    keys.into_iter().filter_map(|(name, key)| Some((name, shown(&status[key])?))).collect()
}

/// The last lines of the log: time, level, and the rest in words.
fn log(home: &Path) -> Vec<Json> {
    // `last_lines` opens what is there: not a pipe.
    if text(&home.join(crate::node::journal::LOG)).is_none() {
        return Vec::new();
    }
    let line = |entry: Json| {
        let rest = entry.as_object().into_iter().flatten();
        let rest = rest
            .filter(|(key, value)| !["time", "level", "event"].contains(&key.as_str()) && !value.is_null());
        let rest: Vec<String> = rest.map(|(key, value)| format!("{key}={value}")).collect();
        let event = entry["event"].as_str().unwrap_or_default().replace('_', " ");
        let text = format!("{event}  {}", rest.join(" ").replace('"', ""));
        json!({ "time": entry["time"], "level": entry["level"], "text": text.trim() })
    };
    last_lines(home, LINES).into_iter().map(line).collect()
}
