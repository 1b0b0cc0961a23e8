//! Points of the frontier: means over seeds.

use super::super::grid::as_text;
use super::results::{Cell, Figures, Results};
use super::setting::{DELTA, Data, Map};
use prdo::algorithm::Method;
use prdo::report::Spread;
use serde::Serialize;

/// The runs that differ in their seed only.
#[derive(Clone, Debug)]
pub struct Point<'a> {
    /// The images.
    pub data: Data,
    /// What is read of them.
    pub map: Map,
    /// The method.
    pub method: Method,
    /// ε.
    pub epsilon: f64,
    /// The runs, by seed.
    pub cells: Vec<&'a Cell>,
}

impl<'a> Point<'a> {
    /// All there are: by data, map, method and ε.
    pub fn all(results: &'a Results) -> Vec<Self> {
        let mut cells: Vec<&Cell> = results.cells.iter().collect();
        let place = |method: Method| Method::ALL.iter().position(|m| *m == method);
        cells.sort_by(|a, b| {
            let key = |c: &Cell| (c.key.data, c.key.map, place(c.key.method));
            key(a)
                .cmp(&key(b))
                .then(a.key.epsilon.total_cmp(&b.key.epsilon))
                .then(a.key.seed.cmp(&b.key.seed))
        });
        let mut points: Vec<Self> = Vec::new();
        for cell in cells {
            let key = cell.key;
            let same = |p: &Self| {
                (p.data, p.map, p.method, p.epsilon) == (key.data, key.map, key.method, key.epsilon)
            };
            match points.last_mut().filter(|point| same(point)) {
                Some(point) => point.cells.push(cell),
                None => points.push(Self {
                    data: key.data,
                    map: key.map,
                    method: key.method,
                    epsilon: key.epsilon,
                    cells: vec![cell],
                }),
            }
        }
        points
    }

    /// Mean and deviation of a figure.
    pub fn spread(&self, figure: impl Fn(&Figures) -> f64) -> Spread {
        let values: Vec<f64> = self.cells.iter().map(|cell| figure(&cell.figures)).collect();
        Spread::of(&values).unwrap_or(Spread { mean: 0.0, deviation: 0.0, count: 0 })
    }

    /// Mean ± deviation of the accuracy, in percent.
    pub fn show(&self) -> String {
        let spread = self.spread(|f| 100.0 * f.accuracy);
        match spread.count {
            1 => format!("{:.2}", spread.mean),
            _ => format!("{:.2} ± {:.2}", spread.mean, spread.deviation),
        }
    }

    /// Seeds of its runs.
    pub fn seeds(&self) -> Vec<u64> {
        self.cells.iter().map(|cell| cell.key.seed).collect()
    }

    /// As programs read it.
    pub fn row(&self) -> PointRow {
        let accuracy = self.spread(|f| f.accuracy);
        let mean = |figure: fn(&Figures) -> f64| self.spread(figure).mean;
        PointRow {
            data: self.data,
            features: self.map,
            method: self.method,
            epsilon: self.epsilon,
            delta: DELTA,
            accuracy_mean: accuracy.mean,
            accuracy_std: accuracy.deviation,
            seeds: accuracy.count,
            lowest_node_accuracy: mean(|f| f.lowest_node_accuracy),
            validation_accuracy: mean(|f| f.validation_accuracy),
            noise_multiplier: mean(|f| f.noise_multiplier),
            epsilon_proven: mean(|f| f.epsilon_proven),
            rate: mean(|f| f.rate),
            rounds: mean(|f| f.rounds),
            clip: mean(|f| f.clip),
            step_size: mean(|f| f.step_size),
            parameters: mean(|f| f.parameters),
            seconds: mean(|f| f.seconds),
            bytes_sent: mean(|f| f.bytes_sent),
        }
    }
}

/// A point as programs read it: accuracies are shares, the deviation is the sample's over seeds.
#[derive(Debug, Serialize)]
pub struct PointRow {
    data: Data,
    features: Map,
    #[serde(serialize_with = "as_text::serialize")]
    method: Method,
    epsilon: f64,
    delta: f64,
    accuracy_mean: f64,
    accuracy_std: f64,
    seeds: usize,
    lowest_node_accuracy: f64,
    validation_accuracy: f64,
    noise_multiplier: f64,
    epsilon_proven: f64,
    rate: f64,
    rounds: f64,
    clip: f64,
    step_size: f64,
    parameters: f64,
    seconds: f64,
    bytes_sent: f64,
}
