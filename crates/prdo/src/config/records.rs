//! The run file's `[data]` and `[partition]` sections as each node's records.
//!
//! `files` reads them, or `generated` draws them; `labels` says what their labels mean, `dealing` who holds which;
//! `organisations` says how many they are, `errors` puts what goes wrong at its key.

mod dealing;
mod errors;
mod files;
mod generated;
mod labels;
mod organisations;

use super::document::Document;
use super::features::{Extracting, Map, Refused};
use super::layers::is_network;
use super::model::model_kind;
use super::network::{Wiring, wiring};
use super::place::ConfigError;
use dealing::{Dealt, large_nodes, least_records, nobody_takes_part, partition, split, taking_part};
use errors::data_error;
use files::{Part, brings_test, read, read_file, read_test, refused};
use generated::{from_law, law_facts};
use labels::{Labels, given_classes, labelled_test, rare_class, refuse_gaps, relabel};
use organisations::Organisations;
use prdo_peer::agreement::Facts;
use prdo_problem::data::{self, DataError, Dataset, Feature, ImageShape, Loaded, Table};
use std::collections::BTreeSet;
use std::path::Path;

/// Who holds what, before it is sealed: numbers, or images as bytes.
pub struct Holdings<F: Feature = f64> {
    /// Each node's records.
    pub nodes: Vec<Table<F>>,
    /// Public records for accuracy.
    pub held_out: Option<Table<F>>,
    /// Records set aside for tuning.
    pub validation: Option<Table<F>>,
    /// What the nodes are called, where the data names them.
    pub node_names: Option<Vec<String>>,
    /// What is public about the records: features (without an intercept), classes (2 for ±1), names, shape.
    pub facts: Facts,
    /// What should be thought about.
    pub warnings: Vec<String>,
    /// What the data is, in words.
    pub title: String,
}

impl<F: Feature> Holdings<F> {
    /// Records of the smallest node.
    pub fn least(&self) -> usize {
        self.nodes.iter().map(Table::len).min().unwrap_or(0)
    }

    /// An error about a batch, with everybody's records where they differ.
    pub(super) fn explain_batch(&self, error: ConfigError) -> ConfigError {
        let sizes = self.nodes.iter().map(Table::len);
        Organisations::of_sizes(self.node_names.as_deref(), sizes).explain_batch(error)
    }
}

/// Records that a program gives, instead of a file.
#[derive(Clone, Debug)]
pub struct Given {
    /// The records to train on.
    pub records: Loaded,
    /// Public records on which accuracy is measured.
    pub test: Option<Loaded>,
    /// What they are called in reports.
    pub title: String,
}

/// Holdings as the data comes: images stay bytes.
pub enum Kept {
    /// Records of numbers.
    Numbers(Holdings),
    /// Images.
    Images(Holdings<u8>),
    /// Features of either.
    Features(Holdings<f32>),
}

impl Kept {
    /// What is public about the records.
    pub fn facts(&self) -> &Facts {
        match self {
            Kept::Numbers(holdings) => &holdings.facts,
            Kept::Images(holdings) => &holdings.facts,
            Kept::Features(holdings) => &holdings.facts,
        }
    }

    /// Records of the smallest node.
    pub fn least(&self) -> usize {
        match self {
            Kept::Numbers(holdings) => holdings.least(),
            Kept::Images(holdings) => holdings.least(),
            Kept::Features(holdings) => holdings.least(),
        }
    }

    /// As [`Holdings::explain_batch`].
    pub(super) fn explain_batch(&self, error: ConfigError) -> ConfigError {
        match self {
            Kept::Numbers(holdings) => holdings.explain_batch(error),
            Kept::Images(holdings) => holdings.explain_batch(error),
            Kept::Features(holdings) => holdings.explain_batch(error),
        }
    }
}

/// What is made of what a file holds: numbers of anything, images of images, or features. The text is the file's name.
type Convert<'a, F> = &'a dyn Fn(Loaded, &str) -> Result<Dataset<F>, Refused>;

