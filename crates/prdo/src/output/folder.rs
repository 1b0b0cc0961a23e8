//! Opening a run's folder without ever losing what is in it.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

/// A run's folder, locked for this process until dropped.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    _lock: File,
}

/// A folder that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// It holds a finished run.
    #[error("{path} holds a finished run, which is kept: choose another --out, or add --overwrite")]
    Finished {
        /// The folder.
        path: String,
    },
    /// It holds a run that was interrupted.
    #[error("{path} holds an interrupted run: add --resume to go on with it, or --overwrite to begin anew")]
    Interrupted {
        /// The folder.
        path: String,
    },
    /// It holds other files.
    #[error("{path} is not empty and not a prdo run: choose another --out")]
    Foreign {
        /// The folder.
        path: String,
    },
    /// It holds a run or a comparison, and was meant for something else.
    #[error("{path} holds a run or a comparison, which is kept: choose another --out")]
    Other {
        /// The folder.
        path: String,
    },
    /// It is no folder, or would be in something that is none.
    #[error(
        "{path} is not a folder: a file is there (or where a folder above it should be); choose another --out"
    )]
    NotFolder {
        /// The path.
        path: String,
    },
    /// There is nothing to resume.
    #[error("{path} has no run to resume: leave --resume out")]
    NothingToResume {
        /// The folder.
        path: String,
    },
    /// Another process is writing there.
    #[error("{path} is in use by another prdo process")]
    InUse {
        /// The folder.
        path: String,
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

impl FolderError {
    /// Whether the input was wrong (exit 2), rather than the disk failing (exit 1).
    pub fn is_input(&self) -> bool {
        !matches!(self, Self::Disk { .. })
    }
}

/// The disk's error, with what was tried on which file.
pub(super) fn disk<'a>(
    what: &'static str,
    path: &'a Path,
) -> impl FnOnce(std::io::Error) -> FolderError + 'a {
    move |error| FolderError::Disk { what, path: path.display().to_string(), error }
}

/// The lock; its presence also marks a folder as prdo's.
const LOCK: &str = ".prdo-lock";

/// Written last: the work in the folder is finished.
const FINISHED: [&str; 3] = ["summary.json", "comparison.json", "results.json"];

