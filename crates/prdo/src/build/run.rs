//! A run file's values as a run that is ready to train.

use super::features::Extracting;
use super::fingerprint::fingerprint;
use super::model::{BoxedModel, Form, OwnModel, located, network_of, plan_model};
use super::recipe::{Recipe, recipe};
use super::records::{AnyHoldings, Holdings, Source, any_holdings, holdings, mapped_holdings, wired};
use super::statement::{run_id, statement};
use crate::run::{Guarantee, Prepared, Privacy, Run};
use prdo_accounting::Event;
use prdo_algorithm::{Asks, Method, Settings};
use prdo_data::features::Description;
use prdo_data::{Feature, Table};
use prdo_models::network::{Network, Spec};
use prdo_privacy::{Sampling, Start, Statement};
use prdo_runfile::resolved::{Known, Settled};
use prdo_runfile::{ConfigError, Document, Key, ModelKind, RunFile, Wiring};
use prdo_store::{RecordFacts, is_trained_by_prdo};
use std::path::PathBuf;

/// The accuracy of parameters on records set aside; `None` where that has no meaning.
pub type Validation = Box<dyn Fn(&[f64]) -> Option<f64> + Send + Sync>;

/// A run file turned into a run, with what its report will show.
pub struct Built {
    pub prepared: Prepared,
    pub wiring: Wiring,
    pub method: Method,
    pub settings: Settings,
    /// (C_g, C_Δ), if anything is clipped.
    pub clip: Option<(f64, f64)>,
    /// b₀ and b as they will be used, and how batches are drawn.
    pub batch: (usize, usize, Sampling),
    pub data: String,
    pub model: ModelKind,
    pub test_records: usize,
    /// The share of the held-out records' most common class: what whoever always says it gets right.
    pub common_class: Option<f64>,
    pub validation_records: usize,
    /// What is public about the records: their shape and what things are called.
    pub facts: RecordFacts,
    /// What the nodes are called, where the data names them.
    pub node_names: Option<Vec<String>>,
    pub class_counts: Option<Vec<Vec<u64>>>,
    pub validation: Option<Validation>,
    pub warnings: Vec<String>,
    /// Names the settings and the data: checkpoints of another run do not fit.
    pub fingerprint: [u8; 32],
    /// Where runs on these records are listed, and those that are.
    pub statement: Option<(PathBuf, Statement)>,
    pub network: Option<NetworkFacts>,
    pub features: Option<FeatureFacts>,
}

pub struct FeatureFacts {
    pub description: Description,
    pub hash: String,
    pub map: prdo_store::MapOf,
}

pub struct NetworkFacts {
    pub spec: Spec,
    /// Bytes of memory that all threads together need for its gradients.
    pub bytes: usize,
    /// Mean and deviation by which each channel is scaled, if it is.
    pub constants: Option<(Vec<f32>, Vec<f32>)>,
}

/// Builds the run of a document without lists.
pub fn build(document: &Document) -> Result<Built, ConfigError> {
    build_showing(document, &|_, _| ())
}

/// The same, telling how far the extraction of features is.
pub fn build_showing(document: &Document, extracting: Extracting<'_>) -> Result<Built, ConfigError> {
    let run = &document.run_file();
    run.refuse_lists("`prdo compare` runs every combination")?;
    let kind = run.model_kind()?;
    if kind == ModelKind::Own {
        return Err(run.without_own());
    }
    let (wiring, source) = wired(run)?;
    let nodes = wiring.graph.nodes();
    if kind.is_network() {
        return match any_holdings(run, source, nodes)? {
            AnyHoldings::Numbers(holdings) => with_network(run, kind, wiring, holdings, false),
            AnyHoldings::Images(holdings) => with_network(run, kind, wiring, holdings, true),
            AnyHoldings::Features(holdings) => with_network(run, kind, wiring, holdings, false),
        };
    }
    if run.features.given {
        return with_features(run, kind, (wiring, source), extracting);
    }
    let holdings = holdings(run, source, nodes, kind.is_binary())?;
    let model = plan_model(run, kind, &holdings.facts, false)?;
    let models = [model.numbers(), model.numbers()];
    finish(run, kind, wiring, holdings, models, (model.start, None))
}

