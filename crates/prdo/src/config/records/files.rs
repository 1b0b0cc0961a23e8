//! Records that are read from files, and what the files themselves fix.

use super::Convert;
use super::errors::{data_error, data_error_of};
use super::labels::refuse_numbers;
use crate::config::document::Document;
use crate::config::features::{Refused, located as feature_error, missing_numbers};
use crate::config::place::ConfigError;
use prdo_peer::agreement::Facts;
use prdo_problem::data::{self, ClassNames, Dataset, Feature, Format, Loaded, Options, Table};
use std::path::{Path, PathBuf};

/// Which part of data that comes in a training and a test part.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part<'a> {
    Training,
    /// Its features are these, where they have names.
    Test(Option<&'a [String]>),
}

pub(super) fn read_file(document: &Document) -> Result<Loaded, ConfigError> {
    let path = document.file("data.path").ok_or_else(|| document.missing("data.path"))?;
    read(document, &path, "data.path", Part::Training)
}

/// The format that the run file names, or the one that the file's name says.
pub(super) fn format(document: &Document, path: &Path, field: &'static str) -> Result<Format, ConfigError> {
    Ok(match document.text("data.format").as_deref() {
        Some("csv") => Format::Csv,
        Some("npz") => Format::Npz,
        Some("libsvm") => Format::LibSvm,
        Some("idx") => Format::Idx,
        Some("cifar10") => Format::Cifar10,
        Some("parquet") => Format::Parquet,
        _ => Format::of(path).map_err(|e| document.error(field, format!("data: {e}")))?,
    })
}

pub(super) fn read(
    document: &Document,
    path: &Path,
    field: &'static str,
    part: Part<'_>,
) -> Result<Loaded, ConfigError> {
    let kind = format(document, path, field)?;
    let prefix = match (part, kind) {
        (Part::Training, Format::Idx | Format::Cifar10) => Some("train"),
        (Part::Test(_), Format::Idx) => Some("t10k"),
        (Part::Test(_), Format::Cifar10) => Some("test"),
        _ => None,
    };
    // Held-out columns go by their names, in whatever order, and nobody need hold these records.
    let named = match part {
        Part::Test(Some(names)) if matches!(kind, Format::Csv | Format::Parquet) => Some(names.to_vec()),
        _ => None,
    };
    let options = Options {
        format: Some(kind),
        label: document.text("data.label"),
        node: document.text("data.node").filter(|_| named.is_none()),
        features: named.or_else(|| document.texts("data.features")),
        columns: document.texts("data.columns"),
        categories: document.texts("features.categories").unwrap_or_default(),
        missing: missing_numbers(document),
        width: document.integer("data.width").map(|w| w as usize),
        prefix: prefix.filter(|_| path.is_dir()).map(str::to_string),
        unlabelled: false,
        // Held-out records need not be of every class; theirs are held against those of the others.
        class_names: match (part, document.integer("data.classes")) {
            (Part::Test(_), _) => ClassNames::Any,
            (Part::Training, Some(classes)) => ClassNames::Number(classes as usize),
            (Part::Training, None) => ClassNames::Plausible,
        },
    };
    let loaded =
        data::load(path, &options).map_err(|e| data_error_of(document, &e, field)).map_err(|mut e| {
            e.place = e.place.or_else(|| document.place(field).cloned());
            e
        })?;
    if part != Part::Training {
        return Ok(loaded);
    }
    refuse_numbers(document, &loaded)?;
    Ok(match loaded {
        Loaded::Numbers(data)
            if matches!(kind, Format::Csv | Format::Parquet) && !are_numbers(document, &data) =>
        {
            Loaded::Numbers(data.with_codes_as_names())
        }
        other => other,
    })
}

/// Whether a run file that says how many nodes there are has all that a table speaks of, by their numbers. Elsewhere a
/// number that says who holds a record may be anybody's code.
fn are_numbers(document: &Document, data: &Dataset) -> bool {
    let last = data.node.iter().flatten().max().copied();
    document.integer("graph.nodes").zip(last).is_some_and(|(nodes, last)| u64::from(last) < nodes)
}

/// The data's folder, if it is one of images that brings its own test images.
pub(super) fn brings_test(document: &Document) -> Option<PathBuf> {
    document.file("data.path").filter(|path| data::test_part(path).is_some())
}

pub(super) fn read_test<F: Feature>(
    document: &Document,
    path: &Path,
    facts: &Facts,
    convert: Convert<'_, F>,
) -> Result<Table<F>, ConfigError> {
    let loaded = read(document, path, "data.test_path", Part::Test(facts.feature_names.as_deref()))?;
    let (found, width) = (loaded.width(), facts.features as usize);
    if found != width {
        let message =
            format!("data.test_path {} has {found} features, data.path has {width}", path.display());
        return Err(document.error("data.test_path", message));
    }
    let name = path.display().to_string();
    let test = convert(loaded, &name).map_err(|e| refused(document, "data.test_path", e))?;
    let (Some(own), Some(classes)) = (&test.class_names, &facts.class_names) else { return Ok(test.table) };
    // A file numbers its own classes, and need not have all of them: the names say which is which.
    let number = |own: &String| {
        classes.iter().position(|class| class == own).ok_or_else(|| {
            let known = classes.iter().take(20).map(|class| format!("{class:?}")).collect::<Vec<_>>();
            let message = format!(
                "data.test_path {name} has the label {own:?}, which is no class of data.path: {}",
                known.join(", ")
            );
            document.error("data.test_path", message)
        })
    };
    let numbers = own.iter().map(number).collect::<Result<Vec<_>, _>>()?;
    data::renumbered_labels(test.table, &numbers)
        .map_err(|e| document.error("data.test_path", format!("data: {e}")))
}

/// An error of records that were to be converted, at the key it is about.
pub(super) fn refused(document: &Document, field: &'static str, error: Refused) -> ConfigError {
    match error {
        Refused::Data(error) if field == "data.path" => data_error(document, &error),
        Refused::Data(error) => document.error(field, format!("data: {error}")),
        Refused::Features(error) => feature_error(document, &error),
    }
}
