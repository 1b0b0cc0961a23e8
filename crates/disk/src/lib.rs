//! Files that appear whole or not at all, and folders that one process has at a time. Every room that writes files uses
//! these; it depends on none of them.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod atomic;
mod lock;

pub use atomic::{folder_of, sync_folder, write_atomically, write_privately, write_with};
pub use lock::{LOCK, Lock, LockError, holder};

use std::io;
use std::path::{Path, PathBuf};

/// Who may read a file that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readers {
    /// Whoever may read what its owner makes usually.
    Everyone,
    Owner,
}

/// The operating system's error, with what was tried on which file.
#[derive(Debug, thiserror::Error)]
#[error("{what} {}: {error}", path.display())]
pub struct DiskError {
    pub what: &'static str,
    pub path: PathBuf,
    pub error: io::Error,
}

impl DiskError {
    /// For `map_err`: what was tried on which file.
    pub fn of<'a>(what: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> Self + 'a {
        move |error| Self { what, path: path.to_path_buf(), error }
    }
}
