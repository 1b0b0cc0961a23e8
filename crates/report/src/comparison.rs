//! Several runs side by side: what was run, and how the runs are grouped.

use crate::groups::Group;
use crate::style::method_style;
use prdo_runfile::{Key, Section};
use prdo_store::Cell;

#[derive(Clone, Debug)]
pub struct ComparisonReport {
    pub title: String,
    pub data: String,
    pub command: String,
    pub run_files: String,
    pub network: String,
    pub cells: Vec<Cell>,
}

/// A kind of noise, as a run file has it, in words.
fn noise(value: &str) -> String {
    match value.trim_matches('"') {
        "pairs" => "noise in pairs".to_string(),
        other => format!("{other} noise"),
    }
}

impl ComparisonReport {
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

    pub(crate) fn name(&self, cell: &Cell) -> String {
        let mut name = cell.method.card().title.to_string();
        for (key, value) in &cell.labels {
            match Key::named(key) {
                Some(Key::MethodName) => {}
                None if key == Section::Privacy.name() => name.push_str(", not private"),
                Some(Key::PrivacyEpsilon) => name.push_str(&format!(", ε = {value}")),
                Some(Key::PrivacyNoise) => name.push_str(&format!(", {}", noise(value))),
                _ => name.push_str(&format!(", {} {value}", key.rsplit('.').next().unwrap_or(key))),
            }
        }
        let suffix = self.noise_suffix(cell);
        name + &suffix.map_or(String::new(), |suffix| format!(", {suffix}"))
    }

    /// The groups that may fairly be compared: those with the same privacy settings, under their name.
    pub(crate) fn contests(&self) -> Vec<(String, Vec<usize>)> {
        let mut contests: Vec<(String, Vec<usize>)> = Vec::new();
        for (k, group) in self.groups().iter().enumerate() {
            let privacy = group.cells[0].labels.iter().filter(|(key, _)| key.starts_with("privacy"));
            let name = privacy.map(|(key, value)| match Key::named(key) {
                None if key == Section::Privacy.name() => "without privacy".to_string(),
                Some(Key::PrivacyEpsilon) => format!("ε = {value}"),
                Some(Key::PrivacyNoise) => noise(value),
                _ => format!("{} {value}", key.trim_start_matches("privacy.")),
            });
            let suffix = self.noise_suffix(group.cells[0]).map(String::from);
            let name = name.chain(suffix).collect::<Vec<_>>().join(", ");
            match contests.iter_mut().find(|(known, _)| *known == name) {
                Some((_, members)) => members.push(k),
                None => contests.push((name, vec![k])),
            }
        }
        contests
    }

    /// A style for each group: the method's own where methods differ, otherwise one after the other.
    pub(crate) fn styles(&self) -> Vec<usize> {
        let groups = self.groups();
        let own: Vec<usize> = groups.iter().map(|group| method_style(group.method)).collect();
        let mut distinct = own.clone();
        distinct.sort_unstable();
        distinct.dedup();
        if distinct.len() == own.len() { own } else { (0..groups.len()).collect() }
    }
}
