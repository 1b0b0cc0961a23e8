//! Who holds which record in a simulation.
//!
//! | partition | what the nodes have in common |
//! |---|---|
//! | [`iid`](Partition::iid) | everything: each holds a random sample |
//! | [`dirichlet`](Partition::dirichlet) | as many records each, but classes in proportions of their own |
//! | [`shards`](Partition::shards) | as many records each, of few classes |
//! | [`by_node`](Partition::by_node) | what the data says: one column names the holder |
//!
//! Every record goes to exactly one node, and no node goes without.

use prdo_privacy::{Purpose, Secret, Stream};
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_distr::{Distribution, Gamma};

use super::{DataError, Dataset, Feature, Table};

/// The most class proportions (nodes x classes) that are drawn. Labels that are not classes at all run into it.
const MOST_PROPORTIONS: usize = 100_000_000;

/// The records of each node, ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// For each node the records it holds, ascending.
    pub assignment: Vec<Vec<u32>>,
}

impl Partition {
    /// Random samples whose sizes differ by at most one.
    pub fn iid<F: Feature>(table: &Table<F>, nodes: usize, seed: u64) -> Result<Self, DataError> {
        check_nodes(nodes, 1, table.len())?;
        let mut order = all_records(table.len())?;
        order.shuffle(&mut stream(seed));
        Ok(Self { assignment: cut(&order, nodes).map(<[u32]>::to_vec).collect() }.ascending())
    }

    /// As many records for each node (one more or less where it does not divide), of classes in proportions that
    /// each node draws from a symmetric Dirichlet distribution: the smaller `concentration`, the fewer classes a
    /// node holds.
    ///
    /// Each node draws its proportions over the classes present. Then the nodes take one record each, in an order
    /// drawn anew for each turn, until all records are gone: a node draws a class from its proportions, restricted
    /// to classes that still have records and renormalised, and takes a random record of that class. So every
    /// record is used once, and the last turns hand out what is left.
    ///
    /// # Errors
    /// When there are more nodes than records, or none, `concentration` is not positive and finite, or there are
    /// so many different labels that they are no classes.
    pub fn dirichlet<F: Feature>(
        table: &Table<F>,
        nodes: usize,
        concentration: f64,
        seed: u64,
    ) -> Result<Self, DataError> {
        check_nodes(nodes, 1, table.len())?;
        if !(concentration > 0.0 && concentration.is_finite()) {
            return Err(DataError::argument("concentration", concentration, "positive finite numbers"));
        }
        let mut stream = stream(seed);
        let mut classes = records_by_class(table.labels(), &mut stream)?;
        if nodes.saturating_mul(classes.len()) > MOST_PROPORTIONS {
            let allowed = format!("labels whose number times {nodes} nodes is at most {MOST_PROPORTIONS}");
            return Err(DataError::argument("different labels", classes.len(), allowed));
        }
        let proportions = (0..nodes).map(|_| log_proportions(classes.len(), concentration, &mut stream));
        let proportions = proportions.collect::<Result<Vec<_>, _>>()?;

        let mut assignment = vec![Vec::with_capacity(table.len() / nodes + 1); nodes];
        let mut order: Vec<usize> = (0..nodes).collect();
        let mut left = table.len();
        while left > 0 {
            order.shuffle(&mut stream);
            for node in order.iter().take(left.min(nodes)) {
                let class = draw_class(&proportions[*node], &classes, &mut stream);
                assignment[*node].extend(classes[class].pop());
            }
            left -= left.min(nodes);
        }
        Ok(Self { assignment }.ascending())
    }

    /// Records sorted by label, cut into `nodes` x `per_node` shards of equal size (to one record) and dealt at
    /// random, `per_node` to each node (McMahan et al., 2017). Records of one label are shuffled first.
    pub fn shards<F: Feature>(
        table: &Table<F>,
        nodes: usize,
        per_node: usize,
        seed: u64,
    ) -> Result<Self, DataError> {
        check_nodes(nodes, per_node, table.len())?;
        let mut stream = stream(seed);
        let mut order = all_records(table.len())?;
        order.shuffle(&mut stream);
        order.sort_by(|a, b| table.label(*a as usize).total_cmp(&table.label(*b as usize)));
        let mut shards: Vec<&[u32]> = cut(&order, nodes * per_node).collect();
        shards.shuffle(&mut stream);
        Ok(Self { assignment: shards.chunks(per_node).map(<[&[u32]]>::concat).collect() }.ascending())
    }

    /// What the data's node column says, for `nodes` nodes or as many as it names.
    ///
    /// # Errors
    /// When there is no such column, it names a node outside `0..nodes`, or a node holds nothing.
    pub fn by_node<F: Feature>(data: &Dataset<F>, nodes: Option<usize>) -> Result<Self, DataError> {
        let Some(holders) = &data.node else {
            return Err(DataError::NoNodeColumn);
        };
        let named = holders.iter().max().map_or(0, |most| *most as usize + 1);
        let nodes = nodes.unwrap_or(named);
        if let Some(record) = holders.iter().position(|node| *node as usize >= nodes) {
            return Err(DataError::NodeRange { record, node: holders[record], nodes });
        }
        check_nodes(nodes, 1, holders.len())?;
        let mut assignment = vec![Vec::new(); nodes];
        for (record, holder) in all_records(holders.len())?.into_iter().zip(holders) {
            assignment[*holder as usize].push(record);
        }
        match assignment.iter().position(Vec::is_empty) {
            Some(node) => Err(DataError::EmptyNode { node, nodes }),
            None => Ok(Self { assignment }),
        }
    }

