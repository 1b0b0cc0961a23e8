//! `[features]`: the public map that records go through first.

use crate::document::Document;
use crate::names::{MAPS, MIDDLE};
use crate::schema::{Key, Section};
use std::path::PathBuf;

/// A map with what was said of it; what was not is the map's own default.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MapSettings {
    Scattering(ScatteringOptions),
    ScatteringPatches(ScatteringOptions, PatchOptions),
    Table(TableOptions),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScatteringOptions {
    pub scales: Option<u32>,
    pub angles: Option<usize>,
    /// Cells a side in which it is averaged.
    pub grid: Option<usize>,
    /// How little channels are whitened.
    pub ridge: Option<f64>,
    /// Whether an image and its mirror get the same features.
    pub mirror: Option<bool>,
}

/// What is said of the filters beside a scattering.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PatchOptions {
    pub filters: Option<usize>,
    /// Pixels a side.
    pub size: Option<usize>,
    pub weight: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TableOptions {
    /// Buckets that categories are hashed to.
    pub buckets: usize,
    pub fourier: usize,
    /// Distance over which these tell records apart.
    pub bandwidth: f64,
}

impl MapSettings {
    fn of(document: &Document) -> Option<Self> {
        let name = document.text(Key::FeaturesMap)?;
        let scattering = ScatteringOptions {
            scales: document.integer(Key::FeaturesScales).map(|n| n as u32),
            angles: document.count(Key::FeaturesAngles),
            grid: document.count(Key::FeaturesGrid),
            ridge: document.float(Key::FeaturesRidge),
            mirror: document.flag(Key::FeaturesMirror),
        };
        let patches = PatchOptions {
            filters: document.count(Key::FeaturesFilters),
            size: document.count(Key::FeaturesPatch),
            weight: document.float(Key::FeaturesWeight),
        };
        let table = TableOptions {
            buckets: document.count(Key::FeaturesBuckets).unwrap_or(64),
            fourier: document.count(Key::FeaturesFourier).unwrap_or(0),
            bandwidth: document.float(Key::FeaturesBandwidth).unwrap_or(1.0),
        };
        let all =
            [Self::Scattering(scattering), Self::ScatteringPatches(scattering, patches), Self::Table(table)];
        all.into_iter().find(|map| map.name() == name)
    }

    pub fn name(&self) -> &'static str {
        let [plain, with_patches, table] = MAPS;
        match self {
            Self::Scattering(_) => plain,
            Self::ScatteringPatches(..) => with_patches,
            Self::Table(_) => table,
        }
    }
}

#[derive(Clone, Debug)]
pub struct FeaturesSection {
    /// Whether there is one.
    pub given: bool,
    pub map: Option<MapSettings>,
    pub categories: Vec<String>,
    pub cache: Option<PathBuf>,
    pub(crate) ranges: Vec<String>,
    /// Whether a missing number is the middle of its range.
    middle: bool,
}

/// The public range of a column.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnRange {
    pub name: String,
    pub low: f64,
    pub high: f64,
}

impl ColumnRange {
    /// `column: low to high`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (name, range) = text.rsplit_once(':')?;
        let (low, high) = range.split_once(" to ")?;
        let (low, high) = (low.trim().parse().ok()?, high.trim().parse().ok()?);
        Some(Self { name: name.trim().to_owned(), low, high })
    }
}

impl FeaturesSection {
    pub(crate) fn of(document: &Document) -> Self {
        Self {
            given: document.has_section(Section::Features),
            map: MapSettings::of(document),
            categories: document.texts(Key::FeaturesCategories).unwrap_or_default(),
            cache: document.file(Key::FeaturesCache),
            ranges: document.texts(Key::FeaturesRanges).unwrap_or_default(),
            middle: document.text(Key::FeaturesMissing).as_deref() == Some(MIDDLE),
        }
    }

    /// The columns with a range, as far as these can be read.
    pub fn ranged_columns(&self) -> Vec<String> {
        self.ranges.iter().filter_map(|text| Some(ColumnRange::parse(text)?.name)).collect()
    }

    /// The columns in which numbers may be missing: those with a range, if the run file says so.
    pub fn missing_numbers(&self) -> Vec<String> {
        if self.middle { self.ranged_columns() } else { Vec::new() }
    }

    /// Whether a range is written for this column, readable or not.
    pub fn has_range(&self, column: &str) -> bool {
        self.ranges.iter().any(|text| text.rsplit_once(':').is_some_and(|(name, _)| name.trim() == column))
    }

    /// Which item of the list is this column's range.
    pub fn range_of(&self, column: &str) -> Option<usize> {
        self.ranges.iter().position(|text| ColumnRange::parse(text).is_some_and(|range| range.name == column))
    }
}
