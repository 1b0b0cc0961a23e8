//! `[privacy]`: what is promised, and what was released before.

use crate::document::Document;
use crate::schema::{Key, Section};
use prdo_accounting::{Event, History, Method as Accounting};
use std::path::PathBuf;

#[derive(Clone, Debug)]
pub struct PrivacySection {
    pub epsilon: Option<f64>,
    pub delta: f64,
    /// z, instead of ε.
    pub noise_multiplier: Option<f64>,
    pub accountant: Accounting,
    /// The file that lists what runs release about these records.
    pub statement: Option<PathBuf>,
    pub(crate) earlier: Vec<String>,
}

impl PrivacySection {
    pub(crate) fn of(document: &Document) -> Option<Self> {
        let accountant = document.text(Key::PrivacyAccountant);
        document.has_section(Section::Privacy).then(|| Self {
            epsilon: document.float(Key::PrivacyEpsilon),
            delta: document.float(Key::PrivacyDelta).unwrap_or_default(),
            noise_multiplier: document.float(Key::PrivacyNoiseMultiplier),
            accountant: accountant.and_then(|name| Accounting::named(&name)).unwrap_or_default(),
            statement: document.file(Key::PrivacyStatement),
            earlier: document.texts(Key::PrivacyEarlier).unwrap_or_default(),
        })
    }
}

/// A history as `privacy.earlier` lists it, exact to the bit.
pub fn earlier_texts(history: &History) -> Vec<String> {
    let text =
        |(event, count): &(Event, u64)| format!("{:?} {:?} {count}", event.rate(), event.noise_multiplier());
    history.entries().iter().map(text).collect()
}
