//! The one atomic write: a temporary file beside the target, made durable, then renamed into its place.

use crate::{DiskError, Readers};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Writes a file whole or not at all: a crash leaves the old one or the new one, never half of either. Its folder is made
/// if it is not there.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), DiskError> {
    write_with(path, Readers::Everyone, |file| file.write_all(bytes))
}

/// The same for what only its owner may read.
pub fn write_privately(path: &Path, bytes: &[u8]) -> Result<(), DiskError> {
    write_with(path, Readers::Owner, |file| file.write_all(bytes))
}

/// The same for what is too large to be held in memory as bytes: `fill` writes it.
pub fn write_with(
    path: &Path,
    readers: Readers,
    fill: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), DiskError> {
    let folder = folder_of(path);
    fs::create_dir_all(folder).map_err(DiskError::of("cannot make the folder", folder))?;
    let mut temporary = Temporary::in_folder(folder).map_err(DiskError::of("cannot write in", folder))?;
    let written = fill(&mut temporary.file).and_then(|()| temporary.file.sync_all());
    written.map_err(DiskError::of("cannot write", path))?;
    match readers {
        Readers::Everyone => set_ordinary_permissions(&temporary.file),
        // As temporary files are.
        Readers::Owner => {}
    }
    fs::rename(&temporary.path, path).map_err(DiskError::of("cannot write", path))?;
    temporary.renamed = true;
    sync_folder(folder);
    Ok(())
}

/// A new file of this process that only its owner may read; it is removed unless it was renamed.
struct Temporary {
    path: PathBuf,
    file: File,
    renamed: bool,
}

impl Temporary {
    fn in_folder(folder: &Path) -> io::Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let mut options = File::options();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let path = folder.join(format!(".prdo-{}-{number}.tmp", std::process::id()));
            match options.open(&path) {
                Ok(file) => return Ok(Self { path, file, renamed: false }),
                // Left by a crash of another process that had the same number.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.renamed {
            let _ = fs::remove_file(&self.path);
        }
    }
}

pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Names become durable with their folder; where folders cannot be opened there is no more to do.
pub fn sync_folder(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_or_stays_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/down/file");
        write_atomically(&path, b"one").unwrap();
        write_atomically(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        let failed = write_with(&path, Readers::Everyone, |file| {
            file.write_all(b"three")?;
            Err(io::Error::other("full"))
        });
        assert_eq!(failed.unwrap_err().to_string(), format!("cannot write {}: full", path.display()));
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(folder_of(&path)).unwrap().count(), 1, "nothing is left behind");
    }

    #[cfg(unix)]
    #[test]
    fn only_its_owner_reads_what_is_the_owners() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let path = folder.path().join("file");
        write_privately(&path, b"").unwrap();
        assert_eq!(mode(&path), 0o600);
        write_atomically(&path, b"").unwrap();
        assert_eq!(mode(&path), 0o644);
    }
}
