//! Example data made from a seed: the paper's heterogeneous logistic regression, class blobs, quadratic targets
//! and the coefficients of the log-cosh example.
//!
//! Node `i` draws from its own stream (purpose `Data`, node `i + 1`, round 0), what all nodes share from that of
//! node 0, and held-out records from round 1. So a node's data depends on neither the number of threads nor the
//! number of other nodes, and held-out records are fresh draws from the very laws that the nodes drew from.

use prdo_privacy::{Purpose, Secret, Stream};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

use super::{DataError, Table};

/// The most bytes of features that are generated.
pub const GENERATED_LIMIT: u64 = 64_000_000_000;

/// The stream numbers of what all nodes share, and of held-out records.
pub(super) const SHARED: u32 = 0;
pub(super) const NODE_ROUND: u32 = 0;
pub(super) const HELD_OUT_ROUND: u32 = 1;

/// Heterogeneous logistic regression data, one table per node: features a ~ N(0, I), a common teacher
/// w ~ N(0, I), a perturbation hᵢ ~ N(0, `heterogeneity` · I) per node, and the label +1 with probability
/// 1 / (1 + exp(−aᵀ(w + hᵢ))), else −1.
///
/// # Errors
/// When a number is 0 or too large, or `heterogeneity` (a variance) is negative or not finite.
pub fn logistic(
    nodes: usize,
    records: usize,
    dimension: usize,
    heterogeneity: f64,
    seed: u64,
) -> Result<Vec<Table>, DataError> {
    check_sizes(nodes, records, dimension, records.saturating_mul(nodes))?;
    let law = LogisticLaw::new(dimension, heterogeneity, seed)?;
    each_node(nodes, |node| {
        let (weights, mut stream) = law.weights(node);
        labelled(&weights, records, &mut stream)
    })
}

/// Held-out records of [`logistic`] with the same `dimension`, `heterogeneity`, `nodes` and `seed`: from the
/// mixture of the nodes' laws, as many from each node (one more from the first ones where it does not divide).
pub fn logistic_held_out(
    records: usize,
    dimension: usize,
    heterogeneity: f64,
    nodes: usize,
    seed: u64,
) -> Result<Table, DataError> {
    check_sizes(nodes, records, dimension, records)?;
    let law = LogisticLaw::new(dimension, heterogeneity, seed)?;
    let parts = each_node(nodes.min(records), |node| {
        let (weights, _) = law.weights(node);
        let share = records / nodes + usize::from((node as usize) < records % nodes);
        labelled(&weights, share, &mut law.secret.stream(Purpose::Data, node + 1, HELD_OUT_ROUND))
    })?;
    Table::concat(&parts)
}

struct LogisticLaw {
    secret: Secret,
    teacher: Vec<f64>,
    deviation: f64,
}

impl LogisticLaw {
    fn new(dimension: usize, heterogeneity: f64, seed: u64) -> Result<Self, DataError> {
        let deviation = deviation("heterogeneity", heterogeneity)?.sqrt();
        let secret = Secret::from_seed(seed);
        let teacher = normals(dimension, &mut secret.stream(Purpose::Data, SHARED, NODE_ROUND));
        Ok(Self { secret, teacher, deviation })
    }

    /// w + hᵢ, and the node's stream after it.
    fn weights(&self, node: u32) -> (Vec<f64>, Stream) {
        let mut stream = self.secret.stream(Purpose::Data, node + 1, NODE_ROUND);
        let own = normals(self.teacher.len(), &mut stream);
        let weights = self.teacher.iter().zip(own).map(|(w, h)| w + self.deviation * h).collect();
        (weights, stream)
    }
}

/// Records whose labels follow the logistic law of `weights`.
fn labelled(weights: &[f64], records: usize, stream: &mut Stream) -> Result<Table, DataError> {
    let width = weights.len();
    let mut features = vec![0.0; records * width];
    let mut labels = Vec::with_capacity(records);
    for row in features.chunks_exact_mut(width) {
        row.iter_mut().for_each(|a| *a = StandardNormal.sample(stream));
        let margin: f64 = row.iter().zip(weights).map(|(a, w)| a * w).sum();
        let positive = stream.random::<f64>() < 1.0 / (1.0 + (-margin).exp());
        labels.push(if positive { 1.0 } else { -1.0 });
    }
    Table::new(width, features, labels)
}

