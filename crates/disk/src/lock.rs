//! The one lock: a file that one process holds until it ends, however it ends.

use crate::{DiskError, Readers};
use std::fs::{File, TryLockError};
use std::io::{Read, Write};
use std::path::Path;
use std::time::Duration;

/// The file that is locked in a folder that one process has; its presence also marks a folder as prdo's.
pub const LOCK: &str = ".prdo-lock";

/// A lock, held until dropped; the operating system releases it when the process ends.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("in use by another process")]
    InUse {
        /// Its number, if it wrote it.
        process: Option<u32>,
    },
    #[error(transparent)]
    Disk(#[from] DiskError),
}

impl Lock {
    /// Takes the lock in a file, which is made if it is not there.
    pub fn take(path: &Path, readers: Readers) -> Result<Self, LockError> {
        let mut file = open(path, readers)?;
        // Whoever looks whether a folder is in use has the lock for a moment: a second attempt follows.
        let taken = file.try_lock().or_else(|error| match error {
            TryLockError::WouldBlock => {
                std::thread::sleep(Duration::from_millis(20));
                file.try_lock()
            }
            error @ TryLockError::Error(_) => Err(error),
        });
        match taken {
            Ok(()) => Ok(Self { file }),
            Err(TryLockError::WouldBlock) => Err(LockError::InUse { process: process_in(&mut file) }),
            Err(TryLockError::Error(error)) => Err(DiskError::of("cannot lock", path)(error).into()),
        }
    }

    /// The same, once no other process has it.
    pub fn wait(path: &Path, readers: Readers) -> Result<Self, DiskError> {
        let file = open(path, readers)?;
        file.lock().map_err(DiskError::of("cannot lock", path))?;
        Ok(Self { file })
    }

    /// Writes this process's number into the file, for the message that another process gives.
    pub fn sign(&mut self) -> std::io::Result<()> {
        self.file.set_len(0)?;
        writeln!(self.file, "{}", std::process::id())
    }
}

/// Which process has a folder locked by its [`LOCK`]: `None` if none has, `Some(None)` if it did not say.
pub fn holder(folder: &Path) -> Option<Option<u32>> {
    let mut lock = File::open(folder.join(LOCK)).ok()?;
    match lock.try_lock_shared() {
        Err(TryLockError::WouldBlock) => Some(process_in(&mut lock)),
        Ok(()) | Err(TryLockError::Error(_)) => None,
    }
}

fn open(path: &Path, readers: Readers) -> Result<File, DiskError> {
    let mut options = File::options();
    options.create(true).truncate(false).read(true).write(true);
    #[cfg(unix)]
    if readers == Readers::Owner {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    #[cfg(not(unix))]
    let _ = readers;
    options.open(path).map_err(DiskError::of("cannot open", path))
}

fn process_in(lock: &mut File) -> Option<u32> {
    let mut text = String::new();
    lock.take(20).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A lock belongs to an open file, so that a second opening stands for a second process.
    #[test]
    fn one_has_it_and_others_learn_who() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().join(LOCK);
        assert_eq!(holder(folder.path()), None);
        let mut lock = Lock::take(&at, Readers::Owner).unwrap();
        assert_eq!(holder(folder.path()), Some(None));
        lock.sign().unwrap();
        let process = Some(std::process::id());
        assert_eq!(holder(folder.path()), Some(process));
        match Lock::take(&at, Readers::Owner) {
            Err(LockError::InUse { process: found }) => assert_eq!(found, process),
            other => panic!("{other:?}"),
        }
        drop(lock);
        drop(Lock::wait(&at, Readers::Owner).unwrap());
        assert_eq!(holder(folder.path()), None);
    }
}
