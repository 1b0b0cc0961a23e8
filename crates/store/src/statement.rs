//! The file in which a [`Statement`] is kept beside the records.

use prdo_disk::write_atomically;
use prdo_privacy::{Statement, StatementError};
use std::path::Path;

#[derive(Debug, thiserror::Error)]
pub enum StatementFileError {
    #[error(transparent)]
    Statement(#[from] StatementError),
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// Reads the file; a file that does not exist is an empty statement.
pub fn load_statement(path: &Path) -> Result<Statement, StatementFileError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Statement::from_text(&text)?),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Statement::new()),
        Err(error) => Err(error.into()),
    }
}

pub fn save_statement(statement: &Statement, path: &Path) -> Result<(), StatementFileError> {
    write_atomically(path, statement.to_text().as_bytes()).map_err(|e| StatementFileError::Io(e.error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use prdo_accounting::{Event, History};

    #[test]
    fn files_are_replaced_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("records.statement");
        assert_eq!(load_statement(&path).unwrap(), Statement::new());
        let mut statement = Statement::new();
        for round in 1..4_u64 {
            let event = Event::sampled_gaussian(0.1, 1.0).unwrap();
            statement.enter(&format!("run{round}"), "again", &History::new().and(event, round));
            save_statement(&statement, &path).unwrap();
            assert_eq!(load_statement(&path).unwrap(), statement);
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
    }
}
