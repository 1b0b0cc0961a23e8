//! `prdo data get`: fetches a data set, checks it, and puts it in place whole.

use super::catalogue::{DataSet, Wanted, set};
use super::checksum;
use super::download::download;
use super::error::{GetError, disk};
use super::publish;
use super::unpack::Unpacking;
use crate::cli::data::GetArgs;
use crate::commands::Failure;
use crate::progress::{say, tell};
use prdo::disk::{Lock, LockError, Readers};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

pub fn run(args: &GetArgs) -> Result<(), Failure> {
    let local = args.from.as_deref().is_some_and(|from| !is_url(from));
    get(args).map_err(|e| e.failure(local))
}

fn get(args: &GetArgs) -> Result<(), GetError> {
    let set = set(args.name);
    let wanted = checksum::wanted(set, args.checksums.as_deref())?;
    let target = args.out.join(set.folder);
    if target.exists() {
        check(&target, &wanted).map_err(|e| {
            let path = target.display().to_string();
            GetError::Taken { path, why: e.to_string() }
        })?;
        say(&format!("{} already exists, and its checksums match", target.display()));
        return Ok(());
    }
    let source = Source::of(set, args.from.as_deref())?;
    let workbench = Workbench::open(&args.out, set)?;
    let bytes = source.fetch(&workbench, &wanted)?;
    publish(&workbench.unpacked(), &target).map_err(disk("cannot put in place", &target))?;
    let _ = fs::remove_dir_all(&workbench.path);
    let (files, megabytes) = (wanted.len(), bytes as f64 / 1e6);
    say(&format!("{}: {files} files, {megabytes:.1} MB, checksums match", target.display()));
    say(&format!("in a run file: [data] source = \"file\", path = \"{}\"", target.display()));
    Ok(())
}

fn check(folder: &Path, wanted: &[Wanted]) -> Result<(), GetError> {
    let place = || folder.display().to_string();
    for file in wanted {
        let path = folder.join(file.name);
        if !path.is_file() {
            return Err(GetError::Missing { place: place(), file: file.name.to_owned() });
        }
        let found = checksum::of_file(&path)?;
        if found != file.digest {
            let (file, expected) = (file.name.to_owned(), file.digest.to_string());
            return Err(GetError::Checksum { place: place(), file, found: found.to_string(), expected });
        }
    }
    Ok(())
}

fn is_url(from: &str) -> bool {
    from.starts_with("http://") || from.starts_with("https://")
}

enum Source {
    TarUrl(String),
    /// A folder on a server, with one `.gz` per file.
    GzUrl(String),
    Tar(PathBuf),
    Folder(PathBuf),
}

impl Source {
    fn of(set: &DataSet, from: Option<&str>) -> Result<Self, GetError> {
        let Some(from) = from else {
            let url = set.url.to_owned();
            return Ok(if set.tar { Self::TarUrl(url) } else { Self::GzUrl(url) });
        };
        let path = PathBuf::from(from);
        let tar = set.tar || [".tar", ".tar.gz", ".tgz"].iter().any(|ending| from.ends_with(ending));
        match () {
            () if is_url(from) && tar => Ok(Self::TarUrl(from.to_owned())),
            () if is_url(from) => Ok(Self::GzUrl(from.trim_end_matches('/').to_owned())),
            // A folder may be the one above, as unpacking the archive by hand leaves it.
            () if path.join(set.folder).is_dir() => Ok(Self::Folder(path.join(set.folder))),
            () if path.is_dir() => Ok(Self::Folder(path)),
            () if path.is_file() => Ok(Self::Tar(path)),
            () => Err(GetError::From { from: from.to_owned() }),
        }
    }

    /// Fetches and unpacks: how many bytes the files have.
    fn fetch(&self, workbench: &Workbench, wanted: &[Wanted]) -> Result<u64, GetError> {
        let unpacked = workbench.unpacked();
        let mut files = Unpacking::new(&unpacked, wanted);
        let place = match self {
            Self::Folder(folder) => {
                files.take_folder(folder)?;
                folder.display().to_string()
            }
            Self::Tar(path) => {
                let place = path.display().to_string();
                files.take_tar(&place, path)?;
                place
            }
            Self::TarUrl(url) => {
                workbench.fetch(url, |part| files.take_tar(url, part).and_then(|()| files.finish(url)))?;
                url.clone()
            }
            Self::GzUrl(base) => {
                for file in wanted {
                    let (url, name) = (format!("{base}/{}.gz", file.name), format!("{}.gz", file.name));
                    workbench.fetch(&url, |part| {
                        let mut packed = File::open(part).map_err(disk("cannot read", part))?;
                        files.take(&url, &name, &mut packed)
                    })?;
                }
                base.clone()
            }
        };
        files.finish(&place)
    }
}

/// The folder beside the target for what is not finished yet: downloads, which outlive a failure so that the next
/// call can resume, and unpacked files.
struct Workbench {
    path: PathBuf,
    /// The folder it is in, where that was made for it.
    made: Option<PathBuf>,
    _lock: Lock,
}

impl Workbench {
    fn open(out: &Path, set: &DataSet) -> Result<Self, GetError> {
        let path = out.join(format!(".{}.partial", set.folder));
        let made = (!out.exists()).then(|| out.to_path_buf());
        fs::create_dir_all(&path).map_err(disk("cannot make the folder", &path))?;
        let at = path.join("lock");
        let lock = Lock::take(&at, Readers::Everyone).map_err(|error| match error {
            LockError::InUse { .. } => GetError::InUse { path: path.display().to_string() },
            LockError::Disk(failure) => disk(failure.what, &failure.path)(failure.error),
        })?;
        let workbench = Self { path, made, _lock: lock };
        let unpacked = workbench.unpacked();
        // Left behind by a process that was killed.
        if unpacked.exists() {
            fs::remove_dir_all(&unpacked).map_err(disk("cannot remove", &unpacked))?;
        }
        fs::create_dir(&unpacked).map_err(disk("cannot make the folder", &unpacked))?;
        Ok(workbench)
    }

    fn unpacked(&self) -> PathBuf {
        self.path.join("unpacked")
    }

    /// Downloads `url` and uses what came. What turns out to be wrong is not kept.
    fn fetch<T>(
        &self,
        url: &str,
        mut using: impl FnMut(&Path) -> Result<T, GetError>,
    ) -> Result<T, GetError> {
        let name: String = blake3::hash(url.as_bytes()).to_hex().chars().take(16).collect();
        let part = self.path.join(format!("{name}.part"));
        tell(&format!("fetching {url}"));
        download(url, &part)?;
        let used = using(&part);
        if used.is_err() {
            let _ = fs::remove_file(&part);
        }
        used
    }
}

/// Unless a download is there to be resumed, nothing stays.
impl Drop for Workbench {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(self.unpacked());
        let parts = fs::read_dir(&self.path).into_iter().flatten().flatten();
        let kept = parts.filter(|entry| entry.path().extension().is_some_and(|e| e == "part"));
        if kept.filter(|entry| entry.metadata().is_ok_and(|m| m.len() > 0)).count() == 0 {
            let _ = fs::remove_dir_all(&self.path);
            // Only goes if it is empty.
            self.made.iter().for_each(|out| drop(fs::remove_dir(out)));
        }
    }
}
