//! `prdo node status`: a node that is running, stopped or finished.

use super::against::whom;
use crate::cli::node::StatusArgs;
use crate::commands::Failure;
use crate::progress::say;
use prdo::store::{Entry, State, Status, artefact, last_entries};
use prdo_member::status::{self, StatusError};
use std::path::Path;

/// How many lines of the log are shown.
const LINES: usize = 6;

pub fn run(args: &StatusArgs) -> Result<(), Failure> {
    let mut status = read(&args.home)?;
    status.log = Some(last_entries(&args.home, LINES));
    if args.json {
        say(&artefact::line(&status));
    } else {
        lines(&status).iter().for_each(|line| say(line));
    }
    Ok(())
}

/// What the node last said of itself, set right by whether it is there.
fn read(home: &Path) -> Result<Status, Failure> {
    status::read(home).map_err(|error| match error {
        StatusError::Node(error) => error.into(),
        StatusError::Disk { .. } => Failure::Work(error.to_string()),
        StatusError::Damaged { .. } => Failure::Input(error.to_string()),
    })
}

fn lines(status: &Status) -> Vec<String> {
    let process = status.process.filter(|_| status.state == Some(State::Running));
    let mut lines = vec![format!(
        "{} {}{}, round {} of {}",
        status.member.as_deref().unwrap_or_default(),
        status.state_name(),
        process.map_or(String::new(), |id| format!(" (process {id})")),
        status.round.unwrap_or(0),
        status.rounds.unwrap_or(0)
    )];
    if let Some(spent) = status.epsilon_spent {
        lines.push(format!(
            "privacy    ε = {spent:.4} spent of {} at δ = {:e}",
            status.budget.unwrap_or(f64::NAN),
            status.delta.unwrap_or(f64::NAN)
        ));
    }
    lines.extend(status.colluders.map(|colluders| format!("against    {}", whom(colluders))));
    let ledger = status.ledger.as_deref().map_or(String::new(), shown);
    match (status.rounds_charged, &status.ledger_problem) {
        (Some(rounds), _) => lines.push(format!("ledger     {rounds} rounds of this run charged ({ledger})")),
        (None, Some(why)) => {
            let updated = status.updated.as_deref().unwrap_or_default();
            lines.push(format!("ledger     {ledger} cannot be read: {why}; ε is as of {updated}"));
        }
        (None, None) => {}
    }
    for neighbour in &status.neighbours {
        let why = neighbour.why.as_deref().filter(|why| !why.is_empty());
        let why = why.map_or(String::new(), |why| format!(" ({why})"));
        lines.push(format!("neighbour  {}  {}{why}", neighbour.name, neighbour.state));
    }
    lines.extend(status.test_seed.clone());
    lines.extend(status.said().map(String::from));
    lines.extend(status.log.iter().flatten().map(log_line));
    lines
}

fn shown(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(here).unwrap_or(path).display().to_string()
}

fn log_line(entry: &Entry) -> String {
    let line = format!("{}  {:<7}  {}  {}", entry.time, entry.level.name(), entry.event, entry.details());
    line.trim_end().to_string()
}