/// Gaussian blobs, one table per node: `classes` centres on the unit sphere, and records scattered about them with
/// standard deviation `spread` in each coordinate. Labels are 0 to `classes` − 1, each as likely as the others.
///
/// In one dimension the sphere is two points, so that more than two classes coincide.
///
/// # Errors
/// When a number is 0 or too large, `classes` is below 2, or `spread` is negative or not finite.
pub fn blobs(
    nodes: usize,
    records: usize,
    dimension: usize,
    classes: usize,
    spread: f64,
    seed: u64,
) -> Result<Vec<Table>, DataError> {
    check_sizes(nodes, records, dimension, records.saturating_mul(nodes))?;
    let law = BlobLaw::new(dimension, classes, spread, seed)?;
    each_node(nodes, |node| law.draw(records, &mut law.secret.stream(Purpose::Data, node + 1, NODE_ROUND)))
}

/// Held-out records of [`blobs`] with the same `dimension`, `classes`, `spread` and `seed`.
pub fn blobs_held_out(
    records: usize,
    dimension: usize,
    classes: usize,
    spread: f64,
    seed: u64,
) -> Result<Table, DataError> {
    check_sizes(1, records, dimension, records)?;
    let law = BlobLaw::new(dimension, classes, spread, seed)?;
    law.draw(records, &mut law.secret.stream(Purpose::Data, SHARED, HELD_OUT_ROUND))
}

struct BlobLaw {
    secret: Secret,
    dimension: usize,
    classes: usize,
    centres: Vec<f64>,
    spread: f64,
}

impl BlobLaw {
    fn new(dimension: usize, classes: usize, spread: f64, seed: u64) -> Result<Self, DataError> {
        let spread = deviation("spread", spread)?;
        if classes < 2 {
            return Err(DataError::argument("classes", classes, "2 or more"));
        }
        check_sizes(1, classes, dimension, classes)?;
        let secret = Secret::from_seed(seed);
        let mut centres = normals(classes * dimension, &mut secret.stream(Purpose::Data, SHARED, NODE_ROUND));
        for centre in centres.chunks_exact_mut(dimension) {
            let norm = centre.iter().map(|v| v * v).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
            centre.iter_mut().for_each(|v| *v /= norm);
        }
        Ok(Self { secret, dimension, classes, centres, spread })
    }

    fn draw(&self, records: usize, stream: &mut Stream) -> Result<Table, DataError> {
        let mut features = vec![0.0; records * self.dimension];
        let mut labels = Vec::with_capacity(records);
        for row in features.chunks_exact_mut(self.dimension) {
            let class = stream.random_range(0..self.classes);
            let centre = &self.centres[class * self.dimension..][..self.dimension];
            for (value, c) in row.iter_mut().zip(centre) {
                let noise: f64 = StandardNormal.sample(stream);
                *value = c + self.spread * noise;
            }
            labels.push(class as f64);
        }
        Table::new(self.dimension, features, labels)
    }
}

/// Target points for losses such as ½‖x − c‖², one table per node: a centre cᵢ ~ N(0, `heterogeneity` · I) per node
/// and records cᵢ + N(0, I). Labels are 0.
pub fn quadratic(
    nodes: usize,
    records: usize,
    dimension: usize,
    heterogeneity: f64,
    seed: u64,
) -> Result<Vec<Table>, DataError> {
    check_sizes(nodes, records, dimension, records.saturating_mul(nodes))?;
    let deviation = deviation("heterogeneity", heterogeneity)?.sqrt();
    let secret = Secret::from_seed(seed);
    each_node(nodes, |node| {
        let mut stream = secret.stream(Purpose::Data, node + 1, NODE_ROUND);
        let centre = normals(dimension, &mut stream);
        let mut features = normals(records * dimension, &mut stream);
        for row in features.chunks_exact_mut(dimension) {
            row.iter_mut().zip(&centre).for_each(|(value, c)| *value += deviation * c);
        }
        Table::new(dimension, features, vec![0.0; records])
    })
}