    /// The nodes' tables.
    ///
    /// # Panics
    /// When `table` is not the one that was partitioned and has fewer records.
    pub fn into_tables<F: Feature>(self, table: Table<F>) -> Vec<Table<F>> {
        self.assignment.into_iter().map(|records| table.select(&records)).collect()
    }

    fn ascending(mut self) -> Self {
        self.assignment.iter_mut().for_each(|records| records.sort_unstable());
        self
    }
}

/// How many records of each class (in the labels' sorted order) each node holds; a report's table.
///
/// # Panics
/// When `assignment` names a record that has no label.
pub fn class_table(labels: &[f64], assignment: &[Vec<u32>]) -> Vec<Vec<usize>> {
    let distinct = distinct(labels);
    let count = |records: &Vec<u32>| {
        let mut counts = vec![0; distinct.len()];
        for record in records {
            let found = distinct.binary_search_by(|class| class.total_cmp(&labels[*record as usize]));
            found.into_iter().for_each(|class| counts[class] += 1);
        }
        counts
    };
    assignment.iter().map(count).collect()
}

fn stream(seed: u64) -> Stream {
    Secret::from_seed(seed).stream(Purpose::Partition, 0, 0)
}

/// The numbers of all records. Partitions and splits number them by `u32`.
pub(super) fn all_records(records: usize) -> Result<Vec<u32>, DataError> {
    match u32::try_from(records) {
        Ok(records) => Ok((0..records).collect()),
        Err(_) => Err(DataError::argument("records", records, "at most 4294967295")),
    }
}

fn check_nodes(nodes: usize, per_node: usize, records: usize) -> Result<(), DataError> {
    for (name, value) in [("nodes", nodes), ("shards per node", per_node)] {
        if value == 0 {
            return Err(DataError::argument(name, 0, "1 or more"));
        }
    }
    match nodes.checked_mul(per_node) {
        Some(parts) if parts <= records => Ok(()),
        _ => Err(DataError::TooFewRecords { nodes, per_node, records }),
    }
}

/// `order` in `parts` runs whose lengths differ by at most one, the longer ones first.
fn cut(order: &[u32], parts: usize) -> impl Iterator<Item = &[u32]> {
    let (size, longer) = (order.len() / parts, order.len() % parts);
    let start = move |part: usize| part * size + part.min(longer);
    (0..parts).map(move |part| &order[start(part)..start(part + 1)])
}

fn distinct(labels: &[f64]) -> Vec<f64> {
    let mut distinct = labels.to_vec();
    distinct.sort_unstable_by(f64::total_cmp);
    distinct.dedup_by(|a, b| a.total_cmp(b).is_eq());
    distinct
}

/// The records of each class in random order, classes in the labels' sorted order.
fn records_by_class(labels: &[f64], stream: &mut Stream) -> Result<Vec<Vec<u32>>, DataError> {
    let distinct = distinct(labels);
    let mut classes = vec![Vec::new(); distinct.len()];
    for (record, label) in all_records(labels.len())?.into_iter().zip(labels) {
        let found = distinct.binary_search_by(|class| class.total_cmp(label));
        found.into_iter().for_each(|class| classes[class].push(record));
    }
    classes.iter_mut().for_each(|records: &mut Vec<u32>| records.shuffle(stream));
    Ok(classes)
}

/// The logarithms of one node's class proportions, up to a constant.
///
/// A Dirichlet draw is a normalised vector of Gamma(c) draws. For small c these underflow to 0, all of them at
/// once for tiny c; so they are drawn as Gamma(c + 1) · U^(1/c), which has the same law (Marsaglia and Tsang,
/// 2000), and kept as logarithms. The clamp changes no draw that could be told apart.
pub(super) fn log_proportions(
    classes: usize,
    concentration: f64,
    stream: &mut Stream,
) -> Result<Vec<f64>, DataError> {
    let c = concentration.clamp(1e-300, 1e12);
    let gamma = Gamma::new(c + 1.0, 1.0)
        .map_err(|_| DataError::argument("concentration", concentration, "positive finite numbers"))?;
    let mut draw = || {
        let uniform = 1.0 - stream.random::<f64>();
        gamma.sample(stream).ln() + uniform.ln() / c
    };
    Ok((0..classes).map(|_| draw()).collect())
}

/// A class that still has records, drawn from the proportions. The likeliest such class has weight 1 here, so the
/// weights never sum to 0.
fn draw_class(log_proportions: &[f64], left: &[Vec<u32>], stream: &mut Stream) -> usize {
    let open =
        || log_proportions.iter().zip(left).enumerate().filter(|(_, (_, records))| !records.is_empty());
    let most = open().fold(f64::NEG_INFINITY, |most, (_, (log, _))| most.max(*log));
    let total: f64 = open().map(|(_, (log, _))| (log - most).exp()).sum();
    let mut at = stream.random::<f64>() * total;
    let mut chosen = 0;
    for (class, (log, _)) in open() {
        let weight = (log - most).exp();
        // A class of weight 0 is never chosen, even when rounding leaves something of `at` at the end.
        if weight > 0.0 {
            chosen = class;
            if at < weight {
                break;
            }
            at -= weight;
        }
    }
    chosen
}
