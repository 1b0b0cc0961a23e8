//! What a node last said of itself, set right by whether it is there and by its records' ledger.

use super::NodeError;
use super::journal::STATUS;
use super::prepare::read_agreement;
use prdo_accounting::Accountant;
use prdo_peer::agreement::Agreement;
use prdo_peer::dir::Directory;
use prdo_peer::ledger::contents::Contents;
use serde_json::{Value as Json, json};
use std::path::Path;

/// A status that cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum StatusError {
    /// The folder is no node's.
    #[error(transparent)]
    Node(#[from] NodeError),
    /// The disk.
    #[error("{file}: {error}")]
    Disk {
        /// Which file.
        file: String,
        /// What was said.
        error: std::io::Error,
    },
    /// The file is not what a node writes.
    #[error("{file} is damaged: {why}")]
    Damaged {
        /// Which file.
        file: String,
        /// What is wrong with it.
        why: String,
    },
}

/// The status of the node in a folder, running or not.
///
/// # Errors
/// A folder that is no node's, or a status that cannot be read.
pub fn read(home: &Path) -> Result<Json, StatusError> {
    let agreement = read_agreement(home)?;
    let file = || home.join(STATUS).display().to_string();
    let text = match std::fs::read_to_string(home.join(STATUS)) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => "{}".into(),
        Err(error) => return Err(StatusError::Disk { file: file(), error }),
    };
    let damaged = |why: String| StatusError::Damaged { file: file(), why };
    let mut status: Json = serde_json::from_str(&text).map_err(|e| damaged(e.to_string()))?;
    if !status.is_object() {
        return Err(damaged("not an object".into()));
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

/// A status without what is for the owner of the records alone: for pages.
pub fn without_secrets(mut status: Json) -> Json {
    if let Some(fields) = status.as_object_mut() {
        fields.remove("clipped_gradient_fraction_unprotected");
        fields.remove("ledger");
    }
    status
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
