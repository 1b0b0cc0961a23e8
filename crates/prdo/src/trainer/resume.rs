//! Where a run in its folder was left.

use super::files::failed;
use super::subject::Subject;
use super::{ResultsError, TrainError};
use prdo_runfile::resolved::differences;
use prdo_simulator::{Moments, Row};
use prdo_store::{Folder, Summary, artefact, names, parse_moments, parse_rows, time_before};
use std::time::Duration;

/// The summary of the run in a folder, if it is finished (its report is made, should the process have been stopped
/// just before it was). A finished run with another run file than this one is refused.
pub fn finished(folder: &Folder, run_file: &str) -> Result<Option<Summary>, TrainError> {
    if !folder.is_finished() {
        return Ok(None);
    }
    let path = folder.path();
    let there = std::fs::read_to_string(folder.file(names::RUN_FILE)).unwrap_or_default();
    let differences = differences(run_file, &there);
    if !differences.is_empty() {
        return Err(TrainError::OtherRun { folder: path.to_path_buf(), differences });
    }
    if !folder.file(names::REPORT).is_file() {
        let report = crate::report::from_folder(path).map_err(ResultsError::Report)?;
        folder.write(names::REPORT, report.html.as_bytes())?;
    }
    let bytes = std::fs::read(folder.file(names::SUMMARY)).map_err(failed(names::SUMMARY))?;
    artefact::parse(&bytes).map(Some).map_err(TrainError::Summary)
}

/// What was measured before a checkpoint, and how long that took.
pub struct Progress {
    pub rows: Vec<Row>,
    pub moments: Vec<Moments>,
    pub before: Duration,
}

/// Goes to where the folder's checkpoint is, if it has one.
pub fn restore(folder: &Folder, subject: &mut Subject<'_>) -> Result<Option<Progress>, TrainError> {
    let Some(bytes) = folder.checkpoint()? else { return Ok(None) };
    let fingerprint = subject.fingerprint();
    subject.training().restore(&fingerprint, &bytes).map_err(|error| {
        let there = std::fs::read_to_string(folder.file(names::RUN_FILE)).ok();
        TrainError::Checkpoint {
            folder: folder.path().to_path_buf(),
            error,
            differences: there.map(|there| differences(&subject.run_file(), &there)),
        }
    })?;
    let round = subject.prepared().training.round();
    let text = |name| std::fs::read_to_string(folder.file(name)).unwrap_or_default();
    let mut rows = parse_rows(&text(names::METRICS));
    rows.retain(|row| row.round <= round);
    let due = round - round % subject.prepared().schedule.every;
    if rows.last().is_none_or(|row| row.round < due) {
        return Err(TrainError::RowsMissing { file: folder.file(names::METRICS), round });
    }
    let mut moments = parse_moments(&text(names::MOMENTS));
    moments.retain(|m| m.round < round);
    Ok(Some(Progress { rows, moments, before: time_before(folder.path()) }))
}
