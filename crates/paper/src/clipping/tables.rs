//! The tables of the experiment.

use super::fixed_points::FixedPoint;
use super::floor::Floor;
use super::results::Results;
use super::{differences, minibatch};

fn none() -> String {
    "–".to_string()
}

pub type Table = (Vec<&'static str>, Vec<Vec<String>>);

impl Results {
    pub fn fixed_point_table(&self) -> Table {
        let head = vec![
            "method",
            "records far away",
            "gradients shortened beyond",
            "fixed point",
            "x̄ reached",
            "difference",
            "‖∇f(x̄)‖",
            "bias of clipping",
            "rounds to settle",
        ];
        let row = |one: &FixedPoint| {
            vec![
                one.method.title().to_string(),
                one.placement.title().to_string(),
                format!("{:.3}", one.threshold),
                format!("{:.9}", one.predicted),
                format!("{:.9}", one.reached),
                format!("{:.1e}", one.error()),
                format!("{:.9}", one.grad_norm),
                format!("{:.9}", one.clip_bias),
                one.settled_after.to_string(),
            ]
        };
        (head, self.fixed_points.iter().map(row).collect())
    }

    /// A row per method: the two slopes, how far predictions are off, and the floor at a C in each regime.
    pub fn floor_table(&self) -> Table {
        let head = vec![
            "method",
            "slope, C ≤ σ/10",
            "slope, C ≥ σ",
            "floor at C = σ/100",
            "floor at C = σ",
            "floor at C = 10σ",
            "S/C",
            "floor × S/σ² at C = 10σ",
            "largest error of the prediction",
        ];
        let row = |one: &Floor| {
            let at = |clip: f64| one.points.iter().find(|p| (p.clip / clip - 1.0).abs() < 1e-6);
            let norm = |clip: f64| format!("{:.4}", at(clip).map_or(f64::NAN, |p| p.grad_norm));
            let last = one.points.last();
            vec![
                one.method.title().to_string(),
                format!("{:.3}", one.slope_small),
                format!("{:.3}", one.slope_large),
                norm(0.01),
                norm(1.0),
                norm(10.0),
                format!("{:.2}", last.map_or(f64::NAN, |p| p.sensitivity / p.clip)),
                format!("{:.4}", last.map_or(f64::NAN, |p| p.grad_norm * p.sensitivity)),
                format!("{:.0e}", one.largest_error()),
            ]
        };
        (head, self.floors.iter().map(row).collect())
    }

    pub fn difference_table(&self) -> Table {
        let head = vec![
            "method",
            "C_Δ",
            "S",
            "differences clipped",
            "bias of x̄",
            "standard error",
            "at most",
            "root mean square of ∇f(x̄)",
        ];
        let row = |one: &differences::Point| {
            vec![
                one.method.title().to_string(),
                one.clip.map_or_else(none, |clip| format!("{clip}")),
                format!("{:.4}", one.sensitivity),
                format!("{:.1} %", 100.0 * one.clipped_differences),
                format!("{:+.1e}", one.bias),
                format!("{:.0e}", one.bias_error),
                one.bound.map_or_else(none, |bound| format!("{bound:.1e}")),
                format!("{:.4}", one.floor),
            ]
        };
        (head, self.differences.iter().map(row).collect())
    }

    pub fn minibatch_table(&self) -> Table {
        let head = vec![
            "method",
            "C_g",
            "S",
            "late ‖∇f(x̄)‖",
            "lowest stream",
            "highest stream",
            "late bias of clipping",
            "gradients clipped",
            "differences clipped",
        ];
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        let row = |one: &minibatch::Point| {
            let streams = one.late_grad_norm_by_stream.iter().copied();
            vec![
                one.method.title().to_string(),
                format!("{}", one.clip),
                format!("{:.4}", one.sensitivity),
                format!("{:.5}", one.late_grad_norm),
                format!("{:.5}", streams.clone().fold(f64::INFINITY, f64::min)),
                format!("{:.5}", streams.fold(0.0, f64::max)),
                format!("{:.5}", one.late_clip_bias),
                percent(one.clipped_gradients),
                one.clipped_differences.map_or_else(none, percent),
            ]
        };
        let rows = self.minibatch.points.iter().map(row);
        let open = |one: &minibatch::Open| {
            let title = one.method.method.card().title;
            let mut row = vec![title.to_string(), "none".to_string(), none()];
            row.push(format!("{:.5}", one.late_grad_norm));
            row.resize(9, none());
            row
        };
        (head, self.minibatch.open.iter().map(open).chain(rows).collect())
    }
}
