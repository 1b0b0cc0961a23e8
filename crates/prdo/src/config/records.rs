//! The run file's `[data]` and `[partition]` sections as each node's records.

use super::document::Document;
use super::features::{Extracting, Map, Refused, located as feature_error};
use super::layers::is_network;
use super::model::{OWN, model_kind};
use super::place::ConfigError;
use prdo_peer::agreement::Facts;
use prdo_problem::data::{
    self, ClassNames, DataError, Dataset, Feature, Format, ImageShape, Loaded, Options, Partition, Table,
};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

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

/// Held-out records that are generated when the run file does not say.
const GENERATED_TEST: usize = 2000;

/// Holdings as the data comes: images stay bytes.
pub enum Kept {
    /// Records of numbers.
    Numbers(Holdings),
    /// Images.
    Images(Holdings<u8>),
    /// Features of either.
    Features(Holdings<f32>),
}

/// What is made of what a file holds: numbers of anything, images of images, or features. The text is the file's name.
type Convert<'a, F> = &'a dyn Fn(Loaded, &str) -> Result<Dataset<F>, Refused>;

/// Generates or reads the data for `nodes` nodes as numbers, which is what linear models read; `binary` labels
/// are ±1, others 0, 1, …
///
/// # Errors
/// Data that cannot be read, generated or divided, at its place in the run file.
pub fn holdings(document: &Document, nodes: usize, binary: bool) -> Result<Holdings, ConfigError> {
    match source(document)? {
        Source::Data(data) => from_loaded(document, data, nodes, binary, &numbers),
        Source::Law(law) => from_law(document, &law, nodes),
    }
}

