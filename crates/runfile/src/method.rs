//! `[method]`: how nodes step and mix.

use crate::document::{Document, GivenMethod};
use crate::schema::Key;
use prdo_algorithm::Method;
use prdo_privacy::ByRound;
use std::sync::Arc;

/// The section, but for the method's parameters: [`RunFile::settings_of`](crate::RunFile::settings_of) has them.
#[derive(Clone, Debug)]
pub struct MethodSection {
    pub name: Option<Method>,
    /// The program's method, if the name says so.
    pub own: Option<Arc<GivenMethod>>,
    /// α.
    pub step_size: Option<ByRound>,
}

impl MethodSection {
    pub(crate) fn of(document: &Document) -> Self {
        let own = document.given_method();
        let named = || document.text(Key::MethodName)?.parse().ok();
        Self {
            name: own.as_ref().map(|own| own.method).or_else(named),
            own,
            step_size: document.by_round(Key::MethodStepSize),
        }
    }
}
