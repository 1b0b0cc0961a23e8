//! What can be wrong with an agreement.

use prdo_algorithm::graph::{MixingError, NetworkError};

/// An agreement that is not one, or not one for us.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AgreementError {
    /// More text than an agreement may have.
    #[error("it has {found} bytes: an agreement has at most {most}")]
    TooLong {
        /// Bytes that there are.
        found: usize,
        /// The most there may be.
        most: usize,
    },
    /// The line between terms and signatures is not there.
    #[error("it is not a run agreement: the line {marker:?} is missing")]
    NoMarker {
        /// The line.
        marker: &'static str,
    },
    /// Terms that are not TOML.
    #[error("line {line}: this is not TOML: {problem}")]
    NotToml {
        /// Which line.
        line: usize,
        /// What is wrong.
        problem: String,
    },
    /// A key that is needed.
    #[error("{field} is missing")]
    Missing {
        /// The key.
        field: String,
    },
    /// A key that there is not.
    #[error("there is no key {field:?} in an agreement")]
    Unknown {
        /// The key.
        field: String,
    },
    /// A value that is not allowed.
    #[error("{field} = {value} is not allowed: it must be {allowed}")]
    Value {
        /// The key.
        field: String,
        /// What it says, cut short.
        value: String,
        /// What is allowed, in words.
        allowed: String,
    },
    /// The same terms can be written in one way only, so that they have one hash.
    #[error(
        "line {line} is not written as `prdo node init` writes it: make a new agreement, do not edit this one"
    )]
    NotCanonical {
        /// The first line that differs.
        line: usize,
    },
    /// Weights that are not a matrix.
    #[error("weights: {0}")]
    Matrix(#[from] MixingError),
    /// Weights outside the paper's assumption.
    #[error("weights: {0}")]
    Weights(#[from] NetworkError),
    /// A line below the marker that is not a signature.
    #[error("line {line} is not a signature: it must be `signature NAME KEY DIGITS`, members in order")]
    SignatureLine {
        /// Which line.
        line: usize,
    },
    /// A signature that is not of this text.
    #[error(
        "the signature of {name} is not of these terms, whose hash is {hash}: they were changed after {name} signed, or \
         the signature was"
    )]
    Forged {
        /// Whose it says it is.
        name: String,
        /// The terms' hash.
        hash: String,
    },
    /// A key that is no member's.
    #[error("the key {key} is not a member's: the members are {members}")]
    NotAMember {
        /// The key.
        key: String,
        /// The members' names.
        members: String,
    },
    /// Some have not signed.
    #[error("it is not signed by {}: each of them runs `prdo node sign`", missing.join(", "))]
    NotSigned {
        /// Their names.
        missing: Vec<String>,
    },
    /// The operating system.
    #[error("cannot draw an id for the run: {problem}")]
    Random {
        /// What it said.
        problem: String,
    },
    /// Two agreements where one was meant.
    #[error("these are two different agreements: one has the hash {ours}, the other {theirs}")]
    Different {
        /// This one's.
        ours: String,
        /// The other one's.
        theirs: String,
    },
}

impl AgreementError {
    /// A value that is not allowed.
    pub(super) fn value(field: impl Into<String>, value: impl ToString, allowed: impl Into<String>) -> Self {
        let value = value.to_string();
        let short: String = value.chars().take(100).collect();
        let value = if short.len() < value.len() { format!("{short}…") } else { short };
        Self::Value { field: field.into(), value, allowed: allowed.into() }
    }
}
