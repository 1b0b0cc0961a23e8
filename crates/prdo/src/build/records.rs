//! The run file's `[data]` and `[partition]` sections as each node's records.
//!
//! `files` reads them, or `generated` draws them; `labels` says what their labels mean, `partition` who holds which;
//! `organisations` says how many they are, `errors` puts what goes wrong at its key.

mod errors;
mod files;
mod generated;
mod labels;
mod organisations;
mod partition;

use super::features::{Extracting, Map, Refused, feature_design, located as feature_error};
use errors::data_error;
use files::{Part, brings_test, read, read_file, read_test, refused};
use generated::{from_law, law_facts};
use labels::{Labels, given_classes, labelled_test, rare_class, refuse_gaps, relabel};
use organisations::Organisations;
use partition::{Dealt, large_nodes, least_records, nobody_takes_part, partition, split, taking_part};
use prdo_data::{self as data, DataError, Dataset, Feature, ImageShape, Loaded, Table};
use prdo_runfile::{
    ConfigError, DataSource, Generated, GivenRecords, Key, ModelKind, RunFile, Wiring, wiring,
};
use prdo_store::RecordFacts;
use std::collections::BTreeSet;
use std::path::Path;

/// Who holds what, before it is sealed: numbers, or images as bytes.
pub struct Holdings<F: Feature = f64> {
    pub nodes: Vec<Table<F>>,
    pub held_out: Option<Table<F>>,
    pub validation: Option<Table<F>>,
    /// What the nodes are called, where the data names them.
    pub node_names: Option<Vec<String>>,
    /// What is public about the records: features (without an intercept), classes (2 for ±1), names, shape.
    pub facts: RecordFacts,
    pub warnings: Vec<String>,
    pub title: String,
}

impl<F: Feature> Holdings<F> {
    pub fn least(&self) -> usize {
        self.nodes.iter().map(Table::len).min().unwrap_or(0)
    }

    /// An error about a batch, with everybody's records where they differ.
    pub(super) fn explain_batch(&self, error: ConfigError) -> ConfigError {
        let sizes = self.nodes.iter().map(Table::len);
        Organisations::of_sizes(self.node_names.as_deref(), sizes).explain_batch(error)
    }
}

/// Holdings as the data comes: images stay bytes.
pub enum AnyHoldings {
    Numbers(Holdings),
    Images(Holdings<u8>),
    /// Features of either.
    Features(Holdings<f32>),
}

/// The same of holdings, whatever their records are made of.
macro_rules! of_any {
    ($any:expr, $holdings:ident => $value:expr) => {
        match $any {
            AnyHoldings::Numbers($holdings) => $value,
            AnyHoldings::Images($holdings) => $value,
            AnyHoldings::Features($holdings) => $value,
        }
    };
}

impl AnyHoldings {
    pub fn facts(&self) -> &RecordFacts {
        of_any!(self, holdings => &holdings.facts)
    }

    pub fn title(&self) -> &str {
        of_any!(self, holdings => &holdings.title)
    }

    pub fn warnings(&self) -> &[String] {
        of_any!(self, holdings => &holdings.warnings)
    }

    pub fn least(&self) -> usize {
        of_any!(self, holdings => holdings.least())
    }

    pub fn test_records(&self) -> usize {
        of_any!(self, holdings => holdings.held_out.as_ref().map_or(0, Table::len))
    }

    pub(super) fn explain_batch(&self, error: ConfigError) -> ConfigError {
        of_any!(self, holdings => holdings.explain_batch(error))
    }
}

/// What is made of what a file holds: numbers of anything, images of images, or features. The text is the file's name.
type Convert<'a, F> = &'a dyn Fn(Loaded, &str) -> Result<Dataset<F>, Refused>;

/// Generates or deals out the data for `nodes` nodes as numbers, which is what linear models read; `binary` labels
/// are ±1, others 0, 1, …
pub fn holdings(run: &RunFile, source: Source, nodes: usize, binary: bool) -> Result<Holdings, ConfigError> {
    match source {
        Source::Data(data) => from_loaded(run, data, nodes, binary, &numbers),
        Source::Law(law) => from_law(run, &law, nodes),
    }
}

/// The same with images left as bytes, which is what networks read. Labels are 0, 1, …
pub fn any_holdings(run: &RunFile, source: Source, nodes: usize) -> Result<AnyHoldings, ConfigError> {
    match source {
        Source::Data(data @ Loaded::Images(_)) => {
            from_loaded(run, data, nodes, false, &|data, file| Ok(data.into_images(file)?))
                .map(AnyHoldings::Images)
        }
        Source::Data(data) => from_loaded(run, data, nodes, false, &numbers).map(AnyHoldings::Numbers),
        Source::Law(law) => from_law(run, &law, nodes).map(AnyHoldings::Numbers),
    }
}

fn numbers(data: Loaded, file: &str) -> Result<Dataset, Refused> {
    Ok(data.into_numbers(file)?)
}

