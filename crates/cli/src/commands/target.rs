//! The files that commands write: never in the place of one that they read.

use super::Failure;
use prdo::store::names;
use std::path::{Path, PathBuf};

/// A file that a command reads: what it is, in words, and where.
pub type Read<'a> = (&'a str, PathBuf);

pub fn of_run(folder: &Path) -> impl Iterator<Item = Read<'static>> {
    names::OF_A_RUN.iter().map(move |name| ("a file of the run", folder.join(name)))
}

/// Refuses to write to `out` what would be lost by it: a file that the command reads, by whatever path, and without
/// `overwrite` any file that is there.
pub fn check<'a>(
    out: &Path,
    reads: impl IntoIterator<Item = Read<'a>>,
    overwrite: bool,
) -> Result<(), Failure> {
    let shown = out.display();
    if let Some((what, _)) = reads.into_iter().find(|(_, path)| is_same(out, path)) {
        return Err(Failure::Input(format!(
            "--out {shown} is {what}, which would be lost (--overwrite does not change that): choose another --out"
        )));
    }
    match out.symlink_metadata() {
        Ok(found) if found.is_dir() => {
            Err(Failure::Input(format!("--out {shown} is a folder: name a file in it")))
        }
        Ok(_) if !overwrite => {
            Err(Failure::Input(format!("{shown} already exists: choose another --out, or add --overwrite")))
        }
        _ => Ok(()),
    }
}

fn is_same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    real(one).is_some_and(|one| real(other) == Some(one))
}
