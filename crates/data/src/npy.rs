//! One array of an NPZ archive: NumPy's header, and the numbers or pixels behind it.
//!
//! The header is a Python literal. This reads the one form that NumPy writes and refuses the rest: no recursion, and
//! dimensions are multiplied with a check, so that a hostile file cannot stop the program.

use std::io::Read;

use super::error::quoted;
use super::{DataError, ImageShape};

/// The longest header taken: NumPy's own are about a hundred bytes.
const LONGEST_HEADER: usize = 1 << 16;

/// An array of numbers in row-major order.
pub(super) struct Array {
    pub(super) shape: Vec<usize>,
    pub(super) values: Vec<f64>,
}

/// Which array of which file, for errors.
#[derive(Clone, Copy)]
pub(super) struct Name<'a> {
    pub(super) file: &'a str,
    pub(super) array: &'a str,
}

impl Name<'_> {
    fn malformed(self, problem: impl std::fmt::Display) -> DataError {
        DataError::malformed(self.file, "NPZ", format!("array \"{}\": {problem}", self.array))
    }

    /// The error of an array with the wrong shape.
    pub(super) fn shape(self, found: &[usize], allowed: impl Into<String>) -> DataError {
        let (file, array) = (self.file.to_owned(), self.array.to_owned());
        DataError::Shape { file, array, found: format!("{found:?}"), allowed: allowed.into() }
    }
}

/// The header that NumPy writes before an array of type `descr`, C order and this shape.
pub(super) fn header_bytes(descr: &str, shape: &[usize]) -> Vec<u8> {
    let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
    let comma = if sizes.len() == 1 { "," } else { "" };
    let sizes = sizes.join(", ");
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({sizes}{comma}), }}");
    // The numbers start at a multiple of 64 bytes, after a line feed.
    let length = (10 + text.len() + 1).next_multiple_of(64) - 10;
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend_from_slice(&(length as u16).to_le_bytes());
    bytes.extend_from_slice(format!("{text:<0$}\n", length - 1).as_bytes());
    bytes
}

/// Texts as NumPy keeps them: each filled up to the longest, four bytes a letter.
pub(super) fn text_bytes(texts: &[String]) -> Vec<u8> {
    let longest = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0).max(1);
    let mut bytes = header_bytes(&format!("<U{longest}"), &[texts.len()]);
    for text in texts {
        let letters = text.chars().map(u32::from).chain(std::iter::repeat(0)).take(longest);
        letters.for_each(|letter| bytes.extend_from_slice(&letter.to_le_bytes()));
    }
    bytes
}

/// Reads one array of texts; nothing if it holds something else.
pub(super) fn texts(name: Name<'_>, mut input: impl Read) -> Result<Option<Vec<String>>, DataError> {
    /// Bytes of names that are taken.
    const MOST: usize = 1 << 26;
    let header = header(name, &mut input)?;
    let longest = header.descr.strip_prefix("<U").and_then(|digits| digits.parse::<usize>().ok());
    let (Some(longest), [count]) = (longest.filter(|n| *n > 0), header.shape.as_slice()) else {
        return Ok(None);
    };
    let size = longest.saturating_mul(4);
    let Some(bytes) = size.checked_mul(*count).filter(|bytes| *bytes <= MOST) else {
        return Err(name.shape(&header.shape, format!("names of {MOST} bytes together at most")));
    };
    let bytes = raw_bytes(name, bytes, input)?;
    let letter = |b: &[u8]| <[u8; 4]>::try_from(b).ok().and_then(|b| char::from_u32(u32::from_le_bytes(b)));
    let text = |bytes: &[u8]| -> Option<String> {
        let letters = bytes.chunks_exact(4).map(letter).collect::<Option<String>>()?;
        Some(letters.trim_end_matches('\0').to_owned())
    };
    let texts = bytes.chunks_exact(size).map(text).collect::<Option<Vec<_>>>();
    texts.map(Some).ok_or_else(|| name.malformed("a letter that is none"))
}

/// Images: bytes of three dimensions (records, rows, columns) or four (records, channels, rows, columns).
pub(super) struct Images {
    pub(super) records: usize,
    pub(super) image: ImageShape,
    pub(super) pixels: Vec<u8>,
}

