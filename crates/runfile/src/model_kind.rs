//! The models and starting points that run files have names for.

use prdo_models::network::{Law, NAMES as NETWORKS};
use prdo_models::{Intercept, LINEAR, Labels, ModelCard};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelKind {
    /// One of [`LINEAR`], which its card describes.
    Linear(&'static ModelCard),
    Network(NetworkKind),
    /// A program's model: no run file alone describes it.
    Own,
}

/// Which layers a network has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetworkKind {
    /// Those that the run file lists.
    Listed,
    /// Those of a network that has a name.
    Named(&'static str),
}

impl ModelKind {
    pub(crate) fn all() -> impl Iterator<Item = ModelKind> {
        LINEAR.iter().copied().map(Self::Linear).chain(Self::networks()).chain([Self::Own])
    }

    pub(crate) fn networks() -> impl Iterator<Item = ModelKind> {
        let named = NETWORKS.iter().copied().map(NetworkKind::Named);
        [NetworkKind::Listed].into_iter().chain(named).map(Self::Network)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Linear(card) => card.name,
            Self::Network(NetworkKind::Listed) => "network",
            Self::Network(NetworkKind::Named(name)) => name,
            Self::Own => "own",
        }
    }

    pub fn is_network(self) -> bool {
        matches!(self, Self::Network(_))
    }

    /// Which labels it learns; of a program's model, its program knows.
    pub fn labels(self) -> Option<Labels> {
        match self {
            Self::Linear(card) => Some(card.labels),
            Self::Network(_) => Some(Labels::Classes),
            Self::Own => None,
        }
    }

    /// Whether it learns two classes, as −1 and 1.
    pub fn is_binary(self) -> bool {
        self.labels() == Some(Labels::Two)
    }

    pub fn has_classes(self) -> bool {
        matches!(self.labels(), Some(Labels::Two | Labels::Classes))
    }

    /// Whether it can read the features that a map makes.
    pub fn reads_features(self) -> bool {
        matches!(self, Self::Linear(card) if card.labels != Labels::Unread)
    }

    /// Whether a run file says if it has an intercept.
    pub fn has_optional_intercept(self) -> bool {
        matches!(self, Self::Linear(card) if card.intercept == Intercept::Optional)
    }
}

impl std::fmt::Display for ModelKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// How the public starting point is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartLaw {
    Zeros,
    Normal,
    /// A law of networks.
    Network(Law),
}

impl StartLaw {
    pub(crate) fn all() -> impl Iterator<Item = StartLaw> {
        [Self::Zeros, Self::Normal].into_iter().chain(Law::ALL.into_iter().map(Self::Network))
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Zeros => "zeros",
            Self::Normal => "normal",
            Self::Network(law) => law.name(),
        }
    }
}
