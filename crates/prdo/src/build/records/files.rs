//! Records that are read from files, and what the files themselves fix.

use super::Convert;
use super::errors::{data_error, data_error_of};
use super::labels::refuse_numbers;
use crate::build::features::{Refused, located as feature_error};
use prdo_data::{self as data, ClassNames, Dataset, Feature, Format, Layout, Loaded, Options, Table};
use prdo_runfile::{ConfigError, Key, RunFile};
use prdo_store::RecordFacts;
use std::path::Path;

/// Which part of data that comes in a training and a test part.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part<'a> {
    Training,
    /// Its features are these, where they have names.
    Test(Option<&'a [String]>),
}

pub(super) fn read_file(run: &RunFile) -> Result<Loaded, ConfigError> {
    let path = run.data.path().ok_or_else(|| run.missing(Key::DataPath))?;
    read(run, path, Key::DataPath, Part::Training)
}

pub(super) fn read(run: &RunFile, path: &Path, field: Key, part: Part<'_>) -> Result<Loaded, ConfigError> {
    let file = &run.data.file;
    // The format that the run file names, or the one that the file's name says.
    let kind = match file.format {
        Some(format) => format,
        None => Format::of(path).map_err(|e| run.error(field, format!("data: {e}")))?,
    };
    // Without one, a folder's training part is read.
    let prefix = match part {
        Part::Training => None,
        Part::Test(_) => kind.test_prefix(),
    };
    // Held-out columns go by their names, in whatever order, and nobody need hold these records.
    let named = match part {
        Part::Test(Some(names)) if kind.layout() == Layout::Columns => Some(names.to_vec()),
        _ => None,
    };
    let options = Options {
        format: Some(kind),
        label: file.label.clone(),
        node: file.node.clone().filter(|_| named.is_none()),
        features: named.or_else(|| file.features.clone()),
        columns: file.columns.clone(),
        categories: run.features.categories.clone(),
        missing: run.features.missing_numbers(),
        width: file.width,
        prefix: prefix.filter(|_| path.is_dir()).map(str::to_string),
        unlabelled: false,
        // Held-out records need not be of every class; theirs are held against those of the others.
        class_names: match (part, run.data.classes) {
            (Part::Test(_), _) => ClassNames::Any,
            (Part::Training, Some(classes)) => ClassNames::Number(classes),
            (Part::Training, None) => ClassNames::Plausible,
        },
    };
    let loaded = data::load(path, &options).map_err(|e| data_error_of(run, &e, field)).map_err(|mut e| {
        e.place = e.place.or_else(|| run.place(field).cloned());
        e
    })?;
    if part != Part::Training {
        return Ok(loaded);
    }
    refuse_numbers(run, &loaded)?;
    Ok(match loaded {
        Loaded::Numbers(data) if kind.layout() == Layout::Columns && !are_numbers(run, &data) => {
            Loaded::Numbers(data.with_codes_as_names())
        }
        other => other,
    })
}

/// Whether a run file that says how many nodes there are has all that a table speaks of, by their numbers. Elsewhere a
/// number that says who holds a record may be anybody's code.
fn are_numbers(run: &RunFile, data: &Dataset) -> bool {
    let last = data.node.iter().flatten().max().copied();
    run.graph.nodes.zip(last).is_some_and(|(nodes, last)| (last as usize) < nodes)
}

/// The data's folder, if it is one of images that brings its own test images.
pub(super) fn brings_test(run: &RunFile) -> Option<&Path> {
    run.data.path().filter(|path| data::test_part(path).is_some())
}

pub(super) fn read_test<F: Feature>(
    run: &RunFile,
    path: &Path,
    facts: &RecordFacts,
    convert: Convert<'_, F>,
) -> Result<Table<F>, ConfigError> {
    let loaded = read(run, path, Key::DataTestPath, Part::Test(facts.feature_names.as_deref()))?;
    let (found, width) = (loaded.width(), facts.features as usize);
    if found != width {
        let message =
            format!("data.test_path {} has {found} features, data.path has {width}", path.display());
        return Err(run.error(Key::DataTestPath, message));
    }
    let name = path.display().to_string();
    let test = convert(loaded, &name).map_err(|e| refused(run, Key::DataTestPath, e))?;
    let (Some(own), Some(classes)) = (&test.class_names, &facts.class_names) else { return Ok(test.table) };
    // A file numbers its own classes, and need not have all of them: the names say which is which.
    let number = |own: &String| {
        classes.iter().position(|class| class == own).ok_or_else(|| {
            let known = classes.iter().take(20).map(|class| format!("{class:?}")).collect::<Vec<_>>();
            let message = format!(
                "data.test_path {name} has the label {own:?}, which is no class of data.path: {}",
                known.join(", ")
            );
            run.error(Key::DataTestPath, message)
        })
    };
    let numbers = own.iter().map(number).collect::<Result<Vec<_>, _>>()?;
    data::renumbered_labels(test.table, &numbers)
        .map_err(|e| run.error(Key::DataTestPath, format!("data: {e}")))
}

/// An error of records that were to be converted, at the key it is about.
pub(super) fn refused(run: &RunFile, field: Key, error: Refused) -> ConfigError {
    match error {
        Refused::Data(error) if field == Key::DataPath => data_error(run, &error),
        Refused::Data(error) => run.error(field, format!("data: {error}")),
        Refused::Features(error) => feature_error(run, &error),
    }
}