/// What an array of records holds.
pub(super) enum Content {
    Numbers(Array),
    Images(Images),
}

/// Reads one array of numbers, of at most two dimensions.
pub(super) fn array(name: Name<'_>, mut input: impl Read) -> Result<Array, DataError> {
    let header = header(name, &mut input)?;
    numbers_of(name, header, input)
}

/// Reads one array of numbers or images.
pub(super) fn content(name: Name<'_>, mut input: impl Read) -> Result<Content, DataError> {
    let header = header(name, &mut input)?;
    let (records, image) = match *header.shape.as_slice() {
        [records, height, width] => (records, ImageShape { channels: 1, height, width }),
        [records, channels, height, width] => (records, ImageShape { channels, height, width }),
        _ => return Ok(Content::Numbers(numbers_of(name, header, input)?)),
    };
    if header.descr != "|u1" || header.fortran {
        let allowed = "one or two dimensions (three or four are images, of bytes in C order)";
        return Err(name.shape(&header.shape, allowed));
    }
    let what = format!("{}, array \"{}\"", name.file, name.array);
    let pixels = raw_bytes(name, super::dense_len(&what, records, image.features())?, input)?;
    Ok(Content::Images(Images { records, image, pixels }))
}

fn header(name: Name<'_>, input: &mut impl Read) -> Result<Header, DataError> {
    let text = header_text(name, input)?;
    Header::parse(&text)
        .ok_or_else(|| name.malformed(format!("its header is not NumPy's: {}", quoted(&text))))
}

fn numbers_of(name: Name<'_>, header: Header, input: impl Read) -> Result<Array, DataError> {
    if header.shape.is_empty() || header.shape.len() > 2 {
        return Err(name.shape(&header.shape, "one or two dimensions"));
    }
    let (records, width) = (header.shape[0], header.shape.get(1).copied().unwrap_or(1));
    let count = super::dense_len(&format!("{}, array \"{}\"", name.file, name.array), records, width)?;
    let stored = numbers(name, &header.descr, count, input)?;
    let values = if header.fortran { row_major(&stored, records, width) } else { stored };
    Ok(Array { shape: header.shape, values })
}

fn header_text(name: Name<'_>, input: &mut impl Read) -> Result<String, DataError> {
    let truncated = |_| name.malformed("it ends within its header");
    let mut start = [0u8; 8];
    input.read_exact(&mut start).map_err(truncated)?;
    let length_bytes = match start {
        [0x93, b'N', b'U', b'M', b'P', b'Y', 1, 0] => 2,
        [0x93, b'N', b'U', b'M', b'P', b'Y', 2 | 3, 0] => 4,
        [0x93, b'N', b'U', b'M', b'P', b'Y', major, minor] => {
            return Err(name.malformed(format!("version {major}.{minor}; allowed: 1.0, 2.0, 3.0")));
        }
        _ => return Err(name.malformed("it does not start with NumPy's mark")),
    };
    let mut length = [0u8; 4];
    input.read_exact(&mut length[..length_bytes]).map_err(truncated)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > LONGEST_HEADER {
        return Err(name.malformed(format!("a header of {length} bytes; allowed: {LONGEST_HEADER}")));
    }
    let mut text = vec![0; length];
    input.read_exact(&mut text).map_err(truncated)?;
    String::from_utf8(text).map_err(|_| name.malformed("its header is not text"))
}

/// What a header says: `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`.
#[derive(Debug, PartialEq, Eq)]
struct Header {
    descr: String,
    fortran: bool,
    shape: Vec<usize>,
}

impl Header {
    fn parse(text: &str) -> Option<Self> {
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        let mut rest = text.trim().strip_prefix('{')?.strip_suffix('}')?.trim();
        while !rest.is_empty() {
            let (key, after) = string(rest)?;
            let value = after.trim_start().strip_prefix(':')?.trim_start();
            rest = match key {
                "descr" => {
                    let (found, after) = string(value)?;
                    descr = Some(found.to_owned());
                    after
                }
                "fortran_order" => {
                    let yes = value.strip_prefix("True");
                    fortran = Some(yes.is_some());
                    yes.or_else(|| value.strip_prefix("False"))?
                }
                "shape" => {
                    let (inside, after) = value.strip_prefix('(')?.split_once(')')?;
                    shape = Some(dimensions(inside)?);
                    after
                }
                _ => return None,
            };
            rest = rest.trim_start();
            rest = match rest.strip_prefix(',') {
                Some(rest) => rest.trim_start(),
                None if rest.is_empty() => rest,
                None => return None,
            };
        }
        Some(Self { descr: descr?, fortran: fortran?, shape: shape? })
    }
}

