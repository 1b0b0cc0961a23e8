//! `comparison.json`: everything a comparison's report is built from, written and read back.

use super::comparison::{Cell, Comparison};
use super::differences::Difference;
use super::found::{self, Gap};
use super::groups::late_gradient;
use crate::output::{format_row, header, parse_rows};
use crate::run::Guarantee;
use prdo_accounting::Method as Accounting;
use serde_json::{Value as Json, json};
use std::path::Path;

impl Cell {
    /// All of it, as `comparison.json` has it.
    pub fn to_json(&self) -> Json {
        let guarantee = self.guarantee.map(|g| {
            json!({"epsilon": g.epsilon, "delta": g.delta, "noise_multiplier": g.noise_multiplier,
                   "first_rate": g.first_rate, "rate": g.rate, "accountant": g.accounting.name()})
        });
        let labels: Vec<Json> = self.labels.iter().map(|(k, v)| json!([k, v])).collect();
        let rows: Vec<String> = self.rows.iter().map(format_row).collect();
        json!({"method": self.method.card().name, "labels": labels, "seed": self.seed, "guarantee": guarantee,
               "seconds": self.seconds, "node_accuracy": self.node_accuracy,
               "test_auc": self.test_auc, "most_common_class": self.most_common_class,
               "clip": self.clip.map(|(g, d)| [g, d]), "gamma": self.gamma, "rounds": self.rounds,
               "late_grad_norm": late_gradient(self), "metrics": rows})
    }

    /// Read back; nothing if it is damaged.
    pub fn from_json(c: &Json) -> Option<Self> {
        let text = |value: &Json| value.as_str().map(String::from);
        let labels = c["labels"].as_array()?.iter().map(|l| Some((text(&l[0])?, text(&l[1])?)));
        let lines: Vec<String> = c["metrics"].as_array()?.iter().filter_map(text).collect();
        let g = &c["guarantee"];
        let guarantee = match g.is_object() {
            // A damaged promise is no promise, but the run was not without one either.
            true => Some(Guarantee {
                epsilon: g["epsilon"].as_f64()?,
                delta: g["delta"].as_f64()?,
                noise_multiplier: g["noise_multiplier"].as_f64()?,
                first_rate: g["first_rate"].as_f64()?,
                rate: g["rate"].as_f64()?,
                accounting: Accounting::named(g["accountant"].as_str()?)?,
            }),
            false => None,
        };
        Some(Self {
            method: c["method"].as_str()?.parse().ok()?,
            labels: labels.collect::<Option<_>>()?,
            seed: c["seed"].as_u64()?,
            rows: parse_rows(&format!("{}\n{}\n", header(), lines.join("\n"))),
            node_accuracy: c["node_accuracy"].as_array()?.iter().filter_map(Json::as_f64).collect(),
            // Comparisons of earlier versions have neither.
            test_auc: c["test_auc"].as_f64(),
            most_common_class: c["most_common_class"].as_f64(),
            guarantee,
            seconds: c["seconds"].as_f64()?,
            clip: c["clip"][0].as_f64().zip(c["clip"][1].as_f64()),
            gamma: c["gamma"].as_f64(),
            rounds: c["rounds"].as_u64()?,
        })
    }
}

impl Comparison {
    /// Everything, for `comparison.json`: what the report is built from.
    pub fn to_json(&self) -> Json {
        let groups = self.groups();
        let name = |k: usize| groups.get(k).map(|group| group.name.clone());
        let difference = |d: &Difference| {
            json!({"contest": d.contest, "measure": d.measure.key(), "best": name(d.best), "other": name(d.other),
                   "pairs": d.pairs, "mean": d.paired.map(|p| p.mean), "low": d.paired.map(|p| p.low),
                   "high": d.paired.map(|p| p.high), "p": d.paired.filter(|p| !p.constant).map(|p| p.p), "p_holm": d.corrected,
                   "constant": d.paired.map(|p| p.constant), "compared": d.compared,
                   "clear": d.is_clear()})
        };
        json!({"title": self.title, "data": self.data, "command": self.command, "run_files": self.run_files,
               "network": self.network, "verdict": self.verdict(), "planned": self.cells.len(),
               "differences": self.differences().iter().map(difference).collect::<Vec<_>>(),
               "columns": header(), "runs": self.cells.iter().map(Cell::to_json).collect::<Vec<_>>()})
    }

    /// Reads `comparison.json` back as far as it goes, and notes what is missing.
    pub(super) fn salvage(folder: &Path, gaps: &mut Vec<Gap>) -> Option<Self> {
        if !folder.join("comparison.json").exists() {
            gaps.push(Gap::new(
                "comparison.json",
                "missing: without it the report lacks curves and settings",
            ));
            return None;
        }
        let json = found::json(folder, "comparison.json", gaps, "curves and settings");
        if json.is_null() {
            return None;
        }
        let mut text = |key: &str| {
            let found = json[key].as_str().map(String::from);
            if found.is_none() {
                gaps.push(Gap::new("comparison.json", format!("{key} is missing")));
            }
            found.unwrap_or_default()
        };
        let (title, data, command) = (text("title"), text("data"), text("command"));
        let (run_files, network) = (text("run_files"), text("network"));
        let runs = json["runs"].as_array().map_or(&[][..], Vec::as_slice);
        let cells = runs.iter().map(Cell::from_json).collect::<Vec<_>>();
        for (k, cell) in cells.iter().enumerate() {
            let what = match cell {
                None => "is damaged and left out",
                Some(cell) if cell.rows.is_empty() => "has no measurements",
                Some(_) => continue,
            };
            gaps.push(Gap::new("comparison.json", format!("run {} of {} {what}", k + 1, cells.len())));
        }
        let planned = json["planned"].as_u64().unwrap_or(0);
        if planned > cells.len() as u64 {
            let missing = planned - cells.len() as u64;
            gaps.push(Gap::new("comparison.json", format!("{missing} of {planned} runs are missing")));
        }
        let cells = cells.into_iter().flatten().collect();
        Some(Self { title, data, command, run_files, network, cells })
    }
}
