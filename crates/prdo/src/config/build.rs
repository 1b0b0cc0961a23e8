//! A run file's values as a run that is ready to train.

use super::document::Document;
use super::layers::{is_network, network, network_start, normalisation};
use super::network::{Wiring, wiring};
use super::place::ConfigError;
use super::records::{Holdings, Kept, holdings, kept_holdings, nodes_of_file};
use crate::error::RunError;
use crate::run::{Prepared, Privacy, Run};
use prdo_accounting::Method as Accounting;
use prdo_algorithm::{Combine, Method, Settings};
use prdo_privacy::{Model, Sampling, Start, Statement};
use prdo_problem::data::{Feature, Format, ImageShape, Table};
use prdo_problem::models::{LogCosh, Logistic, Quadratic, Softmax};
use prdo_problem::network::{Network, Normalisation, Shape, Spec};
use std::path::PathBuf;

/// A model of tables, whichever it is.
pub type BoxedModel<F = f64> = Box<dyn Model<Data = Table<F>>>;

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
    pub model: String,
    /// How many held-out records there are.
    pub test_records: usize,
    /// The classes' names, where labels are names.
    pub class_names: Option<Vec<String>>,
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
        statement.enter(&run_id(&self.fingerprint), name, &plan);
        statement.save(path).map_err(|e| format!("cannot write {}: {e}", path.display()))
    }
}

