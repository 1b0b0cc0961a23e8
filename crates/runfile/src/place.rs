//! Where in a run file something stands, and errors that show it.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A stretch of a run file (or of a `--set` argument).
#[derive(Clone, Debug)]
pub struct Place {
    /// The file's name, or `--set`.
    pub file: Arc<str>,
    pub source: Arc<str>,
    pub span: Range<usize>,
}

/// What an error is about, for programs that show it elsewhere than at its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The run file's key.
    pub field: String,
    /// What was given, as TOML, where a value is out of range.
    pub value: Option<String>,
    /// What is allowed, in words, where a value is out of range.
    pub allowed: Option<String>,
}

/// Something wrong with a run file: exit code 2, nothing was trained.
#[derive(Clone, Debug)]
pub struct ConfigError {
    /// What is wrong, with the key, the value and what is allowed.
    pub message: String,
    /// Where; `None` when it is nowhere in particular (a missing key).
    pub place: Option<Place>,
    pub help: Option<String>,
    /// The key it is about, where it is about one.
    pub subject: Option<Box<Subject>>,
}

impl ConfigError {
    pub fn at(place: &Place, message: impl Into<String>) -> Self {
        Self { message: message.into(), place: Some(place.clone()), help: None, subject: None }
    }

    pub fn anywhere(message: impl Into<String>) -> Self {
        Self { message: message.into(), place: None, help: None, subject: None }
    }

    #[must_use]
    pub fn about(mut self, field: impl Into<String>) -> Self {
        self.subject = Some(Box::new(Subject { field: field.into(), value: None, allowed: None }));
        self
    }

    /// The same error, about this value of a key.
    #[must_use]
    pub fn about_value(mut self, field: &str, value: &str, allowed: &str) -> Self {
        let (value, allowed) = (Some(value.to_string()), Some(allowed.to_string()));
        self.subject = Some(Box::new(Subject { field: field.to_string(), value, allowed }));
        self
    }

    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl std::error::Error for ConfigError {}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if let Some(place) = &self.place {
            write!(f, "\n{place}")?;
        }
        if let Some(help) = &self.help {
            write!(f, "\n  = help: {help}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Place {
    /// File, line and column, the line itself, and a caret under the stretch.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let start = floor_boundary(&self.source, self.span.start);
        let before = &self.source[..start];
        let line_number = before.matches('\n').count() + 1;
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = self.source[line_start..].lines().next().unwrap_or("");
        let column = self.source[line_start..start].chars().count();
        let end = floor_boundary(
            &self.source,
            self.span.end.clamp(start, line_start + line.len().max(start - line_start)),
        );
        let width = self.source[start..end].chars().count().max(1);
        let gutter = line_number.to_string().len();
        writeln!(f, "{:gutter$}--> {}:{line_number}:{}", "", self.file, column + 1)?;
        writeln!(f, "{:gutter$} |", "")?;
        writeln!(f, "{line_number} | {}", line.replace('\t', " "))?;
        write!(f, "{:gutter$} | {:column$}{}", "", "", "^".repeat(width))
    }
}

/// The last character boundary at or before `at`.
fn floor_boundary(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0)
}
