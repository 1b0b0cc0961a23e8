//! What a node did: a bounded log of JSON lines; and moments as files have them.

use crate::names;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// A log of this many bytes becomes the older one.
const LONGEST: u64 = 4 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// What went on.
    Info,
    /// Something to look at.
    Warning,
    /// The node stopped.
    Error,
}

impl Level {
    pub fn name(self) -> &'static str {
        match self {
            Level::Info => "info",
            Level::Warning => "warning",
            Level::Error => "error",
        }
    }
}

/// A line of a node's log: when, how much it matters, what happened, and what belongs to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    pub time: String,
    pub level: Level,
    pub event: String,
    /// What belongs to it, by event.
    #[serde(flatten)]
    pub fields: Map<String, Value>,
}

impl Entry {
    /// What belongs to it, for people: `key=value` each.
    pub fn details(&self) -> String {
        let known = self.fields.iter().filter(|(_, value)| !value.is_null());
        known.map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" ")
    }
}

/// The log of a node: one JSON object a line with time, level, event and what belongs to it.
pub struct Log {
    path: PathBuf,
    file: File,
    length: u64,
}

impl Log {
    /// Goes on with the log in a folder.
    pub fn open(folder: &Path) -> std::io::Result<Self> {
        let path = folder.join(names::LOG);
        let file = File::options().create(true).append(true).open(&path)?;
        let length = file.metadata()?.len();
        Ok(Self { path, file, length })
    }

    /// Adds a line. A log that cannot be written is no reason to stop a run: what matters is in the ledger.
    pub fn add(&mut self, level: Level, event: &str, fields: Value) {
        let fields = if let Value::Object(fields) = fields { fields } else { Map::new() };
        let entry = Entry { time: utc(SystemTime::now()), level, event: event.to_string(), fields };
        let text = format!("{}\n", crate::artefact::line(&entry));
        if self.length > 0 && self.length + text.len() as u64 > LONGEST {
            self.turn_over();
        }
        if self.file.write_all(text.as_bytes()).is_ok() {
            self.length += text.len() as u64;
        }
    }

    /// Puts the full log aside and begins a new one.
    fn turn_over(&mut self) {
        let _ = std::fs::rename(&self.path, self.path.with_file_name(names::OLDER_LOG));
        if let Ok(file) = File::options().create(true).append(true).open(&self.path) {
            (self.file, self.length) = (file, 0);
        }
    }
}

pub fn last_entries(folder: &Path, count: usize) -> Vec<Entry> {
    /// Lines are short: as many bytes hold them.
    const TAIL: u64 = 16 << 10;
    let mut text = Vec::new();
    let read = File::open(folder.join(names::LOG)).and_then(|mut file| {
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
        file.take(TAIL).read_to_end(&mut text)
    });
    if read.is_err() {
        return Vec::new();
    }
    let lines: Vec<Entry> =
        String::from_utf8_lossy(&text).lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let skip = lines.len().saturating_sub(count);
    lines.into_iter().skip(skip).collect()
}

/// A moment in RFC 3339, in UTC, to the millisecond.
pub fn utc(moment: SystemTime) -> String {
    let since = moment.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (days, rest) = ((since.as_secs() / 86_400) as i64, since.as_secs() % 86_400);
    // Days from 1 March of year 0 make leap days come last: no table of months is needed.
    let z = days + 719_468;
    let (era, day_of_era) = (z.div_euclid(146_097), z.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", since.subsec_millis())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::time::Duration;

    #[test]
    fn moments_are_written_as_calendars_do() {
        let at = |seconds: u64| utc(UNIX_EPOCH + Duration::from_millis(seconds * 1000 + 7));
        assert_eq!(at(0), "1970-01-01T00:00:00.007Z");
        assert_eq!(at(951_782_399), "2000-02-28T23:59:59.007Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00.007Z");
        assert_eq!(at(1_709_251_200), "2024-03-01T00:00:00.007Z");
        assert_eq!(at(4_102_444_799), "2099-12-31T23:59:59.007Z");
    }

    #[test]
    fn the_log_is_bounded_and_its_end_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = Log::open(folder.path()).unwrap();
        let long = "x".repeat(1 << 20);
        for k in 0..12 {
            log.add(Level::Info, "round", json!({ "rounds": k, "padding": long }));
        }
        log.add(Level::Warning, "lost", json!({ "peer": "b\n\"c" }));
        drop(log);
        Log::open(folder.path()).unwrap().add(Level::Error, "ended", json!({}));
        let size = |name: &str| std::fs::metadata(folder.path().join(name)).unwrap().len();
        assert!(size(names::LOG) <= LONGEST && size(names::OLDER_LOG) <= LONGEST);
        let last = last_entries(folder.path(), 2);
        assert_eq!(last.len(), 2);
        assert_eq!((&last[0].fields["peer"], last[0].level), (&json!("b\n\"c"), Level::Warning));
        assert_eq!(last[1].event, "ended");
        assert!(last_entries(Path::new("/nowhere"), 3).is_empty());
    }
}
