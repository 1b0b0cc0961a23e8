//! The names that run files have for choices, where no other room has them already.

use prdo_accounting::Method as Accounting;
use prdo_algorithm::graph::{Kind, Weights};
use prdo_data::Format;
use prdo_privacy::Sampling;

pub(crate) const GRAPH_FILE: &str = "file";
pub(crate) const SOURCES: [&str; 7] =
    ["logistic", "blobs", "quadratic", "coefficients", "digits", "file", "memory"];
/// The source that a program gives.
pub(crate) const MEMORY: &str = SOURCES[6];
pub(crate) const MAPS: [&str; 3] = ["scattering", "scattering+patches", "table"];
pub(crate) const MIDDLE: &str = "middle";
pub(crate) const PARTITIONS: [&str; 4] = ["iid", "dirichlet", "shards", "column"];
pub(crate) const SAMPLINGS: [(&str, Sampling); 3] = [
    ("poisson", Sampling::Poisson),
    ("without-replacement", Sampling::WithoutReplacement),
    ("full", Sampling::Full),
];

pub(crate) fn graph_kinds() -> Vec<&'static str> {
    Kind::NAMES.into_iter().chain([GRAPH_FILE]).collect()
}

pub(crate) fn weights() -> Vec<&'static str> {
    Weights::NAMES.to_vec()
}

pub(crate) fn sources() -> Vec<&'static str> {
    SOURCES.to_vec()
}

pub(crate) fn formats() -> Vec<&'static str> {
    Format::KEYS.to_vec()
}

pub(crate) fn maps() -> Vec<&'static str> {
    MAPS.to_vec()
}

pub(crate) fn missing() -> Vec<&'static str> {
    vec!["refused", MIDDLE]
}

pub(crate) fn partition_kinds() -> Vec<&'static str> {
    PARTITIONS.to_vec()
}

pub(crate) fn samplings() -> Vec<&'static str> {
    SAMPLINGS.map(|(name, _)| name).to_vec()
}

pub fn sampling_name(sampling: Sampling) -> &'static str {
    let [poisson, without_replacement, full] = SAMPLINGS.map(|(name, _)| name);
    match sampling {
        Sampling::Poisson => poisson,
        Sampling::WithoutReplacement => without_replacement,
        Sampling::Full => full,
    }
}

pub(crate) fn accountants() -> Vec<&'static str> {
    Accounting::NAMES.map(|(name, _)| name).to_vec()
}
