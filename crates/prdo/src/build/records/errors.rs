//! Errors of records, at the key of the run file that they are about.

use prdo_data::{BadCell, DataError};
use prdo_runfile::{ConfigError, Key, RunFile};
use std::path::Path;

pub(super) fn data_error(run: &RunFile, error: &DataError) -> ConfigError {
    data_error_of(run, error, Key::DataPath)
}

/// The same for the file that `file_key` names.
pub(super) fn data_error_of(run: &RunFile, error: &DataError, file_key: Key) -> ConfigError {
    let field = match error {
        _ if file_key != Key::DataPath => file_key,
        DataError::Argument { name, .. } => match *name {
            "nodes" => Key::GraphNodes,
            "concentration" => Key::PartitionConcentration,
            "test" => Key::DataTest,
            "validation" => Key::DataValidation,
            "dimension" => Key::DataDimension,
            "classes" => Key::DataClasses,
            "width" => Key::DataWidth,
            "label" => Key::DataLabel,
            "node" => Key::DataNode,
            "features" => Key::DataFeatures,
            "columns" => Key::DataColumns,
            _ => Key::DataSource,
        },
        DataError::MissingColumn { wanted, .. } => {
            let is = |name: &str| *wanted == format!("{name:?}");
            let named = |column: &Option<String>| column.as_ref().is_some_and(|name| is(name));
            let file = &run.data.file;
            match () {
                () if named(&file.label) => Key::DataLabel,
                () if named(&file.node) => Key::DataNode,
                () if file.features.iter().flatten().any(|name| is(name)) => Key::DataFeatures,
                () => Key::DataPath,
            }
        }
        DataError::DoubtfulLabel { .. } if run.data.file.label.is_some() => Key::DataLabel,
        _ if run.data.file.path.is_some() => Key::DataPath,
        _ => Key::DataSource,
    };
    if let DataError::DoubtfulLabel { doubt, .. } = error {
        let help = format!(
            "every different label becomes a class: mend the file, or leave these records out; if all of these are \
             classes, write classes = {} under [data]",
            doubt.count
        );
        return run.error(field, format!("data: {error}")).help(help);
    }
    let message = format!("data: {error}");
    match error {
        DataError::Cell { column, .. } if is_label(run, column) => run.error(field, message),
        DataError::Cell { column, bad, .. } => {
            let error = run.error(field, message);
            match instead_of_numbers(run, column, *bad) {
                Some(help) => error.help(help),
                None => error,
            }
        }
        DataError::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
            let path = run.document.file(field).unwrap_or_default();
            run.error(field, message).help(where_it_may_be(&path))
        }
        DataError::MissingColumn { wanted, .. } if field == Key::DataFeatures => {
            let mut names = run.data.file.features.iter().flatten();
            let item = names.position(|name| *wanted == format!("{name:?}")).unwrap_or(0);
            run.item_error(field, item, message)
        }
        _ => run.error(field, message),
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
fn instead_of_numbers(run: &RunFile, column: &str, bad: BadCell) -> Option<String> {
    Some(match (bad, run.features.has_range(column)) {
        (BadCell::Rule(_), _) => return None,
        (BadCell::MissingNumber, true) => {
            "or write missing = \"middle\" under [features]: each missing number then counts as the middle of its column's \
             range"
                .into()
        }
        (BadCell::MissingNumber, false) => format!(
            "or, if {column:?} holds words, list it under [features]: categories = [{column:?}], where a missing value is \
             a value like any other"
        ),
        (BadCell::DecimalComma | BadCell::Thousands, _) => {
            "`prdo data info FILE` shows what every column holds".into()
        }
        (BadCell::NotNumber, true) => format!(
            "{column:?} has a range under [features]: write a number there, leave out the record, or list the column under \
             categories instead"
        ),
        (BadCell::NotNumber, false) => {
            "if the column is what is to be told, write label = \"its name\" under [data], and if it says who holds a \
             record, node = \"its name\"; if it is text to learn from, `prdo data info FILE` prints the [features] \
             section for it; to leave it out, list the columns to learn from: features = [\"a\", \"b\"]"
                .into()
        }
    })
}

pub(super) fn is_label(run: &RunFile, column: &str) -> bool {
    match &run.data.file.label {
        Some(label) => label == column,
        None => ["label", "y"].contains(&column),
    }
}