/// What `--overwrite` removes, besides the above. Anything else in the folder is left alone.
const REPLACED: [&str; 14] = [
    "run.toml",
    "metrics.csv",
    "moments.csv",
    "model.safetensors",
    "report.html",
    "table.csv",
    "table.tex",
    "differences.csv",
    "figure.svg",
    "figure.png",
    "figure.pdf",
    "checkpoint",
    "tensorboard",
    super::live::LIVE,
];

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
            match (overwrite, finished, has("run.toml")) {
                (false, true, _) => return Err(FolderError::Finished { path: shown }),
                (false, false, true) => return Err(FolderError::Interrupted { path: shown }),
                _ => {}
            }
        }
        fs::create_dir_all(&path).map_err(disk("cannot make the folder", &path))?;
        let folder = Self::lock(path)?;
        // Behind the lock: nobody else is writing here.
        let ours = |entry: &&String| FINISHED.contains(&entry.as_str()) || REPLACED.contains(&entry.as_str());
        for entry in present.iter().filter(ours) {
            let old = folder.path.join(entry);
            let removed = if old.is_dir() { fs::remove_dir_all(&old) } else { fs::remove_file(&old) };
            removed.map_err(disk("cannot remove", &old))?;
        }
        Ok(folder)
    }

    /// The folder of a run that was interrupted (or is finished already).
    ///
    /// # Errors
    /// No run there, or one in use.
    pub fn resume(path: &Path) -> Result<Self, FolderError> {
        // A folder with our lock and nothing else: the run was stopped before it wrote anything.
        if !path.join("run.toml").is_file() && !path.join(LOCK).is_file() {
            return Err(FolderError::NothingToResume { path: path.display().to_string() });
        }
        Self::lock(path.to_path_buf())
    }

    /// The folder of work that goes on wherever it was left: made if it is not there, taken as it is if it is prdo's.
    ///
    /// # Errors
    /// Someone else's folder, or one in use.
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        Self::check_ours(path, &[LOCK])?;
        fs::create_dir_all(path).map_err(disk("cannot make the folder", path))?;
        Self::lock(path.to_path_buf())
    }

    /// The same for a folder that several processes fill with runs in folders below: waits until no other one is writing
    /// there. A folder that holds the file `mark` is prdo's too, wherever it came from.
    ///
    /// # Errors
    /// Someone else's folder, that of a single run or of a comparison, or a disk that fails.
    pub fn wait(path: &Path, mark: &str) -> Result<Self, FolderError> {
        Self::check_ours(path, &[LOCK, mark])?;
        let single = ["run.toml", "summary.json", "comparison.json", "parts"];
        if entries(path)?.iter().any(|entry| single.contains(&entry.as_str())) {
            return Err(FolderError::Other { path: path.display().to_string() });
        }
        fs::create_dir_all(path).map_err(disk("cannot make the folder", path))?;
        let lock = Self::lock_file(path)?;
        lock.lock().map_err(disk("cannot lock", path))?;
        Ok(Self { path: path.to_path_buf(), _lock: lock })
    }

    /// Refuses a folder that holds something but none of these files.
    ///
    /// # Errors
    /// Someone else's folder.
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

    fn lock_file(path: &Path) -> Result<File, FolderError> {
        let at = path.join(LOCK);
        let options = File::options().create(true).truncate(false).write(true).open(&at);
        options.map_err(disk("cannot open", &at))
    }

    fn lock(path: PathBuf) -> Result<Self, FolderError> {
        let lock = Self::lock_file(&path)?;
        // Whoever looks whether a run is going on has the lock for a moment (`Directory::user`).
        let taken = || match lock.try_lock() {
            Err(fs::TryLockError::WouldBlock) => {
                std::thread::sleep(std::time::Duration::from_millis(20));
                lock.try_lock()
            }
            other => other,
        };
        // Released by the operating system when this process ends, however it ends.
        match taken() {
            Ok(()) => Ok(Self { path, _lock: lock }),
            Err(fs::TryLockError::WouldBlock) => Err(FolderError::InUse { path: path.display().to_string() }),
            Err(fs::TryLockError::Error(error)) => Err(disk("cannot lock", &path)(error)),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the run in it is finished.
    pub fn is_finished(&self) -> bool {
        FINISHED.iter().any(|file| self.path.join(file).exists())
    }

    /// Writes a file whole or not at all.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), FolderError> {
        write_atomically(&self.path.join(name), bytes)
    }

    /// The last checkpoint, if there is one.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    pub fn checkpoint(&self) -> Result<Option<Vec<u8>>, FolderError> {
        let path = self.path.join("checkpoint/state");
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(disk("cannot read", &path)(error)),
        }
    }
}

fn entries(path: &Path) -> Result<Vec<String>, FolderError> {
    match fs::read_dir(path) {
        Ok(list) => list
            .map(|entry| {
                Ok(entry.map_err(disk("cannot list", path))?.file_name().to_string_lossy().into_owned())
            })
            .collect(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => {
            Err(FolderError::NotFolder { path: path.display().to_string() })
        }
        Err(error) => Err(disk("cannot list", path)(error)),
    }
}

/// Writes beside the file, makes it durable, then puts it in the file's place: a crash leaves the old one or
/// the new one, never half of either.
///
/// # Errors
/// When the disk fails.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), FolderError> {
    replace(path, bytes, set_ordinary_permissions)
}

/// The same for what only its owner may read.
///
/// # Errors
/// When the disk fails.
pub fn write_privately(path: &Path, bytes: &[u8]) -> Result<(), FolderError> {
    replace(path, bytes, |_| ())
}

fn replace(path: &Path, bytes: &[u8], permit: fn(&File)) -> Result<(), FolderError> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(disk("cannot make the folder", folder))?;
    let mut temporary = tempfile::Builder::new()
        .prefix(".prdo-")
        .suffix(".tmp")
        .tempfile_in(folder)
        .map_err(disk("cannot write in", folder))?;
    let written = temporary.write_all(bytes).and_then(|()| temporary.as_file().sync_all());
    written.map_err(disk("cannot write", path))?;
    permit(temporary.as_file());
    temporary.persist(path).map_err(|e| disk("cannot write", path)(e.error))?;
    // The rename itself becomes durable with its folder; where folders cannot be opened there is no more to do.
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
    Ok(())
}

/// Temporary files are private to their owner; results should be as readable as any file the user makes.
fn set_ordinary_permissions(file: &File) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let _ = file.set_permissions(fs::Permissions::from_mode(0o644));
    }
    #[cfg(not(unix))]
    let _ = file;
}