/// How a run is called in a statement.
fn run_id(fingerprint: &[u8; 32]) -> String {
    fingerprint[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The statement of the records, if the run file names one.
fn statement(document: &Document) -> Result<Option<(PathBuf, Statement)>, ConfigError> {
    let Some(path) = document.file("privacy.statement").filter(|_| document.has_section("privacy")) else {
        return Ok(None);
    };
    let statement = Statement::load(&path).map_err(|e| {
        let message = format!("privacy.statement {}: {e}", path.display());
        document
            .error("privacy.statement", message)
            .help("without it nobody knows what was released: restore it")
    })?;
    Ok(Some((path, statement)))
}

/// Builds the run of a document without lists.
///
/// # Errors
/// Whatever does not fit, at its place in the run file.
pub fn build(document: &Document) -> Result<Built, ConfigError> {
    if let Some((path, values)) = document.sweeps().first() {
        let message = format!("{path} is a list of {} values, which one run cannot have", values.len());
        return Err(document.error(path, message).help("`prdo compare` runs every combination"));
    }
    let kind = model_kind(document)?;
    let wiring = wiring(document, nodes_of_file(document)?)?;
    let nodes = wiring.graph.nodes();
    if is_network(&kind) {
        return match kept_holdings(document, nodes)? {
            Kept::Numbers(holdings) => with_network(document, &kind, wiring, holdings, false),
            Kept::Images(holdings) => with_network(document, &kind, wiring, holdings, true),
        };
    }
    let holdings = holdings(document, nodes, kind == "logistic")?;
    network(document, Shape::flat(holdings.width), holdings.classes.unwrap_or(0))?;
    let make = || model(document, &kind, &holdings).map_err(|e| located(document, &e));
    let models = [make()?, make()?];
    let start = start(document, models[0].dimension());
    finish(document, &kind, wiring, holdings, models, start)
}

/// An error at the key it is about.
fn located(document: &Document, error: &RunError) -> ConfigError {
    match error.field() {
        Some(field) => document.error(field, error.to_string()),
        None => ConfigError::anywhere(error.to_string()),
    }
}

/// A run of a network. Images are bytes, scaled by public constants.
fn with_network<F: Feature>(
    document: &Document,
    kind: &str,
    wiring: Wiring,
    holdings: Holdings<F>,
    images: bool,
) -> Result<Built, ConfigError> {
    let shape = match holdings.image {
        Some(ImageShape { channels, height, width }) => Shape { channels, height, width },
        None => Shape::flat(holdings.width),
    };
    let classes = holdings.classes.unwrap_or(0);
    let Some(spec) = network(document, shape, classes)? else { return Err(document.missing("model.kind")) };
    let scaled = images || document.has("data.mean") || document.has("data.deviation");
    let constants = match scaled {
        true => Some(normalisation(document, shape.channels, known_data(document, shape))?),
        false => None,
    };
    let start = network_start(document, &spec)?;
    let normalisation = match &constants {
        Some((mean, deviation)) => Normalisation::new(mean, deviation),
        None => Normalisation::none(shape.channels),
    };
    let network = Network::<F>::new(spec.clone(), normalisation);
    let models: [BoxedModel<F>; 2] = [Box::new(network.clone()), Box::new(network.clone())];
    let built = finish(document, kind, wiring, holdings, models, start)?;
    let points = if built.method.card().differences { 2 } else { 1 };
    let bytes = rayon::current_num_threads() * network.bytes(points);
    Ok(Built { network: Some(NetworkFacts { spec, bytes, constants }), ..built })
}

/// The name of a data set whose constants are published: CIFAR-10 by its format, the others by the name of the
/// folder that their files are in.
fn known_data(document: &Document, shape: Shape) -> Option<&'static str> {
    let path = document.file("data.path")?;
    if shape.channels == 3 && matches!(Format::of(&path), Ok(Format::Cifar10)) {
        return Some("cifar10");
    }
    let folder = if path.is_dir() { Some(path.as_path()) } else { path.parent() };
    match folder?.file_name()?.to_string_lossy().to_lowercase().as_str() {
        "fashion-mnist" => Some("fashion-mnist"),
        "mnist" => Some("mnist"),
        _ => None,
    }
}

/// Everything after the model is chosen, whatever its records are made of.
fn finish<F: Feature>(
    document: &Document,
    kind: &str,
    wiring: Wiring,
    holdings: Holdings<F>,
    // One model goes into the gates, the other validates the result.
    [first_model, second_model]: [BoxedModel<F>; 2],
    start: Start,
) -> Result<Built, ConfigError> {
    let mut warnings = Vec::new();
    let (method, settings) = method(document, &mut warnings)?;
    let class_counts = class_counts(&holdings);
    let fingerprint = fingerprint(document, &holdings, &wiring);
    let Holdings { nodes, held_out, validation, title, class_names, warnings: thoughts, .. } = holdings;
    warnings.extend(thoughts);
    let statement = statement(document)?;
    let least = nodes.iter().map(Table::len).min().unwrap_or(0);
    let test_records = held_out.as_ref().map_or(0, Table::len);

    let rounds = document.integer("rounds").ok_or_else(|| document.missing("rounds"))?;
    let mut run = Run::new(first_model, nodes, wiring.mixing.clone(), method, settings)
        .rounds(rounds as u32)
        .seed(document.integer("seed").unwrap_or(1))
        .record_every(document.integer("metrics.every").unwrap_or(10) as u32)
        .moments(document.flag("metrics.moments").unwrap_or(false))
        .allow_indefinite(document.flag("graph.allow_indefinite").unwrap_or(false))
        .start(start);
    if let Some(held_out) = held_out {
        run = run.held_out(held_out);
    }
    if let Some(records) = document.integer("metrics.records") {
        run = run.measure_on(records as usize);
    }
    let privacy = privacy(document, least, &mut warnings)?;
    let batch = batch(document, least, privacy.is_some())?;
    run = run.batch(batch.1, batch.2).first_batch(batch.0);
    let clip = clip(document, method, &settings, privacy.is_some())?;
    if let Some((gradient, difference)) = clip {
        run = run.clip(gradient, difference);
        if method.card().differences && settings.gamma < 1.0 && difference >= gradient {
            warnings.push(format!(
                "clip.difference = {difference} is not below clip.gradient = {gradient}: prdo then needs at least as \
                 much noise as Exact Diffusion; try a much smaller one"
            ));
        }
    }
    if let Some(privacy) = privacy {
        let accounting = document.text("privacy.accountant").and_then(|name| Accounting::named(&name));
        run = run.private(privacy).accounting(accounting.unwrap_or_default());
        if let Some((_, statement)) = &statement {
            run = run.after(statement.before(&run_id(&fingerprint)));
        }
    }
    let prepared = run.prepare().map_err(|e| located(document, &e))?;
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
        model: kind.to_owned(),
        test_records,
        class_names,
        class_counts,
        validation,
        warnings,
        fingerprint,
        statement,
        network: None,
    })
}

