//! What a method takes to come near the optimum: in rounds, vectors, bytes and gradients.

use super::results::late;
use super::{Contestant, Curve, Figure1};

/// What a node spends.
const UNITS: [&str; 4] = ["rounds", "vectors per link and direction", "kB per node", "gradients per node"];
type Cost = [f64; 4];
/// Where bytes are among them.
const BYTES: usize = 2;

impl Figure1 {
    /// For each method and panel, what it took until its gradient norm fell below the panel's target; the cheapest in bytes
    /// first.
    pub fn costs(&self) -> (Vec<&'static str>, Vec<Vec<String>>) {
        let mut rows = Vec::new();
        for (panel, curves) in [("full batch", &self.full), ("minibatch", &self.minibatch)] {
            let target = self.target(curves);
            let mut own: Vec<(Contestant, Option<Cost>)> =
                self.contestants.iter().map(|m| (*m, self.cost(curves, *m, target))).collect();
            let bytes = |cost: &Option<Cost>| cost.map_or(f64::INFINITY, |cost| cost[BYTES]);
            own.sort_by(|(_, a), (_, b)| bytes(a).total_cmp(&bytes(b)));
            rows.extend(own.into_iter().map(|(of, cost)| {
                let title = of.title();
                let mut row = vec![panel.to_string(), format!("{target:.2e}"), title];
                match cost {
                    Some(cost) => row.extend(cost.iter().map(|value| format!("{value:.1}"))),
                    None => row.extend(UNITS.map(|_| "–".to_string())),
                }
                row
            }));
        }
        let mut head = vec!["panel", "gradient norm below", "method"];
        head.extend(UNITS);
        (head, rows)
    }

    pub fn about_costs(&self) -> String {
        "What each method took to bring the gradient norm below 1.1 times the late norm of the middle method, the cheapest in \
         bytes first; minibatch: mean over the streams. –: not in these rounds."
            .into()
    }

    /// Means over the method's curves; `None` if one of them stays above.
    fn cost(&self, curves: &[Curve], of: Contestant, target: f64) -> Option<Cost> {
        let (nodes, links) = (self.setting.nodes as f64, 2.0 * self.setting.nodes as f64);
        let own: Vec<&Curve> = curves.iter().filter(|curve| curve.of == of).collect();
        let mut sum = Cost::default();
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

    /// 1.1 times the median of the methods' late norms; of two, the larger.
    fn target(&self, curves: &[Curve]) -> f64 {
        let late = |of: &Contestant| {
            let own = curves.iter().filter(|curve| curve.of == *of);
            let norms: Vec<f64> = own.map(|curve| late(&curve.rows)).collect();
            norms.iter().sum::<f64>() / norms.len().max(1) as f64
        };
        let mut all: Vec<f64> = self.contestants.iter().map(late).collect();
        all.sort_by(f64::total_cmp);
        let middle = if all.len() == 2 { 1 } else { all.len().saturating_sub(1) / 2 };
        1.1 * all.get(middle).copied().unwrap_or(f64::NAN)
    }
}
