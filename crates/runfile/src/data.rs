//! `[data]`: whose records, and which of them are set aside.

use crate::document::Document;
use crate::names::SOURCES;
use crate::schema::Key;
use prdo_data::Format;
use std::path::{Path, PathBuf};

/// Where records come from, with what is read of them there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DataSource {
    Generated(Generated),
    Digits,
    File,
    Memory,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Generated {
    pub law: GeneratedLaw,
    /// N, for each node.
    pub records: usize,
    pub dimension: usize,
    pub seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GeneratedLaw {
    Logistic {
        heterogeneity: f64,
    },
    Blobs {
        classes: usize,
        spread: f64,
    },
    /// Targets of least squares.
    Quadratic {
        heterogeneity: f64,
    },
    /// Coefficients of log-cosh.
    Coefficients {
        bound: f64,
    },
}

/// The classes of generated blobs when nobody says.
const BLOBS: usize = 4;
/// Held-out records that are generated when nobody says.
const GENERATED_TEST: usize = 2000;
/// The share of a file that is held out when nobody says.
const FILE_TEST: f64 = 0.2;

impl DataSource {
    fn of(document: &Document) -> Option<Self> {
        let name = document.text(Key::DataSource)?;
        let number = |key| document.float(key).unwrap_or_default();
        let heterogeneity = number(Key::DataHeterogeneity);
        let classes = document.count(Key::DataClasses).unwrap_or(BLOBS);
        let laws = [
            GeneratedLaw::Logistic { heterogeneity },
            GeneratedLaw::Blobs { classes, spread: number(Key::DataSpread) },
            GeneratedLaw::Quadratic { heterogeneity },
            GeneratedLaw::Coefficients { bound: number(Key::DataBound) },
        ];
        let drawn = |law| {
            Self::Generated(Generated {
                law,
                records: document.count(Key::DataRecords).unwrap_or_default(),
                dimension: document.count(Key::DataDimension).unwrap_or_default(),
                seed: document.integer(Key::DataSeed).unwrap_or_default(),
            })
        };
        let mut all = laws.into_iter().map(drawn).chain([Self::Digits, Self::File, Self::Memory]);
        all.find(|source| source.name() == name)
    }

    pub fn name(&self) -> &'static str {
        let [logistic, blobs, quadratic, coefficients, digits, file, memory] = SOURCES;
        match self {
            Self::Generated(generated) => match generated.law {
                GeneratedLaw::Logistic { .. } => logistic,
                GeneratedLaw::Blobs { .. } => blobs,
                GeneratedLaw::Quadratic { .. } => quadratic,
                GeneratedLaw::Coefficients { .. } => coefficients,
            },
            Self::Digits => digits,
            Self::File => file,
            Self::Memory => memory,
        }
    }

    pub fn is_generated(&self) -> bool {
        matches!(self, Self::Generated(_))
    }

    /// Whether somebody owns the records: they are neither generated nor bundled.
    pub fn is_owned(&self) -> bool {
        matches!(self, Self::File | Self::Memory)
    }
}

/// A file's name as it was typed, and where it lies.
#[derive(Clone, Debug)]
pub struct FilePath {
    pub typed: String,
    /// Relative to the run file's folder.
    pub path: PathBuf,
}

/// How a file of records is read.
#[derive(Clone, Debug)]
pub struct DataFile {
    pub path: Option<FilePath>,
    /// A file of its own with the held-out records.
    pub test_path: Option<PathBuf>,
    /// Its format; otherwise its name says it.
    pub format: Option<Format>,
    pub label: Option<String>,
    /// The column that says who holds a record.
    pub node: Option<String>,
    pub features: Option<Vec<String>>,
    /// The names of all columns where there is no header.
    pub columns: Option<Vec<String>>,
    /// Features of a LibSVM file.
    pub width: Option<usize>,
}

#[derive(Clone, Debug)]
pub struct DataSection {
    /// Where records come from; an agreement does not say.
    pub source: Option<DataSource>,
    /// How many classes there are, where it is said.
    pub classes: Option<usize>,
    pub file: DataFile,
    /// What is subtracted from each channel of images.
    pub mean: Option<Vec<f64>>,
    /// What each channel is then divided by.
    pub deviation: Option<Vec<f64>>,
    /// Held-out records: a share below 1 or a number.
    pub test: Option<f64>,
    /// Records set aside for tuning: a share below 1 or a number.
    pub validation: f64,
}

impl DataSection {
    pub(crate) fn of(document: &Document) -> Self {
        let path = document.text(Key::DataPath);
        let format = document.text(Key::DataFormat);
        Self {
            source: DataSource::of(document),
            classes: document.count(Key::DataClasses),
            file: DataFile {
                path: path.map(|typed| FilePath { path: document.folder.join(&typed), typed }),
                test_path: document.file(Key::DataTestPath),
                format: format.and_then(|name| Format::keyed(&name)),
                label: document.text(Key::DataLabel),
                node: document.text(Key::DataNode),
                features: document.texts(Key::DataFeatures),
                columns: document.texts(Key::DataColumns),
                width: document.count(Key::DataWidth),
            },
            mean: document.floats(Key::DataMean),
            deviation: document.floats(Key::DataDeviation),
            test: document.float(Key::DataTest),
            validation: document.float(Key::DataValidation).unwrap_or_default(),
        }
    }

    pub fn path(&self) -> Option<&Path> {
        self.file.path.as_ref().map(|file| file.path.as_path())
    }

    /// Held-out records of a file, as a share below 1 or a number: those that are said, or else a fifth, unless they
    /// come `apart` from the others.
    pub fn test_of_file(&self, apart: bool) -> f64 {
        self.test.unwrap_or(if apart { 0.0 } else { FILE_TEST })
    }

    /// How many held-out records are drawn beside `all` generated ones.
    pub fn generated_test(&self, all: usize) -> usize {
        match self.test {
            None => GENERATED_TEST,
            Some(count) if count >= 1.0 => count as usize,
            Some(share) => (share * all as f64).round() as usize,
        }
    }

    pub fn is_generated(&self) -> bool {
        self.source.is_some_and(|source| source.is_generated())
    }
}
