//! Whether records are those that a run was trained on: figures about them flatter.

use prdo_runfile::{DataSource, RunFile};
use prdo_store::Summary;
use std::path::{Path, PathBuf};

pub(super) struct Training {
    path: PathBuf,
    /// The accuracy on held-out records, and how many those were.
    held_out: Option<(f64, u64)>,
}

impl Training {
    /// Of a run with these settings and this summary; nothing where its records came from no file.
    pub(super) fn of(run: &RunFile, summary: &Summary) -> Option<Self> {
        let from_file = run.data.source == Some(DataSource::File);
        let held_out = summary.test_accuracy.zip(summary.test_records);
        run.data.path().filter(|_| from_file).map(|path| Self { path: path.to_path_buf(), held_out })
    }

    /// What to say of figures about this file's records, if it is the one.
    pub(super) fn flattering(&self, path: &Path) -> Option<String> {
        if !same_file(&self.path, path) {
            return None;
        }
        let instead = match self.held_out {
            Some((accuracy, records)) => format!(
                "what new records may expect is the run's test accuracy, {:.2} % of {records} records that were set \
                 apart",
                100.0 * accuracy
            ),
            None => "set records apart (data.test) to learn what new ones may expect".to_string(),
        };
        Some(format!(
            "these are the records that the run was trained on, so figures about them flatter: {instead}"
        ))
    }
}

/// Whether two files are the same one, or hold the same bytes.
fn same_file(one: &Path, other: &Path) -> bool {
    let size = |path: &Path| path.metadata().ok().filter(std::fs::Metadata::is_file).map(|m| m.len());
    let hash = |path: &Path| -> std::io::Result<blake3::Hash> {
        let mut hasher = blake3::Hasher::new();
        Ok(hasher.update_reader(std::fs::File::open(path)?)?.finalize())
    };
    if size(one).is_none() || size(one) != size(other) {
        return false;
    }
    let place = |path: &Path| path.canonicalize().ok();
    place(one) == place(other) || hash(one).ok().zip(hash(other).ok()).is_some_and(|(a, b)| a == b)
}
