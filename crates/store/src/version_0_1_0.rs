//! What files of version 0.1.0 say in a sentence alone, and later ones in a field.

/// Whether a warning says how the training as a whole went wrong.
pub(crate) fn is_about_the_outcome(warning: &str) -> bool {
    ["the model ran away", "the model did not learn", "the model is right no more often"]
        .iter()
        .any(|beginning| warning.starts_with(beginning))
}

/// Whether a feature map is of tables, by its description.
pub(crate) fn is_of_tables(description: &str) -> bool {
    description.contains(": columns ") // once: 0.1.0 wrote nothing else to tell by
}
