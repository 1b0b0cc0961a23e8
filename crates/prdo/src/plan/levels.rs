//! Constants of a problem, each with where it is from.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Whoever asks said so.
    Given,
    /// It follows from the model's formula and the records' sizes.
    Proven,
    /// It was seen on some records at some points: the true one may be larger.
    Estimated,
}

impl Source {
    pub fn name(self) -> &'static str {
        match self {
            Source::Given => "given",
            Source::Proven => "proven",
            Source::Estimated => "estimated",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    pub value: f64,
    pub source: Source,
    /// How it was found, in words; empty if it was given.
    pub how: String,
}

impl Level {
    pub fn given(value: f64) -> Self {
        Self { value, source: Source::Given, how: String::new() }
    }

    pub fn proven(value: f64, how: impl Into<String>) -> Self {
        Self { value, source: Source::Proven, how: how.into() }
    }

    pub fn estimated(value: f64, how: impl Into<String>) -> Self {
        Self { value, source: Source::Estimated, how: how.into() }
    }
}