/// Builds the run of a document without lists, of a model that a program brings. `model.kind` must be "own".
pub fn build_own(document: &Document, own: &dyn OwnModel) -> Result<Built, ConfigError> {
    let run = &document.run_file();
    run.refuse_lists("a program can build one run for each value")?;
    let kind = run.model_kind()?;
    if kind != ModelKind::Own {
        let name = kind.name();
        let message =
            format!("model.kind = {name:?} is not allowed with a model of one's own: it must be \"own\"");
        return Err(run.error(Key::ModelKind, message));
    }
    let (wiring, source) = wired(run)?;
    let refuse = |why: String| run.error(Key::ModelKind, format!("model: {why}"));
    match any_holdings(run, source, wiring.graph.nodes())? {
        AnyHoldings::Numbers(holdings) => {
            let model = || own.numbers(&holdings.facts).map_err(refuse);
            let models = [model()?, model()?];
            finish(run, kind, wiring, holdings, models, (own.start(), None))
        }
        AnyHoldings::Images(holdings) => {
            let model = || own.images(&holdings.facts).map_err(refuse);
            let models = [model()?, model()?];
            finish(run, kind, wiring, holdings, models, (own.start(), None))
        }
        AnyHoldings::Features(_) => Err(run.error(
            Key::FeaturesMap,
            "features are for softmax and logistic regression, not for a model of one's own",
        )),
    }
}

fn with_features(
    run: &RunFile,
    kind: ModelKind,
    (wiring, source): (Wiring, Source),
    extracting: Extracting<'_>,
) -> Result<Built, ConfigError> {
    let map = source.feature_map(run, kind)?;
    map.check(run)?;
    let holdings = mapped_holdings(run, source, wiring.graph.nodes(), &map, extracting)?;
    let model = plan_model(run, kind, &holdings.facts, false)?;
    let again = || model.mapped().ok_or_else(|| run.missing(Key::FeaturesMap));
    let start = (model.start.clone(), None);
    let built = finish(run, kind, wiring, holdings, [again()?, again()?], start)?;
    let features = Some(FeatureFacts { description: map.describe(), hash: map.hash(), map: map.made_of() });
    Ok(Built { features, ..built })
}

/// A run of a network. Images are bytes, scaled by public constants.
fn with_network<F: Feature>(
    run: &RunFile,
    kind: ModelKind,
    wiring: Wiring,
    holdings: Holdings<F>,
    images: bool,
) -> Result<Built, ConfigError> {
    let model = plan_model(run, kind, &holdings.facts, images)?;
    let Form::Network { spec, constants } = model.form else { return Err(run.missing(Key::ModelKind)) };
    let network: Network<F> = network_of(&spec, constants.as_ref());
    let models: [BoxedModel<F>; 2] = [Box::new(network.clone()), Box::new(network.clone())];
    let start = (model.start, constants.as_ref());
    let built = finish(run, kind, wiring, holdings, models, start)?;
    let asks = built.method.asks(&built.settings, 1);
    let points = if matches!(asks, Asks::Recursive { .. }) { 2 } else { 1 };
    let bytes = rayon::current_num_threads() * network.bytes(points);
    Ok(Built { network: Some(NetworkFacts { spec, bytes, constants }), ..built })
}

type Constants = (Vec<f32>, Vec<f32>);

