//! Takes the wanted files, and nothing else, out of an archive or a folder.

use super::catalogue::Wanted;
use super::checksum;
use super::error::{GetError, disk};
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Component, Path};

/// The most bytes a file may unpack to; the largest of a data set here has 47 million.
const MOST: u64 = 1 << 30;
const MOST_ARCHIVE: u64 = 4 << 30;

/// A folder that fills with wanted files, each checked as it is written.
pub struct Unpacking<'a> {
    folder: &'a Path,
    wanted: &'a [Wanted],
    /// Bytes of each wanted file that is there.
    found: Vec<Option<u64>>,
}

impl<'a> Unpacking<'a> {
    pub fn new(folder: &'a Path, wanted: &'a [Wanted]) -> Self {
        Self { folder, wanted, found: wanted.iter().map(|_| None).collect() }
    }

    /// Takes the wanted files, plain or each packed by gzip, out of a folder.
    pub fn take_folder(&mut self, folder: &Path) -> Result<(), GetError> {
        let place = folder.display().to_string();
        for wanted in self.wanted {
            for name in [wanted.name.to_owned(), format!("{}.gz", wanted.name)] {
                let path = folder.join(&name);
                if path.is_file() {
                    let file = File::open(&path).map_err(disk("cannot read", &path))?;
                    self.take(&place, &name, &mut BufReader::new(file))?;
                    break;
                }
            }
        }
        Ok(())
    }

    /// Takes the wanted files out of a tar archive, which may be packed by gzip. Errors call it `place`.
    pub fn take_tar(&mut self, place: &str, path: &Path) -> Result<(), GetError> {
        let archive = |problem: String| GetError::Archive { place: place.to_owned(), problem };
        let mut file = BufReader::new(File::open(path).map_err(disk("cannot read", path))?);
        let packed = file.fill_buf().map_err(disk("cannot read", path))?.starts_with(&[0x1f, 0x8b]);
        let plain: Box<dyn Read> = if packed { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) };
        let mut tar = tar::Archive::new(plain.take(MOST_ARCHIVE));
        // What a file that is no archive begins with may be anything, and terminals take some of it as commands.
        let damaged = |e: std::io::Error| archive(e.to_string().escape_debug().to_string());
        for entry in tar.entries().map_err(damaged)? {
            let mut entry = entry.map_err(damaged)?;
            let path = entry.path().map_err(damaged)?.into_owned();
            // No path of an archive is ever written to; one that points outside says what the archive is.
            if !path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
                return Err(archive(format!("it holds the path {:?}, which leads outside", path.display())));
            }
            let kind = entry.header().entry_type();
            if kind.is_symlink() || kind.is_hard_link() {
                return Err(archive(format!(
                    "it holds the link {:?}; only plain files are allowed",
                    path.display()
                )));
            }
            if let Some(name) = path.file_name().filter(|_| kind.is_file()) {
                self.take(place, &name.to_string_lossy(), &mut entry)?;
            }
        }
        Ok(())
    }

    /// Takes one file `name`, if it is wanted; a wanted name followed by `.gz` is unpacked.
    pub fn take(&mut self, place: &str, name: &str, input: &mut dyn Read) -> Result<(), GetError> {
        let packed = name.strip_suffix(".gz");
        let Some(at) = self.wanted.iter().position(|w| w.name == name || Some(w.name) == packed) else {
            return Ok(());
        };
        let wanted = &self.wanted[at];
        let archive = |problem: String| GetError::Archive { place: place.to_owned(), problem };
        if self.found[at].is_some() {
            return Err(archive(format!("it holds {} twice", wanted.name)));
        }
        let plain: Box<dyn Read + '_> =
            if wanted.name == name { Box::new(input) } else { Box::new(MultiGzDecoder::new(input)) };
        let path = self.folder.join(wanted.name);
        let mut output = File::create(&path).map_err(disk("cannot write", &path))?;
        let copied = checksum::copy(&mut plain.take(MOST + 1), &mut output);
        let (found, bytes) = copied.map_err(|e| archive(format!("{}: {e}", wanted.name)))?;
        if bytes > MOST {
            return Err(GetError::TooLarge { place: format!("{place}, {name}"), limit: MOST });
        }
        if found != wanted.digest {
            return Err(GetError::Checksum {
                place: place.to_owned(),
                file: wanted.name.to_owned(),
                found: found.to_string(),
                expected: wanted.digest.to_string(),
            });
        }
        output.sync_all().map_err(disk("cannot write", &path))?;
        self.found[at] = Some(bytes);
        Ok(())
    }

    /// Bytes of all files, which must all be there now.
    pub fn finish(&self, place: &str) -> Result<u64, GetError> {
        let sized = self.wanted.iter().zip(&self.found).map(|(wanted, found)| {
            found.ok_or_else(|| GetError::Missing { place: place.to_owned(), file: wanted.name.to_owned() })
        });
        sized.sum()
    }
}
