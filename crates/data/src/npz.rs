//! NPZ: the arrays `x` (n x d), `y` (n) and perhaps `node` (n), as `numpy.savez` or `savez_compressed` writes
//! them, in C or Fortran order, of real numbers, integers or booleans; and perhaps `class_names` and `feature_names`,
//! arrays of text: the names of labels 0, 1, … and of the columns of `x`.
//!
//! An `x` of bytes with three dimensions (n x rows x columns) or four (n x channels x rows x columns) holds images:
//! a byte v then stands for v/255, as in IDX and CIFAR-10 files.

use std::io::{self, BufReader, Read, Seek, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::columns::{Cell, missing};
use super::formats::{FormatCard, Reading};
use super::npy::{self, Array, Content, Images, Name};
use super::{DataError, Dataset, Feature, Layout, Loaded, Options, Place, Setting, Table};

pub(crate) const CARD: FormatCard = FormatCard {
    key: "npz",
    name: "NPZ",
    about: "Arrays `x` and `y`",
    extensions: &["npz"],
    ending: None,
    folder: None,
    layout: Layout::Arrays,
    reading: Reading::Built(|path, options| {
        let (name, file) = super::open(path)?;
        parse(&name, BufReader::new(file), options)
    }),
};

/// Reads an NPZ archive from `input`, which errors call `file`; images stay bytes.
///
/// # Errors
/// What cannot be read, an array that is missing or has the wrong shape or type, or a value that is not allowed.
pub fn parse(file: &str, input: impl Read + Seek, options: &Options) -> Result<Loaded, DataError> {
    options.refuse("NPZ", &[Setting::Features, Setting::Prefix, Setting::Columns])?;
    let mut archive = ZipArchive::new(input).map_err(|e| DataError::malformed(file, "NPZ", e.to_string()))?;
    let mut names = Vec::new();
    for name in archive.file_names() {
        let name = name.map_err(|e| DataError::malformed(file, "NPZ", e.to_string()))?;
        names.extend(name.strip_suffix(".npy").map(str::to_owned));
    }
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
    let labelled = has(label) || !options.unlabelled;
    for wanted in ["x"].into_iter().chain(labelled.then_some(label)).chain(node) {
        if !has(wanted) {
            return Err(missing(file, &names, wanted));
        }
    }

    let mut names_in = |array: &str| match has(array) {
        true => npy::texts(Name { file, array }, entry(file, &mut archive, array)?),
        false => Ok(None),
    };
    let names = Names { classes: names_in("class_names")?, features: names_in("feature_names")? };
    let x = npy::content(Name { file, array: "x" }, entry(file, &mut archive, "x")?)?;
    let mut load = |array: &str| npy::array(Name { file, array }, entry(file, &mut archive, array)?);
    let mut labels = |records: usize| match labelled {
        true => load(label),
        false => Ok(Array { shape: vec![records], values: vec![0.0; records] }),
    };
    match x {
        Content::Numbers(x) => {
            let records = x.shape.first().copied().unwrap_or(0);
            let table = numbers(file, label, x, labels(records)?)?;
            let data = named(file, table, node, &mut load, options)?;
            Ok(Loaded::Numbers(names.put(file, label, Dataset { labelled, ..data })?))
        }
        Content::Images(x) => {
            let image = x.image;
            let records = x.records;
            let table = images(file, label, x, labels(records)?)?;
            let data = named(file, table, node, &mut load, options)?;
            Ok(Loaded::Images(names.put(file, label, Dataset { image: Some(image), labelled, ..data })?))
        }
    }
}

/// What an archive calls classes and features.
struct Names {
    classes: Option<Vec<String>>,
    features: Option<Vec<String>>,
}

impl Names {
    /// The data with these names, if there are as many as it needs.
    fn put<F: Feature>(self, file: &str, label: &str, data: Dataset<F>) -> Result<Dataset<F>, DataError> {
        let table = &data.table;
        if let Some(names) = &self.features
            && names.len() != table.width()
        {
            let allowed = format!("[{}], as many as x has columns", table.width());
            return Err(Name { file, array: "feature_names" }.shape(&[names.len()], allowed));
        }
        if let Some(names) = &self.classes {
            let known = |label: f64| label >= 0.0 && label.fract() == 0.0 && label < names.len() as f64;
            if let Some(record) = table.labels().iter().position(|label| !known(*label)) {
                let cell = Cell { file, place: Place::Record(record), column: label };
                let value = table.labels().get(record).map_or(String::new(), f64::to_string);
                return Err(cell.refuse(value, "whole numbers from 0 on that class_names has a name for"));
            }
        }
        Ok(Dataset { class_names: self.classes, feature_names: self.features, ..data })
    }
}

/// Writes `data` so that [`parse`] reads it back: images as bytes with their shape, all else as numbers, labels and
/// nodes as numbers, and the names of classes and features. Nodes' names have no place in the format.
pub fn write<F: Feature>(output: &mut (impl Write + Seek), data: &Dataset<F>) -> io::Result<()> {
    let (table, records) = (&data.table, data.table.len());
    let mut archive = ZipWriter::new(output);
    match data.image.filter(|_| F::NUMPY == u8::NUMPY) {
        Some(image) => {
            let shape = [records, image.channels, image.height, image.width];
            put(&mut archive, "x", &shape, table.features())?;
        }
        // Bytes without a shape would be read back as numbers from 0 to 255.
        None => put(&mut archive, "x", &[records, table.width()], table.to_numbers().features())?,
    }
    put(&mut archive, "y", &[records], table.labels())?;
    if let Some(node) = &data.node {
        let node: Vec<f64> = node.iter().map(|node| f64::from(*node)).collect();
        put(&mut archive, "node", &[records], &node)?;
    }
    for (name, texts) in [("class_names", &data.class_names), ("feature_names", &data.feature_names)] {
        if let Some(texts) = texts {
            let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
            archive.start_file(format!("{name}.npy"), options)?;
            archive.write_all(&npy::text_bytes(texts))?;
        }
    }
    archive.finish()?;
    Ok(())
}

fn put<F: Feature, W: Write + Seek>(
    archive: &mut ZipWriter<W>,
    name: &str,
    shape: &[usize],
    values: &[F],
) -> io::Result<()> {
    // Larger than 4 GB only says so in the archive if it was announced.
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(true);
    archive.start_file(format!("{name}.npy"), options)?;
    let mut written = archive.write_all(&npy::header_bytes(F::NUMPY, shape));
    F::bytes(values, &mut |bytes| {
        if written.is_ok() {
            written = archive.write_all(bytes);
        }
    });
    written
}

/// The array `array` of the archive, to be read.
fn entry<'a, R: Read + Seek>(
    file: &str,
    archive: &'a mut ZipArchive<R>,
    array: &str,
) -> Result<impl Read + 'a, DataError> {
    let malformed =
        |e: &dyn std::fmt::Display| DataError::malformed(file, "NPZ", format!("array \"{array}\": {e}"));
    archive.by_name(&format!("{array}.npy")).map_err(|e| malformed(&e))
}

