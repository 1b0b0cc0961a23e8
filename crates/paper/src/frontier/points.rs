//! Points of the frontier: means over seeds.

use super::results::{Cell, Figures, Results};
use super::setting::{DELTA, Map, Noise};
use crate::grid::as_text;
use crate::grid::show::paper_name;
use crate::images::Data;
use prdo::algorithm::Method;
use prdo::report::Spread;
use serde::Serialize;

/// The runs that differ in their seed only.
#[derive(Clone, Debug)]
pub struct Point<'a> {
    pub data: Data,
    pub map: Map,
    pub method: Method,
    pub noise: Noise,
    pub epsilon: f64,
    /// The runs, by seed.
    pub cells: Vec<&'a Cell>,
}

impl<'a> Point<'a> {
    /// All there are: by data, map, method and ε.
    pub fn all(results: &'a Results) -> Vec<Self> {
        let mut cells: Vec<&Cell> = results.cells.iter().collect();
        cells.sort_by(|a, b| {
            let key = |c: &Cell| (c.key.data, c.key.map, c.key.noise, c.key.method.place());
            let epsilons = a.key.epsilon.total_cmp(&b.key.epsilon);
            key(a).cmp(&key(b)).then(epsilons).then(a.key.seed.cmp(&b.key.seed))
        });
        let place =
            |cell: &Cell| (cell.key.data, cell.key.map, cell.key.noise, cell.key.method, cell.key.epsilon);
        let point = |cells: &[&'a Cell]| {
            let (data, map, noise, method, epsilon) = place(cells[0]);
            Self { data, map, method, noise, epsilon, cells: cells.to_vec() }
        };
        cells.chunk_by(|a, b| place(a) == place(b)).map(point).collect()
    }

    /// What it is called in tables and figures.
    pub fn contestant(&self) -> String {
        let noise = if self.noise.is_independent() { "" } else { ", pairs" };
        format!("{}{noise}", paper_name(self.method))
    }

    fn spread(&self, figure: impl Fn(&Cell) -> f64) -> Spread {
        let values: Vec<f64> = self.cells.iter().map(|cell| figure(cell)).collect();
        Spread::of(&values).unwrap_or(Spread { mean: 0.0, deviation: 0.0, count: 0 })
    }

    /// As a share.
    pub fn accuracy(&self) -> Spread {
        self.spread(|cell| cell.accuracy)
    }

    pub fn percent(&self) -> Spread {
        self.spread(|cell| 100.0 * cell.accuracy)
    }

    /// Mean ± deviation of the accuracy, in percent.
    pub fn show(&self) -> String {
        let spread = self.percent();
        match spread.count {
            1 => format!("{:.2}", spread.mean),
            _ => format!("{:.2} ± {:.2}", spread.mean, spread.deviation),
        }
    }

    pub fn seeds(&self) -> Vec<u64> {
        self.cells.iter().map(|cell| cell.key.seed).collect()
    }

    pub fn means(&self) -> Figures {
        let mean = |figure: fn(&Figures) -> f64| self.spread(|cell| figure(&cell.figures)).mean;
        Figures {
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

    pub fn row(&self) -> PointRow {
        let accuracy = self.accuracy();
        PointRow {
            data: self.data,
            features: self.map,
            method: self.method,
            noise: self.noise,
            epsilon: self.epsilon,
            delta: DELTA,
            accuracy_mean: accuracy.mean,
            accuracy_std: accuracy.deviation,
            seeds: accuracy.count,
            means: self.means(),
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
    noise: Noise,
    epsilon: f64,
    delta: f64,
    accuracy_mean: f64,
    accuracy_std: f64,
    seeds: usize,
    #[serde(flatten)]
    means: Figures,
}
