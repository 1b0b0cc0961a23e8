//! A run file's values as a run that is ready to train.

use super::features::{Extracting, feature_plan, located as feature_error};
use super::model::{BoxedModel, Form, OwnModel, located, network_of, plan_model};
use super::recipe::{Recipe, recipe};
use super::records::{Holdings, Kept, Source, holdings, kept_holdings, mapped_holdings, wired};
use crate::run::{Guarantee, Prepared, Privacy, Run};
use prdo_accounting::{Event, History};
use prdo_algorithm::{Method, Settings};
use prdo_data::features::Description;
use prdo_data::{Feature, Table};
use prdo_models::network::{Network, Spec};
use prdo_privacy::{Sampling, Start, Statement};
use prdo_runfile::resolved::{Known, Settled, fingerprint_lines};
use prdo_runfile::{ConfigError, Document, Key, ModelKind, RunFile, Wiring};
use prdo_store::RecordFacts;
use prdo_store::{is_trained_by_prdo, load_statement, save_statement};
use std::path::PathBuf;

/// The accuracy of parameters on records set aside; `None` where that has no meaning.
pub type Validation = Box<dyn Fn(&[f64]) -> Option<f64> + Send + Sync>;

/// A run file turned into a run, with what its report will show.
pub struct Built {
    /// The run, checked and sealed.
    pub prepared: Prepared,
    /// Graph and weights.
    pub wiring: Wiring,
    /// The method.
    pub method: Method,
    /// Its settings.
    pub settings: Settings,
    /// (C_g, C_Δ), if anything is clipped.
    pub clip: Option<(f64, f64)>,
    /// b₀ and b as they will be used, and how batches are drawn.
    pub batch: (usize, usize, Sampling),
    /// What the data is, in words.
    pub data: String,
    /// The model's kind.
    pub model: ModelKind,
    /// How many held-out records there are.
    pub test_records: usize,
    /// The share of the held-out records' most common class: what whoever always says it gets right.
    pub common_class: Option<f64>,
    /// How many are set aside for tuning.
    pub validation_records: usize,
    /// What is public about the records: their shape and what things are called.
    pub facts: RecordFacts,
    /// What the nodes are called, where the data names them.
    pub node_names: Option<Vec<String>>,
    /// Records of each class at each node, where labels are classes.
    pub class_counts: Option<Vec<Vec<u64>>>,
    /// The accuracy on the records set aside for tuning.
    pub validation: Option<Validation>,
    /// What is allowed but should be thought about.
    pub warnings: Vec<String>,
    /// Names the settings and the data: checkpoints of another run do not fit.
    pub fingerprint: [u8; 32],
    /// Where runs on these records are listed, and those that are.
    pub statement: Option<(PathBuf, Statement)>,
    /// The network, if the model is one.
    pub network: Option<NetworkFacts>,
    /// The feature map, if records went through one.
    pub features: Option<FeatureFacts>,
}

/// What is public about a run's feature map.
pub struct FeatureFacts {
    /// What it is, in one line.
    pub description: Description,
    /// BLAKE3 of it with all its constants.
    pub hash: String,
    /// What its constants are made of.
    pub map: prdo_store::MapOf,
}

/// What is public about a run's network.
pub struct NetworkFacts {
    /// Its layers.
    pub spec: Spec,
    /// Bytes of memory that all threads together need for its gradients.
    pub bytes: usize,
    /// Mean and deviation by which each channel is scaled, if it is.
    pub constants: Option<(Vec<f32>, Vec<f32>)>,
}

impl Built {
    /// Enters this run in the statement of its records, if there is one. To be done before anything is released.
    ///
    /// # Errors
    /// A file that cannot be written, or a run that cannot be accounted for.
    pub fn enter_statement(&mut self, name: &str) -> Result<(), String> {
        let (Some((path, statement)), Some(guarantee)) = (&mut self.statement, self.prepared.guarantee)
        else {
            return Ok(());
        };
        let plan = guarantee.plan(self.prepared.schedule.rounds).map_err(|e| e.to_string())?;
        // Another run may have been entered since this one was built: its noise does not know of it.
        let id = run_id(&self.fingerprint);
        let mut now = load_statement(path).map_err(|e| format!("{}: {e}", path.display()))?;
        if now.before(&id) != statement.before(&id) {
            return Err(format!(
                "{} has changed since this run was prepared: its noise was calibrated without what was entered meanwhile. \
                 Prepare it again",
                path.display()
            ));
        }
        now.enter(&id, name, &plan);
        *statement = now;
        save_statement(statement, path).map_err(|e| format!("cannot write {}: {e}", path.display()))
    }
}

