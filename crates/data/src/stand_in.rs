//! A table drawn from what is publicly said about its columns: a stand-in on which settings can be tried while nobody looks
//! at the records it stands for.
//!
//! Numbers are normal about a centre of their range and cut off at its ends; a category has a few values, some more
//! common than others. Labels follow a hidden linear rule with noise: whoever knew the rule would name about five
//! labels in six. The first class is the commonest, and nodes differ a little, as organisations do.

use prdo_privacy::{Purpose, Secret, Stream};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

use super::generate::{HELD_OUT_ROUND, NODE_ROUND, SHARED, check_sizes};
use super::{DataError, Table};
use crate::features::{Column, category_code};

/// Records by which the rule's scale is found.
const PILOTS: usize = 1000;
/// How far the first class is ahead of the last, in deviations of the rule.
const LEAN: f64 = 0.6;
/// How far a node's centres are from everybody's, in deviations of the column.
const SHIFT: f64 = 0.3;

/// A table for each of `nodes` nodes, of `records` records each, with labels 0 to `classes` − 1.
///
/// # Errors
/// When a number is 0 or too large, `classes` is below 2, or a range is not one of finite numbers.
pub fn tables(
    columns: &[Column],
    nodes: usize,
    records: usize,
    classes: usize,
    seed: u64,
) -> Result<Vec<Table>, DataError> {
    check_sizes(nodes, records, columns.len(), records.saturating_mul(nodes))?;
    let law = Law::new(columns, classes, seed)?;
    let one = |node: u32| {
        let (shifts, mut stream) = law.node(node);
        law.table(records, &shifts, &mut stream)
    };
    (0..nodes as u32).into_par_iter().map(one).collect()
}

/// Held-out records of [`tables`] with the same `columns`, `nodes`, `classes` and `seed`: about as many from each node.
pub fn held_out(
    columns: &[Column],
    nodes: usize,
    records: usize,
    classes: usize,
    seed: u64,
) -> Result<Table, DataError> {
    check_sizes(nodes, records, columns.len(), records)?;
    let law = Law::new(columns, classes, seed)?;
    let one = |node: u32| {
        let (shifts, _) = law.node(node);
        let share = records / nodes + usize::from((node as usize) < records % nodes);
        let mut stream = law.secret.stream(Purpose::Data, node + 1, HELD_OUT_ROUND);
        law.table(share, &shifts, &mut stream)
    };
    let parts = (0..nodes.min(records) as u32).into_par_iter().map(one).collect::<Result<Vec<_>, _>>()?;
    Table::concat(&parts)
}

/// What the cells of a column are drawn from, and what they say about each class.
enum Cells {
    Number { low: f64, high: f64, centre: f64, deviation: f64, effects: Vec<f64> },
    Category { values: Vec<Value> },
}

struct Value {
    code: f64,
    /// The share of this value and of those before it.
    up_to: f64,
    effects: Vec<f64>,
}

struct Law {
    secret: Secret,
    cells: Vec<Cells>,
    /// What is added to each class's score.
    offsets: Vec<f64>,
    /// What scores are multiplied by before.
    scale: f64,
    /// The deviation of the noise on each score.
    noise: f64,
}

impl Law {
    fn new(columns: &[Column], classes: usize, seed: u64) -> Result<Self, DataError> {
        if classes < 2 {
            return Err(DataError::argument("classes", classes, "2 or more"));
        }
        check_sizes(1, classes, columns.len(), classes)?;
        let secret = Secret::from_seed(seed);
        let mut stream = secret.stream(Purpose::Data, SHARED, NODE_ROUND);
        let cells = columns.iter().map(|column| Cells::of(column, classes, &mut stream)).collect();
        // More classes are harder to tell apart under the same noise.
        let noise = 0.5 * (2.0 / classes as f64).powf(0.6);
        let (offsets, scale) = (vec![0.0; classes], 1.0);
        let law = Self { secret, cells, offsets, scale, noise };
        Ok(law.scaled(&mut stream))
    }

