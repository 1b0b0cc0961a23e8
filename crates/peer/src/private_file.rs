//! Small files with a secret in them, which nobody but their owner may read.

use prdo_disk::{folder_of, sync_folder};
use std::fs::{File, Metadata, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::Path;
use zeroize::Zeroizing;

/// The most bytes that are read.
const LONGEST: u64 = 4096;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyFileError {
    #[error("{path} already exists, and a key is never overwritten: choose another name")]
    Exists { path: String },
    #[error("no key file {path}: create one with `prdo node key {path}`")]
    Absent { path: String },
    #[error(
        "{path} has the permissions {mode:04o}: others can use the private key in it; run `chmod 600 {path}`"
    )]
    Open { path: String, mode: u32 },
    #[error(
        "{path} belongs to user {owner}, this is user {me}: whoever owns it can change it; run `chown {me} {path}`"
    )]
    Owner { path: String, owner: u32, me: u32 },
    /// The problem never shows a part of the key.
    #[error("{path} is not a prdo key file: {problem}")]
    Format { path: String, problem: &'static str },
    #[error("{what} {path}: {problem}")]
    System { what: &'static str, path: String, problem: String },
}

/// Writes a new file, durably.
pub(crate) fn create(path: &Path, text: &str) -> Result<(), KeyFileError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path).map_err(|e| match e.kind() {
        ErrorKind::AlreadyExists => KeyFileError::Exists { path: path.display().to_string() },
        _ => system("cannot create the key file", path)(e),
    })?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    written.map_err(|e| {
        let _ = std::fs::remove_file(path);
        system("cannot write the key file", path)(e)
    })?;
    sync_folder(folder_of(path));
    Ok(())
}

/// What `parse` makes of a file that its owner alone may read.
pub(crate) fn read<T>(
    path: &Path,
    parse: impl FnOnce(&str) -> Result<T, &'static str>,
) -> Result<T, KeyFileError> {
    let mut file = File::open(path).map_err(|e| match e.kind() {
        ErrorKind::NotFound => KeyFileError::Absent { path: path.display().to_string() },
        _ => system("cannot read the key file", path)(e),
    })?;
    let found = file.metadata().map_err(system("cannot examine the key file", path))?;
    let format = |problem| KeyFileError::Format { path: path.display().to_string(), problem };
    if !found.is_file() {
        return Err(format("it is not a file"));
    }
    let mut text = Zeroizing::new(String::new());
    let read = Read::by_ref(&mut file).take(LONGEST).read_to_string(&mut text);
    read.map_err(|e| match e.kind() {
        ErrorKind::InvalidData => format("it is not text"),
        _ => system("cannot read the key file", path)(e),
    })?;
    // What is no key file at all is called so, before anybody is told to change its mode.
    let parsed = parse(&text).map_err(format);
    match check_owner(path, &found) {
        Err(KeyFileError::Open { .. }) if parsed.is_err() => parsed,
        Err(error) => Err(error),
        Ok(()) => parsed,
    }
}

/// Overwrites a file with zeros and removes it, durably; nothing if there is none. A file system that keeps old copies, and a
/// backup, still has it.
pub(crate) fn forget(path: &Path) -> Result<(), KeyFileError> {
    let failed = || system("cannot remove the key file", path);
    let mut file = match OpenOptions::new().write(true).open(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(()),
        opened => opened.map_err(failed())?,
    };
    let length = file.metadata().map_err(failed())?.len().min(LONGEST);
    let zeros = vec![0; usize::try_from(length).unwrap_or(0)];
    file.write_all(&zeros).and_then(|()| file.sync_all()).map_err(failed())?;
    std::fs::remove_file(path).map_err(failed())?;
    sync_folder(folder_of(path));
    Ok(())
}

/// The value of a line `name = "…"`.
pub(crate) fn value<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|rest| rest.strip_prefix(" = \"")).and_then(|rest| rest.strip_suffix('"'))
}

#[cfg(unix)]
fn check_owner(path: &Path, found: &Metadata) -> Result<(), KeyFileError> {
    use std::os::unix::fs::MetadataExt;
    let (mode, owner, me) = (found.mode() & 0o7777, found.uid(), rustix::process::geteuid().as_raw());
    let path = path.display().to_string();
    match owner == me {
        false => Err(KeyFileError::Owner { path, owner, me }),
        true if mode & 0o077 != 0 => Err(KeyFileError::Open { path, mode }),
        true => Ok(()),
    }
}

#[cfg(not(unix))]
fn check_owner(_: &Path, _: &Metadata) -> Result<(), KeyFileError> {
    Ok(())
}

fn system<'a>(what: &'static str, path: &'a Path) -> impl FnOnce(std::io::Error) -> KeyFileError + 'a {
    move |error| KeyFileError::System { what, path: path.display().to_string(), problem: error.to_string() }
}
