//! The run file's `[data]` and `[partition]` sections as each node's records.

use super::document::Document;
use super::place::ConfigError;
use prdo_problem::data::{self, DataError, Dataset, Format, Options, Partition, Table};
use std::path::Path;

/// Who holds what, before it is sealed.
pub struct Holdings {
    /// Each node's records.
    pub nodes: Vec<Table>,
    /// Public records for accuracy.
    pub held_out: Option<Table>,
    /// Records set aside for tuning.
    pub validation: Option<Table>,
    /// Features of a record.
    pub width: usize,
    /// Number of classes, if labels are classes (2 for ±1).
    pub classes: Option<usize>,
    /// The classes' names, where labels are names.
    pub class_names: Option<Vec<String>>,
    /// What should be thought about.
    pub warnings: Vec<String>,
    /// What the data is, in words.
    pub title: String,
}

/// Held-out records that are generated when the run file does not say.
const GENERATED_TEST: usize = 2000;

/// Generates or reads the data for `nodes` nodes.
pub fn holdings(document: &Document, nodes: usize, binary: bool) -> Result<Holdings, ConfigError> {
    let source = document.text("data.source").ok_or_else(|| document.missing("data.source"))?;
    match source.as_str() {
        "file" => from_dataset(document, read_file(document)?, nodes, binary),
        "digits" => from_dataset(document, data::digits(), nodes, binary),
        _ => {
            let holdings = generated(document, &source, nodes).map_err(|e| data_error(document, &e))?;
            if document.has_section("partition") { redistribute(document, holdings) } else { Ok(holdings) }
        }
    }
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
    let (partition, how) = partition(document, &dataset, nodes)?;
    let title = format!("{}, {how} the nodes", holdings.title);
    Ok(Holdings { nodes: partition.into_tables(dataset.table), title, ..holdings })
}

/// How many nodes the data itself fixes: those of a file's node column.
pub fn nodes_of_file(document: &Document) -> Result<Option<usize>, ConfigError> {
    if document.text("data.source").as_deref() != Some("file") || document.has("graph.nodes") {
        return Ok(None);
    }
    let node = read_file(document)?.node;
    Ok(node.and_then(|node| node.iter().max().map(|last| *last as usize + 1)))
}

/// A data error at the key it is about.
fn data_error(document: &Document, error: &DataError) -> ConfigError {
    let field = match error {
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
            _ => "data.source",
        },
        DataError::MissingColumn { wanted, .. } => {
            let named = |path| document.text(path).is_some_and(|name| wanted.contains(&name));
            let listed = |name: &String| wanted.contains(name.as_str());
            match () {
                () if named("data.label") => "data.label",
                () if named("data.node") => "data.node",
                () if document.texts("data.features").is_some_and(|list| list.iter().any(listed)) => {
                    "data.features"
                }
                () => "data.path",
            }
        }
        _ if document.has("data.path") => "data.path",
        _ => "data.source",
    };
    let message = format!("data: {error}");
    let not_numeric = message.contains("finite numbers") && message.contains("column");
    let error = document.error(field, message);
    match not_numeric {
        true => error.help(
            "if the column says who holds a record, write node = \"its name\" under [data]; to leave it out, list \
             the columns to learn from: features = [\"a\", \"b\"]",
        ),
        false => error,
    }
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
            class_names: None,
            warnings: Vec::new(),
            width: d,
            classes: Some(2),
            title: title(&format!("generated logistic data, {d} features, heterogeneity {heterogeneity}")),
        },
        "blobs" => {
            let classes = document.integer("data.classes").unwrap_or(4) as usize;
            let spread = document.float("data.spread").unwrap_or(0.4);
            Holdings {
                nodes: data::generate::blobs(nodes, records, d, classes, spread, seed)?,
                held_out: test
                    .map(|n| data::generate::blobs_held_out(n, d, classes, spread, seed))
                    .transpose()?,
                validation: None,
                class_names: None,
                warnings: Vec::new(),
                width: d,
                classes: Some(classes),
                title: title(&format!("generated blobs of spread {spread}, {classes} classes, {d} features")),
            }
        }
        "quadratic" => Holdings {
            nodes: data::generate::quadratic(nodes, records, d, heterogeneity, seed)?,
            held_out: None,
            validation: None,
            class_names: None,
            warnings: Vec::new(),
            width: d,
            classes: None,
            title: title(&format!("generated quadratic targets in {d} dimensions")),
        },
        _ => {
            let bound = document.float("data.bound").unwrap_or(1.0);
            Holdings {
                nodes: data::generate::coefficients(nodes, records, bound, seed)?,
                held_out: None,
                validation: None,
                class_names: None,
                warnings: Vec::new(),
                width: 1,
                classes: None,
                title: title(&format!("generated coefficients within ±{bound}")),
            }
        }
    })
}

fn read_file(document: &Document) -> Result<Dataset, ConfigError> {
    let path = document.file("data.path").ok_or_else(|| document.missing("data.path"))?;
    read(document, &path, "data.path", "train")
}

