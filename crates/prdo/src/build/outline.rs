//! A run file as far as it can be planned with: everything that is fixed before a record is sealed or trained on.

use super::model::{PlannedModel, located, plan_model};
use super::recipe::{Recipe, recipe};
use super::records::{AnyHoldings, any_holdings, holdings, mapped_holdings, wired};
use super::statement::earlier_runs;
use prdo_accounting::History;
use prdo_algorithm::graph::Spectrum;
use prdo_runfile::{ConfigError, Document, RunFile, Wiring};
use prdo_simulator::SimulationError;

pub struct Outline {
    pub wiring: Wiring,
    pub spectrum: Spectrum,
    pub model: PlannedModel,
    pub recipe: Recipe,
    /// Everybody's records. Of private ones nothing but their number is to be looked at.
    pub records: AnyHoldings,
    /// What was released about the same records before.
    pub spent: History,
}

/// Holds the network against what the run file's method needs of it.
pub(super) fn checked(run: &RunFile, wiring: &Wiring) -> Result<Spectrum, ConfigError> {
    let judged = match run.method.name {
        Some(method) => method.check_network(&wiring.mixing, run.graph.allow_indefinite),
        None => wiring.mixing.spectrum(),
    };
    judged.map_err(|e| located(run, &e.into()))
}

/// Reads what a run file means, without preparing a run.
pub fn outline(document: &Document) -> Result<Outline, ConfigError> {
    let run = &document.run_file();
    run.refuse_lists("choose one value with --set key=value")?;
    let kind = run.model_kind()?;
    let (wiring, source) = wired(run)?;
    let spectrum = checked(run, &wiring)?;
    let nodes = wiring.graph.nodes();
    let records = match kind.is_network() {
        true => any_holdings(run, source, nodes)?,
        false if run.features.given => {
            let map = source.feature_map(run, kind)?;
            AnyHoldings::Features(mapped_holdings(run, source, nodes, &map, &|_, _| ())?)
        }
        false => AnyHoldings::Numbers(holdings(run, source, nodes, kind.is_binary())?),
    };
    let images = matches!(records, AnyHoldings::Images(_));
    let model = plan_model(run, kind, records.facts(), images)?;
    let recipe =
        recipe(run, kind, records.least()).map_err(|e| records.explain_batch(e))?.for_network(&spectrum);
    recipe.method.check(&recipe.settings).map_err(|e| located(run, &SimulationError::Settings(e).into()))?;
    let mut spent = recipe.earlier.clone();
    spent.append(&earlier_runs(run)?);
    Ok(Outline { wiring, spectrum, model, recipe, records, spent })
}
