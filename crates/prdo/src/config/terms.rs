//! A run as far as public facts fix it: what members agree on before anyone has shown a record.

use super::build::refuse_lists;
use super::document::Document;
use super::model::{PlannedModel, located, model_kind, plan_model};
use super::network::Wiring;
use super::place::ConfigError;
use super::recipe::{Recipe, recipe};
use super::resolved::is_agreed;
use super::schema::KEYS;
use crate::run::Guarantee;
use prdo_algorithm::graph::Spectrum;
use prdo_peer::agreement::{Agreement, Facts};
use prdo_privacy::{Clip, Noised};
use prdo_simulator::SimulationError;

/// What is public about everybody's records.
#[derive(Clone, Copy, Debug)]
pub struct Public<'a> {
    /// Their shape and what things are called.
    pub facts: &'a Facts,
    /// Whether they are images as bytes, which are always scaled by public constants.
    pub bytes: bool,
    /// How many slots each member has.
    pub records: &'a [usize],
}

/// A private run that is fixed but for the records and the secret draws.
#[derive(Clone, Debug)]
pub struct Planned {
    /// Graph and weights, checked.
    pub wiring: Wiring,
    /// Eigenvalues of W that matter.
    pub spectrum: Spectrum,
    /// The model and where it starts.
    pub model: PlannedModel,
    /// How it is trained.
    pub recipe: Recipe,
    /// What is promised about every record.
    pub guarantee: Guarantee,
    /// Records (slots) of all members.
    pub records: usize,
}

/// What a run file and public facts fix. No record is read.
///
/// # Errors
/// Whatever does not fit, at its place in the run file; a run that is not private.
pub fn terms(document: &Document, wiring: Wiring, public: &Public<'_>) -> Result<Planned, ConfigError> {
    refuse_lists(document, "an agreement is about one run")?;
    if !document.has_section("privacy") {
        let message = "there is no [privacy] section: peers send nothing without noise";
        return Err(ConfigError::anywhere(message).help("add [privacy] with epsilon and delta"));
    }
    if document.has("model.file") {
        let message = "model.file is not allowed in an agreement: others do not have the file";
        return Err(document.error("model.file", message).help("use model.start and model.start_seed"));
    }
    let least = public.records.iter().copied().min().unwrap_or(0);
    let allow_indefinite = document.flag("graph.allow_indefinite").unwrap_or(false);
    let spectrum = wiring.mixing.check(allow_indefinite).map_err(|e| located(document, &e.into()))?;
    let model = plan_model(document, &model_kind(document)?, public.facts, public.bytes)?;
    let recipe = recipe(document, least)?;
    let started = recipe.method.start::<Noised>(&model.start, &recipe.settings);
    started.map_err(|e| located(document, &SimulationError::Settings(e).into()))?;
    let (gradient, difference) = recipe.clip.ok_or_else(|| document.missing("clip.gradient"))?;
    Clip::new(gradient, difference).map_err(|e| located(document, &e.into()))?;
    let guarantee = recipe.guarantee(document, &recipe.earlier)?;
    let guarantee = guarantee.ok_or_else(|| document.missing("privacy.epsilon"))?;
    Ok(Planned { wiring, spectrum, model, recipe, guarantee, records: public.records.iter().sum() })
}

/// What the settings of an agreement mean, and the document they are read from. They are held against the terms: an
/// agreement that contradicts itself is refused.
///
/// # Errors
/// Settings that do not fit, that speak of what is only one owner's, or that say something else than the terms.
pub fn agreed(agreement: &Agreement) -> Result<(Document, Planned), ConfigError> {
    let terms_of = agreement.terms();
    let document = Document::parse("the agreement's settings", &terms_of.settings)?;
    if let Some(key) = KEYS.iter().find(|key| document.has(key.path) && !is_agreed(key.path)) {
        let message = format!("{} is not allowed in an agreement: it is for each member to say", key.path);
        return Err(document.error(key.path, message));
    }
    let mixing = terms_of.mixing().map_err(|e| ConfigError::anywhere(e.to_string()))?;
    let wiring =
        Wiring { kind: None, graph: mixing.support(), mixing, weights: "as agreed".into(), rule: None };
    let records: Vec<usize> = terms_of.members.iter().map(|m| m.records as usize).collect();
    // Whether images are scaled is agreed on: then their constants are in the settings.
    let public = Public { facts: &terms_of.facts, bytes: false, records: &records };
    let planned = terms(&document, wiring, &public)?;
    check_against(agreement, &document, &planned)?;
    Ok((document, planned))
}

/// Refuses settings that say something else than the terms around them.
fn check_against(agreement: &Agreement, document: &Document, planned: &Planned) -> Result<(), ConfigError> {
    let (terms, recipe) = (agreement.terms(), &planned.recipe);
    let (exchanges, vectors) = recipe.method.exchanges(&recipe.settings);
    for (field, said, meant) in [
        ("rounds", terms.rounds.into(), u64::from(recipe.rounds)),
        ("exchanges_per_round", terms.exchanges_per_round.into(), exchanges.into()),
        ("vectors", terms.vectors.into(), vectors.into()),
        ("dimension", terms.dimension, planned.model.dimension as u64),
    ] {
        if said != meant {
            let message =
                format!("the agreement contradicts itself: {field} = {said}, but its settings mean {meant}");
            return Err(ConfigError::anywhere(message));
        }
    }
    if terms.continues.is_none() && !recipe.earlier.is_empty() {
        let message = "privacy.earlier is for agreements that continue another: members' ledgers know of no earlier release";
        return Err(document.error("privacy.earlier", message));
    }
    check_features(document, planned)?;
    let (said, meant) = (document.float("resolved.epsilon"), planned.guarantee.epsilon);
    match said {
        Some(said) if meant > said * (1.0 + 1e-6) => {
            let message =
                format!("the agreement contradicts itself: it says ε = {said}, but its noise gives {meant}");
            Err(document.error("resolved.epsilon", message))
        }
        _ => Ok(()),
    }
}

/// Refuses features without the hash of their map, or the other way round: members could not tell whether theirs are the
/// same.
fn check_features(document: &Document, planned: &Planned) -> Result<(), ConfigError> {
    let hash = document.text("resolved.features");
    let whole = |hash: &String| hash.len() == 64 && hash.chars().all(|c| c.is_ascii_hexdigit());
    let (field, message) = match (&planned.model.features, &hash) {
        (None, None) => return Ok(()),
        (Some(_), Some(hash)) if whole(hash) => return Ok(()),
        (Some(_), None) => (
            "features.map",
            "the agreement has features but not the hash of their map (resolved.features)".into(),
        ),
        (Some(_), Some(hash)) => (
            "resolved.features",
            format!(
                "resolved.features = {hash:?} is not the hash of a map: it must have 64 hexadecimal digits"
            ),
        ),
        (None, Some(_)) => (
            "resolved.features",
            "the agreement contradicts itself: it has the hash of a feature map but no features".into(),
        ),
    };
    Err(document.error(field, message).help("`prdo node init` writes agreements with it"))
}

#[cfg(test)]
mod tests;
