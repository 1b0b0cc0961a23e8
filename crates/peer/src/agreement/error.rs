//! What can be wrong with an agreement.

use prdo_algorithm::graph::{MixingError, NetworkError};

/// An agreement that is not one, or not one for us.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AgreementError {
    #[error("it has {found} bytes: an agreement has at most {most}")]
    TooLong { found: usize, most: usize },
    #[error("it is not a run agreement: the line {marker:?} is missing")]
    NoMarker { marker: &'static str },
    #[error("line {line}: this is not TOML: {problem}")]
    NotToml { line: usize, problem: String },
    #[error("{field} is missing")]
    Missing { field: String },
    #[error("unknown key {field:?} in an agreement")]
    Unknown { field: String },
    #[error("{field} = {value} is not allowed: it must be {allowed}")]
    Value { field: String, value: String, allowed: String },
    /// The same terms can be written in one way only, so that they have one hash.
    #[error(
        "line {line} is not written as `prdo node init` writes it: create a new agreement, do not edit this one"
    )]
    NotCanonical { line: usize },
    #[error("weights: {0}")]
    Matrix(#[from] MixingError),
    #[error("weights: {0}")]
    Weights(#[from] NetworkError),
    #[error(
        "line {line} is not a signature: it must be `signature NAME KEY DIGITS` (with noise in pairs `signature NAME KEY \
         SHARE-KEY DIGITS`), members in order"
    )]
    SignatureLine { line: usize },
    #[error(
        "the signature of {name} is not of these terms, whose hash is {hash}: they were changed after {name} signed, or \
         the signature was"
    )]
    Forged { name: String, hash: String },
    #[error("{name} signed {}", if *wanted {
        "without a share key, which noise in pairs needs: sign with `prdo node sign`"
    } else {
        "with a share key, which an agreement without noise in pairs must not have"
    })]
    ShareKey { name: String, wanted: bool },
    #[error("{} and {} signed with the same share key: every member makes its own", names[0], names[1])]
    SameShareKey { names: [String; 2] },
    #[error(
        "{name} signed the two copies with different share keys: keep the copy whose private half is still beside its key, \
         without the other one's signature"
    )]
    TwoShareKeys { name: String },
    #[error("the key {key} does not belong to a member; the members are {members}")]
    NotAMember { key: String, members: String },
    #[error("it is not signed by {}: each of them runs `prdo node sign`", missing.join(", "))]
    NotSigned { missing: Vec<String> },
    #[error("cannot generate an id for the run: {problem}")]
    Random { problem: String },
    #[error("these are two different agreements: one has the hash {ours}, the other {theirs}")]
    Different { ours: String, theirs: String },
}

impl AgreementError {
    pub(super) fn value(field: impl Into<String>, value: impl ToString, allowed: impl Into<String>) -> Self {
        let value = value.to_string();
        let short: String = value.chars().take(100).collect();
        let value = if short.len() < value.len() { format!("{short}…") } else { short };
        Self::Value { field: field.into(), value, allowed: allowed.into() }
    }
}
