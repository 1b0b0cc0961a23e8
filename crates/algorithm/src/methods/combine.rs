//! Whether a method mixes before or after it steps: a choice that `mt` and `dsgd` share.

use super::{Choice, Settings};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Combine {
    /// Adapt, then combine: X ← W(X − αV).
    #[default]
    After,
    /// Combine first: X ← WX − αV.
    First,
}

pub const COMBINE: Choice<Combine> = Choice {
    name: "combine",
    doc: "mix after the step, or before it",
    names: &["after", "first"],
    values: &[Combine::After, Combine::First],
    option: false,
};

impl Settings {
    #[must_use]
    pub fn combine(self, combine: Combine) -> Self {
        self.with(COMBINE.is(combine))
    }
}