    /// The same with scores as far apart as those of independent classes of deviation 1, none ahead but by [`LEAN`].
    fn scaled(self, stream: &mut Stream) -> Self {
        let (shifts, classes) = (vec![0.0; self.cells.len()], self.offsets.len());
        let pilots: Vec<Vec<f64>> = (0..PILOTS).map(|_| self.record(&shifts, stream).1).collect();
        let mean = |k: usize| pilots.iter().map(|scores| scores[k]).sum::<f64>() / PILOTS as f64;
        let means: Vec<f64> = (0..classes).map(mean).collect();
        let apart = |scores: &Vec<f64>| {
            let own: Vec<f64> = scores.iter().zip(&means).map(|(s, m)| s - m).collect();
            let middle = own.iter().sum::<f64>() / classes as f64;
            own.iter().map(|s| (s - middle) * (s - middle)).sum::<f64>()
        };
        let found = pilots.iter().map(apart).sum::<f64>() / PILOTS as f64;
        let scale = ((classes - 1) as f64 / found.max(1e-12)).sqrt();
        let last = (classes - 1) as f64;
        let offset = |(k, mean): (usize, &f64)| LEAN * (1.0 - k as f64 / last) - scale * mean;
        Self { offsets: means.iter().enumerate().map(offset).collect(), scale, ..self }
    }

    /// How far a node's centres are from everybody's, and the node's stream after that.
    fn node(&self, node: u32) -> (Vec<f64>, Stream) {
        let mut stream = self.secret.stream(Purpose::Data, node + 1, NODE_ROUND);
        let shifts = self.cells.iter().map(|_| SHIFT * normal(&mut stream)).collect();
        (shifts, stream)
    }

    /// A record, and each class's score without noise.
    fn record(&self, shifts: &[f64], stream: &mut Stream) -> (Vec<f64>, Vec<f64>) {
        let mut scores = vec![0.0; self.offsets.len()];
        let draw = |(cells, shift): (&Cells, &f64)| {
            let (value, weight, effects) = cells.draw(*shift, stream);
            scores.iter_mut().zip(effects).for_each(|(score, effect)| *score += weight * effect);
            value
        };
        let row = self.cells.iter().zip(shifts).map(draw).collect();
        let scores = scores.iter().zip(&self.offsets).map(|(s, offset)| self.scale * s + offset);
        (row, scores.collect())
    }

    fn table(&self, records: usize, shifts: &[f64], stream: &mut Stream) -> Result<Table, DataError> {
        let mut features = Vec::with_capacity(records * self.cells.len());
        let mut labels = Vec::with_capacity(records);
        for _ in 0..records {
            let (row, mut scores) = self.record(shifts, stream);
            features.extend(row);
            scores.iter_mut().for_each(|score| *score += self.noise * normal(stream));
            labels.push(largest(&scores) as f64);
        }
        Table::new(self.cells.len(), features, labels)
    }
}

impl Cells {
    fn of(column: &Column, classes: usize, stream: &mut Stream) -> Self {
        match column {
            Column::Range { low, high, .. } => {
                // Ranges that everybody knows are wider than what records fill of them.
                let span = high - low;
                let centre = low + span * (0.3 + 0.4 * stream.random::<f64>());
                let deviation = span * (0.08 + 0.12 * stream.random::<f64>());
                let effects = (0..classes).map(|_| normal(stream)).collect();
                Self::Number { low: *low, high: *high, centre, deviation, effects }
            }
            Column::Category { name } => {
                let count = stream.random_range(2..=8);
                let weights: Vec<f64> = (0..count).map(|_| 0.2 + stream.random::<f64>()).collect();
                let (all, mut before) = (weights.iter().sum::<f64>(), 0.0);
                let value = |(k, weight): (usize, &f64)| {
                    before += weight / all;
                    let effects = (0..classes).map(|_| normal(stream)).collect();
                    Value { code: category_code(&format!("{name} {k}")), up_to: before, effects }
                };
                Self::Category { values: weights.iter().enumerate().map(value).collect() }
            }
        }
    }

