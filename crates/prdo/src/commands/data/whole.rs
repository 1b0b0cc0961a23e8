//! Folders that appear whole or not at all.

use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Makes a finished folder durable and gives it its final name. Its files must be durable already.
pub fn publish(finished: &Path, target: &Path) -> io::Result<()> {
    set_ordinary_permissions(finished)?;
    sync(finished);
    fs::rename(finished, target)?;
    sync(target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new(".")));
    Ok(())
}

/// Names become durable with their folder; where folders cannot be opened there is no more to do.
fn sync(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
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
