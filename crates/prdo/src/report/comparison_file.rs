//! `comparison.json`: everything a comparison's report is built from, written and read back.

use super::comparison::{Cell, Comparison};
use super::groups::late_gradient;
use crate::output::{format_row, header, parse_rows};
use crate::run::Guarantee;
use prdo_accounting::Method as Accounting;
use serde_json::{Value as Json, json};
use std::path::Path;

impl Comparison {
    /// Everything, for `comparison.json`: what the report is built from.
    pub fn to_json(&self) -> Json {
        let cell = |cell: &Cell| {
            let guarantee = cell.guarantee.map(|g| {
                json!({"epsilon": g.epsilon, "delta": g.delta, "noise_multiplier": g.noise_multiplier,
                       "first_rate": g.first_rate, "rate": g.rate, "accountant": g.accounting.name()})
            });
            let labels: Vec<Json> = cell.labels.iter().map(|(k, v)| json!([k, v])).collect();
            let rows: Vec<String> = cell.rows.iter().map(format_row).collect();
            json!({"method": cell.method.card().name, "labels": labels, "seed": cell.seed, "guarantee": guarantee,
                   "seconds": cell.seconds, "node_accuracy": cell.node_accuracy, "clip": cell.clip.map(|(g, d)| [g, d]), "gamma": cell.gamma,
                   "rounds": cell.rounds, "late_grad_norm": late_gradient(cell), "metrics": rows})
        };
        json!({"title": self.title, "data": self.data, "command": self.command, "run_files": self.run_files,
               "network": self.network, "verdict": self.verdict(),
               "columns": header(), "runs": self.cells.iter().map(cell).collect::<Vec<_>>()})
    }

    /// Reads `comparison.json` back.
    ///
    /// # Errors
    /// What is missing or damaged, in words.
    pub fn read(folder: &Path) -> Result<Self, String> {
        let path = folder.join("comparison.json");
        let bytes = std::fs::read(&path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
        let json: Json =
            serde_json::from_slice(&bytes).map_err(|e| format!("{} is damaged: {e}", path.display()))?;
        Self::from_json(&json).ok_or_else(|| format!("{} is damaged: it is not a comparison", path.display()))
    }

    fn from_json(json: &Json) -> Option<Self> {
        let text = |value: &Json| value.as_str().map(String::from);
        let cell = |c: &Json| -> Option<Cell> {
            let labels = c["labels"].as_array()?.iter().map(|l| Some((text(&l[0])?, text(&l[1])?)));
            let lines: Vec<String> = c["metrics"].as_array()?.iter().filter_map(text).collect();
            let g = &c["guarantee"];
            let guarantee = g.is_object().then(|| {
                Some(Guarantee {
                    epsilon: g["epsilon"].as_f64()?,
                    delta: g["delta"].as_f64()?,
                    noise_multiplier: g["noise_multiplier"].as_f64()?,
                    first_rate: g["first_rate"].as_f64()?,
                    rate: g["rate"].as_f64()?,
                    accounting: Accounting::named(g["accountant"].as_str()?)?,
                })
            });
            Some(Cell {
                method: c["method"].as_str()?.parse().ok()?,
                labels: labels.collect::<Option<_>>()?,
                seed: c["seed"].as_u64()?,
                rows: parse_rows(&format!("{}\n{}\n", header(), lines.join("\n"))),
                node_accuracy: c["node_accuracy"].as_array()?.iter().filter_map(Json::as_f64).collect(),
                guarantee: guarantee.flatten(),
                seconds: c["seconds"].as_f64()?,
                clip: c["clip"][0].as_f64().zip(c["clip"][1].as_f64()),
                gamma: c["gamma"].as_f64(),
                rounds: c["rounds"].as_u64()?,
            })
        };
        Some(Self {
            title: text(&json["title"])?,
            data: text(&json["data"])?,
            command: text(&json["command"])?,
            run_files: text(&json["run_files"])?,
            network: text(&json["network"])?,
            cells: json["runs"].as_array()?.iter().map(cell).collect::<Option<_>>()?,
        })
    }
}
