//! Folders that appear whole or not at all.

use std::fs;
use std::io;
use std::path::Path;

/// Makes a finished folder durable and gives it its final name. Its files must be durable already.
pub fn publish(finished: &Path, target: &Path) -> io::Result<()> {
    set_ordinary_permissions(finished)?;
    prdo::disk::sync_folder(finished);
    fs::rename(finished, target)?;
    prdo::disk::sync_folder(prdo::disk::folder_of(target));
    Ok(())
}

/// Temporary folders may be private to their owner; results should be as readable as any folder the user makes.
fn set_ordinary_permissions(folder: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755))?;
    }
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}
