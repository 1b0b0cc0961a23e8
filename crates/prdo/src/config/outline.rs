//! A run file as far as it can be planned with: everything that is fixed before a record is sealed or trained on.

use super::build::{earlier_runs, refuse_lists};
use super::document::Document;
use super::features::{feature_plan, located as feature_error};
use super::layers::is_network;
use super::model::{PlannedModel, located, model_kind, plan_model};
use super::network::Wiring;
use super::place::ConfigError;
use super::recipe::{Recipe, recipe};
use super::records::{Holdings, Kept, Source, holdings, kept_holdings, mapped_holdings, wired};
use prdo_accounting::History;
use prdo_algorithm::graph::Spectrum;

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
    refuse_lists(document, "choose one value with --set key=value")?;
    let kind = model_kind(document)?;
    let (wiring, source) = wired(document)?;
    let allow_indefinite = document.flag("graph.allow_indefinite").unwrap_or(false);
    let spectrum = wiring.mixing.check(allow_indefinite).map_err(|e| located(document, &e.into()))?;
    let nodes = wiring.graph.nodes();
    let records = match is_network(&kind) {
        true => kept_holdings(document, source, nodes)?,
        false if document.has_section("features") => {
            Kept::Features(featured(document, source, &kind, nodes)?)
        }
        false => Kept::Numbers(holdings(document, source, nodes, kind == "logistic")?),
    };
    let images = matches!(records, Kept::Images(_));
    let model = plan_model(document, &kind, records.facts(), images)?;
    let recipe = recipe(document, records.least()).map_err(|e| records.explain_batch(e))?;
    let mut spent = recipe.earlier.clone();
    spent.append(&earlier_runs(document)?);
    Ok(Outline { wiring, spectrum, model, recipe, records, spent })
}

/// Everybody's records after the map that the run file asks for.
fn featured(
    document: &Document,
    source: Source,
    kind: &str,
    nodes: usize,
) -> Result<Holdings<f32>, ConfigError> {
    let (facts, _) = source.facts(document, kind)?;
    let plan = feature_plan(document, kind, &facts)?.ok_or_else(|| document.missing("features.map"))?;
    let map = plan.make(document).map_err(|e| feature_error(document, &e))?;
    mapped_holdings(document, source, nodes, &map, &|_, _| ())
}
