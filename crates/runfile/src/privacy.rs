//! `[privacy]`: what is promised, and what was released before.

use crate::document::Document;
use crate::names;
use crate::schema::{Key, Section};
use prdo_accounting::{Event, History, Method as Accounting};
use prdo_privacy::{PairSettings, SecretsOf};
use std::path::PathBuf;

#[derive(Clone, Debug)]
pub struct PrivacySection {
    pub epsilon: Option<f64>,
    pub delta: f64,
    /// z, instead of ε.
    pub noise_multiplier: Option<f64>,
    pub accountant: Accounting,
    /// Noise that cancels between nodes; `None`: independent noise.
    pub pairs: Option<PairSettings>,
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
            pairs: pairs(document),
            accountant: accountant.and_then(|name| Accounting::named(&name)).unwrap_or_default(),
            statement: document.file(Key::PrivacyStatement),
            earlier: document.texts(Key::PrivacyEarlier).unwrap_or_default(),
        })
    }
}

fn pairs(document: &Document) -> Option<PairSettings> {
    (document.text(Key::PrivacyNoise)? == names::PAIRS).then(|| {
        let secrets = document.text(Key::PrivacySecrets).unwrap_or_default();
        let secrets = names::SECRETS.iter().find(|(name, _)| *name == secrets);
        PairSettings {
            colluders: document.count(Key::PrivacyColluders).unwrap_or(1),
            ratio: document.float(Key::PrivacyRatio),
            secrets: secrets.map_or(SecretsOf::default(), |(_, secrets)| *secrets),
        }
    })
}

/// A history as `privacy.earlier` lists it, exact to the bit.
pub fn earlier_texts(history: &History) -> Vec<String> {
    let text =
        |(event, count): &(Event, u64)| format!("{:?} {:?} {count}", event.rate(), event.noise_multiplier());
    history.entries().iter().map(text).collect()
}
