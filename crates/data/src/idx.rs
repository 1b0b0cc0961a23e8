//! IDX: the pair of files that MNIST and its successors come in, images and labels.
//!
//! A header (two zero bytes, the type of a value, the number of dimensions, each dimension as a big-endian
//! `u32`) and then the values. Read here: unsigned bytes. Images may have any number of dimensions and become
//! one row of bytes each, where 255 stands for 1; labels have one dimension.

use std::path::{Path, PathBuf};

use super::error::listed;
use super::formats::{Folder, FormatCard, Reading};
use super::{DataError, Dataset, ImageShape, Layout, Loaded, Options, Setting, Table};

const UNSIGNED_BYTE: u8 = 0x08;

pub(crate) const CARD: FormatCard = FormatCard {
    key: "idx",
    name: "IDX",
    about: "Images and labels of MNIST",
    extensions: &[],
    ending: Some("ubyte"),
    folder: Some(Folder { files: "*-ubyte", holds: looks_like, test: "t10k", has_test }),
    layout: Layout::Images,
    reading: Reading::Built(|path, options| Ok(Loaded::Images(read(path, options)?))),
};

/// Reads the images and labels in the folder `path`: `train-images-idx3-ubyte` and `train-labels-idx1-ubyte`,
/// or those with the prefix `options` names. When `path` is one file of such a pair, reads that pair.
pub fn read(path: &Path, options: &Options) -> Result<Dataset<u8>, DataError> {
    options.refuse("IDX", &[Setting::Label, Setting::Node, Setting::Features, Setting::Columns])?;
    let (images, labels) = match path.is_dir() {
        true => pair_in(path, options.prefix.as_deref().unwrap_or("train"))?,
        false => {
            options.refuse("a single IDX file's", &[Setting::Prefix])?;
            pair_of(path)?
        }
    };
    let bytes = |path: &Path| {
        let name = path.display().to_string();
        std::fs::read(path).map(|bytes| (name.clone(), bytes)).map_err(|e| DataError::io(&name, e))
    };
    let ((images_name, images), (labels_name, labels)) = (bytes(&images)?, bytes(&labels)?);
    let dataset = parse((&images_name, &images), (&labels_name, &labels))?;
    options.check_width(&images_name, dataset.table.width())?;
    Ok(dataset)
}

/// Reads the bytes of an images file and a labels file, each given with the name errors call it by.
pub fn parse(images: (&str, &[u8]), labels: (&str, &[u8])) -> Result<Dataset<u8>, DataError> {
    let (images_name, labels_name) = (images.0, labels.0);
    let (shape, pixels) = header(images_name, images.1)?;
    let (labels_shape, classes) = header(labels_name, labels.1)?;
    let shown = |shape: &[usize]| format!("{shape:?}");
    let wrong = |file: &str, array: &str, found: &[usize], allowed: String| DataError::Shape {
        file: file.to_owned(),
        array: array.to_owned(),
        found: shown(found),
        allowed,
    };
    let records = shape.first().copied().unwrap_or(0);
    if labels_shape != [records] {
        let allowed = format!("[{records}], one label an image of {images_name}");
        return Err(wrong(labels_name, "labels", &labels_shape, allowed));
    }
    if records == 0 {
        return Err(DataError::NoRecords { file: images_name.to_owned() });
    }
    let width = pixels.len() / records;
    if width == 0 {
        return Err(wrong(images_name, "images", &shape, "dimensions of 1 or more".to_owned()));
    }
    let image = match shape.as_slice() {
        &[_, height, width] => Some(ImageShape { channels: 1, height, width }),
        _ => None,
    };
    let table = Table::new(width, pixels.to_vec(), classes.iter().map(|c| f64::from(*c)).collect())?;
    Ok(Dataset { image, ..Dataset::from(table) })
}

/// The dimensions that `bytes` declares, and its values, whose number is checked against them.
fn header<'a>(file: &str, bytes: &'a [u8]) -> Result<(Vec<usize>, &'a [u8]), DataError> {
    let malformed = |problem: String| DataError::malformed(file, "IDX", problem);
    let (kind, dimensions, rest) = match bytes {
        [0, 0, kind, dimensions, rest @ ..] => (*kind, usize::from(*dimensions), rest),
        [0x1f, 0x8b, ..] => return Err(malformed("it is compressed by gzip; unpack it first".to_owned())),
        _ => return Err(malformed("it does not start with two zero bytes, a type and a number".to_owned())),
    };
    if kind != UNSIGNED_BYTE {
        return Err(malformed(format!("values of type 0x{kind:02x}; allowed: 0x08 (unsigned bytes)")));
    }
    if dimensions == 0 {
        return Err(malformed("0 dimensions; allowed: 1 or more".to_owned()));
    }
    let Some((sizes, values)) = rest.split_at_checked(4 * dimensions) else {
        return Err(malformed(format!("it ends within the sizes of its {dimensions} dimensions")));
    };
    let shape: Vec<usize> =
        sizes.chunks_exact(4).map(|s| u32::from_be_bytes([s[0], s[1], s[2], s[3]]) as usize).collect();
    let promised = shape.iter().try_fold(1usize, |product, size| product.checked_mul(*size));
    if promised != Some(values.len()) {
        return Err(DataError::Length {
            file: file.to_owned(),
            unit: "bytes of values",
            promised: format!("{shape:?}"),
            found: values.len().to_string(),
        });
    }
    Ok((shape, values))
}

/// Whether a folder holds files that are named as IDX files are.
fn looks_like(folder: &Path) -> bool {
    names_in(folder).is_ok_and(|names| !names.is_empty())
}

fn has_test(folder: &Path) -> bool {
    pair_in(folder, "t10k").is_ok()
}

/// The names in `folder` that end in `ubyte`, sorted.
fn names_in(folder: &Path) -> Result<Vec<String>, DataError> {
    let failed = |e| DataError::io(&folder.display().to_string(), e);
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name().to_string_lossy().into_owned();
        if name.ends_with("ubyte") {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// The images and labels files of `prefix` in `folder`. Both `-images-idx3-ubyte` and `-images.idx3-ubyte` are
/// seen in the wild.
fn pair_in(folder: &Path, prefix: &str) -> Result<(PathBuf, PathBuf), DataError> {
    let names = names_in(folder)?;
    let find = |part: &str| {
        let start = format!("{prefix}-{part}");
        let follows =
            |name: &&String| name.strip_prefix(&start).is_some_and(|rest| rest.starts_with(['-', '.']));
        names.iter().find(follows).map(|name| folder.join(name)).ok_or_else(|| DataError::Malformed {
            file: folder.display().to_string(),
            format: "IDX",
            problem: format!("no file {start}-idx*-ubyte (found: {})", listed(&names)),
        })
    };
    Ok((find("images")?, find("labels")?))
}

/// The pair that `path` is one of.
fn pair_of(path: &Path) -> Result<(PathBuf, PathBuf), DataError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match name.split_once("-images").or_else(|| name.split_once("-labels")) {
        Some((prefix, _)) => pair_in(folder, prefix),
        None => {
            let problem = "its name should be that of a folder, or hold -images or -labels";
            Err(DataError::malformed(&path.display().to_string(), "IDX", problem))
        }
    }
}
