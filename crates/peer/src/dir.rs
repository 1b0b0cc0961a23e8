//! A real folder as a [`Disk`]: durable writes, and a lock that keeps a second process out.

use crate::disk::{Disk, DiskError};
use prdo_disk::{LOCK, Lock, LockError, Readers, folder_of};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A folder that is this process's alone until it is dropped, or the process ends, however it ends.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    lock: Arc<Lock>,
    /// Files written to before stay open.
    open: BTreeMap<String, File>,
}

/// A folder that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DirectoryError {
    #[error("{path} is in use by another process{}: stop that one, or wait until it ends", number(.process))]
    InUse { path: String, process: Option<u32> },
    #[error(transparent)]
    Disk(#[from] DiskError),
}

fn number(process: &Option<u32>) -> String {
    process.map_or_else(String::new, |id| format!(" (number {id})"))
}

impl Directory {
    /// Takes the folder, which is made if it is not there, readable by its owner alone.
    pub fn open(path: &Path) -> Result<Self, DirectoryError> {
        Self::locked(path, LOCK)
    }

    /// Takes one file of a folder that others use too, and gives its name: only that file may be written to. The folder
    /// is made if it is not there.
    pub fn of_file(path: &Path) -> Result<(Self, String), DirectoryError> {
        // One file has one lock, whatever name it is called by.
        let resolved = std::fs::canonicalize(path);
        let path = resolved.as_deref().unwrap_or(path);
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        check_name(&name)?;
        Ok((Self::locked(folder_of(path), &format!(".{name}.lock"))?, name))
    }

    fn locked(path: &Path, name: &str) -> Result<Self, DirectoryError> {
        make(path)?;
        let at = path.join(name);
        // Its text is replaced below: not that of a file that somebody else points us to.
        if at.is_symlink() {
            let problem = "a symbolic link is not used as a lock: remove it".into();
            return Err(DiskError { file: at.display().to_string(), problem }.into());
        }
        let mut lock = Lock::take(&at, Readers::Owner).map_err(|error| match error {
            LockError::InUse { process } => DirectoryError::InUse { path: at.display().to_string(), process },
            LockError::Disk(failure) => failed(&at)(failure.error).into(),
        })?;
        lock.sign().map_err(failed(&at))?;
        Ok(Self { path: path.to_path_buf(), lock: Arc::new(lock), open: BTreeMap::new() })
    }

    /// A folder in this one, under the same lock.
    pub fn inside(&self, name: &str) -> Result<Self, DirectoryError> {
        let path = self.place(name)?;
        make(&path)?;
        Ok(Self { path, lock: Arc::clone(&self.lock), open: BTreeMap::new() })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of a file. Names come from this program, but may have come a long way.
    fn place(&self, name: &str) -> Result<PathBuf, DiskError> {
        check_name(name)?;
        Ok(self.path.join(name))
    }

    /// Calls `change` on the open file and makes it durable. A file that was not written to before becomes durable with
    /// its folder: it may be new, or made by a process that ended before it had seen to that.
    fn change(
        &mut self,
        name: &str,
        change: impl FnOnce(&mut File) -> std::io::Result<()>,
    ) -> Result<(), DiskError> {
        let path = self.place(name)?;
        if !self.open.contains_key(name) {
            let file = writable(&path).map_err(failed(&path))?;
            sync(&self.path)?;
            self.open.insert(name.into(), file);
        }
        match self.open.get_mut(name) {
            Some(file) => change(file).and_then(|()| file.sync_data()).map_err(failed(&path)),
            None => Ok(()),
        }
    }
}

impl Disk for Directory {
    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, DiskError> {
        read_unlocked(&self.place(name)?)
    }

    fn append(&mut self, name: &str, bytes: &[u8]) -> Result<(), DiskError> {
        self.change(name, |file| {
            file.seek(SeekFrom::End(0))?;
            file.write_all(bytes)
        })
    }

    fn overwrite(&mut self, name: &str, parts: &[&[u8]]) -> Result<(), DiskError> {
        self.change(name, |file| {
            file.seek(SeekFrom::Start(0))?;
            let mut length = 0;
            for part in parts {
                file.write_all(part)?;
                length += part.len() as u64;
            }
            // Only then: a file that keeps its size is durable without a change of the folder's tables.
            if file.metadata()?.len() != length { file.set_len(length) } else { Ok(()) }
        })
    }

    fn truncate(&mut self, name: &str, length: u64) -> Result<(), DiskError> {
        self.change(name, |file| if file.metadata()?.len() > length { file.set_len(length) } else { Ok(()) })
    }

    fn shown(&self, name: &str) -> String {
        self.path.join(name).display().to_string()
    }
}

/// The whole file as it is at this moment, without the folder's lock, which may be another process's; `None` if there is
/// no such file.
pub fn read_unlocked(path: &Path) -> Result<Option<Vec<u8>>, DiskError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(path)(error)),
    }
}

/// Makes a folder, for its owner alone, with those above it, and their entries durable: also of one that is there, which
/// may be made by a process that ended before it had seen to that.
fn make(path: &Path) -> Result<(), DiskError> {
    let above = folder_of(path);
    if path.is_dir() {
        // Not everybody may open the folder above; whoever made this one could.
        let _ = sync(above);
        return Ok(());
    }
    make(above)?;
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(path).map_err(failed(path))?;
    sync(above)
}

