//! The file in which a [`Statement`] is kept beside the records.

use prdo_disk::{LOCK, Lock, Readers, write_atomically};
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

/// Reads the file, changes the statement and writes it: one process after the other, so that no entry is lost.
pub fn change_statement<T, E: From<StatementFileError>>(
    path: &Path,
    change: impl FnOnce(&mut Statement) -> Result<T, E>,
) -> Result<T, E> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let lock = path.with_file_name(format!(".{name}{LOCK}"));
    let _lock = Lock::wait(&lock, Readers::Everyone).map_err(|e| StatementFileError::Io(e.error))?;
    let mut statement = load_statement(path)?;
    let answer = change(&mut statement)?;
    save_statement(&statement, path)?;
    Ok(answer)
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

    #[test]
    fn entries_made_at_the_same_time_are_all_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("records.statement");
        let enter = |number: usize| {
            let event = Event::sampled_gaussian(0.1, 1.0).unwrap();
            change_statement(&path, |statement| {
                statement.enter(&format!("run{number}"), "beside others", &History::new().and(event, 1));
                Ok::<_, StatementFileError>(())
            })
        };
        std::thread::scope(|scope| {
            (0..8).for_each(|number| drop(scope.spawn(move || enter(number).unwrap())));
        });
        let text = load_statement(&path).unwrap().to_text();
        assert!((0..8).all(|number| text.contains(&format!("run{number}"))), "{text}");
    }
}