fn read(document: &Document, path: &Path, field: &'static str, prefix: &str) -> Result<Dataset, ConfigError> {
    let format = match document.text("data.format").as_deref() {
        Some("csv") => Some(Format::Csv),
        Some("npz") => Some(Format::Npz),
        Some("libsvm") => Some(Format::LibSvm),
        Some("idx") => Some(Format::Idx),
        Some("parquet") => Some(Format::Parquet),
        _ => None,
    };
    let at = |e: DataError| document.error(field, format!("data: {e}"));
    let kind = match format {
        Some(format) => format,
        None => Format::of(path).map_err(at)?,
    };
    let options = Options {
        format: Some(kind),
        label: document.text("data.label"),
        node: document.text("data.node"),
        features: document.texts("data.features"),
        width: document.integer("data.width").map(|w| w as usize),
        prefix: (kind == Format::Idx && path.is_dir()).then(|| prefix.to_string()),
    };
    data::read(path, &options).map_err(|e| data_error(document, &e)).map_err(|mut e| {
        e.place = e.place.or_else(|| document.place(field).cloned());
        e
    })
}

fn from_dataset(
    document: &Document,
    mut dataset: Dataset,
    nodes: usize,
    binary: bool,
) -> Result<Holdings, ConfigError> {
    let at = |e: DataError| data_error(document, &e);
    let classes = document.integer("data.classes").map(|k| k as usize);
    let (records, width) = (dataset.table.len(), dataset.table.width());
    let relabel = |table: Table| -> Result<(Table, usize), DataError> {
        if binary { Ok((data::binary_labels(table)?, 2)) } else { data::class_labels(table, classes) }
    };
    if let Some(names) = dataset.class_names.as_ref().filter(|names| binary && names.len() != 2) {
        let message =
            format!("data: the labels are {}: model.kind = \"logistic\" needs two", names.join(", "));
        return Err(document.error("data.path", message).help("\"softmax\" takes any number of classes"));
    }
    let intercept = binary && document.flag("model.intercept").unwrap_or(true);
    let with_intercept = |table: Table| if intercept { table.with_ones() } else { table };
    let (table, classes) = relabel(dataset.table).map_err(at)?;
    dataset.table = with_intercept(table);
    let class_names = dataset.class_names.clone();
    let file = document.text("data.path").unwrap_or_else(|| "UCI digits".into());

    let (dataset, validation, mut held_out) = split(document, dataset)?;
    if let Some(path) = document.file("data.test_path") {
        held_out = Some(with_intercept(read_test(document, &path, width, binary, classes)?));
    } else if file_has_test_images(document) && !document.has("data.test") {
        let path = document.file("data.path").ok_or_else(|| document.missing("data.path"))?;
        let test = read(document, &path, "data.path", "t10k")?.table;
        held_out = Some(with_intercept(relabel(test).map_err(at)?.0));
    }
    let mut warnings = Vec::new();
    let (partition, how) = partition(document, &dataset, nodes)?;
    if dataset.node.is_some() && document.text("partition.kind").is_some_and(|kind| kind != "column") {
        warnings.push(
            "the file's node column is not used: partition.kind deals the records out anew (leave it out, or use \
             \"column\", to let the file say who holds what)"
                .to_string(),
        );
    }
    let tables = partition.into_tables(dataset.table);
    let title = format!("{file}, {records} records of {width} features, {how} {nodes} nodes");
    let width = width + usize::from(intercept);
    Ok(Holdings {
        nodes: tables,
        held_out,
        validation,
        width,
        classes: Some(classes),
        class_names,
        warnings,
        title,
    })
}

/// Whether the data is a folder of IDX files, which brings its own test images.
fn file_has_test_images(document: &Document) -> bool {
    document
        .file("data.path")
        .is_some_and(|path| path.is_dir() && path.join("t10k-labels-idx1-ubyte").exists())
}

fn read_test(
    document: &Document,
    path: &Path,
    width: usize,
    binary: bool,
    classes: usize,
) -> Result<Table, ConfigError> {
    let table = read(document, path, "data.test_path", "t10k")?.table;
    let at = |e: DataError| document.error("data.test_path", format!("data: {}: {e}", path.display()));
    if table.width() != width {
        let message = format!(
            "data.test_path {} has {} features, data.path has {width}",
            path.display(),
            table.width()
        );
        return Err(document.error("data.test_path", message));
    }
    if binary {
        data::binary_labels(table).map_err(at)
    } else {
        Ok(data::class_labels(table, Some(classes)).map_err(at)?.0)
    }
}

/// Sets the held-out and the validation records aside.
fn split(
    document: &Document,
    dataset: Dataset,
) -> Result<(Dataset, Option<Table>, Option<Table>), ConfigError> {
    let given_apart = document.has("data.test_path") || file_has_test_images(document);
    let default_test = if given_apart { 0.0 } else { 0.2 };
    let count = |share: f64| match share {
        s if s < 1.0 => (s * dataset.table.len() as f64).round() as usize,
        s => s as usize,
    };
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
    let dataset = if validation.is_none() && test.is_none() { dataset } else { dataset.select(&train) };
    Ok((dataset, validation, test))
}

fn partition(
    document: &Document,
    dataset: &Dataset,
    nodes: usize,
) -> Result<(Partition, String), ConfigError> {
    let seed = document.integer("partition.seed").unwrap_or(1);
    let default = if dataset.node.is_some() { "column" } else { "iid" };
    let kind = document.text("partition.kind").unwrap_or_else(|| default.into());
    let table = &dataset.table;
    let (partition, how) = match kind.as_str() {
        "column" => {
            let named = dataset.node.iter().flatten().max().map_or(0, |last| *last as usize + 1);
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
        _ => document.error(field, format!("partition: {e}")).help(
            "every node needs a record to train on; the held-out records (data.test) may have taken its last ones",
        ),
    })?;
    Ok((partition, how))
}