/// A quoted string at the start of `text`, and what follows it.
fn string(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    text[1..].split_once(quote)
}

/// `3, 4` or `3,` or nothing.
fn dimensions(text: &str) -> Option<Vec<usize>> {
    let text = text.trim();
    if text.is_empty() {
        return Some(Vec::new());
    }
    text.strip_suffix(',').unwrap_or(text).split(',').map(|size| size.trim().parse().ok()).collect()
}

/// Exactly `count` numbers of NumPy type `descr`. Memory grows with what is there, not with what the header says.
fn numbers(name: Name<'_>, descr: &str, count: usize, mut input: impl Read) -> Result<Vec<f64>, DataError> {
    let Some((size, decode)) = decoder(descr) else {
        let allowed = "real numbers (f4, f8), integers (i1 to i8, u1 to u8) and b1";
        return Err(name.malformed(format!("values of type {}; allowed: {allowed}", quoted(descr))));
    };
    let mut values = Vec::with_capacity(count.min(1 << 16));
    let mut buffer = vec![0u8; size << 13];
    while values.len() < count {
        let wanted = ((count - values.len()) * size).min(buffer.len());
        let chunk = &mut buffer[..wanted];
        read_exact(name, count, &mut input, chunk)?;
        values.extend(chunk.chunks_exact(size).map(decode));
    }
    ends(name, count, input).map(|()| values)
}

/// Exactly `count` bytes; memory grows as for numbers.
fn raw_bytes(name: Name<'_>, count: usize, mut input: impl Read) -> Result<Vec<u8>, DataError> {
    let mut values = Vec::with_capacity(count.min(1 << 20));
    let mut buffer = vec![0u8; 1 << 16];
    while values.len() < count {
        let wanted = (count - values.len()).min(buffer.len());
        read_exact(name, count, &mut input, &mut buffer[..wanted])?;
        values.extend_from_slice(&buffer[..wanted]);
    }
    ends(name, count, input).map(|()| values)
}

fn read_exact(
    name: Name<'_>,
    count: usize,
    input: &mut impl Read,
    chunk: &mut [u8],
) -> Result<(), DataError> {
    input.read_exact(chunk).map_err(|e| match e.kind() {
        std::io::ErrorKind::UnexpectedEof => length(name, count, "fewer"),
        _ => name.malformed(e),
    })
}

/// Refuses more values than promised. Reading past the end is also what makes the archive check its checksum.
fn ends(name: Name<'_>, count: usize, mut input: impl Read) -> Result<(), DataError> {
    match input.read(&mut [0]) {
        Ok(0) => Ok(()),
        Ok(_) => Err(length(name, count, "more")),
        Err(e) => Err(name.malformed(e)),
    }
}

fn length(name: Name<'_>, promised: usize, found: &str) -> DataError {
    DataError::Length {
        file: format!("{}, array \"{}\"", name.file, name.array),
        unit: "values",
        promised: promised.to_string(),
        found: found.to_owned(),
    }
}

type Decode = fn(&[u8]) -> f64;

/// How many bytes a value of NumPy type `descr` has, and how to read it.
fn decoder(descr: &str) -> Option<(usize, Decode)> {
    macro_rules! read {
        ($type:ty, $from:ident) => {
            Some((size_of::<$type>(), |bytes| {
                <[u8; _]>::try_from(bytes).map_or(0.0, |b| <$type>::$from(b) as f64)
            }))
        };
    }
    match descr {
        "<f8" => read!(f64, from_le_bytes),
        ">f8" => read!(f64, from_be_bytes),
        "<f4" => read!(f32, from_le_bytes),
        ">f4" => read!(f32, from_be_bytes),
        "<i8" => read!(i64, from_le_bytes),
        ">i8" => read!(i64, from_be_bytes),
        "<i4" => read!(i32, from_le_bytes),
        ">i4" => read!(i32, from_be_bytes),
        "<i2" => read!(i16, from_le_bytes),
        ">i2" => read!(i16, from_be_bytes),
        "<u8" => read!(u64, from_le_bytes),
        ">u8" => read!(u64, from_be_bytes),
        "<u4" => read!(u32, from_le_bytes),
        ">u4" => read!(u32, from_be_bytes),
        "<u2" => read!(u16, from_le_bytes),
        ">u2" => read!(u16, from_be_bytes),
        "|i1" => read!(i8, from_le_bytes),
        "|u1" | "|b1" => read!(u8, from_le_bytes),
        _ => None,
    }
}