/// Generates or deals out the data for `nodes` nodes as numbers, which is what linear models read; `binary` labels
/// are ±1, others 0, 1, …
///
/// # Errors
/// Data that cannot be generated or divided, at its place in the run file.
pub fn holdings(
    document: &Document,
    source: Source,
    nodes: usize,
    binary: bool,
) -> Result<Holdings, ConfigError> {
    match source {
        Source::Data(data) => from_loaded(document, data, nodes, binary, &numbers),
        Source::Law(law) => from_law(document, &law, nodes),
    }
}

/// The same with images left as bytes, which is what networks read. Labels are 0, 1, …
///
/// # Errors
/// As [`holdings`].
pub fn kept_holdings(document: &Document, source: Source, nodes: usize) -> Result<Kept, ConfigError> {
    match source {
        Source::Data(data @ Loaded::Images(_)) => {
            from_loaded(document, data, nodes, false, &|data, file| Ok(data.into_images(file)?))
                .map(Kept::Images)
        }
        Source::Data(data) => from_loaded(document, data, nodes, false, &numbers).map(Kept::Numbers),
        Source::Law(law) => from_law(document, &law, nodes).map(Kept::Numbers),
    }
}

fn numbers(data: Loaded, file: &str) -> Result<Dataset, Refused> {
    Ok(data.into_numbers(file)?)
}

/// Deals the data out to `nodes` nodes and puts it through a map. The facts are those of what was read.
///
/// # Errors
/// As [`holdings`], and records that the map cannot read.
pub fn mapped_holdings(
    document: &Document,
    source: Source,
    nodes: usize,
    map: &Map,
    extracting: Extracting<'_>,
) -> Result<Holdings<f32>, ConfigError> {
    let Source::Data(data) = source else {
        let message = "generated records need no features: leave [features] out";
        return Err(document.error("features.map", message));
    };
    let warnings = std::cell::RefCell::new(Vec::new());
    let convert = |data: Loaded, _: &str| map.apply(data, extracting, &mut warnings.borrow_mut());
    let binary = model_kind(document)? == "logistic";
    let mut holdings = from_loaded(document, data, nodes, binary, &convert)?;
    holdings.warnings.extend(warnings.take());
    Ok(holdings)
}

/// Where records come from.
#[allow(clippy::large_enum_variant)] // there is one of it a run, and it is moved, not kept in lists
pub enum Source {
    /// A file, what is bundled, or what a program gives: read.
    Data(Loaded),
    /// A law they are drawn from.
    Law(String),
}

impl Source {
    /// Reads what the run file names.
    ///
    /// # Errors
    /// A file that cannot be read, at its place in the run file.
    pub fn read(document: &Document) -> Result<Self, ConfigError> {
        let source = document.text("data.source").ok_or_else(|| document.missing("data.source"))?;
        if !["file", "memory"].contains(&source.as_str()) && document.has("data.path") {
            let message = format!("data.path names a file, but data.source is {source:?}, which has none");
            let help = "leave data.path out, or use data.source = \"file\"";
            return Err(document.error("data.path", message).help(help));
        }
        Ok(match source.as_str() {
            "file" => Source::Data(read_file(document)?),
            "digits" => Source::Data(Loaded::Numbers(data::digits())),
            "memory" => Source::Data(given(document)?.records.clone()),
            _ => Source::Law(source),
        })
    }

    /// How many nodes the data itself fixes: those of a file's node column.
    ///
    /// # Errors
    /// Nobody who has enough records.
    pub fn nodes(&self, document: &Document) -> Result<Option<usize>, ConfigError> {
        let node = match self {
            Source::Data(Loaded::Numbers(data)) => data.node.as_deref(),
            Source::Data(Loaded::Images(data)) => data.node.as_deref(),
            Source::Law(_) => None,
        };
        let least = least_records(document)?.unwrap_or(0);
        match node.and_then(|node| taking_part(node, least)) {
            Some(0) => Err(nobody_takes_part(document, least)),
            count => Ok(count),
        }
    }