/// The model that is asked for, or the one that fits the data.
fn model_kind(document: &Document) -> Result<String, ConfigError> {
    let source = document.text("data.source").ok_or_else(|| document.missing("data.source"))?;
    let (default, fits): (&str, &[&str]) = match source.as_str() {
        "logistic" => ("logistic", &["logistic"]),
        "blobs" | "digits" => ("softmax", &["softmax", "network", "vgg-small", "lenet"]),
        "quadratic" => ("quadratic", &["quadratic"]),
        "coefficients" => ("log-cosh", &["log-cosh"]),
        _ => ("softmax", &["logistic", "softmax", "quadratic", "network", "vgg-small", "lenet"]),
    };
    let kind = document.text("model.kind").unwrap_or_else(|| default.to_string());
    if fits.contains(&kind.as_str()) {
        return Ok(kind);
    }
    let message = format!(
        "model.kind = {kind:?} does not fit data.source = {source:?}: it must be {}",
        fits.iter().map(|f| format!("{f:?}")).collect::<Vec<_>>().join(" or ")
    );
    Err(document.error("model.kind", message))
}

fn model(document: &Document, kind: &str, holdings: &Holdings) -> Result<BoxedModel, RunError> {
    let regularization = document.float("model.regularization");
    Ok(match kind {
        "logistic" => Box::new(Logistic::new(holdings.width, regularization.unwrap_or(0.001))?),
        "softmax" => {
            let classes = holdings.classes.unwrap_or(0);
            Box::new(Softmax::new(holdings.width, classes, regularization.unwrap_or(0.0))?)
        }
        "quadratic" => {
            Box::new(Quadratic::new(holdings.width, document.float("model.condition").unwrap_or(10.0))?)
        }
        _ => Box::new(LogCosh::new(document.float("model.curvature").unwrap_or(0.5))?),
    })
}

fn method(document: &Document, warnings: &mut Vec<String>) -> Result<(Method, Settings), ConfigError> {
    let name = document.text("method.name").ok_or_else(|| document.missing("method.name"))?;
    let method: Method = name.parse().map_err(|e: String| document.error("method.name", e))?;
    let step_size = document.float("method.step_size").ok_or_else(|| document.missing("method.step_size"))?;
    for (parameter, path) in
        [("gamma", "method.gamma"), ("beta", "method.beta"), ("combine", "method.combine")]
    {
        let read = method.card().parameters.iter().any(|p| p.name() == parameter);
        if document.has(path) && !read && !document.is_swept("method.name") {
            warnings.push(format!("{path} has no effect: {name} does not read it"));
        }
    }
    let combine = match document.text("method.combine").as_deref() {
        Some("first") => Combine::First,
        _ => Combine::After,
    };
    let settings = Settings::new(step_size)
        .gamma(document.float("method.gamma").unwrap_or(0.1))
        .beta(document.float("method.beta").unwrap_or(0.9))
        .combine(combine);
    Ok((method, settings))
}

fn start(document: &Document, dimension: usize) -> Start {
    match document.text("model.start").as_deref() {
        Some("normal") => {
            let deviation = document.float("model.start_deviation").unwrap_or(0.1);
            Start::normal(dimension, deviation, document.integer("model.start_seed").unwrap_or(1))
        }
        _ => Start::zeros(dimension),
    }
}

