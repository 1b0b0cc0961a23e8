//! `[method]`: how nodes step and mix.

use crate::document::Document;
use crate::schema::Key;
use prdo_algorithm::Method;
use prdo_privacy::ByRound;

/// The section, but for the method's parameters: [`RunFile::settings_of`](crate::RunFile::settings_of) has them.
#[derive(Clone, Debug)]
pub struct MethodSection {
    pub name: Option<Method>,
    /// α.
    pub step_size: Option<ByRound>,
}

impl MethodSection {
    pub(crate) fn of(document: &Document) -> Self {
        Self {
            name: document.text(Key::MethodName).and_then(|name| name.parse().ok()),
            step_size: document.by_round(Key::MethodStepSize),
        }
    }
}