/// Values stored column after column, row after row.
fn row_major(stored: &[f64], records: usize, width: usize) -> Vec<f64> {
    (0..records).flat_map(|r| (0..width).map(move |c| stored[c * records + r])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_as_numpy_writes_them_and_nothing_else() {
        let header =
            Header::parse("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }   \n").unwrap();
        assert_eq!(header, Header { descr: "<f8".to_owned(), fortran: false, shape: vec![3, 4] });
        let header = Header::parse("{\"shape\":(7,),\"fortran_order\":True,\"descr\":\"|u1\"}").unwrap();
        assert_eq!(header, Header { descr: "|u1".to_owned(), fortran: true, shape: vec![7] });
        for bad in [
            "",
            "{}",
            "{'descr': '<f8', 'fortran_order': False}",
            "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (3,)}",
            "{'descr': '<f8', 'fortran_order': 0, 'shape': (3,)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (-3,)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': 3}",
            "{'descr': '<f8' 'fortran_order': False, 'shape': (3,)}",
            "{'other': 1}",
            "{é: 1}",
        ] {
            assert_eq!(Header::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn written_headers_read_back() {
        for shape in [&[7][..], &[3, 4], &[45_000, 3, 32, 32]] {
            let bytes = header_bytes("|u1", shape);
            assert_eq!((bytes.len() % 64, bytes.last()), (0, Some(&b'\n')));
            let header = header(Name { file: "f", array: "x" }, &mut &bytes[..]).unwrap();
            assert_eq!(header, Header { descr: "|u1".to_owned(), fortran: false, shape: shape.to_vec() });
        }
    }

    #[test]
    fn texts_read_back_and_other_arrays_are_none() {
        let name = Name { file: "f", array: "class_names" };
        for list in [&["yes", "no", "vielleicht é"][..], &[""], &[]] {
            let list: Vec<String> = list.iter().map(|text| (*text).to_owned()).collect();
            let bytes = text_bytes(&list);
            assert_eq!(texts(name, &bytes[..]).unwrap(), Some(list.clone()));
            if !list.is_empty() {
                assert!(texts(name, &bytes[..bytes.len() - 1]).is_err());
            }
        }
        assert_eq!(texts(name, &header_bytes("<f8", &[3])[..]).unwrap(), None);
        assert_eq!(texts(name, &header_bytes("<U0", &[3])[..]).unwrap(), None);
        assert!(texts(name, &header_bytes("<U99999999", &[99_999_999_999])[..]).is_err());
        assert!(texts(name, &[&header_bytes("<U1", &[1])[..], &[255; 4]].concat()[..]).is_err());
    }

    #[test]
    fn every_type_reads_its_own_bytes() {
        let read =
            |descr: &str, bytes: &[u8]| decoder(descr).map(|(size, f)| (size == bytes.len(), f(bytes)));
        assert_eq!(read("<f8", &1.5f64.to_le_bytes()), Some((true, 1.5)));
        assert_eq!(read(">f4", &(-2.5f32).to_be_bytes()), Some((true, -2.5)));
        assert_eq!(read("<i8", &(-7i64).to_le_bytes()), Some((true, -7.0)));
        assert_eq!(read(">u2", &[1, 2]), Some((true, 258.0)));
        assert_eq!(read("|i1", &[255]), Some((true, -1.0)));
        assert_eq!(read("|u1", &[255]), Some((true, 255.0)));
        assert_eq!(read("<c16", &[]), None);
        assert_eq!(row_major(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2, 3), [1.0, 3.0, 5.0, 2.0, 4.0, 6.0]);
    }
}
