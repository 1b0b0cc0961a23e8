//! Reading files that another process is writing, that are damaged, or that are no files at all.

use prdo_store::artefact;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::SystemTime;

const MOST: u64 = 16 << 20;

/// Opens a regular file: a pipe of that name would keep us waiting.
pub fn open(path: &Path) -> Option<File> {
    path.metadata().ok().filter(std::fs::Metadata::is_file)?;
    File::open(path).ok()
}

/// A file's text, as far as it is text; `None` when there is none.
pub fn text(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    open(path)?.take(MOST).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// As much of an artefact as can be read; nothing when it is not there, and problems in words when it is damaged.
pub fn object<T: DeserializeOwned>(path: &Path, problems: &mut Vec<String>) -> Option<T> {
    let text = text(path)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    match artefact::salvage(text.as_bytes()) {
        Ok((artefact, damaged)) => {
            problems.extend(damaged.iter().map(|field| format!("{name} is damaged: {field}")));
            Some(artefact)
        }
        Err(damage) => {
            problems.push(format!("{name} is damaged: {damage}"));
            None
        }
    }
}

/// What tells a changed file from the one that was read: when it was written, and how long it is; `None` is no file.
pub type Stamp = Option<(SystemTime, u64)>;

pub fn stamp(path: &Path) -> Stamp {
    let facts = path.metadata().ok()?;
    Some((facts.modified().ok()?, facts.len()))
}