/// How a run is called in a statement.
fn run_id(fingerprint: &[u8; 32]) -> String {
    fingerprint[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The statement of the records, if the run file names one.
fn statement(run: &RunFile) -> Result<Option<(PathBuf, Statement)>, ConfigError> {
    let Some(path) = run.privacy.as_ref().and_then(|privacy| privacy.statement.as_ref()) else {
        return Ok(None);
    };
    let statement = load_statement(path).map_err(|e| {
        let message = format!("{} {}: {e}", Key::PrivacyStatement, path.display());
        run.error(Key::PrivacyStatement, message)
            .help("without it nobody knows what was released: restore it")
    })?;
    Ok(Some((path.clone(), statement)))
}

/// Everything that the runs in the statement of the records released; nothing where the run file names none.
pub(super) fn earlier_runs(run: &RunFile) -> Result<History, ConfigError> {
    Ok(statement(run)?.map_or_else(History::new, |(_, statement)| statement.total()))
}

/// Builds the run of a document without lists.
///
/// # Errors
/// Whatever does not fit, at its place in the run file.
pub fn build(document: &Document) -> Result<Built, ConfigError> {
    build_showing(document, &|_, _| ())
}

/// The same, telling how far the extraction of features is.
///
/// # Errors
/// As [`build`].
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
        return match kept_holdings(run, source, nodes)? {
            Kept::Numbers(holdings) => with_network(run, kind, wiring, holdings, false),
            Kept::Images(holdings) => with_network(run, kind, wiring, holdings, true),
            Kept::Features(holdings) => with_network(run, kind, wiring, holdings, false),
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
///
/// # Errors
/// As [`build`].
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
    match kept_holdings(run, source, wiring.graph.nodes())? {
        Kept::Numbers(holdings) => {
            let model = || own.numbers(&holdings.facts).map_err(refuse);
            let models = [model()?, model()?];
            finish(run, kind, wiring, holdings, models, (own.start(), None))
        }
        Kept::Images(holdings) => {
            let model = || own.images(&holdings.facts).map_err(refuse);
            let models = [model()?, model()?];
            finish(run, kind, wiring, holdings, models, (own.start(), None))
        }
        Kept::Features(_) => Err(run.error(
            Key::FeaturesMap,
            "features are for softmax and logistic regression, not for a model of one's own",
        )),
    }
}

/// A run of softmax or logistic regression on features.
fn with_features(
    run: &RunFile,
    kind: ModelKind,
    (wiring, source): (Wiring, Source),
    extracting: Extracting<'_>,
) -> Result<Built, ConfigError> {
    let (facts, _) = source.facts(run, kind)?;
    let plan = feature_plan(run, kind, &facts)?.ok_or_else(|| run.missing(Key::FeaturesMap))?;
    let map = plan.make(run).map_err(|e| feature_error(run, &e))?;
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
    let points = if built.method.card().differences { 2 } else { 1 };
    let bytes = rayon::current_num_threads() * network.bytes(points);
    Ok(Built { network: Some(NetworkFacts { spec, bytes, constants }), ..built })
}

/// Mean and deviation of each channel.
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
    let Recipe { method, settings, rounds, batch, clip, privacy, accounting, earlier, mut warnings, .. } =
        recipe;
    warnings.extend(thoughts);
    warnings.extend(file.without_effect([Key::ModelStartDeviation], kind));
    warnings.extend(about_start(file, privacy.is_some()));
    warnings.extend(file.without_effect(UNREAD, kind));
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
    let prepared = run.prepare().map_err(|e| located(file, &e))?;
    warnings.extend(least_noise(privacy, prepared.guarantee));
    let validation_records = validation.as_ref().map_or(0, Table::len);
    let validation = validation.map(|records| -> Validation {
        Box::new(move |x| prdo_simulator::accuracy(&second_model, x, &records))
    });
    Ok(Built {
        prepared,
        wiring,
        method,
        settings,
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

/// Settings that are looked at for one that was typed and is not read. Those of the method the recipe has looked at.
const UNREAD: [Key; 9] = [
    Key::ModelRegularization,
    Key::ModelIntercept,
    Key::ModelCondition,
    Key::ModelCurvature,
    Key::DataRecords,
    Key::DataDimension,
    Key::DataHeterogeneity,
    Key::PartitionConcentration,
    Key::PartitionShards,
];

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

/// The share of the most common label.
pub(crate) fn common_class<F: Feature>(records: &Table<F>) -> Option<f64> {
    let mut labels = records.labels().to_vec();
    labels.sort_unstable_by(f64::total_cmp);
    let most = labels.chunk_by(|a, b| a == b).map(<[f64]>::len).max()?;
    Some(most as f64 / labels.len() as f64)
}

/// A hash of every setting that the bits of a run depend on, of the network, and of what came from files. Settings count
/// as they are meant, not as they were typed: a run's own `run.toml` goes on with it, and its files may have moved.
fn fingerprint<F: Feature>(
    run: &RunFile,
    settled: &Settled<'_>,
    holdings: &Holdings<F>,
    wiring: &Wiring,
    start: &Start,
) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    // A program's own model, and secret draws, are not described by settings: each run of them is another one.
    if run.unseeded || run.model.is_own() {
        let mut chance = [0_u8; 32];
        if getrandom::fill(&mut chance).is_ok() {
            hasher.update(&chance);
        }
    }
    hasher.update(fingerprint_lines(run, settled).as_bytes());
    if run.model.file.is_some() {
        start.values().iter().for_each(|value| {
            hasher.update(&value.to_le_bytes());
        });
    }
    if run.data.source.is_some_and(|source| source.is_owned()) {
        for table in holdings.nodes.iter().chain(&holdings.held_out) {
            hasher.update(&(table.len() as u64).to_le_bytes());
            table.bytes(&mut |bytes| {
                hasher.update(bytes);
            });
        }
    }
    for node in 0..wiring.mixing.nodes() {
        let (columns, weights) = wiring.mixing.row(node);
        for (j, w) in columns.iter().zip(weights) {
            hasher.update(&j.to_le_bytes()).update(&w.to_le_bytes());
        }
    }
    *hasher.finalize().as_bytes()
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod pins;
