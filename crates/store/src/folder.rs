//! Opening a run's folder without ever losing what is in it.

use crate::names;
use prdo_disk::{DiskError, LOCK, Lock, LockError, Readers};
use std::fs;
use std::path::{Path, PathBuf};

/// A run's folder, locked for this process until dropped.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    _lock: Lock,
}

#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    #[error("{path} holds a finished run, which is kept: choose another --out, or add --overwrite")]
    Finished { path: String },
    #[error("{path} holds an interrupted run: add --resume to resume it, or --overwrite to start again")]
    Interrupted { path: String },
    #[error("{path} is not empty and not a prdo run: choose another --out")]
    Foreign { path: String },
    #[error("{path} holds a run or a comparison, which is kept: choose another --out")]
    Other { path: String },
    #[error(
        "{path} is not a folder: a file is there (or where a folder above it should be); choose another --out"
    )]
    NotFolder { path: String },
    #[error("{path} has no run to resume: leave --resume out")]
    NothingToResume { path: String },
    #[error("{path} is in use by another prdo process")]
    InUse { path: String },
    #[error(transparent)]
    Disk(#[from] DiskError),
}

impl FolderError {
    /// Whether the input was wrong (exit 2), rather than the disk failing (exit 1).
    pub fn is_input(&self) -> bool {
        !matches!(self, Self::Disk(_))
    }
}

/// Written last: the work in the folder is finished.
const FINISHED: [&str; 3] = [names::SUMMARY, names::COMPARISON, names::RESULTS];

/// What `--overwrite` removes, besides the above and the figures. Anything else in the folder is left alone.
const REPLACED: [&str; 11] = [
    names::RUN_FILE,
    names::METRICS,
    names::MOMENTS,
    names::MODEL,
    names::REPORT,
    names::TABLE,
    names::TABLE_LATEX,
    names::DIFFERENCES,
    names::CHECKPOINTS,
    names::TENSORBOARD,
    names::LIVE,
];

/// What a folder holds, by the files in it, whole or damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    /// The home of a member's node.
    Member,
    /// Several runs side by side.
    Comparison,
    /// One run, finished or not.
    Run,
    /// The results of an experiment, a search or an audit, and a report.
    Results,
    Nothing,
    /// Files that are not prdo's.
    Foreign,
}

impl Contents {
    /// Of a folder, which need not be there.
    pub fn of(folder: &Path) -> Self {
        let has = |name: &str| folder.join(name).exists();
        let any = |names: &[&str]| names.iter().any(|name| has(name));
        if any(&[names::AGREEMENT, names::STATUS]) {
            Self::Member
        } else if has(names::COMPARISON) || (has(names::TABLE) && !any(&[names::RUN_FILE, names::RESULTS])) {
            Self::Comparison
        } else if any(&[names::RUN_FILE, names::METRICS, names::SUMMARY, names::CHECKPOINTS, names::LIVE]) {
            Self::Run
        } else if has(names::RESULTS) {
            Self::Results
        } else if has(LOCK) || fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none()) {
            Self::Nothing
        } else {
            Self::Foreign
        }
    }
}

impl Folder {
    /// The folder for a new run: `asked`, or the first free one of `runs/NAME`, `runs/NAME-2`, …
    ///
    /// # Errors
    /// A folder that holds something, unless `overwrite` says that a prdo run in it may go.
    pub fn create(asked: Option<&Path>, name: &str, overwrite: bool) -> Result<Self, FolderError> {
        let path = match asked {
            Some(path) => path.to_path_buf(),
            None => Self::free(name),
        };
        let shown = path.display().to_string();
        let present = entries(&path)?;
        if !present.is_empty() {
            let has = |entry: &str| present.iter().any(|p| p == entry);
            if !has(LOCK) {
                return Err(FolderError::Foreign { path: shown });
            }
            let finished = FINISHED.iter().any(|file| has(file));
            match (overwrite, finished, has(names::RUN_FILE)) {
                (false, true, _) => return Err(FolderError::Finished { path: shown }),
                (false, false, true) => return Err(FolderError::Interrupted { path: shown }),
                _ => {}
            }
        }
        fs::create_dir_all(&path).map_err(DiskError::of("cannot make the folder", &path))?;
        let folder = Self::lock(path)?;
        // Behind the lock: nobody else is writing here.
        let ours = |entry: &&String| {
            [&FINISHED[..], &REPLACED, &names::FIGURES].iter().any(|list| list.contains(&entry.as_str()))
        };
        for entry in present.iter().filter(ours) {
            let old = folder.path.join(entry);
            let removed = if old.is_dir() { fs::remove_dir_all(&old) } else { fs::remove_file(&old) };
            removed.map_err(DiskError::of("cannot remove", &old))?;
        }
        Ok(folder)
    }

