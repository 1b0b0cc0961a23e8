//! A built or planned run's settings written back as a run file, with every default filled in.

use super::features::located as feature_error;
use super::model::Form;
use super::run::Built;
use super::terms::Planned;
use crate::run::Guarantee;
use prdo_runfile::resolved::{self, Agreed, Facts, Known, Settled};
use prdo_runfile::{ConfigError, Document};

/// The names of more nodes than this are not written down.
const MOST_NAMES: usize = 1000;

/// The run file of a built run: running it again gives the same bits.
pub fn to_toml(document: &Document, built: &Built) -> String {
    let facts = &built.prepared.facts;
    let known = Known {
        model: built.model,
        method: built.method,
        batch: built.batch,
        constants: built.network.as_ref().and_then(|network| network.constants.as_ref()),
        private: built.prepared.guarantee.is_some(),
        facts: Some(Facts {
            guarantee: built.prepared.guarantee.map(noise_and_loss),
            lambda: facts.spectrum.lambda,
            records: facts.records,
            least_records: facts.least_records,
            parameters: facts.parameters,
            features: built.features.as_ref().map(|features| features.hash.clone()),
            node_names: built.node_names.as_deref().filter(|names| names.len() <= MOST_NAMES),
        }),
    };
    let (nodes, test_records) = (facts.nodes, built.test_records);
    let settled = Settled { known, nodes, rule: built.wiring.rule, test_records };
    resolved::to_toml(&document.run_file(), &settled)
}

/// The settings that members agree on, as a run file in which nothing is only one owner's.
pub fn to_agreed_toml(document: &Document, planned: &Planned) -> Result<String, ConfigError> {
    let run = &document.run_file();
    let map = planned.model.features.as_ref().map(|plan| plan.make(run)).transpose();
    let map = map.map_err(|e| feature_error(run, &e))?;
    map.iter().try_for_each(|map| map.check(run))?;
    let known = Known {
        model: planned.model.kind,
        method: planned.recipe.method,
        batch: planned.recipe.batch,
        constants: match &planned.model.form {
            Form::Network { constants, .. } => constants.as_ref(),
            Form::Linear(_) => None,
        },
        private: true,
        facts: Some(Facts {
            guarantee: Some(noise_and_loss(planned.guarantee)),
            lambda: planned.spectrum.lambda,
            records: planned.records,
            least_records: planned.recipe.least,
            parameters: planned.model.dimension,
            features: map.map(|map| map.hash()),
            node_names: None,
        }),
    };
    let wiring = &planned.wiring;
    let graph = wiring.kind.map_or("from a file".to_string(), |kind| kind.to_string());
    let header = format!(
        "# What all members use. Graph: {graph}, weights: {}; its rows are the members' weights.\n",
        wiring.weights
    );
    let noise_multiplier = planned.guarantee.noise_multiplier;
    let recipe = &planned.recipe;
    let per_round = recipe.method.exchanges(&recipe.settings).per_round;
    let ratio = recipe.pairs.map(|pairs| pairs.ratio(per_round));
    let agreed = Agreed { known, noise_multiplier, ratio, earlier: &recipe.earlier };
    Ok(resolved::to_agreed_toml(run, &agreed, header))
}

fn noise_and_loss(guarantee: Guarantee) -> (f64, f64) {
    (guarantee.noise_multiplier, guarantee.epsilon)
}
