//! Where a node keeps what it must not lose: a few named files, written durably.

/// A small set of files of one node. Everything is durable when a call returns.
///
/// The seeded fault simulator has its own implementation, which tears writes and forgets what was not finished.
pub trait Disk: Send {
    /// The whole file; `None` if there is none of this name.
    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, DiskError>;

    /// Adds `bytes` at the end of the file, which is made if it is not there. A crash may leave a part of them.
    ///
    /// # Errors
    /// The operating system's; the file may then end in a part of `bytes`.
    fn append(&mut self, name: &str, bytes: &[u8]) -> Result<(), DiskError>;

    /// Makes the file hold `parts`, one after the other, and nothing else. A crash may leave a part of them, or a
    /// mixture with what was there: whoever reads it checks a hash, and keeps the last good one in another file.
    ///
    /// # Errors
    /// The operating system's; the file is then not to be trusted.
    fn overwrite(&mut self, name: &str, parts: &[&[u8]]) -> Result<(), DiskError>;

    /// Cuts the file to `length` bytes if it has more. What stays is durable, even if the process that wrote it ended
    /// before it could see to that.
    fn truncate(&mut self, name: &str, length: u64) -> Result<(), DiskError>;

    /// What people know the file by.
    fn shown(&self, name: &str) -> String {
        name.into()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {problem}")]
pub struct DiskError {
    pub file: String,
    pub problem: String,
}
