//! Who holds which records: records set aside, organisations that take part, the partition.

use super::errors::data_error;
use super::files::brings_test;
use prdo_data::{self as data, DataError, Dataset, Feature, Partition, Table};
use prdo_runfile::{ConfigError, Key, PartitionKind, RunFile};
use std::collections::BTreeSet;

pub(super) fn nobody_takes_part(run: &RunFile, least: usize) -> ConfigError {
    let message = format!("partition.least = {least} is not allowed: no node has so many records");
    run.error(Key::PartitionLeast, message)
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
    run: &RunFile,
    dataset: Dataset<F>,
    warnings: &mut Vec<String>,
) -> Result<Dataset<F>, ConfigError> {
    let Some(least) = least_records(run)? else { return Ok(dataset) };
    if dataset.node.is_none() {
        let message = "partition.least is given but no column says who holds a record";
        return Err(run
            .error(Key::PartitionLeast, message)
            .help("name it under [data]: node = \"its name\""));
    }
    let (dataset, nodes, records) = dataset.without_small_nodes(least);
    if dataset.table.is_empty() {
        return Err(nobody_takes_part(run, least));
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
pub(super) fn least_records(run: &RunFile) -> Result<Option<usize>, ConfigError> {
    let Some(least) = run.partition.least else { return Ok(None) };
    match run.partition.kind {
        None | Some(PartitionKind::Column) => Ok(Some(least)),
        Some(kind) => {
            let message = format!(
                "partition.least is given but partition.kind is {:?}: it must be \"column\"",
                kind.name()
            );
            Err(run.error(Key::PartitionLeast, message))
        }
    }
}

/// What is left to train on, the validation records and the held-out ones.
pub(super) type Parts<F> = (Dataset<F>, Option<Table<F>>, Option<Table<F>>);

pub(super) fn split<F: Feature>(run: &RunFile, dataset: Dataset<F>) -> Result<Parts<F>, ConfigError> {
    let given = run.given().is_some_and(|given| given.test.is_some());
    let given_apart = given || run.data.file.test_path.is_some() || brings_test(run).is_some();
    let count = |share: f64| match share {
        s if s < 1.0 => (s * dataset.table.len() as f64).round() as usize,
        s => s as usize,
    };
    for (key, value) in [(Key::DataTest, run.data.test), (Key::DataValidation, Some(run.data.validation))] {
        if let Some(value) = value.filter(|value| *value > 1.0 && value.fract() != 0.0) {
            let message = format!(
                "{key} = {value} is not allowed: it must be a share below 1 or a whole number of records"
            );
            return Err(run.error(key, message));
        }
    }
    let test = count(run.data.test_of_file(given_apart));
    let validation = count(run.data.validation);
    if test + validation >= dataset.table.len() {
        let message = format!(
            "data.test and data.validation set {} records aside, but there are only {}",
            test + validation,
            dataset.table.len()
        );
        let key = if run.data.test.is_some() { Key::DataTest } else { Key::DataValidation };
        return Err(run.error(key, message));
    }
    let [train, validation, test] =
        data::split_records(dataset.table.len(), validation, test, run.partition.seed)
            .map_err(|e| data_error(run, &e))?;
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
    run: &RunFile,
    dataset: &Dataset<F>,
    node: usize,
    holders: &BTreeSet<u32>,
) -> ConfigError {
    let name = dataset.node_names.as_ref().and_then(|names| names.get(node));
    let name = name.map_or(node.to_string(), |name| format!("{name:?}"));
    let first = |keys: [Key; 2]| keys.into_iter().find(|key| run.has(*key)).unwrap_or(Key::DataPath);
    if !holders.iter().any(|holder| *holder as usize == node) {
        let message =
            format!("partition: no record is of node {node}, but there are nodes with larger numbers");
        return run
            .error(first([Key::DataNode, Key::PartitionKind]), message)
            .help("number the nodes from 0 without gaps, or give them names");
    }
    let message = format!(
        "partition: every record of node {name} was set aside for testing or validation: none is left to train on"
    );
    run.error(first([Key::DataTest, Key::DataValidation]), message).help(
        "a file sets a fifth aside unless it says otherwise: choose fewer with test = 0.1 under [data], leave out \
         organisations with very few records, or name a file with held-out records (test_path)",
    )
}

pub(super) struct Dealt {
    pub(super) partition: Partition,
    pub(super) how: String,
    /// What the nodes are called, where the data says who holds what.
    pub(super) names: Option<Vec<String>>,
}

pub(super) fn partition<F: Feature>(
    run: &RunFile,
    dataset: &Dataset<F>,
    nodes: usize,
    holders: &BTreeSet<u32>,
) -> Result<Dealt, ConfigError> {
    let seed = run.partition.seed;
    let default = if dataset.node.is_some() { PartitionKind::Column } else { PartitionKind::Iid };
    let kind = run.partition.kind.unwrap_or(default);
    let table = &dataset.table;
    let (partition, how) = match kind {
        PartitionKind::Column => {
            let named = holders.last().map_or(0, |last| *last as usize + 1);
            if named > 0 && named != nodes {
                let message = format!("graph.nodes = {nodes} but the node column speaks of {named} nodes");
                return Err(run
                    .error(Key::GraphNodes, message)
                    .help("leave graph.nodes out: the file says it"));
            }
            (Partition::by_node(dataset, Some(nodes)), "held by".to_string())
        }
        PartitionKind::Dirichlet { concentration: c } => {
            (Partition::dirichlet(table, nodes, c, seed), format!("Dirichlet({c}) over"))
        }
        PartitionKind::Shards { per_node: k } => {
            (Partition::shards(table, nodes, k, seed), format!("{k} label shards per node, over"))
        }
        PartitionKind::Iid => (Partition::iid(table, nodes, seed), "iid over".to_string()),
    };
    let field = if run.partition.kind.is_some() { Key::PartitionKind } else { Key::DataSource };
    let partition = partition.map_err(|e| match &e {
        DataError::Argument { .. } => data_error(run, &e),
        DataError::EmptyNode { node, .. } => empty_node(run, dataset, *node, holders),
        DataError::TooFewRecords { .. } if run.graph.nodes.is_some() => {
            run.error(Key::GraphNodes, format!("partition: {e}")).help(LAST_ONES)
        }
        _ => run.error(field, format!("partition: {e}")).help(LAST_ONES),
    })?;
    let names =
        dataset.node_names.clone().filter(|names| kind == PartitionKind::Column && names.len() == nodes);
    Ok(Dealt { partition, how, names })
}
