//! SHA-256 of files, and files that list them.

use super::catalogue::{DataSet, Wanted};
use super::error::{GetError, disk};
use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

/// A SHA-256, in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest(String);

impl Digest {
    fn parse(text: &str) -> Option<Self> {
        let fits = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        fits.then(|| Self(text.to_ascii_lowercase()))
    }
}

impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// What the files of `set` must hash to: the official sums, or those that `file` lists.
pub fn wanted(set: &'static DataSet, file: Option<&Path>) -> Result<Vec<Wanted>, GetError> {
    let Some(path) = file else {
        let official = set.files.iter();
        return Ok(official.map(|(name, sum)| Wanted { name, digest: Digest((*sum).to_owned()) }).collect());
    };
    let shown = path.display().to_string();
    let text = std::fs::read_to_string(path)
        .map_err(|error| GetError::ChecksumFile { file: shown.clone(), error })?;
    let sums = parse(&shown, &text)?;
    let sum = |name: &'static str| {
        let full = format!("{}/{name}", set.folder);
        let named = sums.iter().find(|(file, _)| *file == full || *file == name);
        match named {
            Some((_, digest)) => Ok(Wanted { name, digest: digest.clone() }),
            None => Err(GetError::NoChecksum { file: shown.clone(), wanted: full }),
        }
    };
    set.files.iter().map(|(name, _)| sum(name)).collect()
}

/// The lines of a checksum file as `sha256sum` writes them: sum, a space, a space or `*`, file.
fn parse<'a>(file: &str, text: &'a str) -> Result<Vec<(&'a str, Digest)>, GetError> {
    let entry = |(at, line): (usize, &'a str)| {
        let parsed = line.split_once(' ').and_then(|(sum, name)| {
            let name = name.strip_prefix([' ', '*']).unwrap_or(name).trim_end();
            Some((name.strip_prefix("./").unwrap_or(name), Digest::parse(sum)?))
        });
        let found: String = line.chars().take(100).collect();
        parsed.ok_or(GetError::ChecksumLine { file: file.to_owned(), line: at + 1, found })
    };
    text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).map(entry).collect()
}

pub fn of_file(path: &Path) -> Result<Digest, GetError> {
    let mut file = File::open(path).map_err(disk("cannot read", path))?;
    copy(&mut file, &mut std::io::sink()).map(|(digest, _)| digest).map_err(disk("cannot read", path))
}

/// Copies all of `input` to `output`: what it hashes to, and how long it is.
pub fn copy(input: &mut dyn Read, output: &mut dyn Write) -> std::io::Result<(Digest, u64)> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    let mut bytes = 0;
    loop {
        let count = match input.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(e),
        };
        hasher.update(&buffer[..count]);
        output.write_all(&buffer[..count])?;
        bytes += count as u64;
    }
    Ok((Digest(HEXLOWER.encode(&hasher.finalize())), bytes))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_the_standard() {
        let (digest, bytes) = copy(&mut &b"abc"[..], &mut std::io::sink()).unwrap();
        assert_eq!(digest.to_string(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(bytes, 3);
    }

    #[test]
    fn lines_are_read_or_refused_by_number() {
        let sum = "AB".repeat(32);
        let text = format!("{sum}  a/b.bin\n\n{sum} *c d.bin\n");
        let sums = parse("f", &text).unwrap();
        assert_eq!((sums[0].0, sums[1].0), ("a/b.bin", "c d.bin"));
        assert_eq!(sums[0].1.to_string(), "ab".repeat(32));
        for bad in ["xyz  a", "ab  a", &"é".repeat(32), &format!("{sum}0  a")] {
            let said = parse("f", &format!("{sum}  a\n{bad}\n")).unwrap_err().to_string();
            assert!(said.contains("f, line 2"), "{said}");
        }
    }
}
