//! Records that are drawn from a law.

use super::Holdings;
use super::dealing::{Dealt, partition};
use super::errors::data_error;
use crate::config::document::Document;
use crate::config::place::ConfigError;
use prdo_peer::agreement::Facts;
use prdo_problem::data::{self, DataError, Dataset, Table};
use std::collections::BTreeSet;

/// Held-out records that are generated when the run file does not say.
pub(super) const GENERATED_TEST: usize = 2000;

pub(super) fn from_law(document: &Document, law: &str, nodes: usize) -> Result<Holdings, ConfigError> {
    let holdings = generated(document, law, nodes).map_err(|e| data_error(document, &e))?;
    if document.has_section("partition") { redistribute(document, holdings) } else { Ok(holdings) }
}

/// Generated classes dealt out anew: nodes then hold different classes, as `[partition]` says.
pub(super) fn redistribute(document: &Document, holdings: Holdings) -> Result<Holdings, ConfigError> {
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

/// What is public about generated records.
pub(super) fn law_facts(document: &Document, law: &str) -> Facts {
    let d = document.integer("data.dimension").unwrap_or(1);
    let (features, classes) = match law {
        "logistic" => (d, Some(2)),
        "blobs" => (d, Some(blob_classes(document) as u64)),
        "quadratic" => (d, None),
        _ => (1, None),
    };
    Facts { features, classes, ..Facts::default() }
}

pub(super) fn blob_classes(document: &Document) -> usize {
    document.integer("data.classes").unwrap_or(4) as usize
}

pub(super) fn generated(document: &Document, source: &str, nodes: usize) -> Result<Holdings, DataError> {
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
