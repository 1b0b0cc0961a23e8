//! What was typed, and how it is typed again.

use std::path::Path;

/// Each value once, in order of appearance.
pub fn distinct<T: PartialEq>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    for value in values {
        if !found.contains(&value) {
            found.push(value);
        }
    }
    found
}

/// What was typed, each once, or what is meant when nothing was.
pub fn typed_or<T: Copy + PartialEq>(typed: &[T], otherwise: &[T]) -> Vec<T> {
    distinct(if typed.is_empty() { otherwise } else { typed }.iter().copied())
}

/// A path as a shell takes it.
pub fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = text.chars().all(|c| c.is_alphanumeric() || "-_./".contains(c));
    if plain { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

pub fn list<T: ToString>(values: &[T]) -> String {
    values.iter().map(T::to_string).collect::<Vec<_>>().join(",")
}

/// A command as it is typed again.
pub struct Command(String);

impl Command {
    pub fn new(words: &str) -> Self {
        Self(words.to_string())
    }

    pub fn switch(mut self, needed: bool, name: &str) -> Self {
        if needed {
            self.0 += &format!(" --{name}");
        }
        self
    }

    pub fn option(mut self, needed: bool, name: &str, value: &str) -> Self {
        if needed {
            self.0 += &format!(" --{name} {value}");
        }
        self
    }

    pub fn text(self) -> String {
        self.0
    }
}
