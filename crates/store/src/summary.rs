//! `summary.json` of a run: written last, so that its presence marks the run as finished.

use crate::outcome::BadOutcome;
use crate::pairs::PairFacts;
use crate::version_0_1_0;
use serde::{Deserialize, Deserializer, Serialize};

/// What became of a finished run. Numbers are empty where they were not finite, and where the file is of a version that did
/// not write them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Summary {
    pub finished: bool,
    pub name: Option<String>,
    pub method: Option<String>,
    pub rounds: Option<u32>,
    pub nodes: Option<u64>,
    pub records: Option<u64>,
    pub measured_records: Option<u64>,
    pub test_records: Option<u64>,
    pub validation_records: Option<u64>,
    pub parameters: Option<u64>,
    pub lambda: Option<f64>,
    pub data: Option<String>,
    pub features: Option<Features>,
    pub private: bool,
    pub simulation: bool,
    pub epsilon: Option<f64>,
    pub epsilon_spent: Option<f64>,
    pub delta: Option<f64>,
    pub noise_multiplier: Option<f64>,
    pub accountant: Option<String>,
    /// Of noise in pairs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pairs: Option<PairFacts>,
    pub loss: Option<f64>,
    pub grad_norm: Option<f64>,
    pub consensus_error: Option<f64>,
    pub test_accuracy: Option<f64>,
    pub test_auc: Option<f64>,
    pub most_common_class: Option<f64>,
    pub lowest_node_accuracy: Option<f64>,
    pub lowest_node: Option<usize>,
    pub node_accuracy: Vec<f64>,
    pub validation_accuracy: Option<f64>,
    pub bytes_sent: Option<u64>,
    pub gradient_evaluations: Option<u64>,
    pub non_finite_records: Option<u64>,
    pub class_counts: Option<Vec<Vec<u64>>>,
    pub class_names: Option<Vec<String>>,
    pub facts: Option<RecordFacts>,
    pub node_names: Option<Vec<String>>,
    pub node_records: Option<Vec<u64>>,
    pub records_per_node: Option<RecordSpread>,
    /// In words; the outcome's, if there is one, is the last.
    pub warnings: Vec<String>,
    /// What went wrong with the training as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<BadOutcome>,
    pub seconds: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Features {
    pub description: String,
    pub hash: String,
    pub map: MapOf,
}

/// What a feature map's constants are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MapOf {
    /// Public constants: a map of images.
    Images,
    /// What the run file says of a table's columns.
    Table,
}

/// What new records must look like for the model to read them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordFacts {
    /// Features of a record, without an intercept.
    pub features: u64,
    /// How many classes there are, where labels are classes.
    #[serde(default)]
    pub classes: Option<u64>,
    /// The classes' names in order, where labels are names.
    #[serde(default)]
    pub class_names: Option<Vec<String>>,
    /// The features' names in order, where they have some.
    #[serde(default)]
    pub feature_names: Option<Vec<String>>,
    /// Channels, height and width, where records are images.
    #[serde(default)]
    pub image: Option<[u64; 3]>,
}

/// Least, median and most records of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RecordSpread {
    pub least: Option<u64>,
    pub median: Option<u64>,
    pub most: Option<u64>,
}

impl RecordSpread {
    pub fn of(counts: &[usize]) -> Self {
        let mut sorted: Vec<u64> = counts.iter().map(|count| *count as u64).collect();
        sorted.sort_unstable();
        let (least, most) = (sorted.first().copied(), sorted.last().copied());
        Self { least, median: sorted.get(sorted.len() / 2).copied(), most }
    }
}

impl Summary {
    /// The warnings but for the outcome's.
    pub fn other_warnings(&self) -> &[String] {
        match self.warnings.split_last() {
            Some((last, others)) if self.outcome.is_some() || version_0_1_0::is_about_the_outcome(last) => {
                others
            }
            _ => &self.warnings,
        }
    }
}

/// Summaries of 0.1.0 do not say what the map is made of, but describe it.
impl<'de> Deserialize<'de> for Features {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Written {
            description: String,
            hash: String,
            map: Option<MapOf>,
        }
        let Written { description, hash, map } = Written::deserialize(deserializer)?;
        let map = map.unwrap_or(match version_0_1_0::is_of_tables(&description) {
            true => MapOf::Table,
            false => MapOf::Images,
        });
        Ok(Self { description, hash, map })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artefact::{line, parse, text};

    /// As version 0.1.0 wrote it.
    const RUN: &str = include_str!("../tests/summary.json");
    const TABLE: &str = include_str!("../tests/summary_features.json");
    const DIVERGED: &str = include_str!("../tests/summary_diverged.json");

    #[test]
    fn what_was_read_is_written_to_the_byte() {
        let summary: Summary = parse(RUN.as_bytes()).unwrap();
        assert_eq!((summary.records, summary.test_accuracy), (Some(20000), Some(0.8135)));
        assert_eq!(text(&summary), RUN);
        // Numbers that were not finite stay empty.
        let summary: Summary = parse(DIVERGED.as_bytes()).unwrap();
        assert_eq!((text(&summary).as_str(), summary.loss), (DIVERGED, None));
    }

    #[test]
    fn earlier_versions_said_in_words_what_is_a_field_now() {
        let mut summary: Summary = parse(TABLE.as_bytes()).unwrap();
        assert_eq!(summary.features.as_ref().map(|f| f.map), Some(MapOf::Table));
        summary.features.iter_mut().for_each(|f| f.map = MapOf::Images);
        let back: Summary = parse(line(&summary).as_bytes()).unwrap();
        assert_eq!(back, summary, "the field counts, not the words");
        let mut summary: Summary = parse(DIVERGED.as_bytes()).unwrap();
        assert_eq!((summary.warnings.len(), summary.other_warnings()), (1, &[][..]));
        summary.warnings = vec!["something else".into()];
        assert_eq!(summary.other_warnings().len(), 1);
        summary.outcome = Some(BadOutcome::Diverged);
        assert_eq!(summary.other_warnings().len(), 0);
        assert!(line(&summary).contains("\"outcome\":\"diverged\""));
    }

    #[test]
    fn a_file_that_lacks_everything_is_a_summary_of_nothing() {
        assert_eq!(parse::<Summary>(b"{}").unwrap(), Summary::default());
        assert_eq!(
            RecordSpread::of(&[9, 3, 5]),
            RecordSpread { least: Some(3), median: Some(5), most: Some(9) }
        );
    }
}