/// The same with images left as bytes, which is what networks read. Labels are 0, 1, …
///
/// # Errors
/// As [`holdings`].
pub fn kept_holdings(document: &Document, nodes: usize) -> Result<Kept, ConfigError> {
    match source(document)? {
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

/// Reads the data for `nodes` nodes and puts it through a map. The facts are those of what was read.
///
/// # Errors
/// As [`holdings`], and records that the map cannot read.
pub fn mapped_holdings(
    document: &Document,
    nodes: usize,
    map: &Map,
    extracting: Extracting<'_>,
) -> Result<Holdings<f32>, ConfigError> {
    let Source::Data(data) = source(document)? else {
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

/// Where records come from: a file (or what is bundled), or a law they are drawn from.
enum Source {
    Data(Loaded),
    Law(String),
}

fn source(document: &Document) -> Result<Source, ConfigError> {
    let source = document.text("data.source").ok_or_else(|| document.missing("data.source"))?;
    Ok(match source.as_str() {
        "file" => Source::Data(read_file(document)?),
        "digits" => Source::Data(Loaded::Numbers(data::digits())),
        "memory" => Source::Data(given(document)?.records.clone()),
        _ => Source::Law(source),
    })
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

fn from_law(document: &Document, law: &str, nodes: usize) -> Result<Holdings, ConfigError> {
    let holdings = generated(document, law, nodes).map_err(|e| data_error(document, &e))?;
    if document.has_section("partition") { redistribute(document, holdings) } else { Ok(holdings) }
}

/// Generated classes dealt out anew: nodes then hold different classes, as `[partition]` says.
fn redistribute(document: &Document, holdings: Holdings) -> Result<Holdings, ConfigError> {
    if document.text("data.source").as_deref() != Some("blobs") {
        let message =
            "generated data of this kind has its own nodes: leave [partition] out, or use \"blobs\"";
        let given = ["partition.kind", "partition.concentration", "partition.shards", "partition.seed"];
        let field = given.into_iter().find(|path| document.has(path)).unwrap_or("partition.kind");
        return Err(document.error(field, message));
    }
    let at = |e: DataError| data_error(document, &e);
    let nodes = holdings.nodes.len();
    let dataset = Dataset::from(Table::concat(&holdings.nodes).map_err(at)?);
    let Dealt { partition, how, .. } = partition(document, &dataset, nodes, &BTreeSet::new())?;
    let title = format!("{}, {how} the nodes", holdings.title);
    Ok(Holdings { nodes: partition.into_tables(dataset.table), title, ..holdings })
}

/// How many nodes the data itself fixes: those of a file's node column.
pub fn nodes_of_file(document: &Document) -> Result<Option<usize>, ConfigError> {
    let source = document.text("data.source").unwrap_or_default();
    if !["file", "memory"].contains(&source.as_str()) || document.has("graph.nodes") {
        return Ok(None);
    }
    let least = least_records(document)?.unwrap_or(0);
    let count = |node: Option<Vec<u32>>| match node.and_then(|node| taking_part(&node, least)) {
        Some(0) => Err(nobody_takes_part(document, least)),
        count => Ok(count),
    };
    if source == "memory" {
        return match &given(document)?.records {
            Loaded::Numbers(data) => count(data.node.clone()),
            Loaded::Images(data) => count(data.node.clone()),
        };
    }
    let path = document.file("data.path").ok_or_else(|| document.missing("data.path"))?;
    if matches!(format(document, &path, "data.path")?, Format::Idx | Format::Cifar10) {
        return Ok(None);
    }
    let node = match read_file(document)? {
        Loaded::Numbers(data) => data.node,
        Loaded::Images(data) => data.node,
    };
    count(node)
}

fn nobody_takes_part(document: &Document, least: usize) -> ConfigError {
    let message = format!("partition.least = {least} is not allowed: no node has so many records");
    document.error("partition.least", message)
}

/// How many nodes a column speaks of; with `least`, how many of them hold so many records.
fn taking_part(node: &[u32], least: usize) -> Option<usize> {
    if least == 0 {
        return node.iter().max().map(|last| *last as usize + 1);
    }
    let mut sorted = node.to_vec();
    sorted.sort_unstable();
    Some(sorted.chunk_by(|a, b| a == b).filter(|own| own.len() >= least).count())
}

/// A data error at the key it is about.
fn data_error(document: &Document, error: &DataError) -> ConfigError {
    data_error_of(document, error, "data.path")
}

/// The same for the file that `file_key` names.
fn data_error_of(document: &Document, error: &DataError, file_key: &'static str) -> ConfigError {
    let field = match error {
        _ if file_key != "data.path" => file_key,
        DataError::Argument { name, .. } => match *name {
            "nodes" => "graph.nodes",
            "concentration" => "partition.concentration",
            "test" => "data.test",
            "validation" => "data.validation",
            "dimension" => "data.dimension",
            "classes" => "data.classes",
            "width" => "data.width",
            "label" => "data.label",
            "node" => "data.node",
            "features" => "data.features",
            "columns" => "data.columns",
            _ => "data.source",
        },
        DataError::MissingColumn { wanted, .. } => {
            let is = |name: &str| *wanted == format!("{name:?}");
            let named = |path| document.text(path).is_some_and(|name| is(&name));
            let listed = |name: &String| is(name);
            match () {
                () if named("data.label") => "data.label",
                () if named("data.node") => "data.node",
                () if document.texts("data.features").is_some_and(|list| list.iter().any(listed)) => {
                    "data.features"
                }
                () => "data.path",
            }
        }
        DataError::DoubtfulLabel { .. } if document.has("data.label") => "data.label",
        _ if document.has("data.path") => "data.path",
        _ => "data.source",
    };
    if let DataError::DoubtfulLabel { doubt, .. } = error {
        let help = format!(
            "every different label becomes a class: mend the file, or leave these records out; if all of these are \
             classes, write classes = {} under [data]",
            doubt.count
        );
        return document.error(field, format!("data: {error}")).help(help);
    }
    let message = format!("data: {error}");
    match error {
        DataError::Cell { column, .. } if is_label(document, column) => document.error(field, message),
        DataError::Cell { allowed: "finite numbers", .. } => document.error(field, message).help(
            "if the column says who holds a record, write node = \"its name\" under [data]; if it is text to learn from, \
             `prdo data info FILE` prints the [features] section for it; to leave it out, list the columns to learn \
             from: features = [\"a\", \"b\"]",
        ),
        DataError::MissingColumn { wanted, .. } if field == "data.features" => {
            let names = document.texts(field).unwrap_or_default();
            let item = names.iter().position(|name| *wanted == format!("{name:?}")).unwrap_or(0);
            document.item_error(field, item, message)
        }
        _ => document.error(field, message),
    }
}

/// Whether a column of a file has the labels.
fn is_label(document: &Document, column: &str) -> bool {
    match document.text("data.label") {
        Some(label) => label == column,
        None => ["label", "y"].contains(&column),
    }
}

/// What is public about generated records.
fn law_facts(document: &Document, law: &str) -> Facts {
    let d = document.integer("data.dimension").unwrap_or(1);
    let (features, classes) = match law {
        "logistic" => (d, Some(2)),
        "blobs" => (d, Some(blob_classes(document) as u64)),
        "quadratic" => (d, None),
        _ => (1, None),
    };
    Facts { features, classes, ..Facts::default() }
}

fn blob_classes(document: &Document) -> usize {
    document.integer("data.classes").unwrap_or(4) as usize
}

/// Whether records of numbers get a feature that is always 1. Generated ones do not.
pub fn intercept(document: &Document, binary: bool) -> bool {
    let generated = document.text("data.source").is_some_and(|source| is_generated(&source));
    binary && !generated && document.flag("model.intercept").unwrap_or(true)
}

fn generated(document: &Document, source: &str, nodes: usize) -> Result<Holdings, DataError> {
    let number = |path| document.integer(path).unwrap_or(1) as usize;
    let (records, d) = (number("data.records"), number("data.dimension"));
    let seed = document.integer("data.seed").unwrap_or(1);
    let heterogeneity = document.float("data.heterogeneity").unwrap_or(0.2);
    let test = match document.float("data.test") {
        None => Some(GENERATED_TEST),
        Some(x) if x >= 1.0 => Some(x as usize),
        Some(x) => Some((x * (records * nodes) as f64).round() as usize),
    };
    let test = test.filter(|count| *count > 0);
    let title = |law: &str| format!("{law}, {nodes} nodes with {records} records each (seed {seed})");
    Ok(match source {
        "logistic" => Holdings {
            nodes: data::generate::logistic(nodes, records, d, heterogeneity, seed)?,
            held_out: test
                .map(|n| data::generate::logistic_held_out(n, d, heterogeneity, nodes, seed))
                .transpose()?,
            validation: None,
            node_names: None,
            warnings: Vec::new(),
            facts: law_facts(document, source),
            title: title(&format!("generated logistic data, {d} features, heterogeneity {heterogeneity}")),
        },
        "blobs" => {
            let classes = blob_classes(document);
            let spread = document.float("data.spread").unwrap_or(0.4);
            Holdings {
                nodes: data::generate::blobs(nodes, records, d, classes, spread, seed)?,
                held_out: test
                    .map(|n| data::generate::blobs_held_out(n, d, classes, spread, seed))
                    .transpose()?,
                validation: None,
                node_names: None,
                warnings: Vec::new(),
                facts: law_facts(document, source),
                title: title(&format!("generated blobs of spread {spread}, {classes} classes, {d} features")),
            }
        }
        "quadratic" => Holdings {
            nodes: data::generate::quadratic(nodes, records, d, heterogeneity, seed)?,
            held_out: None,
            validation: None,
            node_names: None,
            warnings: Vec::new(),
            facts: law_facts(document, source),
            title: title(&format!("generated quadratic targets in {d} dimensions")),
        },
        _ => {
            let bound = document.float("data.bound").unwrap_or(1.0);
            Holdings {
                nodes: data::generate::coefficients(nodes, records, bound, seed)?,
                held_out: None,
                validation: None,
                node_names: None,
                warnings: Vec::new(),
                facts: law_facts(document, source),
                title: title(&format!("generated coefficients within ±{bound}")),
            }
        }
    })
}

/// Which part of data that comes in a training and a test part.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part<'a> {
    Training,
    /// Its features are these, where they have names.
    Test(Option<&'a [String]>),
}

fn read_file(document: &Document) -> Result<Loaded, ConfigError> {
    let path = document.file("data.path").ok_or_else(|| document.missing("data.path"))?;
    read(document, &path, "data.path", Part::Training)
}

/// The format that the run file names, or the one that the file's name says.
fn format(document: &Document, path: &Path, field: &'static str) -> Result<Format, ConfigError> {
    Ok(match document.text("data.format").as_deref() {
        Some("csv") => Format::Csv,
        Some("npz") => Format::Npz,
        Some("libsvm") => Format::LibSvm,
        Some("idx") => Format::Idx,
        Some("cifar10") => Format::Cifar10,
        Some("parquet") => Format::Parquet,
        _ => Format::of(path).map_err(|e| document.error(field, format!("data: {e}")))?,
    })
}

fn read(
    document: &Document,
    path: &Path,
    field: &'static str,
    part: Part<'_>,
) -> Result<Loaded, ConfigError> {
    let kind = format(document, path, field)?;
    let prefix = match (part, kind) {
        (Part::Training, Format::Idx | Format::Cifar10) => Some("train"),
        (Part::Test(_), Format::Idx) => Some("t10k"),
        (Part::Test(_), Format::Cifar10) => Some("test"),
        _ => None,
    };
    // Held-out columns go by their names, in whatever order, and nobody need hold these records.
    let named = match part {
        Part::Test(Some(names)) if matches!(kind, Format::Csv | Format::Parquet) => Some(names.to_vec()),
        _ => None,
    };
    let options = Options {
        format: Some(kind),
        label: document.text("data.label"),
        node: document.text("data.node").filter(|_| named.is_none()),
        features: named.or_else(|| document.texts("data.features")),
        columns: document.texts("data.columns"),
        categories: document.texts("features.categories").unwrap_or_default(),
        width: document.integer("data.width").map(|w| w as usize),
        prefix: prefix.filter(|_| path.is_dir()).map(str::to_string),
        unlabelled: false,
        // Held-out records need not be of every class; theirs are held against those of the others.
        class_names: match (part, document.integer("data.classes")) {
            (Part::Test(_), _) => ClassNames::Any,
            (Part::Training, Some(classes)) => ClassNames::Number(classes as usize),
            (Part::Training, None) => ClassNames::Plausible,
        },
    };
    data::load(path, &options).map_err(|e| data_error_of(document, &e, field)).map_err(|mut e| {
        e.place = e.place.or_else(|| document.place(field).cloned());
        e
    })
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
    let classes = given_classes(document, &dataset, binary)?;
    let records = dataset.table.len();
    let relabel = |table: Table<F>| relabel(table, labels, classes);
    // On features the intercept is the model's own.
    let intercept = intercept(document, binary) && !document.has_section("features");
    let with_intercept = |table: Table<F>| if intercept { table.with_ones() } else { table };
    let (table, classes) = relabel(dataset.table).map_err(at)?;
    warnings.extend(rare_class(document, dataset.class_names.as_deref(), table.labels(), classes));
    dataset.table = with_intercept(table);
    let facts = dataset_facts(&dataset, width, classes);

    // Before records are set aside, which may be all that a node has.
    let holders: BTreeSet<u32> = dataset.node.iter().flatten().copied().collect();
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
        held_out = Some(with_intercept(relabel(test).map_err(at)?.0));
    }
    let Dealt { partition, how, names: node_names } = partition(document, &dataset, nodes, &holders)?;
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

/// The records of nodes that hold as many as `partition.least` says; of others it is said that they are left out.
fn large_nodes<F: Feature>(
    document: &Document,
    dataset: Dataset<F>,
    warnings: &mut Vec<String>,
) -> Result<Dataset<F>, ConfigError> {
    let Some(least) = least_records(document)? else { return Ok(dataset) };
    if dataset.node.is_none() {
        let message = "partition.least is given but no column says who holds a record";
        return Err(document
            .error("partition.least", message)
            .help("name it under [data]: node = \"its name\""));
    }
    let (dataset, nodes, records) = dataset.without_small_nodes(least);
    if dataset.table.is_empty() {
        return Err(nobody_takes_part(document, least));
    }
    if nodes > 0 {
        let (who, take) = if nodes == 1 { ("organisation", "does") } else { ("organisations", "do") };
        warnings.push(format!(
            "{nodes} {who} with fewer than {least} records {take} not take part: {records} records are left out \
             (partition.least)"
        ));
    }
    Ok(dataset)
}

/// How many records a node of a file must have to take part, if that is said.
fn least_records(document: &Document) -> Result<Option<usize>, ConfigError> {
    let Some(least) = document.integer("partition.least") else { return Ok(None) };
    match document.text("partition.kind").as_deref() {
        None | Some("column") => Ok(Some(least as usize)),
        Some(kind) => {
            let message =
                format!("partition.least is given but partition.kind is {kind:?}: it must be \"column\"");
            Err(document.error("partition.least", message))
        }
    }
}

/// How a model reads labels.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Labels {
    /// ±1.
    Signs,
    /// 0, 1, …
    Classes,
    /// Whatever they are: a program's own model knows.
    AsGiven,
}

impl Labels {
    fn of(document: &Document, binary: bool) -> Self {
        match (document.text("model.kind").as_deref() == Some(OWN), binary) {
            (true, _) => Self::AsGiven,
            (false, true) => Self::Signs,
            (false, false) => Self::Classes,
        }
    }
}

/// Labels of held-out records: no other classes than those of the records.
fn labelled_test<F: Feature>(
    test: Table<F>,
    labels: Labels,
    classes: Option<usize>,
) -> Result<Table<F>, DataError> {
    relabel(test, labels, classes).map(|(table, _)| table)
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

/// What is public about records of this kind of model, and whether they are images as bytes. Of a file nothing but the
/// shape and the names are looked at.
///
/// # Errors
/// A file that cannot be read, or that holds something else.
pub fn public_facts(document: &Document, kind: &str) -> Result<(Facts, bool), ConfigError> {
    let binary = kind == "logistic";
    match source(document)? {
        Source::Law(law) => Ok((law_facts(document, &law), false)),
        Source::Data(Loaded::Numbers(data)) => Ok((loaded_facts(document, data, binary)?, false)),
        Source::Data(Loaded::Images(data)) => Ok((loaded_facts(document, data, binary)?, is_network(kind))),
    }
}

fn loaded_facts<F: Feature>(
    document: &Document,
    mut dataset: Dataset<F>,
    binary: bool,
) -> Result<Facts, ConfigError> {
    let (width, given) = (dataset.table.width(), given_classes(document, &dataset, binary)?);
    let labels = Labels::of(document, binary);
    let (table, classes) = relabel(dataset.table, labels, given).map_err(|e| data_error(document, &e))?;
    dataset.table = table;
    Ok(dataset_facts(&dataset, width, classes))
}

/// How many classes there are, where the run file or the labels' names say so.
fn given_classes<F: Feature>(
    document: &Document,
    dataset: &Dataset<F>,
    binary: bool,
) -> Result<Option<usize>, ConfigError> {
    let names = dataset.class_names.as_ref();
    if let Some(names) = names.filter(|names| binary && names.len() != 2) {
        let message =
            format!("data: the labels are {}: model.kind = \"logistic\" needs two", names.join(", "));
        let field = if document.has("data.label") { "data.label" } else { "data.path" };
        return Err(document.error(field, message).help("\"softmax\" takes any number of classes"));
    }
    Ok(document.integer("data.classes").map(|k| k as usize).or(names.map(Vec::len)))
}

/// A warning if one class has hardly any records, which is what slips in labels look like; `data.classes` says that the
/// classes are meant.
fn rare_class(
    document: &Document,
    names: Option<&[String]>,
    labels: &[f64],
    classes: Option<usize>,
) -> Option<String> {
    /// With more classes few records a class are usual, and nobody reads the list.
    const MOST: usize = 100;
    let classes = classes.filter(|k| *k <= MOST && !document.has("data.classes"))?;
    let mut counts = vec![0_usize; classes];
    for label in labels {
        // Of two classes the labels may be −1 and 1.
        let class = if classes == 2 { usize::from(*label > 0.0) } else { *label as usize };
        counts.get_mut(class).into_iter().for_each(|count| *count += 1);
    }
    let name = |k: usize| match names.and_then(|names| names.get(k)) {
        Some(name) => format!("{name:?}"),
        None => k.to_string(),
    };
    let few = (0.01_f64).min(0.1 / classes as f64) * labels.len() as f64;
    let (rarest, count) = counts.iter().enumerate().min_by_key(|(_, count)| **count)?;
    let listed: Vec<String> = counts.iter().enumerate().map(|(k, n)| format!("{} {n}", name(k))).collect();
    ((*count as f64) < few).then(|| {
        format!(
            "class {} has {count} of {} records: is it a slip in the labels? The classes and their records: {} \
             (classes = {classes} under [data] says that they are meant)",
            name(rarest),
            labels.len(),
            listed.join(", ")
        )
    })
}

/// Labels as the model reads them, and how many classes there are.
fn relabel<F: Feature>(
    table: Table<F>,
    labels: Labels,
    classes: Option<usize>,
) -> Result<(Table<F>, Option<usize>), DataError> {
    match labels {
        Labels::Signs => Ok((data::binary_labels(table)?, Some(2))),
        Labels::Classes => data::class_labels(table, classes).map(|(table, k)| (table, Some(k))),
        Labels::AsGiven => Ok((table, classes)),
    }
}

/// The data's folder, if it is one of images that brings its own test images.
fn brings_test(document: &Document) -> Option<PathBuf> {
    document.file("data.path").filter(|path| data::test_part(path).is_some())
}

fn read_test<F: Feature>(
    document: &Document,
    path: &Path,
    facts: &Facts,
    convert: Convert<'_, F>,
) -> Result<Table<F>, ConfigError> {
    let loaded = read(document, path, "data.test_path", Part::Test(facts.feature_names.as_deref()))?;
    let (found, width) = (loaded.width(), facts.features as usize);
    if found != width {
        let message =
            format!("data.test_path {} has {found} features, data.path has {width}", path.display());
        return Err(document.error("data.test_path", message));
    }
    let name = path.display().to_string();
    let test = convert(loaded, &name).map_err(|e| refused(document, "data.test_path", e))?;
    let (Some(own), Some(classes)) = (&test.class_names, &facts.class_names) else { return Ok(test.table) };
    // A file numbers its own classes, and need not have all of them: the names say which is which.
    let number = |own: &String| {
        classes.iter().position(|class| class == own).ok_or_else(|| {
            let known = classes.iter().take(20).map(|class| format!("{class:?}")).collect::<Vec<_>>();
            let message = format!(
                "data.test_path {name} has the label {own:?}, which is no class of data.path: {}",
                known.join(", ")
            );
            document.error("data.test_path", message)
        })
    };
    let numbers = own.iter().map(number).collect::<Result<Vec<_>, _>>()?;
    data::renumbered_labels(test.table, &numbers)
        .map_err(|e| document.error("data.test_path", format!("data: {e}")))
}

/// An error of records that were to be converted, at the key it is about.
fn refused(document: &Document, field: &'static str, error: Refused) -> ConfigError {
    match error {
        Refused::Data(error) if field == "data.path" => data_error(document, &error),
        Refused::Data(error) => document.error(field, format!("data: {error}")),
        Refused::Features(error) => feature_error(document, &error),
    }
}

/// What is left to train on, the validation records and the held-out ones.
type Parts<F> = (Dataset<F>, Option<Table<F>>, Option<Table<F>>);

/// Sets the held-out and the validation records aside.
fn split<F: Feature>(document: &Document, dataset: Dataset<F>) -> Result<Parts<F>, ConfigError> {
    let given = document.given().is_some_and(|given| given.test.is_some());
    let given_apart = given || document.has("data.test_path") || brings_test(document).is_some();
    let default_test = if given_apart { 0.0 } else { 0.2 };
    let count = |share: f64| match share {
        s if s < 1.0 => (s * dataset.table.len() as f64).round() as usize,
        s => s as usize,
    };
    for path in ["data.test", "data.validation"] {
        if let Some(value) = document.float(path).filter(|value| *value > 1.0 && value.fract() != 0.0) {
            let message = format!(
                "{path} = {value} is not allowed: it must be a share below 1 or a whole number of records"
            );
            return Err(document.error(path, message));
        }
    }
    let test = count(document.float("data.test").unwrap_or(default_test));
    let validation = count(document.float("data.validation").unwrap_or(0.0));
    if test + validation >= dataset.table.len() {
        let message = format!(
            "data.test and data.validation set {} records aside, but there are only {}",
            test + validation,
            dataset.table.len()
        );
        return Err(
            document.error(if document.has("data.test") { "data.test" } else { "data.validation" }, message)
        );
    }
    let seed = document.integer("partition.seed").unwrap_or(1);
    let [train, validation, test] = data::split_records(dataset.table.len(), validation, test, seed)
        .map_err(|e| data_error(document, &e))?;
    let part = |records: &[u32]| (!records.is_empty()).then(|| dataset.table.select(records));
    let (validation, test) = (part(&validation), part(&test));
    let dataset =
        if validation.is_none() && test.is_none() { dataset } else { dataset.into_selected(&train) };
    Ok((dataset, validation, test))
}

const LAST_ONES: &str =
    "every node needs a record to train on; the held-out records (data.test) may have taken its last ones";

/// The error for a node without records: the data names it nowhere, or all its records were set aside.
fn empty_node<F: Feature>(
    document: &Document,
    dataset: &Dataset<F>,
    node: usize,
    holders: &BTreeSet<u32>,
) -> ConfigError {
    let name = dataset.node_names.as_ref().and_then(|names| names.get(node));
    let name = name.map_or(node.to_string(), |name| format!("{name:?}"));
    let first =
        |keys: [&'static str; 2]| keys.into_iter().find(|key| document.has(key)).unwrap_or("data.path");
    if !holders.iter().any(|holder| *holder as usize == node) {
        let message =
            format!("partition: no record is of node {node}, but there are nodes with larger numbers");
        return document
            .error(first(["data.node", "partition.kind"]), message)
            .help("number the nodes from 0 without gaps, or give them names");
    }
    let message = format!(
        "partition: every record of node {name} was set aside for testing or validation: none is left to train on"
    );
    document.error(first(["data.test", "data.validation"]), message).help(
        "a file sets a fifth aside unless it says otherwise: choose fewer with test = 0.1 under [data], leave out \
         organisations with very few records, or name a file with held-out records (test_path)",
    )
}

/// Records dealt out.
struct Dealt {
    partition: Partition,
    /// In words.
    how: String,
    /// What the nodes are called, where the data says who holds what.
    names: Option<Vec<String>>,
}

fn partition<F: Feature>(
    document: &Document,
    dataset: &Dataset<F>,
    nodes: usize,
    holders: &BTreeSet<u32>,
) -> Result<Dealt, ConfigError> {
    let seed = document.integer("partition.seed").unwrap_or(1);
    let default = if dataset.node.is_some() { "column" } else { "iid" };
    let kind = document.text("partition.kind").unwrap_or_else(|| default.into());
    let table = &dataset.table;
    let (partition, how) = match kind.as_str() {
        "column" => {
            let named = holders.last().map_or(0, |last| *last as usize + 1);
            if named > 0 && named != nodes {
                let message = format!("graph.nodes = {nodes} but the node column speaks of {named} nodes");
                return Err(document
                    .error("graph.nodes", message)
                    .help("leave graph.nodes out: the file says it"));
            }
            (Partition::by_node(dataset, Some(nodes)), "held by".to_string())
        }
        "dirichlet" => {
            let c = document.float("partition.concentration").unwrap_or(0.5);
            (Partition::dirichlet(table, nodes, c, seed), format!("Dirichlet({c}) over"))
        }
        "shards" => {
            let k = document.integer("partition.shards").unwrap_or(2) as usize;
            (Partition::shards(table, nodes, k, seed), format!("{k} label shards a node, over"))
        }
        _ => (Partition::iid(table, nodes, seed), "iid over".to_string()),
    };
    let field = if document.has("partition.kind") { "partition.kind" } else { "data.source" };
    let partition = partition.map_err(|e| match &e {
        DataError::Argument { .. } => data_error(document, &e),
        DataError::EmptyNode { node, .. } => empty_node(document, dataset, *node, holders),
        DataError::TooFewRecords { .. } if document.has("graph.nodes") => {
            document.error("graph.nodes", format!("partition: {e}")).help(LAST_ONES)
        }
        _ => document.error(field, format!("partition: {e}")).help(LAST_ONES),
    })?;
    let names = dataset.node_names.clone().filter(|names| kind == "column" && names.len() == nodes);
    Ok(Dealt { partition, how, names })
}
