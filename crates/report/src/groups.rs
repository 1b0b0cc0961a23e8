//! The runs of a comparison grouped by everything but their seed, and their statistics.

use crate::statistics::half_width;
use prdo_algorithm::Method;
use prdo_plot::Series;
use prdo_simulator::Row;
use prdo_store::Cell;

/// The runs that differ in their seed only.
#[derive(Clone, Debug)]
pub struct Group<'a> {
    pub name: String,
    pub method: Method,
    pub cells: Vec<&'a Cell>,
}

#[derive(Clone, Copy, Debug)]
pub struct Spread {
    pub mean: f64,
    /// The sample standard deviation; 0 for one run.
    pub deviation: f64,
    pub count: usize,
}

impl Spread {
    /// Half the width of the mean's 95 % interval, by Student's t; nothing for one run or equal ones.
    pub fn half(self) -> Option<f64> {
        half_width(self.deviation, self.count).filter(|half| *half > 0.0 && half.is_finite())
    }

    /// Mean ± half its interval for people, to as many places as that is worth.
    pub(crate) fn show(self) -> String {
        let Some(half) = self.half() else { return crate::style::figure(self.mean) };
        let places = (-half.log10().floor()).clamp(0.0, 12.0) as usize;
        if places > 7 || self.mean.abs() >= 1e6 {
            return format!("{:.2e} ± {half:.0e}", self.mean);
        }
        format!("{:.places$} ± {half:.places$}", self.mean)
    }

    /// The same for a share, in percent.
    pub(crate) fn show_percent(self) -> String {
        match self.half() {
            Some(half) => format!("{:.1} ± {:.1} %", 100.0 * self.mean, 100.0 * half),
            None => crate::style::percent(self.mean),
        }
    }

    /// Of these values; `None` if there are none.
    pub fn of(values: &[f64]) -> Option<Self> {
        let n = values.len() as f64;
        if values.is_empty() {
            return None;
        }
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
        let deviation = if n > 1.0 { (squares / (n - 1.0)).sqrt() } else { 0.0 };
        Some(Self { mean, deviation, count: values.len() })
    }
}

impl Group<'_> {
    pub(crate) fn spread(&self, value: impl Fn(&Cell) -> Option<f64>) -> Option<Spread> {
        Spread::of(&self.cells.iter().filter_map(|cell| value(cell)).collect::<Vec<_>>())
    }

    pub fn accuracy(&self) -> Option<Spread> {
        self.spread(|cell| cell.rows.last()?.test_accuracy)
    }

    pub fn auc(&self) -> Option<Spread> {
        self.spread(|cell| cell.test_auc)
    }

    /// Final test accuracy of the worst node's own model.
    pub fn worst_node(&self) -> Option<Spread> {
        self.spread(|cell| cell.node_accuracy.iter().copied().reduce(f64::min))
    }

    /// Mean gradient norm of the last fifth of the rounds: steadier than the last row.
    pub fn late_gradient(&self) -> Option<Spread> {
        self.spread(Cell::late_grad_norm)
    }

    /// The mean and the range over seeds of a column, against another.
    pub(crate) fn curve(&self, x: &dyn Fn(&Row) -> f64, y: &dyn Fn(&Row) -> Option<f64>) -> Series {
        let length = self.cells.iter().map(|cell| cell.rows.len()).min().unwrap_or(0);
        let values = |k: usize| self.cells.iter().filter_map(|cell| y(&cell.rows[k])).collect();
        Series::mean_of(&self.name, (0..length).map(|k| (x(&self.cells[0].rows[k]), values(k))))
    }
}