/// Everything after the model is chosen, whatever its records are made of.
fn finish<F: Feature>(
    file: &RunFile,
    kind: ModelKind,
    wiring: Wiring,
    holdings: Holdings<F>,
    // One model goes into the gates, the other validates the result.
    [first_model, second_model]: [BoxedModel<F>; 2],
    // Where it starts, and what its input is scaled by.
    (start, constants): (Start, Option<&Constants>),
) -> Result<Built, ConfigError> {
    let class_counts = class_counts(&holdings);
    let recipe = recipe(file, kind, holdings.least()).map_err(|e| holdings.explain_batch(e))?;
    let known = Known {
        model: kind,
        method: recipe.method,
        batch: recipe.batch,
        constants,
        private: recipe.privacy.is_some(),
        facts: None,
    };
    let test_records = holdings.held_out.as_ref().map_or(0, Table::len);
    let nodes = wiring.graph.nodes();
    let settled = Settled { known, nodes, rule: wiring.rule, test_records };
    let fingerprint = fingerprint(file, &settled, &holdings, &wiring, &start);
    let Holdings { nodes, held_out, validation, node_names, title, facts, warnings: thoughts } = holdings;
    let statement = statement(file)?;
    let common_class = held_out.as_ref().filter(|_| facts.classes.is_some()).and_then(common_class);
    let Recipe {
        method,
        settings,
        rounds,
        batch,
        clip,
        privacy,
        pairs,
        accounting,
        earlier,
        mut warnings,
        ..
    } = recipe;
    warnings.extend(thoughts);
    warnings.extend(about_start(file, privacy.is_some()));
    let mut run = Run::new(first_model, nodes, wiring.mixing.clone(), method, settings.clone())
        .rounds(rounds)
        .seed(file.seed)
        .unseeded(file.unseeded)
        .record_every(file.metrics.every)
        .moments(file.metrics.moments)
        .allow_indefinite(file.graph.allow_indefinite)
        .batch(batch.1, batch.2)
        .first_batch(batch.0)
        .start(start);
    if let Some(held_out) = held_out {
        run = run.held_out(held_out);
    }
    if let Some(records) = file.metrics.records {
        run = run.measure_on(records);
    }
    if let Some((gradient, difference)) = clip {
        run = run.clip(gradient, difference);
    }
    if let Some(privacy) = privacy {
        let mut spent = earlier;
        if let Some((_, statement)) = &statement {
            spent.append(&statement.before(&run_id(&fingerprint)));
        }
        run = run
            .private(privacy)
            .accounting(accounting)
            .after(spent)
            .calibrations(file.document.calibrations.clone());
    }
    if let Some(pairs) = pairs {
        run = run.in_pairs(pairs);
    }
    let prepared = run.prepare().map_err(|e| located(file, &e))?;
    warnings.extend(least_noise(privacy, prepared.guarantee));
    let validation_records = validation.as_ref().map_or(0, Table::len);
    let validation = validation.map(|records| -> Validation {
        Box::new(move |x| prdo_simulator::accuracy(&second_model, x, &records))
    });
    Ok(Built {
        settings: settings.for_network(method, &prepared.facts.spectrum),
        prepared,
        wiring,
        method,
        clip,
        batch,
        data: title,
        model: kind,
        test_records,
        common_class,
        validation_records,
        facts,
        node_names,
        class_counts,
        validation,
        warnings,
        fingerprint,
        statement,
        network: None,
        features: None,
    })
}

/// What to say about a starting point that the privacy statement rests on.
fn about_start(run: &RunFile, private: bool) -> Option<String> {
    let path = run.model.file.as_ref().filter(|_| private)?;
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let ours = std::fs::read(path).is_ok_and(|bytes| is_trained_by_prdo(&bytes));
    let ours = match ours {
        true => {
            " (it is a model that prdo trained: if on any of these records, that run's ε adds to this one's, see privacy.earlier)"
        }
        false => "",
    };
    Some(format!(
        "the model starts from {name}, which model.file declares to be public: ε holds for what is released from there on{ours}"
    ))
}

/// What to say where a budget would allow less noise than there is.
fn least_noise(privacy: Option<Privacy>, guarantee: Option<Guarantee>) -> Option<String> {
    let (Some(Privacy::Budget { epsilon, .. }), Some(given)) = (privacy, guarantee) else { return None };
    let (least, _) = Event::NOISE_MULTIPLIER_RANGE;
    // The search goes by logarithms, which may not lead back to the last bit.
    (given.noise_multiplier <= least * (1.0 + 1e-9)).then(|| {
        format!(
            "privacy.epsilon = {epsilon} allows less noise than the least that is accounted for (noise multiplier {least}): the \
             run has that, and its ε is {:.0}",
            given.epsilon
        )
    })
}

/// Records of each class at each node; `None` where there are too many classes for a table.
fn class_counts<F: Feature>(holdings: &Holdings<F>) -> Option<Vec<Vec<u64>>> {
    let classes = holdings.facts.classes.filter(|k| *k <= 100)? as usize;
    let binary = |y: f64| if y > 0.0 { 1 } else { 0 };
    let count = |table: &Table<F>| {
        let mut counts = vec![0; classes];
        for y in table.labels() {
            let class = if classes == 2 { binary(*y) } else { *y as usize };
            if let Some(slot) = counts.get_mut(class) {
                *slot += 1;
            }
        }
        counts
    };
    Some(holdings.nodes.iter().map(count).collect())
}

pub(crate) fn common_class<F: Feature>(records: &Table<F>) -> Option<f64> {
    let mut labels = records.labels().to_vec();
    labels.sort_unstable_by(f64::total_cmp);
    let most = labels.chunk_by(|a, b| a == b).map(<[f64]>::len).max()?;
    Some(most as f64 / labels.len() as f64)
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod pins;
