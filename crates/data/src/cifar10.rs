//! CIFAR-10, in its official binary version: the folder `cifar-10-batches-bin` with `data_batch_1.bin` to
//! `data_batch_5.bin` and `test_batch.bin`, or one such file.
//!
//! A record is a label byte, 0 to 9, and 3072 bytes of pixels: 1024 red, 1024 green, 1024 blue, each plane row after
//! row. There is no header. The classes' names are in `batches.meta.txt`, a line each.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use super::formats::{Folder, FormatCard, Reading};
use super::{BadCell, DataError, Dataset, ImageShape, Layout, Loaded, Options, Place, Setting, Table};

pub const IMAGE: ImageShape = ImageShape { channels: 3, height: 32, width: 32 };

/// The names of the classes, in the order of their labels.
pub const CLASSES: [&str; 10] =
    ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"];

const PIXELS: usize = 3 * 32 * 32;
const RECORD: usize = 1 + PIXELS;
const TRAINING: [&str; 5] =
    ["data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"];
const TEST: &str = "test_batch.bin";
const NAMES: &str = "batches.meta.txt";

pub(crate) const CARD: FormatCard = FormatCard {
    key: "cifar10",
    name: "CIFAR-10",
    about: "The binary version of CIFAR-10",
    extensions: &["bin"],
    ending: None,
    folder: Some(Folder { files: "data_batch_*.bin", holds: looks_like, test: "test", has_test }),
    layout: Layout::Images,
    reading: Reading::Built(|path, options| Ok(Loaded::Images(read(path, options)?))),
};

/// Reads the five training batches of the folder `path` (or its test batch, for the prefix `test`), or one file.
///
/// # Errors
/// When a batch is missing or cannot be read, ends within a record, or holds a label above 9.
pub fn read(path: &Path, options: &Options) -> Result<Dataset<u8>, DataError> {
    options.refuse("CIFAR-10", &[Setting::Label, Setting::Node, Setting::Features, Setting::Columns])?;
    options.check_width(&path.display().to_string(), PIXELS)?;
    let files: Vec<PathBuf> = match path.is_dir() {
        false => {
            options.refuse("a single CIFAR-10 file's", &[Setting::Prefix])?;
            vec![path.to_path_buf()]
        }
        true => match options.prefix.as_deref() {
            None | Some("train") => TRAINING.iter().map(|name| path.join(name)).collect(),
            Some("test") => vec![path.join(TEST)],
            Some(other) => {
                return Err(DataError::argument("prefix", other, "train or test, for CIFAR-10 data"));
            }
        },
    };
    let sizes = files.iter().map(|file| records_in(file)).collect::<Result<Vec<_>, _>>()?;
    // Sizes are those of files that are there, so memory follows what is on disk.
    let records: usize = sizes.iter().sum();
    let mut features = Vec::with_capacity(records * PIXELS);
    let mut labels = Vec::with_capacity(records);
    for (file, records) in files.iter().zip(sizes) {
        let (name, input) = super::open(file)?;
        parse(&name, BufReader::with_capacity(1 << 18, input), records, &mut features, &mut labels)?;
    }
    let folder = if path.is_dir() { Some(path) } else { path.parent() };
    let class_names = Some(class_names(folder)?);
    let table = Table::new(PIXELS, features, labels)?;
    Ok(Dataset { class_names, image: Some(IMAGE), ..Dataset::from(table) })
}

/// How many records `file` holds by its length.
fn records_in(file: &Path) -> Result<usize, DataError> {
    let name = file.display().to_string();
    let missing = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::NotFound => {
            let problem = format!("missing: the folder needs {}, and {TEST} to test on", TRAINING.join(", "));
            DataError::malformed(&name, "CIFAR-10", problem)
        }
        _ => DataError::io(&name, e),
    };
    let bytes = std::fs::metadata(file).map_err(missing)?.len();
    if bytes == 0 {
        return Err(DataError::NoRecords { file: name });
    }
    if bytes > super::DENSE_LIMIT {
        let (records, width) = ((bytes / RECORD as u64).to_string(), PIXELS.to_string());
        return Err(DataError::TooLarge { what: name, records, width, limit: super::DENSE_LIMIT });
    }
    match bytes % RECORD as u64 {
        0 => Ok((bytes / RECORD as u64) as usize),
        rest => {
            let record = bytes / RECORD as u64;
            let problem =
                format!("{bytes} bytes: record {record} ends after {rest} of {RECORD} bytes (truncated?)");
            Err(DataError::malformed(&name, "CIFAR-10", problem))
        }
    }
}

/// Appends the first `records` records of `input`, which errors call `file`.
fn parse(
    file: &str,
    mut input: impl Read,
    records: usize,
    features: &mut Vec<u8>,
    labels: &mut Vec<f64>,
) -> Result<(), DataError> {
    let mut record = [0; RECORD];
    for at in 0..records {
        input.read_exact(&mut record).map_err(|e| DataError::io(file, e))?;
        if record[0] > 9 {
            return Err(DataError::Cell {
                file: file.to_owned(),
                place: Place::Record(at),
                column: "label".to_owned(),
                value: record[0].to_string(),
                bad: BadCell::Rule("0 to 9 (is it the binary version of CIFAR-10?)"),
            });
        }
        labels.push(f64::from(record[0]));
        features.extend_from_slice(&record[1..]);
    }
    Ok(())
}

/// The names in the folder's `batches.meta.txt`, or the well-known ones where there is no such file.
fn class_names(folder: Option<&Path>) -> Result<Vec<String>, DataError> {
    const MOST: u64 = 10_000;
    let path = folder.unwrap_or(Path::new("")).join(NAMES);
    let Ok(file) = File::open(&path) else {
        return Ok(CLASSES.map(str::to_owned).to_vec());
    };
    let name = path.display().to_string();
    let mut text = String::new();
    file.take(MOST).read_to_string(&mut text).map_err(|e| DataError::io(&name, e))?;
    let names: Vec<String> =
        text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect();
    match names.len() {
        10 => Ok(names),
        found => Err(DataError::Length {
            file: name,
            unit: "names of classes, as CIFAR-10 has",
            promised: "10".to_owned(),
            found: found.to_string(),
        }),
    }
}

/// Whether a folder holds a training batch, if only one of them.
fn looks_like(folder: &Path) -> bool {
    TRAINING.iter().any(|name| folder.join(name).is_file())
}

fn has_test(folder: &Path) -> bool {
    looks_like(folder) && folder.join(TEST).is_file()
}