    /// A cell, and what it says about each class: these effects, times this weight.
    fn draw(&self, shift: f64, stream: &mut Stream) -> (f64, f64, &[f64]) {
        match self {
            Self::Number { low, high, centre, deviation, effects } => {
                let value = (centre + deviation * (shift + normal(stream))).clamp(*low, *high);
                (value, (value - centre) / deviation, effects)
            }
            Self::Category { values } => {
                let share = stream.random::<f64>();
                let found = values.iter().find(|value| share < value.up_to).or(values.last());
                found.map_or((0.0, 0.0, &[]), |value| (value.code, 1.0, &value.effects[..]))
            }
        }
    }
}

fn normal(stream: &mut Stream) -> f64 {
    StandardNormal.sample(stream)
}

fn largest(scores: &[f64]) -> usize {
    scores.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(class, _)| class)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(numbers: usize, categories: usize) -> Vec<Column> {
        let number = |k| Column::Range { name: format!("n{k}"), low: -5.0, high: 5.0 + k as f64 };
        let category = |k| Column::Category { name: format!("c{k}") };
        (0..numbers).map(number).chain((0..categories).map(category)).collect()
    }

    #[test]
    fn whoever_knew_the_rule_would_name_five_labels_in_six() {
        for (numbers, categories, classes) in [(4, 2, 2), (1, 0, 2), (0, 1, 2), (12, 6, 3), (20, 4, 10)] {
            let law = Law::new(&columns(numbers, categories), classes, 1).unwrap();
            let (shifts, mut stream) = (vec![0.0; numbers + categories], law.node(0).1);
            let mut counts = vec![0; classes];
            let right = (0..4000).filter(|_| {
                let (_, scores) = law.record(&shifts, &mut stream);
                let noisy: Vec<f64> = scores.iter().map(|s| s + law.noise * normal(&mut stream)).collect();
                counts[largest(&noisy)] += 1;
                largest(&noisy) == largest(&scores)
            });
            let right = right.count() as f64 / 4000.0;
            assert!((0.75..0.95).contains(&right), "{numbers} {categories} {classes}: {right}");
            let most = *counts.iter().max().unwrap() as f64 / 4000.0;
            assert!(most > 1.1 / classes as f64 && most < 0.8, "{numbers} {categories} {classes}: {most}");
        }
    }

    #[test]
    fn cells_stay_in_their_columns_and_seeds_repeat_them() {
        let columns = columns(3, 1);
        let tables = tables(&columns, 3, 200, 2, 7).unwrap();
        assert_eq!((tables.len(), tables[0].len(), tables[0].width()), (3, 200, 4));
        for (table, row) in tables.iter().flat_map(|table| (0..200).map(move |r| (table, table.row(r)))) {
            assert!((0..3).all(|k| (-5.0..=5.0 + k as f64).contains(&row[k])));
            assert!(table.labels().iter().all(|label| [0.0, 1.0].contains(label)));
        }
        let mut codes: Vec<u64> = (0..200).map(|r| tables[0].row(r)[3].to_bits()).collect();
        codes.sort_unstable();
        codes.dedup();
        assert!((2..=8).contains(&codes.len()));
        assert_eq!(super::tables(&columns, 2, 200, 2, 7).unwrap()[..], tables[..2]);
        assert_ne!(super::tables(&columns, 2, 200, 2, 8).unwrap()[..], tables[..2]);
        let test = held_out(&columns, 3, 100, 2, 7).unwrap();
        assert_eq!((test.len(), test.row(0) == tables[0].row(0)), (100, false));
        assert!(super::tables(&columns, 1, 10, 1, 7).is_err() && super::tables(&[], 1, 10, 2, 7).is_err());
    }
}