/// Opens a file for reading and writing, made for its owner alone if it is not there: ledgers say how often records
/// were used.
fn writable(path: &Path) -> std::io::Result<File> {
    let mut options = File::options();
    options.create(true).truncate(false).read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Makes a folder's entries durable.
fn sync(path: &Path) -> Result<(), DiskError> {
    File::open(path).and_then(|folder| folder.sync_all()).map_err(failed(path))
}

/// A name in this folder and no path, no lock and nothing that a terminal would stumble over.
fn check_name(name: &str) -> Result<(), DiskError> {
    let odd = |c: char| c.is_control() || "/\\:".contains(c);
    if name.is_empty() || name.starts_with('.') || name.contains(odd) {
        let problem = "not a plain file name: it must not begin with '.' or have '/', '\\', ':' in it".into();
        return Err(DiskError { file: name.into(), problem });
    }
    Ok(())
}

fn failed(path: &Path) -> impl FnOnce(std::io::Error) -> DiskError + '_ {
    move |error| DiskError { file: path.display().to_string(), problem: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_are_found_again_and_only_plain_names_are_taken() {
        let folder = tempfile::tempdir().unwrap();
        let mut disk = Directory::open(&folder.path().join("a/b")).unwrap();
        assert_eq!(disk.read("x").unwrap(), None);
        disk.append("x", b"one").unwrap();
        disk.append("x", b" two").unwrap();
        assert_eq!(disk.read("x").unwrap().unwrap(), b"one two");
        disk.overwrite("x", &[b"th", b"", b"ree"]).unwrap();
        assert_eq!(disk.read("x").unwrap().unwrap(), b"three");
        disk.overwrite("x", &[b"longer than before"]).unwrap();
        disk.truncate("x", 6).unwrap();
        disk.truncate("x", 600).unwrap();
        disk.append("x", b"!").unwrap();
        assert_eq!(disk.read("x").unwrap().unwrap(), b"longer!");
        disk.append("my données.csv", b"as people call them").unwrap();
        disk.overwrite("x", &[b"new"]).unwrap();
        assert_eq!(read_unlocked(&disk.path().join("x")).unwrap().unwrap(), b"new");
        for name in ["", ".", "..", ".prdo-lock", "a/b", "../x", "a\\b", "a\nb", "c:d"] {
            assert!(disk.append(name, b"").is_err(), "{name}");
            assert!(disk.read(name).is_err(), "{name}");
        }
        let mut inner = disk.inside("c").unwrap();
        inner.append("x", b"inner").unwrap();
        assert_eq!(disk.read("x").unwrap().unwrap(), b"new");
    }

    #[cfg(unix)]
    #[test]
    fn files_are_for_their_owner_and_a_lock_is_no_link() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let mut disk = Directory::open(&folder.path().join("a/b")).unwrap();
        disk.append("x", b"one").unwrap();
        for (name, mode) in [("a", 0o700), ("a/b", 0o700), ("a/b/x", 0o600), ("a/b/.prdo-lock", 0o600)] {
            let found = fs::metadata(folder.path().join(name)).unwrap().permissions().mode() & 0o777;
            assert_eq!(found & !mode, 0, "{name}: {found:o}");
        }
        let (victim, home) = (folder.path().join("victim"), folder.path().join("c"));
        fs::write(&victim, "precious").unwrap();
        fs::create_dir(&home).unwrap();
        std::os::unix::fs::symlink(&victim, home.join(LOCK)).unwrap();
        assert!(Directory::open(&home).unwrap_err().to_string().contains("symbolic link"));
        assert_eq!(fs::read(&victim).unwrap(), b"precious");
    }

    /// A lock belongs to an open file, so that a second opening stands for a second process.
    #[test]
    fn a_second_one_is_refused_and_told_who_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let first = Directory::open(folder.path()).unwrap();
        let inner = first.inside("c").unwrap();
        let refusal = Directory::open(folder.path()).unwrap_err();
        let process = Some(std::process::id());
        let path = folder.path().join(LOCK).display().to_string();
        assert_eq!(refusal, DirectoryError::InUse { path: path.clone(), process });
        let text = refusal.to_string();
        assert!(text.contains(&path) && text.contains(&format!("number {}", std::process::id())), "{text}");
        drop(first);
        assert!(Directory::open(folder.path()).is_err(), "a folder inside still holds the lock");
        drop(inner);
        Directory::open(folder.path()).unwrap();
    }

    /// This test starts itself as another process, which finds the folder taken; and takes it when the first one ends.
    #[test]
    fn another_process_is_refused_until_this_one_lets_go() {
        const FOLDER: &str = "PRDO_TEST_LOCKED_FOLDER";
        if let Some(folder) = std::env::var_os(FOLDER) {
            match Directory::open(Path::new(&folder)) {
                Ok(_) => println!("taken"),
                Err(error) => println!("refused: {error}"),
            }
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let other = || {
            let output = std::process::Command::new(std::env::current_exe().unwrap())
                .args([
                    "--exact",
                    "dir::tests::another_process_is_refused_until_this_one_lets_go",
                    "--nocapture",
                ])
                .env(FOLDER, folder.path())
                .output()
                .unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        let held = Directory::open(folder.path()).unwrap();
        let text = other();
        let number = format!("in use by another process (number {})", std::process::id());
        assert!(text.contains("refused: ") && text.contains(&number), "{text}");
        drop(held);
        let text = other();
        assert!(text.contains("taken"), "{text}");
    }
}
