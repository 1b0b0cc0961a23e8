//! What files of version 0.1.0 say in a sentence alone, and later ones in a field.

use crate::summary::MapOf;

/// Whether a warning says how the training as a whole went wrong.
pub(crate) fn is_about_the_outcome(warning: &str) -> bool {
    ["the model ran away", "the model did not learn", "the model is right no more often"]
        .iter()
        .any(|beginning| warning.starts_with(beginning))
}

/// What a feature map is made of, by its description.
pub(crate) fn map_described(description: &str) -> MapOf {
    let table = description.contains(": columns "); // once: 0.1.0 wrote nothing else to tell by
    if table { MapOf::Table } else { MapOf::Images }
}
