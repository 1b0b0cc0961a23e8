//! Files of results are read back with suspicion: every entry has its type and range.

use crate::commands::Failure;
use serde_json::{Map, Value as Json};
use std::path::Path;

/// The entries of an object, asked for by name.
pub struct Fields<'a>(&'a Map<String, Json>);

impl<'a> Fields<'a> {
    /// Those of an object that has no others than `known`.
    pub fn of(json: &'a Json, known: &[&str]) -> Result<Self, String> {
        let fields = json.as_object().ok_or("it is not an object")?;
        match fields.keys().find(|key| !known.contains(&key.as_str())) {
            Some(unknown) => Err(format!("there is no entry {unknown:?}")),
            None => Ok(Self(fields)),
        }
    }

    /// What stands there.
    pub fn get(&self, key: &str) -> Result<&'a Json, String> {
        self.0.get(key).ok_or_else(|| format!("{key} is missing"))
    }

    fn wrong<T>(&self, key: &str, allowed: &str) -> Result<T, String> {
        Err(format!("{key} = {}: it must be {allowed}", self.get(key)?))
    }

    /// A text.
    pub fn text(&self, key: &str) -> Result<&'a str, String> {
        self.get(key)?.as_str().map_or_else(|| self.wrong(key, "text"), Ok)
    }

    /// True or false.
    pub fn flag(&self, key: &str) -> Result<bool, String> {
        self.get(key)?.as_bool().map_or_else(|| self.wrong(key, "true or false"), Ok)
    }

    /// A whole number in a range.
    pub fn whole(&self, key: &str, least: u64, most: u64) -> Result<u64, String> {
        let number = self.get(key)?.as_u64().filter(|n| (least..=most).contains(n));
        number.map_or_else(|| self.wrong(key, &format!("a whole number from {least} to {most}")), Ok)
    }

    /// A number for which something holds.
    pub fn number(&self, key: &str, holds: fn(f64) -> bool, allowed: &str) -> Result<f64, String> {
        let number = self.get(key)?.as_f64().filter(|x| x.is_finite() && holds(*x));
        number.map_or_else(|| self.wrong(key, &format!("a number {allowed}")), Ok)
    }

    /// A number above 0.
    pub fn positive(&self, key: &str) -> Result<f64, String> {
        self.number(key, |x| x > 0.0, "above 0")
    }
}

/// Reads a file of results; the empty one where there is none yet. A file that is not whole, or not one of these, is
/// refused: what is not understood must not be written over.
pub fn read<T: Default>(path: &Path, from: impl FnOnce(&Json) -> Result<T, String>) -> Result<T, Failure> {
    let refuse = |why: String| {
        Failure::Input(format!(
            "{} cannot be gone on with: {why}\n  = help: it is kept as it is; move it away, or choose another --out",
            path.display()
        ))
    };
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(T::default()),
        Err(error) => return Err(Failure::Input(format!("cannot read {}: {error}", path.display()))),
    };
    let json = serde_json::from_slice(&bytes).map_err(|e| refuse(format!("it is damaged: {e}")))?;
    from(&json).map_err(refuse)
}
