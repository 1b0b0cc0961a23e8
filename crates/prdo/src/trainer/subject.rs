//! What is trained: the run of a run file, or one that a program made.

use super::{Results, ResultsError};
use crate::build::{Built, resolved};
use crate::run::Prepared;
use prdo_runfile::Document;
use prdo_simulator::{Row, Training};
use std::time::Duration;

/// What tells a run that a program made from others in its folder.
#[derive(Clone, Debug, Default)]
pub struct Identity {
    /// Names its settings and its records.
    pub fingerprint: [u8; 32],
    /// Its settings, for whoever looks into the folder.
    pub settings: String,
}

pub(super) enum Subject<'a> {
    File { document: &'a Document, built: &'a mut Built },
    Made { prepared: &'a mut Prepared, identity: Identity },
}

impl Subject<'_> {
    pub fn prepared(&self) -> &Prepared {
        match self {
            Self::File { built, .. } => &built.prepared,
            Self::Made { prepared, .. } => prepared,
        }
    }

    pub fn training(&mut self) -> &mut dyn Training {
        match self {
            Self::File { built, .. } => &mut *built.prepared.training,
            Self::Made { prepared, .. } => &mut *prepared.training,
        }
    }

    pub fn fingerprint(&self) -> [u8; 32] {
        match self {
            Self::File { built, .. } => built.fingerprint,
            Self::Made { identity, .. } => identity.fingerprint,
        }
    }

    /// What its folder gets as `run.toml`.
    pub fn run_file(&self) -> String {
        match self {
            Self::File { document, built } => resolved::to_toml(document, built),
            Self::Made { identity, .. } => identity.settings.clone(),
        }
    }

    pub fn warnings(&self) -> &[String] {
        match self {
            Self::File { built, .. } => &built.warnings,
            Self::Made { .. } => &[],
        }
    }

    pub fn common_class(&self) -> Option<f64> {
        match self {
            Self::File { built, .. } => built.common_class,
            Self::Made { .. } => None,
        }
    }

    /// Enters it in the statement of releases about its records, if it has one.
    pub fn enter_statement(&mut self) -> Result<(), String> {
        match self {
            Self::File { document, built } => built.enter_statement(&document.name()),
            Self::Made { .. } => Ok(()),
        }
    }

    /// Model and summary; whoever made a run takes what it wants of it.
    pub fn results(&self, rows: &[Row], elapsed: Duration) -> Result<Option<Results>, ResultsError> {
        match self {
            Self::File { document, built } => Results::of(document, built, rows, elapsed).map(Some),
            Self::Made { .. } => Ok(None),
        }
    }
}
