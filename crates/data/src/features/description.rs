//! What a map is, and what its constants come from.

use std::fmt;

/// What a map is made for, and so where its constants come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapKind {
    /// Images: all constants are computed from public ones.
    Images,
    /// A table: its ranges are those that somebody wrote down for each column.
    Table,
}

/// A map in one line, which is also what its hash is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    pub kind: MapKind,
    pub(super) text: String,
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
