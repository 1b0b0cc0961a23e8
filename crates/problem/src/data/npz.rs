//! NPZ: the arrays `x` (n x d), `y` (n) and perhaps `node` (n), as `numpy.savez` or `savez_compressed` writes
//! them, in C or Fortran order, of real numbers, integers or booleans.

use std::io::{BufReader, Read, Seek};
use std::path::Path;

use npyz::npz::NpzArchive;

use super::columns::Cell;
use super::error::{listed, quoted};
use super::npy::{self, Array, Name};
use super::{DataError, Dataset, Options, Place, Table};

/// Reads the NPZ file at `path`.
///
/// # Errors
/// When the file cannot be read, an array is missing or has the wrong shape or type, or a value is not allowed.
pub fn read(path: &Path, options: &Options) -> Result<Dataset, DataError> {
    let (name, file) = super::open(path)?;
    parse(&name, BufReader::new(file), options)
}

/// Reads an NPZ archive from `input`, which errors call `file`.
///
/// # Errors
/// As [`read`].
pub fn parse(file: &str, input: impl Read + Seek, options: &Options) -> Result<Dataset, DataError> {
    options.refuse("NPZ", &["features", "prefix"])?;
    let mut archive = NpzArchive::new(input).map_err(|e| DataError::malformed(file, "NPZ", e.to_string()))?;
    let mut names: Vec<String> = archive.array_names().map(str::to_owned).collect();
    names.sort_unstable();
    let has = |name: &str| names.iter().any(|n| n == name);
    let label = match &options.label {
        Some(name) => name,
        None if !has("y") && has("label") => "label",
        None => "y",
    };
    let node = match &options.node {
        Some(name) => Some(name.as_str()),
        None => has("node").then_some("node"),
    };
    for wanted in ["x", label].into_iter().chain(node) {
        if !has(wanted) {
            let (wanted, found) = (quoted(wanted), listed(&names));
            return Err(DataError::MissingColumn { file: file.to_owned(), wanted, found });
        }
    }

    let mut load = |array: &str| {
        let name = Name { file, array };
        let entry = format!("{array}.npy");
        match archive.zip_archive().by_name(&entry) {
            Ok(entry) => npy::array(name, entry),
            Err(e) => Err(DataError::malformed(file, "NPZ", format!("array \"{array}\": {e}"))),
        }
    };
    let x = load("x")?;
    let table = table(file, label, x, &mut load)?;
    options.check_width(file, table.width())?;
    let node = match node {
        Some(array) => Some(nodes(file, array, load(array)?, table.len())?),
        None => None,
    };
    Ok(Dataset { table, node, class_names: None, feature_names: None })
}

/// `x` and the array `label` as a table.
fn table(
    file: &str,
    label: &str,
    x: Array,
    mut load: impl FnMut(&str) -> Result<Array, DataError>,
) -> Result<Table, DataError> {
    let &[records, width] = x.shape.as_slice() else {
        return Err(Name { file, array: "x" }.shape(&x.shape, "[records, features]"));
    };
    if records == 0 {
        return Err(DataError::NoRecords { file: file.to_owned() });
    }
    if width == 0 {
        return Err(Name { file, array: "x" }.shape(&x.shape, "1 feature or more"));
    }
    if let Some(at) = x.values.iter().position(|v| !v.is_finite()) {
        let column = format!("x[:, {}]", at % width);
        Cell { file, place: Place::Record(at / width), column: &column }.finite(x.values[at])?;
    }
    let y = load(label)?;
    one_each(file, label, &y, records)?;
    for (record, value) in y.values.iter().enumerate() {
        Cell { file, place: Place::Record(record), column: label }.finite(*value)?;
    }
    Table::new(width, x.values, y.values)
}

/// The array `name` as node numbers.
fn nodes(file: &str, name: &str, array: Array, records: usize) -> Result<Vec<u32>, DataError> {
    one_each(file, name, &array, records)?;
    let number = |(record, value): (usize, &f64)| match *value {
        v if v.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&v) => Ok(v as u32),
        v => {
            let cell = Cell { file, place: Place::Record(record), column: name };
            Err(cell.refuse(v.to_string(), "whole numbers 0 to 4294967295"))
        }
    };
    array.values.iter().enumerate().map(number).collect()
}

/// Refuses an array that does not hold one value a record.
fn one_each(file: &str, name: &str, array: &Array, records: usize) -> Result<(), DataError> {
    match array.shape.as_slice() {
        [found] if *found == records => Ok(()),
        shape => Err(Name { file, array: name }.shape(shape, format!("[{records}], as many as x has rows"))),
    }
}
