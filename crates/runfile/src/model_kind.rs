//! The models and starting points that run files have names for.

use prdo_models::network::{Law, NAMES as NETWORKS};

/// What a model is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelKind {
    /// Two classes.
    Logistic,
    /// Any number of classes.
    Softmax,
    /// Least squares.
    Quadratic,
    /// The paper's example of a sensitivity.
    LogCosh,
    /// Layers.
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
        let linear = [Self::Logistic, Self::Softmax, Self::Quadratic, Self::LogCosh];
        linear.into_iter().chain(Self::networks()).chain([Self::Own])
    }

    pub(crate) fn networks() -> impl Iterator<Item = ModelKind> {
        let named = NETWORKS.iter().copied().map(NetworkKind::Named);
        [NetworkKind::Listed].into_iter().chain(named).map(Self::Network)
    }

    pub(crate) fn names() -> Vec<&'static str> {
        Self::all().map(Self::name).collect()
    }

    /// Its name in run files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Logistic => "logistic",
            Self::Softmax => "softmax",
            Self::Quadratic => "quadratic",
            Self::LogCosh => "log-cosh",
            Self::Network(NetworkKind::Listed) => "network",
            Self::Network(NetworkKind::Named(name)) => name,
            Self::Own => "own",
        }
    }

    /// Whether it is a network.
    pub fn is_network(self) -> bool {
        matches!(self, Self::Network(_))
    }

    /// Whether it is logistic or softmax regression.
    pub fn is_linear(self) -> bool {
        matches!(self, Self::Logistic | Self::Softmax)
    }

    /// Whether its labels are classes.
    pub fn has_classes(self) -> bool {
        match self {
            Self::Logistic | Self::Softmax | Self::Network(_) => true,
            Self::Quadratic | Self::LogCosh | Self::Own => false,
        }
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
    /// All zeros.
    Zeros,
    /// Normal draws.
    Normal,
    /// A law of networks.
    Network(Law),
}

impl StartLaw {
    pub(crate) fn all() -> impl Iterator<Item = StartLaw> {
        [Self::Zeros, Self::Normal].into_iter().chain(Law::ALL.into_iter().map(Self::Network))
    }

    pub(crate) fn names() -> Vec<&'static str> {
        Self::all().map(Self::name).collect()
    }

    /// Its name in run files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Zeros => "zeros",
            Self::Normal => "normal",
            Self::Network(law) => law.name(),
        }
    }
}
