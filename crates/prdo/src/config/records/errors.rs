//! Errors of records, at the key of the run file that they are about.

use crate::config::document::Document;
use crate::config::place::ConfigError;
use prdo_problem::data::DataError;
use std::path::Path;

/// A data error at the key it is about.
pub(super) fn data_error(document: &Document, error: &DataError) -> ConfigError {
    data_error_of(document, error, "data.path")
}

/// The same for the file that `file_key` names.
pub(super) fn data_error_of(document: &Document, error: &DataError, file_key: &'static str) -> ConfigError {
    let field = match error {
        _ if file_key != "data.path" => file_key,
        DataError::Argument { name, .. } => match *name {
            "nodes" => "graph.nodes",
            "concentration" => "partition.concentration",
            "test" => "data.test",
            "validation" => "data.validation",
            "dimension" => "data.dimension",
            "classes" => "data.classes",
            "width" => "data.width",
            "label" => "data.label",
            "node" => "data.node",
            "features" => "data.features",
            "columns" => "data.columns",
            _ => "data.source",
        },
        DataError::MissingColumn { wanted, .. } => {
            let is = |name: &str| *wanted == format!("{name:?}");
            let named = |path| document.text(path).is_some_and(|name| is(&name));
            let listed = |name: &String| is(name);
            match () {
                () if named("data.label") => "data.label",
                () if named("data.node") => "data.node",
                () if document.texts("data.features").is_some_and(|list| list.iter().any(listed)) => {
                    "data.features"
                }
                () => "data.path",
            }
        }
        DataError::DoubtfulLabel { .. } if document.has("data.label") => "data.label",
        _ if document.has("data.path") => "data.path",
        _ => "data.source",
    };
    if let DataError::DoubtfulLabel { doubt, .. } = error {
        let help = format!(
            "every different label becomes a class: mend the file, or leave these records out; if all of these are \
             classes, write classes = {} under [data]",
            doubt.count
        );
        return document.error(field, format!("data: {error}")).help(help);
    }
    let message = format!("data: {error}");
    match error {
        DataError::Cell { column, .. } if is_label(document, column) => document.error(field, message),
        DataError::Cell { column, allowed, .. } if allowed.starts_with("finite numbers") => {
            document.error(field, message).help(instead_of_numbers(document, column, allowed))
        }
        DataError::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
            let path = document.file(field).unwrap_or_default();
            document.error(field, message).help(where_it_may_be(&path))
        }
        DataError::MissingColumn { wanted, .. } if field == "data.features" => {
            let names = document.texts(field).unwrap_or_default();
            let item = names.iter().position(|name| *wanted == format!("{name:?}")).unwrap_or(0);
            document.item_error(field, item, message)
        }
        _ => document.error(field, message),
    }
}

/// Folders of data sets that can be fetched, and their names there.
const FETCHED: [(&str, &str); 3] =
    [("cifar-10-batches-bin", "cifar10"), ("fashion-mnist", "fashion-mnist"), ("mnist", "mnist")];

/// What to do about a path where nothing is.
fn where_it_may_be(path: &Path) -> String {
    let known = path.file_name().and_then(|name| FETCHED.iter().find(|(folder, _)| name == *folder));
    match (known, path.parent()) {
        (Some((_, name)), Some(folder)) => {
            format!(
                "`prdo data get {name} --out {}` fetches it; paths are relative to the run file",
                folder.display()
            )
        }
        _ => "paths are relative to the folder of the run file".to_string(),
    }
}

/// What to do about a cell of this column that is no number.
fn instead_of_numbers(document: &Document, column: &str, allowed: &str) -> String {
    let ranges = document.texts("features.ranges").unwrap_or_default();
    let ranged = |text: &String| text.rsplit_once(':').is_some_and(|(name, _)| name.trim() == column);
    match () {
        () if allowed.contains("missing") && ranges.iter().any(ranged) => {
            "or write missing = \"middle\" under [features]: each missing number then counts as the middle of its column's \
             range"
                .into()
        }
        () if allowed.contains("missing") => format!(
            "or, if {column:?} holds words, list it under [features]: categories = [{column:?}], where a missing value is \
             a value like any other"
        ),
        () if allowed.contains("comma") => "`prdo data info FILE` shows what every column holds".into(),
        () if ranges.iter().any(ranged) => format!(
            "{column:?} has a range under [features]: write a number there, leave out the record, or list the column under \
             categories instead"
        ),
        () => "if the column is what is to be told, write label = \"its name\" under [data], and if it says who holds a \
               record, node = \"its name\"; if it is text to learn from, `prdo data info FILE` prints the [features] \
               section for it; to leave it out, list the columns to learn from: features = [\"a\", \"b\"]"
            .into(),
    }
}

/// Whether a column of a file has the labels.
pub(super) fn is_label(document: &Document, column: &str) -> bool {
    match document.text("data.label") {
        Some(label) => label == column,
        None => ["label", "y"].contains(&column),
    }
}
