//! What a node last said of itself, set right by whether it is there and by its records' ledger.

use crate::NodeError;
use crate::prepare::read_agreement;
use prdo_accounting::Accountant;
use prdo_peer::agreement::Agreement;
use prdo_peer::ledger::contents::Contents;
use prdo_store::artefact::{self, Damage};
use prdo_store::{State, Status, names};
use std::path::Path;

#[derive(Debug, thiserror::Error)]
pub enum StatusError {
    #[error(transparent)]
    Node(#[from] NodeError),
    #[error("{file}: {error}")]
    Disk { file: String, error: std::io::Error },
    #[error("{file} is damaged: {why}")]
    Damaged { file: String, why: Damage },
}

/// The status of the node in a folder, running or not.
pub fn read(home: &Path) -> Result<Status, StatusError> {
    let agreement = read_agreement(home)?;
    let file = || home.join(names::STATUS).display().to_string();
    let mut status: Status = match std::fs::read(home.join(names::STATUS)) {
        Ok(bytes) => artefact::parse(&bytes).map_err(|why| StatusError::Damaged { file: file(), why })?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Status::default(),
        Err(error) => return Err(StatusError::Disk { file: file(), error }),
    };
    let state = match (prdo_disk::holder(home), status.state.unwrap_or(State::Stopped)) {
        (Some(process), _) => {
            status.process = process;
            State::Running
        }
        (None, State::Running) => {
            let message = "its process ended unexpectedly: rerun the command to resume";
            status.message = Some(message.to_string());
            State::Stopped
        }
        (None, said @ (State::Stopped | State::Finished | State::Failed)) => said,
    };
    status.state = Some(state);
    if status.process.is_none() || state != State::Running {
        by_ledger(&mut status, &agreement);
    }
    if status.rounds.is_none() {
        status.rounds = Some(agreement.terms().rounds);
        status.name = Some(agreement.terms().name.clone());
    }
    Ok(status)
}

/// What a node that is not there last said may be old: what its records were charged for stands in their ledger.
fn by_ledger(status: &mut Status, agreement: &Agreement) {
    let Some(path) = &status.ledger else { return };
    let read = std::fs::read(path).map_err(|e| e.to_string());
    let contents = read.and_then(|bytes| Contents::parse(&bytes).map_err(|bad| bad.what));
    match contents {
        Ok(contents) => {
            let run = contents.run(&agreement.terms().run);
            status.colluders = contents.colluders();
            status.rounds_charged = Some(run.map_or(0, |run| run.charges.len() as u64));
            let (history, delta) = (contents.history(), contents.budget().map_or(1e-5, |b| b.delta()));
            let spent = match history.is_empty() {
                true => Some(0.0),
                false => Accountant::default().epsilon(&history, delta).ok().map(|bounds| bounds.upper),
            };
            status.epsilon_spent = spent.or(status.epsilon_spent);
        }
        Err(why) => status.ledger_problem = Some(why),
    }
}
