//! Features on disk, so that they are extracted once.
//!
//! A file is named by the hash of the map and of the records it was applied to, so that another map, or one record
//! changed, is another file; what it holds is hashed too, so that a damaged one is noticed and made again. It holds what
//! the records hold: it belongs where they are kept. The constants of maps are kept beside them, in the same way: they take
//! seconds to compute, and are nobody's.

use super::{FeatureError, FeatureMap, PatchSettings, Settings};
use crate::{Feature, ImageShape, Table};
use prdo_disk::Readers;
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

const MAGIC: &[u8; 8] = b"prdofea1";
/// Magic, records, width, hash of the values.
const HEADER: usize = 8 + 8 + 8 + 32;

#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
}

/// Where features or constants came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    OnDisk,
    /// They were extracted, and are on disk now.
    Extracted,
    /// They were extracted and could not be written, for this reason.
    NotKept(String),
}

impl Cache {
    /// Features kept in `folder`, which is made when it is needed.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Where the features of these records are kept, under the map with this hash.
    pub fn path<F: Feature>(&self, map: &str, records: &Table<F>) -> PathBuf {
        let mut hasher = blake3::Hasher::new_derive_key("prdo 2026-11 feature cache v1");
        hasher.update(map.as_bytes()).update(F::NUMPY.as_bytes());
        hasher.update(&(records.width() as u64).to_le_bytes());
        hasher.update(&(records.len() as u64).to_le_bytes());
        F::bytes(records.features(), &mut |bytes| {
            hasher.update(bytes);
        });
        self.folder.join(format!("{}.features", hasher.finalize().to_hex()))
    }

    /// The map of these settings: with the constants that are on disk, or else with computed ones, which are then kept.
    pub fn map(&self, shape: ImageShape, settings: Settings) -> Result<(FeatureMap, Found), FeatureError> {
        let blank = FeatureMap::blank(shape, settings)?;
        let mut name = blake3::Hasher::new_derive_key("prdo 2026-11 names of constants v1");
        name.update(&blank.recipe()).update(tiny().as_bytes());
        let path = self.folder.join(format!("{}.map", name.finalize().to_hex()));
        let count = blank.constants().iter().map(|values| values.len()).sum();
        if let Ok(Some(values)) = load(&path, 1, count) {
            return Ok((blank.with_constants(&values), Found::OnDisk));
        }
        let map = FeatureMap::new(shape, settings)?;
        let found = saved(&path, &Table::trusted(count, map.constants().concat(), vec![0.0]));
        Ok((map, found))
    }

    /// The features of `records` under the map with this hash and this many features: from disk, or else as `extract`
    /// gives them, which are then kept. That they cannot be kept is no reason to lose them.
    pub fn features<F: Feature>(
        &self,
        map: &str,
        width: usize,
        records: &Table<F>,
        extract: impl FnOnce() -> Result<Table<f32>, FeatureError>,
    ) -> Result<(Table<f32>, Found), FeatureError> {
        let path = self.path(map, records);
        // Not there, of another size, or not what was written: made anew, whatever the reason.
        if let Ok(Some(values)) = load(&path, records.len(), width) {
            return Ok((Table::trusted(width, values, records.labels().to_vec()), Found::OnDisk));
        }
        let table = extract()?;
        let found = saved(&path, &table);
        Ok((table, found))
    }
}

/// The hash of a tiny map that has every part a map can have, made by this code: constants that another version of the
/// filters or of the whitening kept are then not taken for this one's, and nobody need remember to raise a number.
fn tiny() -> &'static str {
    static HASH: OnceLock<String> = OnceLock::new();
    HASH.get_or_init(|| {
        let shape = ImageShape { channels: 3, height: 8, width: 8 };
        let base = Settings { leaves: 100, angles: 2, scales: 1, ..Settings::with_patches(3) };
        let patches = base.patches.map(|p| PatchSettings { filters: 5, size: 3, ..p });
        FeatureMap::new(shape, Settings { patches, ..base }).map_or_else(|e| e.to_string(), |map| map.hash())
    })
}

fn saved(path: &Path, table: &Table<f32>) -> Found {
    match save(path, table) {
        Ok(()) => Found::Extracted,
        Err(error) => Found::NotKept(format!("cannot write {}: {error}", path.display())),
    }
}

/// The values of a file that is whole.
fn load(path: &Path, records: usize, width: usize) -> io::Result<Option<Vec<f32>>> {
    let mut file = File::open(path)?;
    let expected =
        records.checked_mul(width).and_then(|n| n.checked_mul(4)).and_then(|n| n.checked_add(HEADER));
    if expected.map(|n| n as u64) != Some(file.metadata()?.len()) {
        return Ok(None);
    }
    let mut header = [0; HEADER];
    file.read_exact(&mut header)?;
    let head = [&MAGIC[..], &(records as u64).to_le_bytes(), &(width as u64).to_le_bytes()].concat();
    let (mut hasher, mut values) = (blake3::Hasher::new(), Vec::with_capacity(records * width));
    let mut buffer = vec![0; 1 << 20];
    let mut left = records * width * 4;
    while left > 0 {
        let part = left.min(buffer.len());
        let bytes = &mut buffer[..part];
        file.read_exact(bytes)?;
        hasher.update(bytes);
        values.extend(bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])));
        left -= part;
    }
    let whole = header[..24] == head[..] && header[24..] == hasher.finalize().as_bytes()[..];
    Ok(whole.then_some(values).filter(|values| values.iter().all(|v| v.is_finite())))
}

fn save(path: &Path, table: &Table<f32>) -> io::Result<()> {
    private_folder(prdo_disk::folder_of(path))?;
    prdo_disk::write_with(path, Readers::Owner, |file| write(file, table)).map_err(|failure| failure.error)
}

