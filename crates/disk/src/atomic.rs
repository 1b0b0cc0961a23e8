//! The one atomic write: a temporary file beside the target, made durable, then renamed into its place.

use crate::{DiskError, Readers};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

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
    let mut temporary = tempfile::Builder::new()
        .prefix(".prdo-")
        .suffix(".tmp")
        .tempfile_in(folder)
        .map_err(DiskError::of("cannot write in", folder))?;
    let written = fill(temporary.as_file_mut()).and_then(|()| temporary.as_file().sync_all());
    written.map_err(DiskError::of("cannot write", path))?;
    match readers {
        Readers::Everyone => set_ordinary_permissions(temporary.as_file()),
        // As temporary files are.
        Readers::Owner => {}
    }
    temporary.persist(path).map_err(|e| DiskError::of("cannot write", path)(e.error))?;
    sync_folder(folder);
    Ok(())
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
