//! `status.json` and `summary.json` of a member's node: how it stands, and how its run ended.

use crate::live::State;
use crate::log::Entry;
use serde::{Deserialize, Deserializer, Serialize};
use std::path::PathBuf;

/// What a node last said of itself; the fields at the end are found out by whoever asks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Status {
    pub state: Option<State>,
    pub process: Option<u32>,
    pub updated: Option<String>,
    pub started: Option<String>,
    pub name: Option<String>,
    pub run: Option<String>,
    pub agreement: Option<String>,
    pub member: Option<String>,
    pub listening: Option<String>,
    /// For the owner of the records alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ledger: Option<PathBuf>,
    pub round: Option<u32>,
    pub rounds: Option<u32>,
    pub rounds_per_second: Option<f64>,
    pub seconds_left: Option<f64>,
    pub epsilon_spent: Option<f64>,
    pub budget: Option<f64>,
    pub delta: Option<f64>,
    pub noise_multiplier: Option<f64>,
    /// Against how many members together ε holds, where noise is in pairs; otherwise it holds against any number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub colluders: Option<u32>,
    pub neighbours: Vec<Neighbour>,
    pub test_accuracy: Option<f64>,
    /// For the owner of the records alone: `None` is not for whoever reads this, `Some(None)` is not known.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "known")]
    pub clipped_gradient_fraction_unprotected: Option<Option<f64>>,
    /// That the draws are those of a test.
    pub test_seed: Option<String>,
    pub message: Option<String>,
    /// Rounds of this run in the ledger.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounds_charged: Option<u64>,
    /// Why the ledger cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ledger_problem: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<Vec<Entry>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Neighbour {
    pub name: String,
    pub state: String,
    pub why: Option<String>,
}

/// A field that is there, null or not.
fn known<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<f64>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

impl Status {
    /// Without what is for the owner of the records alone: for pages.
    #[must_use]
    pub fn without_secrets(self) -> Self {
        Self { ledger: None, clipped_gradient_fraction_unprotected: None, ..self }
    }

    /// The state as files have it; empty if nobody said.
    pub fn state_name(&self) -> &'static str {
        self.state.map_or("", State::name)
    }

    /// What was said beyond the state itself.
    pub fn said(&self) -> Option<&str> {
        self.message.as_deref().filter(|said| *said != self.state_name())
    }
}

/// How a member's run ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemberSummary {
    pub finished: bool,
    pub name: Option<String>,
    pub run: Option<String>,
    pub agreement: Option<String>,
    pub member: Option<String>,
    pub rounds: Option<u32>,
    pub epsilon_spent: Option<f64>,
    pub budget: Option<f64>,
    pub delta: Option<f64>,
    pub noise_multiplier: Option<f64>,
    /// Against how many members together ε holds, where noise is in pairs; otherwise it holds against any number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub colluders: Option<u32>,
    pub test_accuracy: Option<f64>,
    /// Neighbours that have not confirmed the last message.
    pub unconfirmed: Option<Vec<String>>,
    pub test_seed: Option<String>,
    pub rounds_before: Option<u32>,
    pub seconds: Option<f64>,
}

impl MemberSummary {
    /// Whether the run is over for everybody.
    pub fn is_over(&self) -> bool {
        self.finished && self.unconfirmed.as_ref().is_some_and(Vec::is_empty)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artefact::{parse, text};

    /// As version 0.1.0 wrote them.
    const STATUS: &str = include_str!("../tests/status.json");
    const SUMMARY: &str = include_str!("../tests/member_summary.json");

    #[test]
    fn what_was_read_is_written_to_the_byte() {
        let status: Status = parse(STATUS.as_bytes()).unwrap();
        assert_eq!(text(&status), STATUS);
        let summary: MemberSummary = parse(SUMMARY.as_bytes()).unwrap();
        assert_eq!(text(&summary), SUMMARY);
    }

    #[test]
    fn others_than_the_owner_do_not_learn_that_there_are_secrets() {
        let status: Status = parse(STATUS.as_bytes()).unwrap();
        assert!(status.ledger.is_some() && text(&status).contains("unprotected"));
        let shown = text(&status.without_secrets());
        assert!(!shown.contains("ledger") && !shown.contains("unprotected"), "{shown}");
    }
}