    /// What is public about records of this kind of model, and whether they are images as bytes: nothing but their shape
    /// and their names.
    ///
    /// # Errors
    /// Labels that this kind of model cannot learn from.
    pub fn facts(&self, document: &Document, kind: &str) -> Result<(Facts, bool), ConfigError> {
        let binary = kind == "logistic";
        match self {
            Source::Law(law) => Ok((law_facts(document, law), false)),
            Source::Data(Loaded::Numbers(data)) => Ok((loaded_facts(document, data, binary)?, false)),
            Source::Data(Loaded::Images(data)) => {
                Ok((loaded_facts(document, data, binary)?, is_network(kind)))
            }
        }
    }
}

/// The network, and the records, which may say how many nodes it has. They are read once.
///
/// # Errors
/// A network that cannot be built, or a file that cannot be read.
pub fn wired(document: &Document) -> Result<(Wiring, Source), ConfigError> {
    if document.has("graph.nodes") {
        // What is wrong with the network is said before a large file is read.
        let wiring = wiring(document, None)?;
        return Ok((wiring, Source::read(document)?));
    }
    let source = Source::read(document)?;
    Ok((wiring(document, source.nodes(document)?)?, source))
}

/// The records of a program, which a run file alone does not have.
fn given(document: &Document) -> Result<&Given, ConfigError> {
    document.given().ok_or_else(|| {
        let message = "data.source = \"memory\" means records that a program holds: this run file alone does not have them";
        document.error("data.source", message).help("in Python: prdo.Run(\"run.toml\", data=(X, y))")
    })
}

/// Whether records of this source are drawn from a law.
pub fn is_generated(source: &str) -> bool {
    !["file", "digits", "memory"].contains(&source)
}

/// Whether records of numbers get a feature that is always 1. Generated ones do not.
pub fn intercept(document: &Document, binary: bool) -> bool {
    let generated = document.text("data.source").is_some_and(|source| is_generated(&source));
    binary && !generated && document.flag("model.intercept").unwrap_or(true)
}

