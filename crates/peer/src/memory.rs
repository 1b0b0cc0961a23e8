//! A disk in memory that fails when it is told to: crashes, torn writes, no space left.

use crate::disk::{Disk, DiskError};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Files in memory. Clones share them, so that a test keeps a hand on the disk of a node that "crashed".
///
/// Appending, overwriting and truncating are the operations that are counted; each is done whole or, when
/// it is the one that was chosen to fail, in part.
#[derive(Clone, Debug, Default)]
pub struct MemoryDisk(Arc<Mutex<Files>>);

#[derive(Debug, Default)]
struct Files {
    files: BTreeMap<String, Vec<u8>>,
    writes: u64,
    failure: Option<PlannedFailure>,
    state: State,
}

#[derive(Clone, Copy, Debug)]
struct PlannedFailure {
    /// The count of writes at which it happens.
    at: u64,
    keep: usize,
    then: State,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum State {
    #[default]
    Good,
    Crashed,
    Full,
}

impl MemoryDisk {
    pub fn new() -> Self {
        Self::default()
    }

    /// The `n`-th write from now (0 is the next) gets no further than `keep_bytes` bytes and fails, and so does every
    /// later operation, reading included, until [`MemoryDisk::revive`]. Of a write in place the rest stays as it was
    /// before. With as many bytes as the write has, or more, it is done whole and fails all the same, as a crash just
    /// after it would; a truncation happens unless `keep_bytes` is 0.
    pub fn crash_at(&self, n: u64, keep_bytes: usize) {
        self.fail_at(n, keep_bytes, State::Crashed);
    }

    /// The `n`-th write from now (0 is the next) finds no space after `keep_bytes` bytes and fails, and so does every
    /// later write until [`MemoryDisk::revive`]. Reading still works.
    pub fn fill_at(&self, n: u64, keep_bytes: usize) {
        self.fail_at(n, keep_bytes, State::Full);
    }

    /// Ends a crash or a full disk, or takes back what was planned. The files are as they were left.
    pub fn revive(&self) {
        let mut files = self.lock();
        (files.failure, files.state) = (None, State::Good);
    }

    /// Whether a planned failure has happened and [`MemoryDisk::revive`] was not called since.
    pub fn has_failed(&self) -> bool {
        self.lock().state != State::Good
    }

    /// How many writes there have been, a failed one included.
    pub fn writes(&self) -> u64 {
        self.lock().writes
    }

    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        self.lock().files.clone()
    }

    /// Puts other files in the place of all that are there: an older copy, or a damaged one.
    pub fn replace(&self, files: BTreeMap<String, Vec<u8>>) {
        self.lock().files = files;
    }

    pub fn put(&self, name: &str, bytes: Vec<u8>) {
        self.lock().files.insert(name.into(), bytes);
    }

    fn fail_at(&self, n: u64, keep: usize, then: State) {
        let mut files = self.lock();
        files.failure = Some(PlannedFailure { at: files.writes.saturating_add(n), keep, then });
    }

    fn lock(&self) -> MutexGuard<'_, Files> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does a write: `change` is told how many bytes it may do.
    fn write(&self, name: &str, change: impl FnOnce(&mut Files, usize)) -> Result<(), DiskError> {
        let mut files = self.lock();
        if files.state != State::Good {
            return Err(files.state.error(name));
        }
        let number = files.writes;
        files.writes += 1;
        match files.failure.filter(|failure| failure.at == number) {
            None => {
                change(&mut files, usize::MAX);
                Ok(())
            }
            Some(failure) => {
                change(&mut files, failure.keep);
                (files.failure, files.state) = (None, failure.then);
                Err(failure.then.error(name))
            }
        }
    }
}

impl State {
    fn error(self, name: &str) -> DiskError {
        let problem = if self == Self::Full { "no space left on device" } else { "the machine has crashed" };
        DiskError { file: name.into(), problem: problem.into() }
    }
}

impl Disk for MemoryDisk {
    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, DiskError> {
        let files = self.lock();
        match files.state {
            State::Crashed => Err(State::Crashed.error(name)),
            _ => Ok(files.files.get(name).cloned()),
        }
    }

    fn append(&mut self, name: &str, bytes: &[u8]) -> Result<(), DiskError> {
        self.write(name, |files, keep| {
            let part = bytes.get(..keep).unwrap_or(bytes);
            files.files.entry(name.into()).or_default().extend(part);
        })
    }

    fn overwrite(&mut self, name: &str, parts: &[&[u8]]) -> Result<(), DiskError> {
        self.write(name, |files, keep| {
            let file = files.files.entry(name.into()).or_default();
            let new = parts.concat();
            match new.get(..keep).filter(|part| part.len() < new.len()) {
                None => *file = new,
                Some(part) => {
                    let rest = file.split_off(keep.min(file.len()));
                    *file = [part, &rest].concat();
                }
            }
        })
    }

    fn truncate(&mut self, name: &str, length: u64) -> Result<(), DiskError> {
        // What is here is durable, and making it so again changes nothing: not counted.
        let same = |file: Vec<u8>| file.len() as u64 == length;
        if self.read(name)?.is_some_and(same) {
            return Ok(());
        }
        self.write(name, |files, keep| {
            if let Some(file) = files.files.get_mut(name).filter(|_| keep > 0) {
                file.truncate(usize::try_from(length).unwrap_or(file.len()));
            }
        })
    }
}
