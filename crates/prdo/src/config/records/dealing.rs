//! Who holds which records: records set aside, organisations that take part, the partition.

use super::errors::data_error;
use super::files::brings_test;
use crate::config::document::Document;
use crate::config::place::ConfigError;
use prdo_problem::data::{self, DataError, Dataset, Feature, Partition, Table};
use std::collections::BTreeSet;

pub(super) fn nobody_takes_part(document: &Document, least: usize) -> ConfigError {
    let message = format!("partition.least = {least} is not allowed: no node has so many records");
    document.error("partition.least", message)
}

/// How many nodes a column speaks of; with `least`, how many of them hold so many records.
pub(super) fn taking_part(node: &[u32], least: usize) -> Option<usize> {
    if least == 0 {
        return node.iter().max().map(|last| *last as usize + 1);
    }
    let mut sorted = node.to_vec();
    sorted.sort_unstable();
    Some(sorted.chunk_by(|a, b| a == b).filter(|own| own.len() >= least).count())
}

/// The records of nodes that hold as many as `partition.least` says; of others it is said that they are left out.
pub(super) fn large_nodes<F: Feature>(
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
        let left = if records == 1 { "1 record is" } else { &format!("{records} records are") };
        warnings.push(format!(
            "{nodes} {who} with fewer than {least} records {take} not take part: {left} left out (partition.least)"
        ));
    }
    Ok(dataset)
}

/// How many records a node of a file must have to take part, if that is said.
pub(super) fn least_records(document: &Document) -> Result<Option<usize>, ConfigError> {
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

/// What is left to train on, the validation records and the held-out ones.
pub(super) type Parts<F> = (Dataset<F>, Option<Table<F>>, Option<Table<F>>);

/// Sets the held-out and the validation records aside.
pub(super) fn split<F: Feature>(document: &Document, dataset: Dataset<F>) -> Result<Parts<F>, ConfigError> {
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

pub(super) const LAST_ONES: &str =
    "every node needs a record to train on; the held-out records (data.test) may have taken its last ones";

/// The error for a node without records: the data names it nowhere, or all its records were set aside.
pub(super) fn empty_node<F: Feature>(
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
pub(super) struct Dealt {
    pub(super) partition: Partition,
    /// In words.
    pub(super) how: String,
    /// What the nodes are called, where the data says who holds what.
    pub(super) names: Option<Vec<String>>,
}

pub(super) fn partition<F: Feature>(
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
