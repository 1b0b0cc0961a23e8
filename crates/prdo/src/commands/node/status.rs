//! `prdo node status`: how a node stands that runs, was stopped or has finished.

use crate::cli::node::StatusArgs;
use crate::commands::Failure;
use crate::progress::say;
use prdo::node::journal::last_lines;
use prdo::node::status::{self, StatusError};
use serde_json::Value as Json;
use std::path::Path;

/// As many lines of the log are shown.
const LINES: usize = 6;

pub fn run(args: &StatusArgs) -> Result<(), Failure> {
    let mut status = read(&args.home)?;
    status["log"] = last_lines(&args.home, LINES).into();
    if args.json {
        say(&status.to_string());
    } else {
        lines(&status).iter().for_each(|line| say(line));
    }
    Ok(())
}

/// What the node last said of itself, set right by whether it is there.
fn read(home: &Path) -> Result<Json, Failure> {
    status::read(home).map_err(|error| match error {
        StatusError::Node(error) => error.into(),
        StatusError::Disk { .. } => Failure::Work(error.to_string()),
        StatusError::Damaged { .. } => Failure::Input(error.to_string()),
    })
}

fn lines(status: &Json) -> Vec<String> {
    let text = |key: &str| status[key].as_str().unwrap_or("").to_string();
    let number = |key: &str| status[key].as_f64();
    let mut lines = vec![format!(
        "{} {}{}, round {} of {}",
        text("member"),
        text("state"),
        status["process"]
            .as_u64()
            .filter(|_| text("state") == "running")
            .map_or(String::new(), |id| format!(" (process {id})")),
        status["round"].as_u64().unwrap_or(0),
        status["rounds"]
    )];
    if let Some(spent) = number("epsilon_spent") {
        lines.push(format!(
            "privacy    ε = {spent:.4} spent of {} at δ = {:e}",
            number("budget").unwrap_or(f64::NAN),
            number("delta").unwrap_or(f64::NAN)
        ));
    }
    let ledger = shown(&text("ledger"));
    match (status["rounds_charged"].as_u64(), status["ledger_problem"].as_str()) {
        (Some(rounds), _) => lines.push(format!("ledger     {rounds} rounds of this run charged ({ledger})")),
        (None, Some(why)) => {
            lines.push(format!("ledger     {ledger} cannot be read: {why}; ε is as of {}", text("updated")))
        }
        (None, None) => {}
    }
    for neighbour in status["neighbours"].as_array().into_iter().flatten() {
        let part = |key: &str| neighbour[key].as_str().unwrap_or("");
        let why = if part("why").is_empty() { String::new() } else { format!(" ({})", part("why")) };
        lines.push(format!("neighbour  {}  {}{why}", part("name"), part("state")));
    }
    for key in ["test_seed", "message"] {
        if let Some(words) = status[key].as_str().filter(|words| *words != text("state")) {
            lines.push(words.to_string());
        }
    }
    let log = status["log"].as_array().cloned().unwrap_or_default();
    lines.extend(log.iter().map(log_line));
    lines
}

/// A path from here, where that is shorter.
fn shown(path: &str) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    Path::new(path).strip_prefix(here).unwrap_or(Path::new(path)).display().to_string()
}

/// A line of the log for people.
fn log_line(entry: &Json) -> String {
    let part = |key: &str| entry[key].as_str().unwrap_or("");
    let rest = entry.as_object().into_iter().flatten();
    let rest =
        rest.filter(|(key, value)| !["time", "level", "event"].contains(&key.as_str()) && !value.is_null());
    let rest: Vec<_> = rest.map(|(key, value)| format!("{key}={value}")).collect();
    format!("{}  {:<7}  {}  {}", part("time"), part("level"), part("event"), rest.join(" "))
        .trim_end()
        .to_string()
}
