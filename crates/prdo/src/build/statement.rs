//! The statement of a run's records: what was released about them, by whom.

use super::run::Built;
use prdo_accounting::History;
use prdo_privacy::Statement;
use prdo_runfile::{ConfigError, Key, RunFile};
use prdo_store::{StatementFileError, change_statement, load_statement};
use std::path::PathBuf;

impl Built {
    /// Enters this run in the statement of its records, if there is one. To be done before anything is released.
    pub fn enter_statement(&mut self, name: &str) -> Result<(), String> {
        let (Some((path, statement)), Some(guarantee)) = (&mut self.statement, self.prepared.guarantee)
        else {
            return Ok(());
        };
        let plan = guarantee.releases(self.prepared.schedule.rounds).map_err(|e| e.to_string())?;
        // Another run may have been entered since this one was built: its noise does not know of it.
        let id = run_id(&self.fingerprint);
        let entered = change_statement(path, |now| {
            if now.before(&id) != statement.before(&id) {
                return Err(NotEntered::Changed);
            }
            now.enter(&id, name, &plan);
            Ok(now.clone())
        });
        *statement = entered.map_err(|e| match e {
            NotEntered::Changed => format!(
                "{} has changed since this run was prepared: its noise was calibrated without what was entered meanwhile. \
                 Prepare it again",
                path.display()
            ),
            NotEntered::File(e) => format!("{}: {e}", path.display()),
        })?;
        Ok(())
    }
}

enum NotEntered {
    Changed,
    File(StatementFileError),
}

impl From<StatementFileError> for NotEntered {
    fn from(error: StatementFileError) -> Self {
        Self::File(error)
    }
}

pub(super) fn run_id(fingerprint: &[u8; 32]) -> String {
    fingerprint[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn statement(run: &RunFile) -> Result<Option<(PathBuf, Statement)>, ConfigError> {
    let Some(path) = run.privacy.as_ref().and_then(|privacy| privacy.statement.as_ref()) else {
        return Ok(None);
    };
    let statement = load_statement(path).map_err(|e| {
        let message = format!("{} {}: {e}", Key::PrivacyStatement, path.display());
        run.error(Key::PrivacyStatement, message)
            .help("without it nobody knows what was released: restore it")
    })?;
    Ok(Some((path.clone(), statement)))
}

/// Everything that the runs in the statement of the records released; nothing where the run file names none.
pub(super) fn earlier_runs(run: &RunFile) -> Result<History, ConfigError> {
    Ok(statement(run)?.map_or_else(History::new, |(_, statement)| statement.total()))
}
