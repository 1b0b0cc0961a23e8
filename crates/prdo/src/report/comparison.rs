//! Several runs side by side: what was run, and how the runs are grouped.

use super::groups::Group;
use super::style::method_style;
use crate::run::Guarantee;
use prdo_algorithm::Method;
use prdo_simulator::Row;

/// One run of a comparison.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The method.
    pub method: Method,
    /// What sets this run apart from the others, the seed left out: `("privacy.epsilon", "2.0")`.
    pub labels: Vec<(String, String)>,
    /// Its seed.
    pub seed: u64,
    /// Its metrics.
    pub rows: Vec<Row>,
    /// Held-out accuracy of each node's own model.
    pub node_accuracy: Vec<f64>,
    /// The area under the ROC curve of the average model; `None` where there are not two classes.
    pub test_auc: Option<f64>,
    /// The share of the held-out records' most common class.
    pub most_common_class: Option<f64>,
    /// What it promised; `None` is ε = ∞.
    pub guarantee: Option<Guarantee>,
    /// How long it trained.
    pub seconds: f64,
    /// (C_g, C_Δ).
    pub clip: Option<(f64, f64)>,
    /// γ, for methods with differences.
    pub gamma: Option<f64>,
    /// T.
    pub rounds: u64,
}

/// Runs side by side.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// What is compared.
    pub title: String,
    /// What the data is, in words.
    pub data: String,
    /// The command that repeats it.
    pub command: String,
    /// The run files, as they were.
    pub run_files: String,
    /// The network's picture, as SVG.
    pub network: String,
    /// The runs.
    pub cells: Vec<Cell>,
}

impl Comparison {
    /// The runs grouped by everything but the seed, in the order they came.
    pub fn groups(&self) -> Vec<Group<'_>> {
        let mut groups: Vec<Group<'_>> = Vec::new();
        for cell in &self.cells {
            let name = self.name(cell);
            match groups.iter_mut().find(|group| group.name == name) {
                Some(group) => group.cells.push(cell),
                None => groups.push(Group { name, method: cell.method, cells: vec![cell] }),
            }
        }
        groups
    }

    pub(super) fn name(&self, cell: &Cell) -> String {
        let mut name = cell.method.card().title.to_string();
        for (key, value) in &cell.labels {
            match key.as_str() {
                "method.name" => {}
                "privacy" => name.push_str(", not private"),
                "privacy.epsilon" => name.push_str(&format!(", ε = {value}")),
                _ => name.push_str(&format!(", {} {value}", key.rsplit('.').next().unwrap_or(key))),
            }
        }
        name
    }

    /// The groups that may fairly be compared: those with the same privacy settings, under their name.
    pub(super) fn contests(&self) -> Vec<(String, Vec<usize>)> {
        let mut contests: Vec<(String, Vec<usize>)> = Vec::new();
        for (k, group) in self.groups().iter().enumerate() {
            let privacy = group.cells[0].labels.iter().filter(|(key, _)| key.starts_with("privacy"));
            let name = privacy.map(|(key, value)| match key.as_str() {
                "privacy" => "without privacy".to_string(),
                "privacy.epsilon" => format!("ε = {value}"),
                _ => format!("{} {value}", key.trim_start_matches("privacy.")),
            });
            let name = name.collect::<Vec<_>>().join(", ");
            match contests.iter_mut().find(|(known, _)| *known == name) {
                Some((_, members)) => members.push(k),
                None => contests.push((name, vec![k])),
            }
        }
        contests
    }

    /// A style for each group: the method's own where methods differ, otherwise one after the other.
    pub(super) fn styles(&self) -> Vec<usize> {
        let groups = self.groups();
        let own: Vec<usize> = groups.iter().map(|group| method_style(group.method)).collect();
        let mut distinct = own.clone();
        distinct.sort_unstable();
        distinct.dedup();
        if distinct.len() == own.len() { own } else { (0..groups.len()).collect() }
    }
}
