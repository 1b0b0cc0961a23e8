//! `prdo node status`: how a node stands that runs, was stopped or has finished.

use crate::cli::node::StatusArgs;
use crate::commands::Failure;
use crate::progress::say;
use prdo::accounting::Accountant;
use prdo::node::journal::{STATUS, last_lines};
use prdo::node::prepare::read_agreement;
use prdo::peer::agreement::Agreement;
use prdo::peer::dir::Directory;
use prdo::peer::ledger::contents::Contents;
use serde_json::{Value as Json, json};
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
    let agreement = read_agreement(home)?;
    let text = match std::fs::read_to_string(home.join(STATUS)) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => "{}".into(),
        Err(error) => return Err(Failure::Work(format!("{}: {error}", home.join(STATUS).display()))),
    };
    let damaged = |e| Failure::Input(format!("{} is damaged: {e}", home.join(STATUS).display()));
    let mut status: Json = serde_json::from_str(&text).map_err(damaged)?;
    if !status.is_object() {
        return Err(Failure::Input(format!("{} is damaged: not an object", home.join(STATUS).display())));
    }
    let said = status["state"].as_str().unwrap_or("stopped").to_string();
    let state = match (Directory::user(home), said.as_str()) {
        (Some(process), _) => {
            status["process"] = json!(process);
            "running".to_string()
        }
        (None, "running") => {
            status["message"] = "its process ended without a word: type the same command to go on".into();
            "stopped".to_string()
        }
        (None, _) => said,
    };
    status["state"] = state.into();
    if status["process"].is_null() || status["state"] != "running" {
        by_ledger(&mut status, &agreement);
    }
    if status["rounds"].is_null() {
        status["rounds"] = agreement.terms().rounds.into();
        status["name"] = agreement.terms().name.clone().into();
    }
    Ok(status)
}

/// What a node that is not there last said may be old: what its records were charged for stands in their ledger.
fn by_ledger(status: &mut Json, agreement: &Agreement) {
    let Some(path) = status["ledger"].as_str().map(str::to_string) else { return };
    let read = std::fs::read(&path).map_err(|e| e.to_string());
    let contents = read.and_then(|bytes| Contents::parse(&bytes).map_err(|bad| bad.what));
    match contents {
        Ok(contents) => {
            let run = contents.run(&agreement.terms().run);
            status["rounds_charged"] = run.map_or(0, |run| run.charges.len()).into();
            let (history, delta) = (contents.history(), contents.budget().map_or(1e-5, |b| b.delta()));
            let spent = match history.is_empty() {
                true => Some(0.0),
                false => Accountant::default().epsilon(&history, delta).ok().map(|bounds| bounds.upper),
            };
            if let Some(spent) = spent {
                status["epsilon_spent"] = spent.into();
            }
        }
        Err(why) => status["ledger_problem"] = why.into(),
    }
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
