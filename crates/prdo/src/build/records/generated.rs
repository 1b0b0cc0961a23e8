//! Records that are drawn from a law.

use super::Holdings;
use super::errors::data_error;
use super::partition::{Dealt, partition};
use prdo_data::{self as data, DataError, Dataset, Table};
use prdo_runfile::{ConfigError, Generated, GeneratedLaw, Key, RunFile};
use prdo_store::RecordFacts;
use std::collections::BTreeSet;

pub(super) fn from_law(run: &RunFile, law: &Generated, nodes: usize) -> Result<Holdings, ConfigError> {
    let holdings = generated(run, law, nodes).map_err(|e| data_error(run, &e))?;
    if run.partition.given { redistribute(run, law, holdings) } else { Ok(holdings) }
}

/// Generated classes dealt out anew: nodes then hold different classes, as `[partition]` says.
fn redistribute(run: &RunFile, law: &Generated, holdings: Holdings) -> Result<Holdings, ConfigError> {
    if !matches!(law.law, GeneratedLaw::Blobs { .. }) {
        let message =
            "generated data of this kind has its own nodes: leave [partition] out, or use \"blobs\"";
        let given =
            [Key::PartitionKind, Key::PartitionConcentration, Key::PartitionShards, Key::PartitionSeed];
        let key = given.into_iter().find(|key| run.has(*key)).unwrap_or(Key::PartitionKind);
        return Err(run.error(key, message));
    }
    let at = |e: DataError| data_error(run, &e);
    let nodes = holdings.nodes.len();
    let dataset = Dataset::from(Table::concat(&holdings.nodes).map_err(at)?);
    let Dealt { partition, how, .. } = partition(run, &dataset, nodes, &BTreeSet::new())?;
    let title = format!("{}, {how} the nodes", holdings.title);
    Ok(Holdings { nodes: partition.into_tables(dataset.table), title, ..holdings })
}

pub(super) fn law_facts(generated: &Generated) -> RecordFacts {
    let d = generated.dimension as u64;
    let (features, classes) = match generated.law {
        GeneratedLaw::Logistic { .. } => (d, Some(2)),
        GeneratedLaw::Blobs { classes, .. } => (d, Some(classes as u64)),
        GeneratedLaw::Quadratic { .. } => (d, None),
        GeneratedLaw::Coefficients { .. } => (1, None),
    };
    RecordFacts { features, classes, ..RecordFacts::default() }
}

fn generated(run: &RunFile, generated: &Generated, nodes: usize) -> Result<Holdings, DataError> {
    let Generated { law, records, dimension: d, seed } = *generated;
    let test = Some(run.data.generated_test(records * nodes)).filter(|count| *count > 0);
    let (tables, held_out, what) = match law {
        GeneratedLaw::Logistic { heterogeneity } => (
            data::generate::logistic(nodes, records, d, heterogeneity, seed)?,
            test.map(|n| data::generate::logistic_held_out(n, d, heterogeneity, nodes, seed)),
            format!("generated logistic data, {d} features, heterogeneity {heterogeneity}"),
        ),
        GeneratedLaw::Blobs { classes, spread } => (
            data::generate::blobs(nodes, records, d, classes, spread, seed)?,
            test.map(|n| data::generate::blobs_held_out(n, d, classes, spread, seed)),
            format!("generated blobs of spread {spread}, {classes} classes, {d} features"),
        ),
        GeneratedLaw::Quadratic { heterogeneity } => (
            data::generate::quadratic(nodes, records, d, heterogeneity, seed)?,
            None,
            format!("generated quadratic targets in {d} dimensions"),
        ),
        GeneratedLaw::Coefficients { bound } => (
            data::generate::coefficients(nodes, records, bound, seed)?,
            None,
            format!("generated coefficients within ±{bound}"),
        ),
    };
    Ok(Holdings {
        nodes: tables,
        held_out: held_out.transpose()?,
        validation: None,
        node_names: None,
        warnings: Vec::new(),
        facts: law_facts(generated),
        title: format!("{what}, {nodes} nodes with {records} records each (seed {seed})"),
    })
}
