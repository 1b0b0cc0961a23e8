//! From a planned run to terms that can be signed, and from a signed agreement to what its settings mean.

use prdo::algorithm::graph::Mixing;
use prdo::build::{Planned, Public, Wiring, resolved, terms};
use prdo_peer::agreement::{Agreement, Facts, Member, Terms};
use prdo_peer::wire::Hash;
use prdo_runfile::resolved::is_agreed;
use prdo_runfile::{ConfigError, Document, Key, RunFile};
use prdo_store::RecordFacts;

/// The shape of records that all have signed, as a run knows it.
pub fn record_facts(signed: &Facts) -> RecordFacts {
    let Facts { features, classes, class_names, feature_names, image } = signed.clone();
    RecordFacts { features, classes, class_names, feature_names, image }
}

/// What members would agree on, besides the settings.
pub struct Proposal {
    pub run: Hash,
    /// The hash of the agreement that this one continues.
    pub continues: Option<Hash>,
    /// An own relay for members that cannot reach each other directly.
    pub relay: Option<String>,
    pub facts: RecordFacts,
    pub members: Vec<Member>,
}

impl Proposal {
    /// The terms to be signed: this, with the settings of a run that was planned for these members.
    pub fn terms(self, document: &Document, planned: &Planned) -> Result<Terms, ConfigError> {
        let RecordFacts { features, classes, class_names, feature_names, image } = self.facts;
        let recipe = &planned.recipe;
        let members = self.members.len();
        let row = |mixing: &Mixing, i: usize| {
            let entries = mixing.row_entries(i).filter(|(j, w)| *j == i || *w != 0.0);
            entries.map(|(j, w)| (j as u32, w)).collect()
        };
        let mut turns =
            planned.wiring.mixing.turns().iter().map(|w| (0..members).map(|i| row(w, i)).collect());
        Ok(Terms {
            run: self.run,
            name: document.name(),
            continues: self.continues,
            rounds: recipe.rounds,
            exchanges: recipe.method.exchanges(&recipe.settings),
            dimension: planned.model.dimension as u64,
            relay: self.relay,
            share_keys: planned.pairs.is_some(),
            facts: Facts { features, classes, class_names, feature_names, image },
            weights: turns.next().unwrap_or_default(),
            later_weights: turns.collect(),
            members: self.members,
            settings: resolved::to_agreed_toml(document, planned)?,
        })
    }
}

/// What the settings of an agreement mean, and the document they are read from. They are held against the terms: an
/// agreement that contradicts itself is refused.
pub fn agreed(agreement: &Agreement) -> Result<(Document, Planned), ConfigError> {
    let terms_of = agreement.terms();
    let document = Document::parse("the agreement's settings", &terms_of.settings)?;
    if let Some(key) = Key::all().iter().find(|key| document.has(**key) && !is_agreed(**key)) {
        let message = format!("{key} is not allowed in an agreement: it is for each member to choose");
        return Err(document.error(*key, message));
    }
    let mixing = terms_of.mixing().map_err(|e| ConfigError::anywhere(e.to_string()))?;
    let wiring =
        Wiring { kind: None, graph: mixing.support(), mixing, weights: "as agreed".into(), rule: None };
    let records: Vec<usize> = terms_of.members.iter().map(|m| m.records as usize).collect();
    let facts = record_facts(&terms_of.facts);
    // Whether images are scaled is agreed on: then their constants are in the settings.
    let public = Public { facts: &facts, bytes: false, records: &records };
    let planned = terms(&document, wiring, &public)?;
    check_against(agreement, &document.run_file(), &planned)?;
    Ok((document, planned))
}

/// Refuses settings that say something else than the terms around them.
fn check_against(agreement: &Agreement, run: &RunFile, planned: &Planned) -> Result<(), ConfigError> {
    let (terms, recipe) = (agreement.terms(), &planned.recipe);
    let (said, meant) = (terms.exchanges, recipe.method.exchanges(&recipe.settings));
    for (field, said, meant) in [
        ("rounds", terms.rounds.to_string(), recipe.rounds.to_string()),
        ("exchanges_per_round", said.per_round.to_string(), meant.per_round.to_string()),
        ("exchanges_every", said.every.to_string(), meant.every.to_string()),
        ("vectors", said.shape.vectors.to_string(), meant.shape.vectors.to_string()),
        ("numbers", said.shape.numbers.to_string(), meant.shape.numbers.to_string()),
        ("final_mixings", said.final_mixings.to_string(), meant.final_mixings.to_string()),
        ("packing", said.shape.packing.to_string(), meant.shape.packing.to_string()),
        ("dimension", terms.dimension.to_string(), planned.model.dimension.to_string()),
        ("share_keys", terms.share_keys.to_string(), planned.pairs.is_some().to_string()),
    ] {
        if said != meant {
            let message =
                format!("the agreement contradicts itself: {field} = {said}, but its settings mean {meant}");
            return Err(ConfigError::anywhere(message));
        }
    }
    if terms.continues.is_none() && !recipe.earlier.is_empty() {
        let message = "privacy.earlier is for agreements that continue another: members' ledgers know of no earlier release";
        return Err(run.error(Key::PrivacyEarlier, message));
    }
    check_features(run, planned)?;
    let (said, meant) = (run.resolved.epsilon, planned.guarantee.epsilon);
    match said {
        Some(said) if meant > said * (1.0 + 1e-6) => {
            let message =
                format!("the agreement contradicts itself: it says ε = {said}, but its noise gives {meant}");
            Err(run.error(Key::ResolvedEpsilon, message))
        }
        _ => Ok(()),
    }
}

/// Refuses features without the hash of their map, or the other way round: members could not tell whether theirs are the
/// same.
fn check_features(run: &RunFile, planned: &Planned) -> Result<(), ConfigError> {
    let hash = &run.resolved.features;
    let whole = |hash: &String| hash.len() == 64 && hash.chars().all(|c| c.is_ascii_hexdigit());
    let (field, message) = match (&planned.model.features, hash) {
        (None, None) => return Ok(()),
        (Some(_), Some(hash)) if whole(hash) => return Ok(()),
        (Some(_), None) => (
            Key::FeaturesMap,
            "the agreement has features but not the hash of their map (resolved.features)".into(),
        ),
        (Some(_), Some(hash)) => (
            Key::ResolvedFeatures,
            format!(
                "resolved.features = {hash:?} is not the hash of a map: it must have 64 hexadecimal digits"
            ),
        ),
        (None, Some(_)) => (
            Key::ResolvedFeatures,
            "the agreement contradicts itself: it has the hash of a feature map but no features".into(),
        ),
    };
    Err(run.error(field, message).help("`prdo node init` writes agreements with it"))
}
