//! The names that run files have for choices, where no other room has them already.

use prdo_privacy::{Sampling, SecretsOf};

pub(crate) const GRAPH_FILE: &str = "file";
pub(crate) const SOURCES: [&str; 7] =
    ["logistic", "blobs", "quadratic", "coefficients", "digits", "file", "memory"];
/// The source that a program gives.
pub(crate) const MEMORY: &str = SOURCES[6];
/// `method.name` of a method that a program brings.
pub const OWN_METHOD: &str = "own";

pub(crate) const MAPS: [&str; 3] = ["scattering", "scattering+patches", "table"];
pub(crate) const MISSING: [&str; 2] = ["refused", "middle"];
pub(crate) const MIDDLE: &str = MISSING[1];
pub(crate) const PARTITIONS: [&str; 4] = ["iid", "dirichlet", "shards", "column"];
pub(crate) const NOISES: [&str; 2] = ["independent", "pairs"];
pub(crate) const PAIRS: &str = NOISES[1];
pub(crate) const SECRETS: [(&str, SecretsOf); 2] =
    [("complete", SecretsOf::Complete), ("graph", SecretsOf::Graph)];
pub(crate) const SAMPLINGS: [(&str, Sampling); 3] = [
    ("poisson", Sampling::Poisson),
    ("without-replacement", Sampling::WithoutReplacement),
    ("full", Sampling::Full),
];

pub fn sampling_name(sampling: Sampling) -> &'static str {
    let [poisson, without_replacement, full] = SAMPLINGS.map(|(name, _)| name);
    match sampling {
        Sampling::Poisson => poisson,
        Sampling::WithoutReplacement => without_replacement,
        Sampling::Full => full,
    }
}