fn write(file: &mut File, table: &Table<f32>) -> io::Result<()> {
    let mut hasher = blake3::Hasher::new();
    each_part(table.features(), |bytes| {
        hasher.update(bytes);
        Ok(())
    })?;
    let mut file = BufWriter::new(file);
    file.write_all(MAGIC)?;
    file.write_all(&(table.len() as u64).to_le_bytes())?;
    file.write_all(&(table.width() as u64).to_le_bytes())?;
    file.write_all(hasher.finalize().as_bytes())?;
    each_part(table.features(), |bytes| file.write_all(bytes))?;
    file.flush()
}

/// A folder that only its owner may look into: features say as much as the records.
fn private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// The values as bytes, a megabyte or so at a time.
fn each_part(values: &[f32], mut visit: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let mut bytes = Vec::with_capacity(1 << 20);
    for part in values.chunks(1 << 18) {
        bytes.clear();
        bytes.extend(part.iter().flat_map(|v| v.to_le_bytes()));
        visit(&bytes)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_extracted_is_found_again_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path().join("deep").join("down"));
        let records = Table::new(2, vec![1u8, 2, 3, 4], vec![0.0, 1.0]).unwrap();
        let made = Table::new(3, vec![0.5_f32, 1.5, 2.5, -1.0, 0.0, 3.0], vec![0.0, 1.0]).unwrap();
        let ask =
            |map: &str, records: &Table<u8>| cache.features(map, 3, records, || Ok(made.clone())).unwrap();
        assert_eq!(ask("a", &records), (made.clone(), Found::Extracted));
        assert_eq!(ask("a", &records), (made.clone(), Found::OnDisk));
        assert_eq!(ask("b", &records).1, Found::Extracted);
        let other = Table::new(2, vec![1u8, 2, 3, 5], vec![0.0, 1.0]).unwrap();
        assert_eq!(ask("a", &other).1, Found::Extracted);
        // Labels are not the features' business.
        let relabelled = Table::new(2, vec![1u8, 2, 3, 4], vec![1.0, 1.0]).unwrap();
        let (found, kept) = ask("a", &relabelled);
        assert!(kept == Found::OnDisk && found.labels() == [1.0, 1.0]);
    }

    #[test]
    fn damaged_files_are_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path());
        let records = Table::new(1, vec![1u8], vec![0.0]).unwrap();
        let made = Table::new(2, vec![0.5_f32, 1.5], vec![0.0]).unwrap();
        let ask = || cache.features("a", 2, &records, || Ok(made.clone())).unwrap();
        ask();
        let path = cache.path("a", &records);
        let whole = std::fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            std::fs::write(&path, &bytes).unwrap();
            assert_eq!(ask(), (made.clone(), Found::Extracted), "byte {at}");
            assert_eq!(std::fs::read(&path).unwrap(), whole);
        }
        for length in [0, 7, HEADER, whole.len() - 1] {
            std::fs::write(&path, &whole[..length]).unwrap();
            assert_eq!(ask().1, Found::Extracted);
        }
        std::fs::write(&path, [&whole[..], &[0]].concat()).unwrap();
        assert_eq!((ask().1, ask().1), (Found::Extracted, Found::OnDisk));
        let failed = cache.features("c", 2, &records, || Err(FeatureError::setting("a", 1, "b")));
        assert!(failed.is_err());
        let blocked = Cache::new(path.join("in a file"));
        let (table, found) = blocked.features("a", 2, &records, || Ok(made.clone())).unwrap();
        assert!(table == made && matches!(found, Found::NotKept(why) if why.contains("in a file")));
    }

    #[test]
    fn constants_are_named_by_what_this_code_makes_of_a_tiny_map() {
        // The hash of a map, not the words of an error.
        assert!(tiny().len() == 64 && tiny().chars().all(|c| c.is_ascii_hexdigit()), "{}", tiny());
    }

    #[test]
    fn constants_are_computed_once_and_damaged_ones_again() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path());
        let shape = ImageShape { channels: 1, height: 8, width: 8 };
        let settings = Settings { leaves: 100, angles: 2, scales: 1, ..Settings::with_patches(1) };
        let settings = Settings {
            patches: settings.patches.map(|p| PatchSettings { filters: 5, size: 3, ..p }),
            ..settings
        };
        let of = |settings| cache.map(shape, settings).unwrap();
        let (first, kept) = of(settings);
        assert_eq!(
            (kept, first.hash()),
            (Found::Extracted, FeatureMap::new(shape, settings).unwrap().hash())
        );
        let (second, kept) = of(settings);
        assert_eq!((kept, second.hash()), (Found::OnDisk, first.hash()));
        assert_eq!(second.constants(), first.constants());
        let image = Table::new(64, (0..64).collect::<Vec<u8>>(), vec![0.0]).unwrap();
        assert_eq!(first.apply(&image, shape, &|_| ()), second.apply(&image, shape, &|_| ()));
        // Another map has constants of its own.
        let (other, kept) = of(Settings { ridge: 0.2, ..settings });
        assert!(kept == Found::Extracted && other.hash() != first.hash());
        let files: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().path()).collect();
        assert_eq!(files.len(), 2);
        for file in files {
            let mut bytes = std::fs::read(&file).unwrap();
            let at = bytes.len() - 3;
            bytes[at] ^= 4;
            std::fs::write(&file, &bytes).unwrap();
        }
        let (third, kept) = of(settings);
        assert_eq!((kept, third.hash()), (Found::Extracted, first.hash()));
        assert_eq!(of(settings).1, Found::OnDisk);
        assert!(cache.map(shape, Settings { angles: 0, ..settings }).is_err());
    }
}
