//! `[graph]`: who talks to whom.

use crate::document::Document;
use crate::names::GRAPH_FILE;
use crate::schema::Key;
use prdo_algorithm::graph::{GraphFamily, Parameters, Weights};
use std::path::PathBuf;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphKind {
    Family(GraphFamily),
    File,
}

impl GraphKind {
    pub fn name(self) -> &'static str {
        match self {
            GraphKind::Family(kind) => kind.name(),
            GraphKind::File => GRAPH_FILE,
        }
    }
}

#[derive(Clone, Debug)]
pub struct GraphSection {
    pub kind: GraphKind,
    /// n, where it is said.
    pub nodes: Option<usize>,
    /// What random families read, and the seed.
    pub parameters: Parameters,
    /// The file of [`GraphKind::File`].
    pub file: Option<PathBuf>,
    /// The files of networks that take turns.
    pub files: Vec<PathBuf>,
    /// Whether a W with negative eigenvalues is accepted.
    pub allow_indefinite: bool,
    pub(crate) weights: Option<Weights>,
    pub(crate) lazy: Option<bool>,
}

impl GraphSection {
    pub(crate) fn of(document: &Document) -> Self {
        let kind = document.text(Key::GraphKind).and_then(|name| name.parse().ok());
        Self {
            kind: kind.map_or(GraphKind::File, GraphKind::Family),
            nodes: document.count(Key::GraphNodes),
            parameters: Parameters {
                probability: document.float(Key::GraphProbability),
                degree: document.count(Key::GraphDegree),
                seed: document.integer(Key::GraphSeed).unwrap_or_default(),
            },
            file: document.file(Key::GraphFile),
            files: document.files(Key::GraphFiles).unwrap_or_default(),
            allow_indefinite: document.flag(Key::GraphAllowIndefinite).unwrap_or_default(),
            weights: document.text(Key::GraphWeights).and_then(|name| name.parse().ok()),
            lazy: document.flag(Key::GraphLazy),
        }
    }

    /// How W is made on a graph of this family, and whether it is lazy: as given, or the paper's weights on a ring and
    /// lazy Metropolis elsewhere.
    pub fn rule(&self, family: Option<GraphFamily>) -> (Weights, bool) {
        let default = if family == Some(GraphFamily::Ring) { Weights::Paper } else { Weights::Metropolis };
        let weights = self.weights.unwrap_or(default);
        let usual = matches!(weights, Weights::Metropolis | Weights::MaxDegree);
        (weights, self.lazy.unwrap_or(usual))
    }
}