/// Deals the data out to `nodes` nodes and puts it through a map. The facts are those of what was read.
pub fn mapped_holdings(
    run: &RunFile,
    source: Source,
    nodes: usize,
    map: &Map,
    extracting: Extracting<'_>,
) -> Result<Holdings<f32>, ConfigError> {
    let Source::Data(data) = source else {
        let message = "generated records need no features: leave [features] out";
        return Err(run.error(Key::FeaturesMap, message));
    };
    let warnings = std::cell::RefCell::new(Vec::new());
    let convert = |data: Loaded, _: &str| map.apply(data, extracting, &mut warnings.borrow_mut());
    let binary = run.model_kind()?.is_binary();
    let mut holdings = from_loaded(run, data, nodes, binary, &convert)?;
    holdings.warnings.extend(warnings.take());
    Ok(holdings)
}

#[allow(clippy::large_enum_variant)] // there is one of it a run, and it is moved, not kept in lists
pub enum Source {
    /// A file, what is bundled, or what a program gives: read.
    Data(Loaded),
    /// A law they are drawn from.
    Law(Generated),
}

impl Source {
    pub fn read(run: &RunFile) -> Result<Self, ConfigError> {
        let source = run.data.source.ok_or_else(|| run.missing(Key::DataSource))?;
        if !source.is_owned() && run.has(Key::DataPath) {
            let name = source.name();
            let message = format!("data.path names a file, but data.source is {name:?}, which has none");
            let help = "leave data.path out, or use data.source = \"file\"";
            return Err(run.error(Key::DataPath, message).help(help));
        }
        Ok(match source {
            DataSource::File => Source::Data(read_file(run)?),
            DataSource::Digits => Source::Data(Loaded::Numbers(data::digits())),
            DataSource::Memory => Source::Data(given(run)?.records.clone()),
            DataSource::Generated(generated) => Source::Law(generated),
        })
    }

    /// How many nodes the data itself fixes: those of a file's node column.
    pub fn nodes(&self, run: &RunFile) -> Result<Option<usize>, ConfigError> {
        let node = match self {
            Source::Data(Loaded::Numbers(data)) => data.node.as_deref(),
            Source::Data(Loaded::Images(data)) => data.node.as_deref(),
            Source::Law(_) => None,
        };
        let least = least_records(run)?.unwrap_or(0);
        match node.and_then(|node| taking_part(node, least)) {
            Some(0) => Err(nobody_takes_part(run, least)),
            count => Ok(count),
        }
    }

    /// The feature map that the run file asks for, made for these records.
    pub(super) fn feature_map(&self, run: &RunFile, kind: ModelKind) -> Result<Map, ConfigError> {
        let (facts, _) = self.facts(run, kind)?;
        let design = feature_design(run, kind, &facts)?.ok_or_else(|| run.missing(Key::FeaturesMap))?;
        design.make(run).map_err(|e| feature_error(run, &e))
    }

    /// What is public about records of this kind of model, and whether they are images as bytes: nothing but their shape
    /// and their names.
    pub fn facts(&self, run: &RunFile, kind: ModelKind) -> Result<(RecordFacts, bool), ConfigError> {
        let binary = kind.is_binary();
        match self {
            Source::Law(law) => Ok((law_facts(law), false)),
            Source::Data(Loaded::Numbers(data)) => Ok((loaded_facts(run, data, binary)?, false)),
            Source::Data(Loaded::Images(data)) => Ok((loaded_facts(run, data, binary)?, kind.is_network())),
        }
    }
}

/// The network, and the records, which may say how many nodes it has. They are read once.
pub fn wired(run: &RunFile) -> Result<(Wiring, Source), ConfigError> {
    if run.graph.nodes.is_some() {
        // What is wrong with the network is said before a large file is read.
        let wiring = wiring(run, None)?;
        return Ok((wiring, Source::read(run)?));
    }
    let source = Source::read(run)?;
    Ok((wiring(run, source.nodes(run)?)?, source))
}

fn given(run: &RunFile) -> Result<&GivenRecords, ConfigError> {
    run.given().ok_or_else(|| {
        let message = "data.source = \"memory\" means records that a program holds: this run file alone does not have them";
        run.error(Key::DataSource, message).help("in Python: prdo.Run(\"run.toml\", data=(X, y))")
    })
}

