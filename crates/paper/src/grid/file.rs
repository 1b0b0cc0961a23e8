//! `results.json`: what is remembered of the cells. Tables, figures and the report are made from this file alone, so that
//! it can be carried elsewhere and resumed from. It is read back with suspicion: every entry has its type and range.

use super::{Key, State};
use crate::error::Error;
use prdo::store::names;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value as Json;
use std::fmt::Debug;
use std::path::Path;

pub trait Entry: DeserializeOwned {
    const NAME: &'static str;
}

/// What is remembered of a cell; their folders are in the folder of its name, in the plural.
pub trait Cell: Entry {
    type Key: Key;

    fn key(&self) -> Self::Key;

    fn state(&self) -> State;
}

/// Everything that is remembered, as it stands in the file.
pub trait Results: Clone + Default + PartialEq + Serialize + DeserializeOwned {
    type Cell: Cell;
    const CELL: &'static str = <Self::Cell as Entry>::NAME;
    const OF: &'static str;
    /// The file's first entry.
    const FORMAT: &'static str;

    /// In the order in which they were begun.
    fn cells(&self) -> &[Self::Cell];

    fn cells_mut(&mut self) -> &mut Vec<Self::Cell>;

    /// How far a cell is, as far as is remembered.
    fn state(&self, key: &<Self::Cell as Cell>::Key) -> State {
        self.cells().iter().find(|cell| cell.key() == *key).map_or(State::ToDo, Cell::state)
    }

    /// Puts a cell in its place. What is done gives way only to what is done.
    fn put(&mut self, cell: Self::Cell) {
        match self.cells_mut().iter_mut().find(|old| old.key() == cell.key()) {
            Some(old) if old.state() == State::Done && cell.state() != State::Done => {}
            Some(old) => *old = cell,
            None => self.cells_mut().push(cell),
        }
    }

    /// Reads the file of a folder; the empty one where there is none yet. A file that is not whole, or not one of these,
    /// is refused: what is not understood must not be written over.
    fn read(folder: &Path) -> Result<Self, Error> {
        let file = folder.join(names::RESULTS);
        match std::fs::read(&file) {
            Ok(bytes) => Self::parse(&bytes).map_err(|why| Error::NotUnderstood { file, why }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(Error::Unreadable { file, error }),
        }
    }

    fn parse(bytes: &[u8]) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Head {
            #[serde(default)]
            format: Json,
        }
        let damaged = |why: serde_json::Error| format!("it is damaged: {why}");
        let json: Json = serde_json::from_slice(bytes).map_err(damaged)?;
        let head = Head::deserialize(&json).map_err(damaged)?;
        if head.format != Self::FORMAT {
            return Err(format!("it is not a file of {} (\"format\" is not {:?})", Self::OF, Self::FORMAT));
        }
        let results: Self = serde_json::from_value(json).map_err(damaged)?;
        for (k, cell) in results.cells().iter().enumerate() {
            if results.cells()[..k].iter().any(|before| before.key() == cell.key()) {
                return Err(format!("it is damaged: {} {} is there twice", Self::CELL, k + 1));
            }
        }
        Ok(results)
    }

    /// The file's text: JSON with a line for each entry of a list, so that a new one is one new line.
    fn to_text(&self) -> Result<String, Error> {
        let json = serde_json::to_value(self)?;
        let entry = |(name, value): (&String, &Json)| match value.as_array() {
            Some(list) => {
                let lines: Vec<String> = list.iter().map(|one| format!("\n    {one}")).collect();
                format!("  \"{name}\": [{}\n  ]", lines.join(","))
            }
            None => format!("  \"{name}\": {value}"),
        };
        let entries: Vec<String> = json.as_object().into_iter().flatten().map(entry).collect();
        Ok(format!("{{\n{}\n}}\n", entries.join(",\n")))
    }
}

/// Reads a list; the entry that is not what it should be is said by its number.
pub fn numbered<'de, T: Entry, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    let entry = |(k, json): (usize, Json)| {
        serde_json::from_value(json).map_err(|e| D::Error::custom(format!("{} {}: {e}", T::NAME, k + 1)))
    };
    Vec::deserialize(deserializer)?.into_iter().enumerate().map(entry).collect()
}

pub fn in_range<T: Debug>(name: &str, value: &T, holds: bool, allowed: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(format!("{name} = {value:?}: it must be {allowed}")) }
}

/// Values that stand in files by their names.
pub mod as_text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use std::fmt::Display;
    use std::str::FromStr;

    pub fn serialize<T: Display, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(value)
    }

    pub fn deserialize<'de, T: FromStr<Err: Display>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<T, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}
