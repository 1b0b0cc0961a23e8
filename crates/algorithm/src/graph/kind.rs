//! The names of the families, and one door to build any of them.

use std::{fmt, str::FromStr};

use super::{Graph, GraphError, UnknownName};

/// A family of graphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A cycle.
    Ring,
    /// A line.
    Path,
    /// A grid joined at its ends, as square as the number of nodes allows.
    Torus,
    /// Every pair.
    Complete,
    /// One centre.
    Star,
    /// Binary numbers that differ in one digit.
    Hypercube,
    /// Every pair with a probability, given that the graph is connected.
    ErdosRenyi,
    /// Random, every node of the same degree, connected.
    RandomRegular,
    /// Hops of powers of two around a cycle.
    Exponential,
}

/// What a family may need besides the number of nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Parameters {
    /// Probability of an edge (erdos-renyi only).
    pub probability: Option<f64>,
    /// Number of neighbours of every node (random-regular only).
    pub degree: Option<usize>,
    /// Seed of the random families; the others do not look at it.
    pub seed: u64,
}

impl Kind {
    /// Every family, in the order of [`Kind::NAMES`].
    pub const ALL: [Self; 9] = [
        Self::Ring,
        Self::Path,
        Self::Torus,
        Self::Complete,
        Self::Star,
        Self::Hypercube,
        Self::ErdosRenyi,
        Self::RandomRegular,
        Self::Exponential,
    ];

    /// The name of every family, as written in run files.
    pub const NAMES: [&'static str; 9] = [
        "ring",
        "path",
        "torus",
        "complete",
        "star",
        "hypercube",
        "erdos-renyi",
        "random-regular",
        "exponential",
    ];

    /// The name of this family.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Kind {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == text);
        found.ok_or_else(|| UnknownName {
            field: "graph",
            value: text.to_owned(),
            allowed: Self::NAMES.join(", "),
        })
    }
}

impl Graph {
    /// The graph of a family with this many nodes.
    ///
    /// # Errors
    /// What the family's own constructor refuses, and a parameter that is missing or that the family has no
    /// use for: a run file should not carry a number that looks as if it did something.
    pub fn build(kind: Kind, nodes: usize, parameters: &Parameters) -> Result<Self, GraphError> {
        let family = kind.name();
        let &Parameters { probability, degree, seed } = parameters;
        if let (Some(value), true) = (probability, kind != Kind::ErdosRenyi) {
            return Err(GraphError::Meaningless { key: "probability", value, family });
        }
        if let (Some(degree), true) = (degree, kind != Kind::RandomRegular) {
            return Err(GraphError::Meaningless { key: "degree", value: degree as f64, family });
        }
        match kind {
            Kind::Ring => Self::ring(nodes),
            Kind::Path => Self::path(nodes),
            Kind::Torus => Self::torus_of(nodes),
            Kind::Complete => Self::complete(nodes),
            Kind::Star => Self::star(nodes),
            Kind::Hypercube => Self::hypercube(nodes),
            Kind::ErdosRenyi => {
                let missing = GraphError::Missing { key: "probability", family };
                Self::erdos_renyi(nodes, probability.ok_or(missing)?, seed)
            }
            Kind::RandomRegular => {
                let missing = GraphError::Missing { key: "degree", family };
                Self::random_regular(nodes, degree.ok_or(missing)?, seed)
            }
            Kind::Exponential => Self::exponential(nodes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_there_and_back() {
        for (kind, name) in Kind::ALL.into_iter().zip(Kind::NAMES) {
            assert_eq!(kind.to_string(), name);
            assert_eq!(name.parse(), Ok(kind));
        }
        let error = "rings".parse::<Kind>().unwrap_err();
        assert!(error.to_string().starts_with("graph = \"rings\": expected one of ring, path, torus"));
    }

    #[test]
    fn every_family_is_built_with_its_own_parameters_only() {
        for kind in Kind::ALL {
            let parameters = Parameters {
                probability: (kind == Kind::ErdosRenyi).then_some(0.6),
                degree: (kind == Kind::RandomRegular).then_some(3),
                seed: 1,
            };
            let graph = Graph::build(kind, 16, &parameters).unwrap();
            assert_eq!((graph.nodes(), graph.is_connected()), (16, true), "{kind}");
            if kind != Kind::ErdosRenyi {
                let error = Graph::build(kind, 16, &Parameters { probability: Some(0.5), ..parameters });
                assert!(matches!(error, Err(GraphError::Meaningless { key: "probability", .. })));
            }
            if kind != Kind::RandomRegular {
                let error = Graph::build(kind, 16, &Parameters { degree: Some(3), ..parameters });
                assert!(matches!(error, Err(GraphError::Meaningless { key: "degree", .. })));
            }
        }
        let none = Parameters::default();
        let error = Graph::build(Kind::ErdosRenyi, 16, &none).unwrap_err();
        assert_eq!(error.to_string(), "probability is missing: the erdos-renyi graph needs it");
        let error = Graph::build(Kind::RandomRegular, 16, &none).unwrap_err();
        assert!(matches!(error, GraphError::Missing { key: "degree", .. }));
    }
}