fn from_loaded<F: Feature>(
    run: &RunFile,
    loaded: Loaded,
    nodes: usize,
    binary: bool,
    convert: Convert<'_, F>,
) -> Result<Holdings<F>, ConfigError> {
    let at = |e: DataError| data_error(run, &e);
    let labels = Labels::of(run, binary);
    let file = match (run.given(), &run.data.file.path) {
        (Some(given), _) => given.title.clone(),
        (None, Some(file)) => file.typed.clone(),
        (None, None) => "UCI digits".into(),
    };
    let width = loaded.width();
    let dataset = convert(loaded, &file).map_err(|e| refused(run, Key::DataPath, e))?;
    let mut warnings = Vec::new();
    let mut dataset = large_nodes(run, dataset, &mut warnings)?;
    warnings.append(&mut dataset.doubts);
    let classes = given_classes(run, &dataset, binary)?;
    let records = dataset.table.len();
    let relabel = |table: Table<F>| relabel(table, labels, classes);
    // On features the intercept is the model's own.
    let intercept = run.intercept(run.model_kind()?) && !run.features.given;
    let with_intercept = |table: Table<F>| if intercept { table.with_ones() } else { table };
    let (table, classes) = relabel(dataset.table).map_err(at)?;
    refuse_gaps(run, (labels, dataset.class_names.is_some()), table.labels(), classes)?;
    warnings.extend(rare_class(run, dataset.class_names.as_deref(), table.labels(), classes));
    dataset.table = with_intercept(table);
    let facts = dataset_facts(&dataset, width, classes);

    // Before records are set aside, which may be all that a node has.
    let holders: BTreeSet<u32> = dataset.node.iter().flatten().copied().collect();
    let organisations = run.partition.by_column().then(|| Organisations::of(&dataset));
    warnings.extend(organisations.as_ref().and_then(Organisations::warning));
    let (test, test_path) = (run.data.test, &run.data.file.test_path);
    if test.is_some() && test_path.is_none() && brings_test(run).is_some() {
        let why = "so many of the training records are held out instead";
        warnings.push(format!("data.test: the test images of the folder are not used, {why}"));
    }
    let (dataset, validation, mut held_out) = split(run, dataset)?;
    if let Some((test, at)) = separate_test(run, &facts, &file, convert)? {
        held_out = Some(with_intercept(labelled_test(test, labels, classes).map_err(at)?));
    }
    warnings.extend(no_test_images(run));
    let dealt = partition(run, &dataset, nodes, &holders);
    let Dealt { partition, how, names: node_names } = match &organisations {
        Some(organisations) => dealt.map_err(|e| organisations.explain(e))?,
        None => dealt?,
    };
    if dataset.node.is_some() && !run.partition.by_column() {
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

/// Where an error about held-out records belongs.
type At<'a> = Box<dyn Fn(DataError) -> ConfigError + 'a>;

/// Held-out records that come apart from the others, if any do: from a file of their own, a program or a folder of images.
fn separate_test<'a, F: Feature>(
    run: &'a RunFile,
    facts: &RecordFacts,
    file: &str,
    convert: Convert<'_, F>,
) -> Result<Option<(Table<F>, At<'a>)>, ConfigError> {
    if let Some(path) = &run.data.file.test_path {
        let test = read_test(run, path, facts, convert)?;
        let at = |e| run.error(Key::DataTestPath, format!("data: {}: {e}", path.display()));
        return Ok(Some((test, Box::new(at))));
    }
    if let Some(test) = run.given().and_then(|given| given.test.clone()) {
        let (found, width) = (test.width(), facts.features as usize);
        if found != width {
            let message = format!("the test data has {found} features, the data has {width}");
            return Err(run.error(Key::DataSource, message));
        }
        let test = convert(test, "the test data").map_err(|e| refused(run, Key::DataSource, e))?.table;
        let at = |e| run.error(Key::DataSource, format!("test data: {e}"));
        return Ok(Some((test, Box::new(at))));
    }
    let Some(path) = brings_test(run).filter(|_| run.data.test.is_none()) else { return Ok(None) };
    let test = read(run, path, Key::DataPath, Part::Test(None))?;
    let test = convert(test, file).map_err(|e| refused(run, Key::DataPath, e))?.table;
    Ok(Some((test, Box::new(|e| data_error(run, &e)))))
}

/// What to say about a folder of images that lacks those to test with.
fn no_test_images(run: &RunFile) -> Option<String> {
    let path = run.data.path().filter(|path| path.is_dir())?;
    let told = brings_test(run).is_some() || run.data.test.is_some() || run.data.file.test_path.is_some();
    (!told).then(|| {
        format!(
            "{} has no test images: some of the others are held out instead (data.test says how many)",
            path.file_name().unwrap_or_default().to_string_lossy()
        )
    })
}

fn dataset_facts<F: Feature>(dataset: &Dataset<F>, features: usize, classes: Option<usize>) -> RecordFacts {
    let sides = |i: ImageShape| [i.channels as u64, i.height as u64, i.width as u64];
    RecordFacts {
        features: features as u64,
        classes: classes.map(|k| k as u64),
        class_names: dataset.class_names.clone(),
        feature_names: dataset.feature_names.clone(),
        image: dataset.image.map(sides),
    }
}

/// What is public about the records that a run file names, for this kind of model, and whether they are images as bytes.
pub fn public_facts(run: &RunFile, kind: ModelKind) -> Result<(RecordFacts, bool), ConfigError> {
    Source::read(run)?.facts(run, kind)
}

fn loaded_facts<F: Feature>(
    run: &RunFile,
    dataset: &Dataset<F>,
    binary: bool,
) -> Result<RecordFacts, ConfigError> {
    let at = |e: DataError| data_error(run, &e);
    let given = given_classes(run, dataset, binary)?;
    // Labels alone: features would be copied for nothing.
    let labels = dataset.table.labels().to_vec();
    let labels = Table::new(1, vec![0.0; labels.len()], labels).map_err(at)?;
    let (_, classes) = relabel(labels, Labels::of(run, binary), given).map_err(at)?;
    Ok(dataset_facts(dataset, dataset.table.width(), classes))
}
