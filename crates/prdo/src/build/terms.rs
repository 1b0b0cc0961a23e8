//! A run as far as public facts fix it: what members agree on before anyone has shown a record.

use super::model::{PlannedModel, located, plan_model};
use super::outline::checked;
use super::recipe::{Recipe, recipe};
use crate::error::RunError;
use crate::pairs;
use crate::run::Guarantee;
use prdo_algorithm::graph::Spectrum;
use prdo_privacy::{Clip, Noised, PairMechanism};
use prdo_runfile::{ConfigError, Document, Key, RunFile, Wiring};
use prdo_simulator::SimulationError;
use prdo_store::{PairFacts, RecordFacts};
use std::sync::Arc;

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
    /// The two parts of the noise, where it is in pairs: the same at every member, for they follow from what is agreed on.
    pub pairs: Option<Arc<PairMechanism>>,
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
    let pairs = mechanism(run, &recipe, &guarantee, &wiring)?;
    Ok(Planned { wiring, spectrum, model, recipe, guarantee, pairs, records: public.records.iter().sum() })
}

fn mechanism(
    run: &RunFile,
    recipe: &Recipe,
    guarantee: &Guarantee,
    wiring: &Wiring,
) -> Result<Option<Arc<PairMechanism>>, ConfigError> {
    let Some(asked) = &recipe.pairs else { return Ok(None) };
    let method = (recipe.method, &recipe.settings, recipe.rounds);
    let mechanism = pairs::mechanism(asked, guarantee.noise_multiplier, method, &wiring.mixing);
    Ok(Some(Arc::new(mechanism.map_err(|error| located(run, &error))?)))
}

impl Planned {
    /// Against whom its ε holds, and what coalitions learn; nothing where noise is independent.
    ///
    /// # Guarantee
    /// After earlier releases only coalitions of at most the agreed size are listed: how much larger ones learned from those is
    /// not known here.
    pub fn pair_facts(&self) -> Result<Option<PairFacts>, RunError> {
        let Some(mechanism) = &self.pairs else { return Ok(None) };
        let Recipe { rounds, earlier, .. } = &self.recipe;
        let mut facts = pairs::facts(mechanism, &self.guarantee, *rounds, earlier)?;
        if !earlier.is_empty() {
            facts.epsilon_by_colluders.retain(|coalition| coalition.colluders <= facts.colluders);
        }
        Ok(Some(facts))
    }
}

#[cfg(test)]
mod tests;
