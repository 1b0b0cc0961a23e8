//! A run file as far as it can be planned with: everything that is fixed before a record is sealed or trained on.

use super::build::earlier_runs;
use super::features::{feature_plan, located as feature_error};
use super::model::{PlannedModel, located, plan_model};
use super::recipe::{Recipe, recipe};
use super::records::{Holdings, Kept, Source, holdings, kept_holdings, mapped_holdings, wired};
use prdo_accounting::History;
use prdo_algorithm::graph::Spectrum;
use prdo_runfile::{ConfigError, Document, Key, ModelKind, RunFile, Wiring};

/// A run that is not going to be trained.
pub struct Outline {
    /// Graph and weights, checked.
    pub wiring: Wiring,
    /// Eigenvalues of W that matter.
    pub spectrum: Spectrum,
    /// The model and where it starts.
    pub model: PlannedModel,
    /// How it would be trained.
    pub recipe: Recipe,
    /// Everybody's records. Of private ones nothing but their number is to be looked at.
    pub records: Kept,
    /// What was released about the same records before.
    pub spent: History,
}

/// Reads what a run file means, without preparing a run.
///
/// # Errors
/// Whatever does not fit, at its place in the run file.
pub fn outline(document: &Document) -> Result<Outline, ConfigError> {
    let run = &document.run_file();
    run.refuse_lists("choose one value with --set key=value")?;
    let kind = run.model_kind()?;
    let (wiring, source) = wired(run)?;
    let spectrum = wiring.mixing.check(run.graph.allow_indefinite).map_err(|e| located(run, &e.into()))?;
    let nodes = wiring.graph.nodes();
    let records = match kind.is_network() {
        true => kept_holdings(run, source, nodes)?,
        false if run.features.given => Kept::Features(featured(run, source, kind, nodes)?),
        false => Kept::Numbers(holdings(run, source, nodes, kind.is_binary())?),
    };
    let images = matches!(records, Kept::Images(_));
    let model = plan_model(run, kind, records.facts(), images)?;
    let recipe = recipe(run, kind, records.least()).map_err(|e| records.explain_batch(e))?;
    let mut spent = recipe.earlier.clone();
    spent.append(&earlier_runs(run)?);
    Ok(Outline { wiring, spectrum, model, recipe, records, spent })
}

/// Everybody's records after the map that the run file asks for.
fn featured(
    run: &RunFile,
    source: Source,
    kind: ModelKind,
    nodes: usize,
) -> Result<Holdings<f32>, ConfigError> {
    let (facts, _) = source.facts(run, kind)?;
    let plan = feature_plan(run, kind, &facts)?.ok_or_else(|| run.missing(Key::FeaturesMap))?;
    let map = plan.make(run).map_err(|e| feature_error(run, &e))?;
    mapped_holdings(run, source, nodes, &map, &|_, _| ())
}