fn privacy(
    document: &Document,
    least: usize,
    warnings: &mut Vec<String>,
) -> Result<Option<Privacy>, ConfigError> {
    if !document.has_section("privacy") {
        return Ok(None);
    }
    let delta = document.float("privacy.delta").unwrap_or(1e-5);
    if delta >= 1.0 / least as f64 {
        warnings.push(format!(
            "privacy.delta = {delta:e} is not below 1/N = {:.1e}: releasing one record in the clear could \
             satisfy it; choose it well below",
            1.0 / least as f64
        ));
    }
    match (document.float("privacy.epsilon"), document.float("privacy.noise_multiplier")) {
        (Some(epsilon), None) => Ok(Some(Privacy::Budget { epsilon, delta })),
        (None, Some(multiplier)) => Ok(Some(Privacy::Noise { multiplier, delta })),
        (None, None) => Err(document.missing("privacy.epsilon")),
        (Some(_), Some(_)) => Err(document.error(
            "privacy.noise_multiplier",
            "privacy.epsilon and privacy.noise_multiplier are both given: each follows from the other",
        )),
    }
}

/// (b₀, b, sampling), in range for the smallest node.
fn batch(document: &Document, least: usize, private: bool) -> Result<(usize, usize, Sampling), ConfigError> {
    let size = document.integer("batch.size").map(|b| b as usize);
    let sampling = match document.text("batch.sampling").as_deref() {
        Some(other) if private && other != "poisson" => {
            let message =
                format!("batch.sampling = {other:?} is not allowed with [privacy]: it must be \"poisson\"");
            return Err(document
                .error("batch.sampling", message)
                .help("the accounting rests on Poisson sampling"));
        }
        Some("poisson") => Sampling::Poisson,
        Some("full") => Sampling::Full,
        Some(_) => Sampling::WithoutReplacement,
        None if private => Sampling::Poisson,
        None if size.is_some() => Sampling::WithoutReplacement,
        None => Sampling::Full,
    };
    if sampling == Sampling::Full && size.is_some_and(|b| b != least) {
        let message =
            "batch.size is given but batch.sampling is \"full\": every record is used in every round";
        return Err(document.error("batch.size", message));
    }
    let size = size.unwrap_or(least);
    let first = document.integer("batch.first").map_or(size, |b| b as usize);
    for (field, value) in [("batch.size", size), ("batch.first", first)] {
        if value > least {
            let message = format!(
                "{field} = {value} is not allowed: it must be at most {least}, the records of the smallest node"
            );
            return Err(document.error(field, message));
        }
    }
    Ok((first, size, sampling))
}

fn clip(
    document: &Document,
    method: Method,
    settings: &Settings,
    private: bool,
) -> Result<Option<(f64, f64)>, ConfigError> {
    let (gradient, difference) = (document.float("clip.gradient"), document.float("clip.difference"));
    let Some(gradient) = gradient else {
        return match (private, difference) {
            (false, None) => Ok(None),
            _ => Err(document.missing("clip.gradient")),
        };
    };
    let needs_difference = method.card().differences && settings.gamma < 1.0;
    match difference {
        Some(difference) => Ok(Some((gradient, difference))),
        None if !needs_difference => Ok(Some((gradient, gradient))),
        None => Err(document.missing("clip.difference").help(
            "start near step_size · clip.gradient · (smoothness of the loss) and try smaller ones: noise is \
             added for γ·gradient + (1−γ)·difference, so a loose clip.difference makes prdo worse than ed",
        )),
    }
}

/// Records of each class at each node; `None` where there are too many classes for a table.
fn class_counts<F: Feature>(holdings: &Holdings<F>) -> Option<Vec<Vec<u64>>> {
    let classes = holdings.classes.filter(|k| *k <= 100)?;
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

/// A hash of every setting that the bits of a run depend on, of the network, and of the data where it came from a file.
fn fingerprint<F: Feature>(document: &Document, holdings: &Holdings<F>, wiring: &Wiring) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    for key in super::schema::KEYS {
        let counts = !["name", "privacy.statement"].contains(&key.path) && !key.path.starts_with("resolved.");
        if let Some(value) = document.get(key.path).filter(|_| counts) {
            hasher.update(format!("{} = {value}\n", key.path).as_bytes());
        }
    }
    if document.text("data.source").as_deref() == Some("file") {
        for table in &holdings.nodes {
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
