//! Why a data set could not be fetched.

use crate::commands::Failure;
use std::path::Path;

/// A data set that could not be fetched. Nothing is under its final name then.
#[derive(Debug, thiserror::Error)]
pub enum GetError {
    #[error(
        "{path} already exists and is not as it should be ({why}): move it away, or choose another --out"
    )]
    Taken { path: String, why: String },
    #[error("{path} is in use by another prdo process")]
    InUse { path: String },
    #[error("--from {from}: it must be a URL (http:// or https://), an archive or a folder that exists")]
    From { from: String },
    #[error("--checksums {file}: cannot be read: {error}")]
    ChecksumFile { file: String, error: std::io::Error },
    #[error(
        "{file}, line {line}: found {found:?}; expected a SHA-256 in 64 hexadecimal digits, two spaces, a file"
    )]
    ChecksumLine { file: String, line: usize, found: String },
    #[error("{file}: no checksum for {wanted}")]
    NoChecksum { file: String, wanted: String },
    #[error("{place}: {file} is missing")]
    Missing { place: String, file: String },
    #[error("{place}: {file} has SHA-256 {found}, expected {expected}: it is damaged or a different file")]
    Checksum { place: String, file: String, found: String, expected: String },
    #[error("{place}: cannot unpack this archive: {problem}")]
    Archive { place: String, problem: String },
    #[cfg(not(feature = "download"))]
    #[error("{url}: this build cannot download: build with `--features download`, or use --from FILE")]
    NotBuilt { url: String },
    #[cfg(feature = "download")]
    #[error("{url}: the server answered {status}; expected 200, or 206 for the rest of a file (try --from)")]
    Status { url: String, status: u16 },
    #[cfg(feature = "download")]
    #[error(
        "{url}: {problem}; {have} bytes are kept: rerun the command to resume (--from takes a file, a folder or another URL)"
    )]
    Cut { url: String, problem: String, have: u64 },
    #[error("{place}: more than {limit} bytes, more than any data set here has")]
    TooLarge { place: String, limit: u64 },
    #[error("{what} {path}: {error}")]
    Disk { what: &'static str, path: String, error: std::io::Error },
}

impl GetError {
    /// Exit 2 where what was typed is wrong, which includes files of one's own; else 1.
    pub fn failure(self, local: bool) -> Failure {
        let typed = match self {
            Self::Taken { .. } | Self::From { .. } => true,
            Self::ChecksumFile { .. } | Self::ChecksumLine { .. } | Self::NoChecksum { .. } => true,
            Self::Disk { .. } | Self::InUse { .. } => false,
            _ => local,
        };
        Failure::new(typed, self.to_string())
    }
}

pub fn disk<'a>(what: &'static str, path: &'a Path) -> impl FnOnce(std::io::Error) -> GetError + 'a {
    move |error| GetError::Disk { what, path: path.display().to_string(), error }
}