fn from_loaded<F: Feature>(
    document: &Document,
    loaded: Loaded,
    nodes: usize,
    binary: bool,
    convert: Convert<'_, F>,
) -> Result<Holdings<F>, ConfigError> {
    let at = |e: DataError| data_error(document, &e);
    let labels = Labels::of(document, binary);
    let file = match document.given() {
        Some(given) => given.title.clone(),
        None => document.text("data.path").unwrap_or_else(|| "UCI digits".into()),
    };
    let width = loaded.width();
    let dataset = convert(loaded, &file).map_err(|e| refused(document, "data.path", e))?;
    let mut warnings = Vec::new();
    let mut dataset = large_nodes(document, dataset, &mut warnings)?;
    warnings.append(&mut dataset.doubts);
    let classes = given_classes(document, &dataset, binary)?;
    let records = dataset.table.len();
    let relabel = |table: Table<F>| relabel(table, labels, classes);
    // On features the intercept is the model's own.
    let intercept = intercept(document, binary) && !document.has_section("features");
    let with_intercept = |table: Table<F>| if intercept { table.with_ones() } else { table };
    let (table, classes) = relabel(dataset.table).map_err(at)?;
    refuse_gaps(document, (labels, dataset.class_names.is_some()), table.labels(), classes)?;
    warnings.extend(rare_class(document, dataset.class_names.as_deref(), table.labels(), classes));
    dataset.table = with_intercept(table);
    let facts = dataset_facts(&dataset, width, classes);

    // Before records are set aside, which may be all that a node has.
    let holders: BTreeSet<u32> = dataset.node.iter().flatten().copied().collect();
    let by_column = document.text("partition.kind").is_none_or(|kind| kind == "column");
    let organisations = by_column.then(|| Organisations::of(&dataset));
    warnings.extend(organisations.as_ref().and_then(Organisations::warning));
    if document.has("data.test") && !document.has("data.test_path") && brings_test(document).is_some() {
        let why = "so many of the training records are held out instead";
        warnings.push(format!("data.test: the test images of the folder are not used, {why}"));
    }
    let (dataset, validation, mut held_out) = split(document, dataset)?;
    if let Some(path) = document.file("data.test_path") {
        let test = read_test(document, &path, &facts, convert)?;
        let at = |e: DataError| document.error("data.test_path", format!("data: {}: {e}", path.display()));
        held_out = Some(with_intercept(labelled_test(test, labels, classes).map_err(at)?));
    } else if let Some(test) = document.given().and_then(|given| given.test.clone()) {
        let at = |e: DataError| document.error("data.source", format!("test data: {e}"));
        if test.width() != width {
            let message = format!("the test data has {} features, the data has {width}", test.width());
            return Err(document.error("data.source", message));
        }
        let test = convert(test, "the test data").map_err(|e| refused(document, "data.source", e))?.table;
        held_out = Some(with_intercept(labelled_test(test, labels, classes).map_err(at)?));
    } else if let Some(path) = brings_test(document).filter(|_| !document.has("data.test")) {
        let test = read(document, &path, "data.path", Part::Test(None))?;
        let test = convert(test, &file).map_err(|e| refused(document, "data.path", e))?.table;
        held_out = Some(with_intercept(labelled_test(test, labels, classes).map_err(at)?));
    }
    warnings.extend(no_test_images(document));
    let dealt = partition(document, &dataset, nodes, &holders);
    let Dealt { partition, how, names: node_names } = match &organisations {
        Some(organisations) => dealt.map_err(|e| organisations.explain(e))?,
        None => dealt?,
    };
    if dataset.node.is_some() && document.text("partition.kind").is_some_and(|kind| kind != "column") {
        warnings.push(
            "the file's node column is not used: partition.kind deals the records out anew (leave it out, or use \
             \"column\", to let the file say who holds what)"
                .to_string(),
        );
    }
    let tables = partition.into_tables(dataset.table);
    // Reports are passed on: they name the file, not where it lies on this machine.
    let name = Path::new(&file).file_name().map_or(file.clone(), |name| name.to_string_lossy().into_owned());
    let title = format!("{name}, {records} records of {width} features, {how} {nodes} nodes");
    Ok(Holdings { nodes: tables, held_out, validation, node_names, facts, warnings, title })
}

/// What to say about a folder of images that lacks those to test with.
fn no_test_images(document: &Document) -> Option<String> {
    let path = document.file("data.path").filter(|path| path.is_dir())?;
    let told = brings_test(document).is_some() || document.has("data.test") || document.has("data.test_path");
    (!told).then(|| {
        format!(
            "{} has no test images: some of the others are held out instead (data.test says how many)",
            path.file_name().unwrap_or_default().to_string_lossy()
        )
    })
}

fn dataset_facts<F: Feature>(dataset: &Dataset<F>, features: usize, classes: Option<usize>) -> Facts {
    let sides = |i: ImageShape| [i.channels as u64, i.height as u64, i.width as u64];
    Facts {
        features: features as u64,
        classes: classes.map(|k| k as u64),
        class_names: dataset.class_names.clone(),
        feature_names: dataset.feature_names.clone(),
        image: dataset.image.map(sides),
    }
}

/// What is public about the records that a run file names, for this kind of model, and whether they are images as bytes.
///
/// # Errors
/// A file that cannot be read, or that holds something else.
pub fn public_facts(document: &Document, kind: &str) -> Result<(Facts, bool), ConfigError> {
    Source::read(document)?.facts(document, kind)
}

fn loaded_facts<F: Feature>(
    document: &Document,
    dataset: &Dataset<F>,
    binary: bool,
) -> Result<Facts, ConfigError> {
    let at = |e: DataError| data_error(document, &e);
    let given = given_classes(document, dataset, binary)?;
    // Labels alone: features would be copied for nothing.
    let labels = dataset.table.labels().to_vec();
    let labels = Table::new(1, vec![0.0; labels.len()], labels).map_err(at)?;
    let (_, classes) = relabel(labels, Labels::of(document, binary), given).map_err(at)?;
    Ok(dataset_facts(dataset, dataset.table.width(), classes))
}
