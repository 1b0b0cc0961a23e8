//! A stand-in table, drawn from what the run file's `[features]` section says: no record is read, and the data file is not
//! opened.

use super::records::{TuningData, budget, give, refused};
use super::{Scorer, TuneError};
use crate::build::{declared_columns, outline, wiring};
use prdo_data::{DataError, Dataset, Loaded, Table, stand_in};
use prdo_runfile::{Document, GivenRecords, GraphKind, Key, RunFile, Section};

/// Records by which trials are scored.
const TEST: usize = 2000;
/// The most records that are drawn, of all nodes and of one: more would only take longer, and noise is scaled.
const MOST: (usize, usize) = (400_000, 4000);
/// The seed of the table and of its hidden rule.
const SEED: u64 = 1;

const CAUTION: &str = "The table was drawn from [features] alone: its columns fill their ranges as real ones often do, and the \
    hidden rule behind its labels predicts about five in six of them. Real labels may depend on their columns more weakly \
    or in other ways: rounds, batch, clips and method carry over better than the step. A public table of the same kind \
    (--stand-in) is better, where one exists.";

pub fn drawn(
    document: &Document,
    nodes: Option<usize>,
    records: Option<usize>,
) -> Result<TuningData, TuneError> {
    let run = document.run_file();
    let columns = declared_columns(&run)?;
    let (nodes, records) = sizes(&run, nodes, records)?;
    let classes = match run.model_kind()?.is_binary() {
        true => 2,
        false => run.data.classes.unwrap_or(2),
    };
    let meant = left_to_train_on(&run, records, nodes);
    let here = meant.min(MOST.1).min((MOST.0 / nodes).max(50));
    let refuse = |e: DataError| refused(format!("--generated: {e}"));
    let tables = stand_in::tables(&columns, nodes, here, classes, SEED).map_err(refuse)?;
    let test = stand_in::held_out(&columns, nodes, TEST, classes, SEED).map_err(refuse)?;
    let named = |table: Table| Dataset {
        feature_names: Some(columns.iter().map(|column| column.name().to_owned()).collect()),
        class_names: Some((0..classes).map(|class| format!("class {class}")).collect()),
        ..Dataset::from(table)
    };
    let node = (0..nodes as u32).flat_map(|i| std::iter::repeat_n(i, here)).collect();
    let all = Table::concat(&tables).map_err(refuse)?;
    let given = GivenRecords {
        records: Loaded::Numbers(Dataset { node: Some(node), ..named(all) }),
        test: Some(Loaded::Numbers(named(test))),
        title: "a table drawn at random".into(),
    };
    // Columns may be in another order than the file's, which is another map.
    let other = give(document, given, nodes)?.without(Section::Resolved).without_key(Key::PartitionLeast);
    let other = batch_within(other.without_key(Key::BatchFirst), meant, records)?;
    let looked_at = outline(&batch_within(other.clone(), here, records)?)?;
    let budget = budget(&run, &looked_at)?;
    let title = format!(
        "a table drawn from the ranges and categories under [features]: {nodes} nodes with {here} records each, {} \
         columns, {classes} classes",
        columns.len()
    );
    let scorer = Scorer::new(other, meant, here, budget).after(looked_at.spent);
    Ok(TuningData { caution: Some(CAUTION), ..TuningData::new(scorer, title) })
}

fn sizes(run: &RunFile, typed: Option<usize>, records: Option<usize>) -> Result<(usize, usize), TuneError> {
    let fixed = match run.graph.kind {
        GraphKind::File => Some(wiring(run, None)?.graph.nodes()),
        GraphKind::Family(_) => run.graph.nodes,
    };
    if let (Some(fixed), Some(typed)) = (fixed, typed)
        && fixed != typed
    {
        let message = format!("--nodes {typed} is not allowed: the run file's network has {fixed} nodes");
        return Err(run.error(Key::GraphNodes, message).into());
    }
    match (fixed.or(typed), records) {
        (Some(nodes), Some(records)) => Ok((nodes, records)),
        (nodes, records) => {
            let mut wanted = Vec::new();
            if nodes.is_none() {
                wanted.push("--nodes N (how many organisations there are)");
            }
            if records.is_none() {
                wanted.push("--records N (how many records the smallest one has)");
            }
            Err(refused(format!(
                "--generated draws a table from [features] and does not open the data file: give its size with {}. \
                 Neither is protected by a private run anyway; `prdo data info FILE --node COLUMN` counts both",
                wanted.join(" and ")
            )))
        }
    }
}

/// How many of a node's records will be left when the run has set its held-out ones aside: at least so many, but for bad
/// luck, so that a batch found here fits.
fn left_to_train_on(run: &RunFile, records: usize, nodes: usize) -> usize {
    let total = (records * nodes) as f64;
    let share = |records: f64| match records {
        count if count >= 1.0 => count / total,
        share => share,
    };
    let test = run.data.test_of_file(run.data.file.test_path.is_some());
    let aside = (share(test) + share(run.data.validation)).min(0.95);
    let (records, luck) = (records as f64, 3.0 * (records as f64 * aside * (1.0 - aside)).sqrt());
    ((records * (1.0 - aside) - luck).floor() as usize).max(1)
}

/// The same with a batch of at most `most`, if the run file's fits a node of `records` records.
fn batch_within(mut document: Document, most: usize, records: usize) -> Result<Document, TuneError> {
    let size = document.run_file().batch.size;
    if size.is_some_and(|size| size > most && size <= records) {
        document.set_value(Key::BatchSize, most as u64)?;
    }
    Ok(document)
}
