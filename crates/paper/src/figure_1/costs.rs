//! What a method takes to come near the optimum: in rounds, vectors, bytes and gradients.

use super::results::late;
use super::{Curve, Figure1};
use prdo::prelude::*;

/// What a node spends.
const UNITS: [&str; 4] = ["rounds", "vectors per link and direction", "kB per node", "gradients per node"];

impl Figure1 {
    /// For each method and panel, what it took until its gradient norm fell below the panel's target; the cheapest in bytes
    /// first.
    pub fn costs(&self) -> (Vec<&'static str>, Vec<Vec<String>>) {
        let mut rows = Vec::new();
        for (panel, curves) in [("full batch", &self.full), ("minibatch", &self.minibatch)] {
            let target = target(curves);
            let mut own: Vec<(Method, [f64; 4])> =
                self.methods.iter().filter_map(|m| Some((*m, self.cost(curves, *m, target)?))).collect();
            own.sort_by(|(_, a), (_, b)| a[2].total_cmp(&b[2]));
            rows.extend(own.into_iter().map(|(method, cost)| {
                let mut row =
                    vec![panel.to_string(), format!("{target:.2e}"), method.card().title.to_string()];
                row.extend(cost.iter().map(|value| format!("{value:.1}")));
                row
            }));
        }
        let mut head = vec!["panel", "gradient norm below", "method"];
        head.extend(UNITS);
        (head, rows)
    }

    pub fn about_costs(&self) -> String {
        "What each method took to bring the gradient norm below 1.1 times the largest late norm of all (full batch: of \
         the last round), so that every one gets there; minibatch: mean over the streams."
            .into()
    }

    /// Means over the method's curves; `None` if one of them stays above.
    fn cost(&self, curves: &[Curve], method: Method, target: f64) -> Option<[f64; 4]> {
        let (nodes, links) = (self.setting.nodes as f64, 2.0 * self.setting.nodes as f64);
        let own: Vec<&Curve> = curves.iter().filter(|curve| curve.method == method).collect();
        let mut sum = [0.0; 4];
        for curve in &own {
            let row = curve.rows.iter().find(|row| row.grad_norm < target)?;
            let bytes = row.bytes_sent as f64;
            let cost = [
                f64::from(row.round),
                bytes / (8.0 * self.setting.dimension as f64) / links,
                bytes / nodes / 1e3,
                row.gradient_evaluations as f64 / nodes,
            ];
            sum.iter_mut().zip(cost).for_each(|(s, c)| *s += c / own.len() as f64);
        }
        Some(sum)
    }
}

/// What every method reaches.
fn target(curves: &[Curve]) -> f64 {
    1.1 * curves.iter().map(|curve| late(&curve.rows)).fold(0.0, f64::max)
}
