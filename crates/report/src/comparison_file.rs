//! `comparison.json`: what a comparison's report is built from, written and read back as far as it goes.

use crate::comparison::ComparisonReport;
use crate::differences::Difference;
use crate::run_folder::{self, Gap};
use prdo_store::{Comparison, DifferenceRecord, header, names};
use std::path::Path;

impl ComparisonReport {
    pub fn to_file(&self) -> Comparison {
        let groups = self.groups();
        let name = |k: usize| groups.get(k).map(|group| group.name.clone());
        let difference = |d: &Difference| DifferenceRecord {
            contest: d.contest.clone(),
            measure: d.measure.key().to_string(),
            best: name(d.best),
            other: name(d.other),
            pairs: d.pairs,
            mean: d.paired.map(|p| p.mean),
            low: d.paired.map(|p| p.low),
            high: d.paired.map(|p| p.high),
            p: d.paired.filter(|p| !p.constant).map(|p| p.p),
            p_holm: d.corrected,
            constant: d.paired.map(|p| p.constant),
            compared: d.compared,
            clear: d.is_clear(),
        };
        Comparison {
            title: Some(self.title.clone()),
            data: Some(self.data.clone()),
            command: Some(self.command.clone()),
            run_files: Some(self.run_files.clone()),
            network: Some(self.network.clone()),
            verdict: Some(self.verdict()),
            planned: self.cells.len() as u64,
            differences: self.differences().iter().map(difference).collect(),
            columns: header(),
            runs: self.cells.iter().cloned().map(Some).collect(),
        }
    }

    /// Reads `comparison.json` back as far as it goes, and notes what is missing.
    pub(crate) fn salvage(folder: &Path, gaps: &mut Vec<Gap>) -> Option<Self> {
        if !folder.join(names::COMPARISON).exists() {
            gaps.push(Gap::new(
                names::COMPARISON,
                "missing: without it the report lacks curves and settings",
            ));
            return None;
        }
        let file: Comparison = run_folder::read(folder, names::COMPARISON, gaps, "curves and settings")?;
        let mut text = |key: &str, found: Option<String>| {
            if found.is_none() {
                gaps.push(Gap::new(names::COMPARISON, format!("{key} is missing")));
            }
            found.unwrap_or_default()
        };
        let title = text("title", file.title);
        let (data, command) = (text("data", file.data), text("command", file.command));
        let (run_files, network) = (text("run_files", file.run_files), text("network", file.network));
        let found = file.runs.len();
        for (k, cell) in file.runs.iter().enumerate() {
            let what = match cell {
                None => "is damaged and left out",
                Some(cell) if cell.rows.is_empty() => "has no measurements",
                Some(_) => continue,
            };
            gaps.push(Gap::new(names::COMPARISON, format!("run {} of {found} {what}", k + 1)));
        }
        if file.planned > found as u64 {
            let (missing, planned) = (file.planned - found as u64, file.planned);
            gaps.push(Gap::new(names::COMPARISON, format!("{missing} of {planned} runs are missing")));
        }
        let cells = file.runs.into_iter().flatten().collect();
        Some(Self { title, data, command, run_files, network, cells })
    }
}