    /// The folder of a run that was interrupted (or is finished already).
    pub fn resume(path: &Path) -> Result<Self, FolderError> {
        // A folder with our lock and nothing else: the run was stopped before it wrote anything.
        if !path.join(names::RUN_FILE).is_file() && !path.join(LOCK).is_file() {
            return Err(FolderError::NothingToResume { path: path.display().to_string() });
        }
        Self::lock(path.to_path_buf())
    }

    /// The folder of work that goes on wherever it was left: made if it is not there, taken as it is if it is prdo's.
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        Self::check_ours(path, &[LOCK])?;
        fs::create_dir_all(path).map_err(DiskError::of("cannot make the folder", path))?;
        Self::lock(path.to_path_buf())
    }

    /// The same for a folder that several processes fill with runs in folders below: waits until no other one is writing
    /// there. A folder that holds the file `mark` is prdo's too, wherever it came from.
    pub fn wait(path: &Path, mark: &str) -> Result<Self, FolderError> {
        Self::check_ours(path, &[LOCK, mark])?;
        let single = [names::RUN_FILE, names::SUMMARY, names::COMPARISON, names::PARTS];
        if entries(path)?.iter().any(|entry| single.contains(&entry.as_str())) {
            return Err(FolderError::Other { path: path.display().to_string() });
        }
        fs::create_dir_all(path).map_err(DiskError::of("cannot make the folder", path))?;
        let lock = Lock::wait(&path.join(LOCK), Readers::Everyone)?;
        Ok(Self { path: path.to_path_buf(), _lock: lock })
    }

    /// Refuses a folder that holds something but none of these files.
    fn check_ours(path: &Path, marks: &[&str]) -> Result<(), FolderError> {
        let present = entries(path)?;
        match present.is_empty() || present.iter().any(|entry| marks.contains(&entry.as_str())) {
            true => Ok(()),
            false => Err(FolderError::Foreign { path: path.display().to_string() }),
        }
    }

    fn free(name: &str) -> PathBuf {
        let plain = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
        let name: String = name.trim_start_matches('.').chars().map(plain).take(80).collect();
        let name = if name.is_empty() { "run".to_string() } else { name };
        let runs = Path::new("runs");
        let mut path = runs.join(&name);
        let mut number = 2;
        while path.exists() {
            path = runs.join(format!("{name}-{number}"));
            number += 1;
        }
        path
    }

    fn lock(path: PathBuf) -> Result<Self, FolderError> {
        match Lock::take(&path.join(LOCK), Readers::Everyone) {
            Ok(lock) => Ok(Self { path, _lock: lock }),
            Err(LockError::InUse { .. }) => Err(FolderError::InUse { path: path.display().to_string() }),
            Err(LockError::Disk(failure)) => Err(failure.into()),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    pub fn is_finished(&self) -> bool {
        FINISHED.iter().any(|file| self.path.join(file).exists())
    }

    /// Writes a file whole or not at all.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), FolderError> {
        Ok(prdo_disk::write_atomically(&self.path.join(name), bytes)?)
    }

    pub fn checkpoint(&self) -> Result<Option<Vec<u8>>, FolderError> {
        let path = self.path.join(names::CHECKPOINT);
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(DiskError::of("cannot read", &path)(error).into()),
        }
    }
}

fn entries(path: &Path) -> Result<Vec<String>, FolderError> {
    match fs::read_dir(path) {
        Ok(list) => list
            .map(|entry| {
                let entry = entry.map_err(DiskError::of("cannot list", path))?;
                Ok(entry.file_name().to_string_lossy().into_owned())
            })
            .collect(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => {
            Err(FolderError::NotFolder { path: path.display().to_string() })
        }
        Err(error) => Err(DiskError::of("cannot list", path)(error).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_known_by_their_files() {
        let cases: [(&[&str], Contents); 8] = [
            (&[], Contents::Nothing),
            (&[LOCK], Contents::Nothing),
            (&[LOCK, names::RUN_FILE, names::METRICS], Contents::Run),
            (&[names::SUMMARY], Contents::Run),
            (&[names::COMPARISON, names::TABLE], Contents::Comparison),
            (&[names::RESULTS, names::TABLE], Contents::Results),
            (&[names::AGREEMENT, names::SUMMARY], Contents::Member),
            (&["notes.txt"], Contents::Foreign),
        ];
        for (files, contents) in cases {
            let folder = tempfile::tempdir().unwrap();
            files.iter().for_each(|name| fs::write(folder.path().join(name), "").unwrap());
            assert_eq!(Contents::of(folder.path()), contents, "{files:?}");
        }
        assert_eq!(Contents::of(Path::new("/nowhere/at/all")), Contents::Nothing);
    }
}