/// Coefficients aᵢᵣ for the log-cosh example, one table of width 1 per node: the largest |aᵢᵣ| is `bound`, the mean
/// over all nodes and records is 0 (to rounding), and the nodes' own means differ. Labels are 0.
///
/// Drawn as mᵢ + uᵢᵣ, both uniform on (−½, ½), then centred and scaled, so half the variance is between nodes.
///
/// # Errors
/// When `nodes` is below 2 (one node's mean would be the grand mean), a number is 0 or too large, or `bound` is
/// not positive and finite.
pub fn coefficients(nodes: usize, records: usize, bound: f64, seed: u64) -> Result<Vec<Table>, DataError> {
    check_sizes(nodes, records, 1, records.saturating_mul(nodes))?;
    if nodes < 2 {
        return Err(DataError::argument("nodes", nodes, "2 or more, so that their means can differ"));
    }
    if !(bound > 0.0 && bound.is_finite()) {
        return Err(DataError::argument("bound", bound, "positive finite numbers"));
    }
    let secret = Secret::from_seed(seed);
    let mut columns: Vec<Vec<f64>> = (1..=nodes as u32)
        .into_par_iter()
        .map(|node| {
            let mut stream = secret.stream(Purpose::Data, node, NODE_ROUND);
            let centre = stream.random::<f64>() - 0.5;
            (0..records).map(|_| centre + stream.random::<f64>() - 0.5).collect()
        })
        .collect();
    // Summed in the nodes' order, so that threads do not matter; twice, to take off what rounding leaves.
    for _ in 0..2 {
        let sums = columns.iter().map(|column| column.iter().sum::<f64>());
        let mean = sums.sum::<f64>() / (nodes * records) as f64;
        columns.iter_mut().flatten().for_each(|a| *a -= mean);
    }
    let largest = columns.iter().flatten().fold(f64::MIN_POSITIVE, |m: f64, a| m.max(a.abs()));
    columns.iter_mut().flatten().for_each(|a| *a = (*a / largest * bound).clamp(-bound, bound));
    columns.into_iter().map(|column| Table::new(1, column, vec![0.0; records])).collect()
}

fn normals(count: usize, stream: &mut Stream) -> Vec<f64> {
    (0..count).map(|_| StandardNormal.sample(stream)).collect()
}

/// A table for each node, made in parallel and kept in the nodes' order.
fn each_node(
    nodes: usize,
    make: impl Fn(u32) -> Result<Table, DataError> + Sync + Send,
) -> Result<Vec<Table>, DataError> {
    (0..nodes as u32).into_par_iter().map(make).collect()
}

/// A variance or deviation: at most 10³⁰⁰, so that a few of them still are finite numbers.
fn deviation(name: &'static str, value: f64) -> Result<f64, DataError> {
    match (0.0..=1e300).contains(&value) {
        true => Ok(value),
        false => Err(DataError::argument(name, value, "0 to 1e300")),
    }
}

/// Refuses nothing and too much: streams are numbered, and records are, by `u32`.
pub(super) fn check_sizes(
    nodes: usize,
    records: usize,
    dimension: usize,
    total: usize,
) -> Result<(), DataError> {
    let most = u32::MAX as usize - 1;
    for (name, value) in [("nodes", nodes), ("records", records), ("dimension", dimension)] {
        if value == 0 || value > most {
            return Err(DataError::argument(name, value, format!("1 to {most}")));
        }
    }
    if (total as u128) * (dimension as u128) * 8 > u128::from(GENERATED_LIMIT) {
        return Err(DataError::TooLarge {
            what: "generated data".to_owned(),
            records: total.to_string(),
            width: dimension.to_string(),
            limit: GENERATED_LIMIT,
        });
    }
    Ok(())
}
