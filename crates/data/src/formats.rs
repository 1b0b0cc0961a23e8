//! The formats that files come in: one table, a line each. What a format is called, how it is recognised and what reads it
//! stands in its reader's own file.

use super::error::quoted;
use super::{DataError, Loaded, Options};
use std::path::Path;

/// What a reader's file says about its format.
pub(crate) struct FormatCard {
    /// What run files and commands call it.
    pub(crate) key: &'static str,
    /// What messages call it.
    pub(crate) name: &'static str,
    /// One line for the command's help.
    pub(crate) about: &'static str,
    /// Extensions of file names, in lower case; the empty one for names that have none.
    pub(crate) extensions: &'static [&'static str],
    /// The end of names of files that go together, whatever their extension.
    pub(crate) ending: Option<&'static str>,
    /// Folders of such files.
    pub(crate) folder: Option<Folder>,
    pub(crate) layout: Layout,
    pub(crate) reading: Reading,
}

/// A folder of files that are read together.
pub(crate) struct Folder {
    /// How the files are named.
    pub(crate) files: &'static str,
    /// Whether a folder holds such files.
    pub(crate) holds: fn(&Path) -> bool,
    /// The [`Options::prefix`] of test images.
    pub(crate) test: &'static str,
    /// Whether a folder holds test images.
    pub(crate) has_test: fn(&Path) -> bool,
}

/// What reads a format.
pub(crate) enum Reading {
    Built(fn(&Path, &Options) -> Result<Loaded, DataError>),
    /// Left out of this build, which lacks this Cargo feature.
    #[cfg_attr(feature = "parquet", allow(dead_code, reason = "every format is built"))]
    Needs(&'static str),
}

/// How records lie in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Columns that go by their names; labels may be words.
    Columns,
    /// Arrays of numbers or bytes, perhaps with names beside them.
    Arrays,
    /// Only what is not zero: the file alone does not say how wide a record is.
    Sparse,
    /// Images and their labels as bytes, in a training and a test part.
    Images,
}

/// Makes the type of formats out of the table below.
macro_rules! formats {
    ($($(#[$doc:meta])* $format:ident: $module:ident,)*) => {
        /// How a file is laid out.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Format {
            $($(#[$doc])* $format,)*
        }

        impl Format {
            pub const ALL: &[Format] = &[$(Format::$format),*];
            /// What run files call them, in the same order.
            pub const KEYS: &[&str] = &[$(crate::$module::CARD.key),*];

            fn card(self) -> &'static FormatCard {
                match self {
                    $(Format::$format => &crate::$module::CARD,)*
                }
            }
        }
    };
}

formats! {
    /// Comma-separated values with a header: [`csv`](crate::csv).
    Csv: csv,
    /// Arrays `x` and `y` (and `node`) as `numpy.savez` writes them: [`npz`](crate::npz).
    Npz: npz,
    /// `label index:value …`, one record per line: [`libsvm`](crate::libsvm).
    LibSvm: libsvm,
    /// The images and labels files of MNIST: [`idx`](crate::idx).
    Idx: idx,
    /// The binary version of CIFAR-10: [`cifar10`](crate::cifar10).
    Cifar10: cifar10,
    /// Apache Parquet: [`parquet`](crate::parquet).
    Parquet: parquet,
}

impl Format {
    pub fn name(self) -> &'static str {
        self.card().name
    }

    /// What run files and commands call it.
    pub fn key(self) -> &'static str {
        self.card().key
    }

    /// The format that run files and commands call so.
    pub fn keyed(key: &str) -> Option<Format> {
        Format::ALL.iter().copied().find(|format| format.key() == key)
    }

    pub fn about(self) -> &'static str {
        self.card().about
    }

    pub fn layout(self) -> Layout {
        self.card().layout
    }

    /// The [`Options::prefix`] of test images, where a folder of such files may bring them along.
    pub fn test_prefix(self) -> Option<&'static str> {
        self.card().folder.as_ref().map(|folder| folder.test)
    }

    /// The same, if the folder `path` does.
    pub fn test_part(self, path: &Path) -> Option<&'static str> {
        self.card().folder.as_ref().filter(|folder| (folder.has_test)(path)).map(|folder| folder.test)
    }

    /// The format that `path`'s name says it has; only for a folder is the disk looked at.
    ///
    /// A file with no extension is taken for LibSVM text, because that is how that collection names its files
    /// (`a9a`, `w8a`, and `a9a.t` for the test part); a name ending in `ubyte` is one file of an IDX pair.
    ///
    /// # Errors
    /// When the name says nothing known, or a folder holds no files of a known name.
    pub fn of(path: &Path) -> Result<Format, DataError> {
        let unknown = |found: String| DataError::UnknownFormat {
            file: path.display().to_string(),
            found,
            known: known(),
        };
        let find = |fits: &dyn Fn(&FormatCard) -> bool| Format::ALL.iter().find(|format| fits(format.card()));
        if path.is_dir() {
            // The last first: any name that ends in ubyte makes a folder one of IDX files.
            let holds = |format: &&Format| format.card().folder.as_ref().is_some_and(|f| (f.holds)(path));
            let found = Format::ALL.iter().rev().find(holds);
            return found.copied().ok_or_else(|| unknown(format!("a folder without {} files", folders())));
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if let Some(format) = find(&|card| card.ending.is_some_and(|ending| name.ends_with(ending))) {
            return Ok(*format);
        }
        let extension = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        if let Some(format) = find(&|card| card.extensions.contains(&extension.as_str())) {
            return Ok(*format);
        }
        Err(unknown(match extension.as_str() {
            "gz" | "bz2" | "xz" | "zip" | "zst" => "a compressed file (unpack it first)".to_owned(),
            "xlsx" | "xls" | "ods" => format!(
                "a spreadsheet (save it as \"CSV UTF-8\" and give that file), extension {}",
                quoted(&extension)
            ),
            other => format!("extension {}", quoted(other)),
        }))
    }

    pub(crate) fn load(self, path: &Path, options: &Options) -> Result<Loaded, DataError> {
        match self.card().reading {
            Reading::Built(read) => read(path, options),
            Reading::Needs(feature) => {
                let file = path.display().to_string();
                Err(DataError::NotBuilt { file, format: self.name(), feature })
            }
        }
    }

    /// How its files are named, as messages list it.
    fn naming(self) -> String {
        let FormatCard { key, name, extensions, folder, .. } = self.card();
        if *extensions == [*key] {
            return format!(".{key}");
        }
        let endings = extensions.iter().map(|extension| match *extension {
            "" => "no extension".to_owned(),
            extension => format!(".{extension}"),
        });
        let folders = folder.iter().map(|folder| format!("a folder of {} files", folder.files));
        format!("{} ({name})", endings.chain(folders).collect::<Vec<_>>().join(" or "))
    }
}

/// How files of all formats are named, in words.
fn known() -> String {
    let mut names: Vec<String> = Format::ALL.iter().map(|format| format.naming()).collect();
    if let Some(last) = names.last_mut() {
        last.insert_str(0, "and ");
    }
    names.join(", ")
}

/// How the files of folders are named, in words.
fn folders() -> String {
    let files =
        Format::ALL.iter().filter_map(|format| format.card().folder.as_ref()).map(|folder| folder.files);
    files.collect::<Vec<_>>().join(" or ")
}
