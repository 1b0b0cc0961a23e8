//! A run as far as public facts fix it: what members agree on before anyone has shown a record.

use super::model::{PlannedModel, located, plan_model};
use super::outline::checked;
use super::recipe::{Recipe, recipe};
use crate::run::Guarantee;
use prdo_algorithm::graph::Spectrum;
use prdo_privacy::{Clip, Noised};
use prdo_runfile::{ConfigError, Document, Key, Wiring};
use prdo_simulator::SimulationError;
use prdo_store::RecordFacts;

#[derive(Clone, Copy, Debug)]
pub struct Public<'a> {
    /// Their shape and what things are called.
    pub facts: &'a RecordFacts,
    /// Whether they are images as bytes, which are always scaled by public constants.
    pub bytes: bool,
    /// How many slots each member has.
    pub records: &'a [usize],
}

/// A private run that is fixed but for the records and the secret draws.
#[derive(Clone, Debug)]
pub struct Planned {
    pub wiring: Wiring,
    pub spectrum: Spectrum,
    pub model: PlannedModel,
    pub recipe: Recipe,
    pub guarantee: Guarantee,
    /// Records (slots) of all members.
    pub records: usize,
}

/// What a run file and public facts fix. No record is read.
pub fn terms(document: &Document, wiring: Wiring, public: &Public<'_>) -> Result<Planned, ConfigError> {
    let run = &document.run_file();
    run.refuse_lists("an agreement is about one run")?;
    if run.privacy.is_none() {
        let message = "there is no [privacy] section: peers send nothing without noise";
        return Err(ConfigError::anywhere(message).help("add [privacy] with epsilon and delta"));
    }
    if run.privacy.as_ref().is_some_and(|privacy| privacy.pairs.is_some()) {
        let message = "privacy.noise = \"pairs\" is not allowed in an agreement: it must be \"independent\"";
        return Err(run.error(Key::PrivacyNoise, message));
    }
    if run.model.file.is_some() {
        let message = "model.file is not allowed in an agreement: others do not have the file";
        return Err(run.error(Key::ModelFile, message).help("use model.start and model.start_seed"));
    }
    let least = public.records.iter().copied().min().unwrap_or(0);
    let spectrum = checked(run, &wiring)?;
    let kind = run.model_kind()?;
    let model = plan_model(run, kind, public.facts, public.bytes)?;
    let recipe = recipe(run, kind, least)?.for_network(&spectrum);
    let started = recipe.method.start::<Noised>(&model.start, &recipe.settings);
    started.map_err(|e| located(run, &SimulationError::Settings(e).into()))?;
    let (gradient, difference) = recipe.clip.ok_or_else(|| run.missing(Key::ClipGradient))?;
    Clip::new(gradient, difference).map_err(|e| located(run, &e.into()))?;
    let guarantee = recipe.guarantee(run, &recipe.earlier)?;
    let guarantee = guarantee.ok_or_else(|| run.missing(Key::PrivacyEpsilon))?;
    Ok(Planned { wiring, spectrum, model, recipe, guarantee, records: public.records.iter().sum() })
}

#[cfg(test)]
mod tests;