/// The table with its nodes, if the archive names them.
fn named<F: Feature>(
    file: &str,
    table: Table<F>,
    node: Option<&str>,
    load: &mut dyn FnMut(&str) -> Result<Array, DataError>,
    options: &Options,
) -> Result<Dataset<F>, DataError> {
    options.check_width(file, table.width())?;
    let node = match node {
        Some(array) => Some(nodes(file, array, load(array)?, table.len())?),
        None => None,
    };
    Ok(Dataset { node, ..Dataset::from(table) })
}

/// Images `x` and their labels `y`, the array `label`, as a table.
fn images(file: &str, label: &str, x: Images, y: Array) -> Result<Table<u8>, DataError> {
    if x.records == 0 {
        return Err(DataError::NoRecords { file: file.to_owned() });
    }
    if x.image.features() == 0 {
        let shape = [x.records, x.image.channels, x.image.height, x.image.width];
        return Err(Name { file, array: "x" }.shape(&shape, "dimensions of 1 or more"));
    }
    check_labels(file, label, &y, x.records)?;
    Table::new(x.image.features(), x.pixels, y.values)
}

/// Numbers `x` and their labels `y`, the array `label`, as a table.
fn numbers(file: &str, label: &str, x: Array, y: Array) -> Result<Table, DataError> {
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
    check_labels(file, label, &y, records)?;
    Table::new(width, x.values, y.values)
}

/// Refuses labels that are not one finite number a record.
fn check_labels(file: &str, label: &str, y: &Array, records: usize) -> Result<(), DataError> {
    one_each(file, label, y, records)?;
    for (record, value) in y.values.iter().enumerate() {
        Cell { file, place: Place::Record(record), column: label }.finite(*value)?;
    }
    Ok(())
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
