//! Why a data set could not be fetched.

use crate::commands::Failure;
use std::path::Path;

/// A data set that could not be fetched. Nothing is under its final name then.
#[derive(Debug, thiserror::Error)]
pub enum GetError {
    /// Its folder is taken by something else.
    #[error("{path} is there already and not as it should be ({why}): move it away, or choose another --out")]
    Taken {
        /// The folder.
        path: String,
        /// What is wrong with it.
        why: String,
    },
    /// Another process is at it.
    #[error("{path} is in use by another prdo process")]
    InUse {
        /// The folder for what is not finished.
        path: String,
    },
    /// The place to fetch from does not exist.
    #[error("--from {from}: it must be a URL (http:// or https://), an archive or a folder that exists")]
    From {
        /// What was given.
        from: String,
    },
    /// The checksum file.
    #[error("--checksums {file}: cannot be read: {error}")]
    ChecksumFile {
        /// The checksum file.
        file: String,
        /// Why.
        error: std::io::Error,
    },
    /// A line of a checksum file.
    #[error(
        "{file}, line {line}: found {found:?}; allowed: a SHA-256 in 64 hexadecimal digits, two spaces, a file"
    )]
    ChecksumLine {
        /// The checksum file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The line's text.
        found: String,
    },
    /// A checksum file that leaves a file out.
    #[error("{file}: no checksum for {wanted}")]
    NoChecksum {
        /// The checksum file.
        file: String,
        /// The file it should name.
        wanted: String,
    },
    /// A file is not there.
    #[error("{place}: {file} is missing")]
    Missing {
        /// The archive or folder.
        place: String,
        /// The file.
        file: String,
    },
    /// A file is not the official one.
    #[error("{place}: {file} has SHA-256 {found}, wanted {expected}: it is damaged or another file")]
    Checksum {
        /// The archive or folder.
        place: String,
        /// The file.
        file: String,
        /// Its SHA-256.
        found: String,
        /// The official one.
        expected: String,
    },
    /// An archive that cannot be unpacked.
    #[error("{place}: not an archive that can be unpacked: {problem}")]
    Archive {
        /// The archive.
        place: String,
        /// What is wrong.
        problem: String,
    },
    /// This build leaves downloads out.
    #[cfg(not(feature = "download"))]
    #[error("{url}: this build cannot download: build with `--features download`, or use --from FILE")]
    NotBuilt {
        /// The URL.
        url: String,
    },
    /// The server has no such file.
    #[cfg(feature = "download")]
    #[error("{url}: the server answered {status}; allowed: 200, or 206 for the rest of a file (try --from)")]
    Status {
        /// The URL.
        url: String,
        /// The answer.
        status: u16,
    },
    /// The server cannot be reached, or the connection was cut.
    #[cfg(feature = "download")]
    #[error(
        "{url}: {problem}; {have} bytes are kept: the same command goes on from there (--from takes a file, a folder or another URL)"
    )]
    Cut {
        /// The URL.
        url: String,
        /// What happened.
        problem: String,
        /// How much there is.
        have: u64,
    },
    /// A file that is larger than any of a data set.
    #[error("{place}: more than {limit} bytes, which is more than a data set here has")]
    TooLarge {
        /// The URL, or the file in an archive.
        place: String,
        /// The most that is taken.
        limit: u64,
    },
    /// The disk.
    #[error("{what} {path}: {error}")]
    Disk {
        /// What was tried.
        what: &'static str,
        /// On which file.
        path: String,
        /// Why it failed.
        error: std::io::Error,
    },
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
        if typed { Failure::Input(self.to_string()) } else { Failure::Work(self.to_string()) }
    }
}

/// The disk's error, with what was tried on which file.
pub fn disk<'a>(what: &'static str, path: &'a Path) -> impl FnOnce(std::io::Error) -> GetError + 'a {
    move |error| GetError::Disk { what, path: path.display().to_string(), error }
}
