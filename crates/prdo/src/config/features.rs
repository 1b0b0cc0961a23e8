//! The run file's `[features]` section: the map that records go through before softmax or logistic regression reads them.

use super::document::Document;
use super::place::ConfigError;
use super::schema;
use prdo_peer::agreement::Facts;
use prdo_problem::data::{DataError, Dataset, ImageShape, Loaded, nearest_name};
use prdo_problem::features::{
    Cache, Column, FeatureError, FeatureMap, Found, PatchSettings, Settings, TableMap, TableSettings,
};
use std::path::PathBuf;

/// A map that is fixed by public facts, before it is made.
#[derive(Clone, Debug)]
pub enum FeaturePlan {
    /// Of images.
    Images(ImageShape, Settings),
    /// Of tables.
    Table(TableSettings),
}

/// A map that was made.
pub struct Map {
    made: Made,
    cache: Option<Cache>,
}

enum Made {
    Images(Box<FeatureMap>),
    Table(TableMap),
}

/// What is told while features are extracted: how many records are done, of how many.
pub type Extracting<'a> = &'a (dyn Fn(usize, usize) + Sync);

/// Records that did not become features.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// They cannot be read.
    #[error(transparent)]
    Data(#[from] DataError),
    /// They do not fit the map.
    #[error(transparent)]
    Features(#[from] FeatureError),
}

/// The map that the run file asks for; `None` if it has no `[features]` section.
///
/// # Errors
/// Settings that do not fit each other, the model or the records, at their place in the run file.
pub fn feature_plan(
    document: &Document,
    kind: &str,
    facts: &Facts,
) -> Result<Option<FeaturePlan>, ConfigError> {
    let Some(name) = document.text("features.map") else {
        return match document.has_section("features") {
            true => Err(document.missing("features.map")),
            false => Ok(None),
        };
    };
    if !["softmax", "logistic"].contains(&kind) {
        let message = format!(
            "features.map = {name:?} does not fit model.kind = {kind:?}: it must be \"softmax\" or \"logistic\""
        );
        return Err(document.error("features.map", message));
    }
    let plan = match name.as_str() {
        "table" => FeaturePlan::Table(table_settings(document, facts)?),
        _ => images(document, &name, facts)?,
    };
    plan.dimension().map_err(|e| located(document, &e))?;
    Ok(Some(plan))
}

fn images(document: &Document, name: &str, facts: &Facts) -> Result<FeaturePlan, ConfigError> {
    let Some([channels, height, width]) = facts.image else {
        return Err(located(document, &FeatureError::NotImages { name: name.to_owned() }));
    };
    let shape = ImageShape { channels: channels as usize, height: height as usize, width: width as usize };
    let whole = |path, default: usize| document.integer(path).map_or(default, |n| n as usize);
    let number = |path, default: f64| document.float(path).unwrap_or(default);
    let base = Settings::scattering(shape.channels);
    let patches = (name == "scattering+patches").then(|| {
        let base = PatchSettings::default();
        PatchSettings {
            filters: whole("features.filters", base.filters),
            size: whole("features.patch", base.size),
            weight: number("features.weight", base.weight),
            ..base
        }
    });
    let settings = Settings {
        scales: whole("features.scales", base.scales as usize) as u32,
        angles: whole("features.angles", base.angles),
        grid: whole("features.grid", base.grid),
        ridge: number("features.ridge", base.ridge),
        mirror: document.flag("features.mirror").unwrap_or(base.mirror),
        patches,
        ..base
    };
    Ok(FeaturePlan::Images(shape, settings))
}

fn table_settings(document: &Document, facts: &Facts) -> Result<TableSettings, ConfigError> {
    let count = facts.features as usize;
    let names = facts.feature_names.clone().unwrap_or_else(|| (1..=count).map(|k| k.to_string()).collect());
    let mut ranges = Vec::new();
    for (k, text) in document.texts("features.ranges").unwrap_or_default().iter().enumerate() {
        let Some(range) = parsed(text) else {
            let message = format!("features.ranges: {text:?} is not \"column: low to high\"");
            return Err(document.item_error("features.ranges", k, message));
        };
        ranges.push(range);
    }
    let categories = document.texts("features.categories").unwrap_or_default();
    let ranged = ranges.iter().enumerate().map(|(k, (name, ..))| ("features.ranges", k, name));
    let hashed = categories.iter().enumerate().map(|(k, name)| ("features.categories", k, name));
    if let Some((path, k, unknown)) = ranged.chain(hashed).find(|(_, _, name)| !names.contains(name)) {
        let message =
            format!("features: there is no column {unknown:?} (columns found: {})", names.join(", "));
        let error = document.item_error(path, k, message);
        return Err(match nearest_name(&names, unknown) {
            Some(near) => error.help(format!("did you mean {near:?}?")),
            None if path == "features.categories" => {
                error.help("categories lists columns by their names; any text may stand in them")
            }
            None => error,
        });
    }
    let column = |name: &String| match ranges.iter().find(|(n, ..)| n == name) {
        Some((_, low, high)) => Ok(Column::Range { name: name.clone(), low: *low, high: *high }),
        None if categories.contains(name) => Ok(Column::Category { name: name.clone() }),
        None => Err(located(document, &FeatureError::NoRange { column: name.clone() })),
    };
    Ok(TableSettings {
        columns: names.iter().map(column).collect::<Result<_, _>>()?,
        buckets: document.integer("features.buckets").unwrap_or(64) as usize,
        fourier: document.integer("features.fourier").unwrap_or(0) as usize,
        bandwidth: document.float("features.bandwidth").unwrap_or(1.0),
    })
}

/// The columns that a run file's `[features]` section speaks of, without a look at the records: as `data.features` lists
/// them, or else ranges before categories.
///
/// # Errors
/// A range that is none, a column without one, or none at all, at their place in the run file.
pub fn declared_columns(document: &Document) -> Result<Vec<Column>, ConfigError> {
    let list = |path| document.texts(path).unwrap_or_default();
    let names = document.texts("data.features").unwrap_or_else(|| {
        let ranged = list("features.ranges").into_iter().filter_map(|text| Some(parsed(&text)?.0));
        let mut names: Vec<String> = Vec::new();
        for name in ranged.chain(list("features.categories")) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    });
    let facts = Facts { features: names.len() as u64, feature_names: Some(names), ..Facts::default() };
    let settings = table_settings(document, &facts)?;
    settings.dimension().map_err(|e| located(document, &e))?;
    Ok(settings.columns)
}

/// The columns in which numbers may be missing: those with a range, if the run file says so.
pub fn missing_numbers(document: &Document) -> Vec<String> {
    if document.text("features.missing").as_deref() != Some("middle") {
        return Vec::new();
    }
    let ranges = document.texts("features.ranges").unwrap_or_default();
    ranges.iter().filter_map(|text| Some(parsed(text)?.0)).collect()
}

/// `column: low to high`.
fn parsed(text: &str) -> Option<(String, f64, f64)> {
    let (name, range) = text.rsplit_once(':')?;
    let (low, high) = range.split_once(" to ")?;
    Some((name.trim().to_owned(), low.trim().parse().ok()?, high.trim().parse().ok()?))
}

/// An error at the key it is about.
pub fn located(document: &Document, error: &FeatureError) -> ConfigError {
    if let FeatureError::Range { column, .. } = error {
        let ranges = document.texts("features.ranges").unwrap_or_default();
        let item = ranges.iter().position(|text| parsed(text).is_some_and(|(name, ..)| name == *column));
        return document.item_error("features.ranges", item.unwrap_or(0), error.to_string());
    }
    let field = match error {
        FeatureError::NoRange { .. } | FeatureError::Range { .. } | FeatureError::Column { .. } => {
            "features.ranges"
        }
        FeatureError::Setting { field, value, allowed } => {
            let name = match *field {
                "size" => "patch",
                "columns" => "ranges",
                name => name,
            };
            let key = schema::find(&format!("features.{name}")).filter(|key| document.has(key.path));
            let path = key.map_or("features.map", |key| key.path);
            return document.error(path, error.to_string()).about_value(path, value, allowed);
        }
        _ => "features.map",
    };
    document.error(field, error.to_string())
}

impl FeaturePlan {
    /// How many features a record will have.
    ///
    /// # Errors
    /// Settings outside their ranges.
    pub fn dimension(&self) -> Result<usize, FeatureError> {
        match self {
            Self::Images(shape, settings) => settings.dimension(*shape),
            Self::Table(settings) => settings.dimension(),
        }
    }

    /// Makes the map, which takes some seconds for images when it is made for the first time.
    ///
    /// # Errors
    /// As [`FeaturePlan::dimension`].
    pub fn make(&self, document: &Document) -> Result<Map, FeatureError> {
        let cache = document.file("features.cache").or_else(default_cache).map(Cache::new);
        let made = match (self, &cache) {
            // That constants were not kept is no warning of its own: features go into the same folder.
            (Self::Images(shape, settings), Some(cache)) => {
                Made::Images(Box::new(cache.map(*shape, *settings)?.0))
            }
            (Self::Images(shape, settings), None) => {
                Made::Images(Box::new(FeatureMap::new(*shape, *settings)?))
            }
            (Self::Table(settings), _) => Made::Table(TableMap::new(settings.clone())?),
        };
        Ok(Map { made, cache })
    }
}

/// Where features are kept if nobody says: in the user's cache folder, which is nobody else's.
fn default_cache() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let base = variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")));
    Some(base.or_else(|| variable("LOCALAPPDATA"))?.join("prdo").join("features"))
}

impl Map {
    /// BLAKE3 of the map with its constants.
    pub fn hash(&self) -> String {
        match &self.made {
            Made::Images(map) => map.hash(),
            Made::Table(map) => map.hash(),
        }
    }

    /// What it is, in one line.
    pub fn describe(&self) -> String {
        match &self.made {
            Made::Images(map) => map.describe(),
            Made::Table(map) => map.describe(),
        }
    }

    /// Refuses a map that is not the one others have, or of which nobody says what others have.
    ///
    /// # Errors
    /// [`FeatureError::Mismatch`], with both hashes, or [`FeatureError::Unnamed`].
    pub fn same_as(&self, other: Option<&str>) -> Result<(), FeatureError> {
        let own = self.hash();
        match other {
            Some(other) if other == own => Ok(()),
            Some(other) => Err(FeatureError::Mismatch { own, other: other.to_owned() }),
            None => Err(FeatureError::Unnamed { own }),
        }
    }

    /// The same for a run file, which says nothing when it is run for the first time.
    ///
    /// # Errors
    /// As [`Map::same_as`], at its place in the run file.
    pub fn check(&self, document: &Document) -> Result<(), ConfigError> {
        match document.text("resolved.features") {
            None => Ok(()),
            known => self.same_as(known.as_deref()).map_err(|e| located(document, &e)),
        }
    }

    /// Which columns of a table have values outside their ranges, and how many: they are cut off there.
    pub fn cut_off(&self, loaded: &Loaded) -> Vec<(String, usize)> {
        let (Made::Table(map), Loaded::Numbers(data)) = (&self.made, loaded) else { return Vec::new() };
        let shown = |column: &Column| match column {
            Column::Range { name, low, high } => format!("{name} ({low} to {high})"),
            Column::Category { name } => name.clone(),
        };
        map.cut_off(&data.table).into_iter().map(|(column, count)| (shown(column), count)).collect()
    }

    /// The records' features; what was not kept on disk is in the warnings.
    ///
    /// # Errors
    /// Records that the map cannot read.
    pub fn apply(
        &self,
        loaded: Loaded,
        extracting: Extracting<'_>,
        warnings: &mut Vec<String>,
    ) -> Result<Dataset<f32>, Refused> {
        match (&self.made, loaded) {
            (Made::Images(map), Loaded::Images(data)) => self.images(map, data, extracting, warnings),
            (Made::Images(map), Loaded::Numbers(data)) => self.images(map, data, extracting, warnings),
            (Made::Table(map), Loaded::Numbers(data)) => {
                let table = map.apply(&data.table, data.feature_names.as_deref())?;
                Ok(with_table(data, table))
            }
            (Made::Table(map), Loaded::Images(data)) => {
                let data = data.into_numbers();
                let table = map.apply(&data.table, None)?;
                Ok(with_table(data, table))
            }
        }
    }

    fn images<F: prdo_problem::data::Feature>(
        &self,
        map: &FeatureMap,
        data: Dataset<F>,
        extracting: Extracting<'_>,
        warnings: &mut Vec<String>,
    ) -> Result<Dataset<f32>, Refused> {
        // Tables of numbers do not say that they are images; whoever asks for the map did.
        let shape = match data.image {
            Some(shape) => shape,
            None if data.table.width() == map.shape().features() => map.shape(),
            None => return Err(FeatureError::NotImages { name: "scattering".into() }.into()),
        };
        let total = data.table.len();
        let done = std::sync::atomic::AtomicUsize::new(0);
        let progress = |count: usize| {
            let before = done.fetch_add(count, std::sync::atomic::Ordering::Relaxed);
            extracting(before + count, total);
        };
        let extract = || map.apply(&data.table, shape, &progress);
        let table = match &self.cache {
            None => extract()?,
            Some(cache) => {
                let (table, found) = cache.features(&map.hash(), map.dimension(), &data.table, extract)?;
                if let Found::NotKept(why) = found {
                    warnings.push(format!("features were not kept for the next run: {why}"));
                }
                table
            }
        };
        Ok(with_table(data, table))
    }
}

/// The same data with its features in place of what it held.
fn with_table<F: prdo_problem::data::Feature>(
    data: Dataset<F>,
    table: prdo_problem::data::Table<f32>,
) -> Dataset<f32> {
    Dataset {
        table,
        node: data.node,
        node_names: data.node_names,
        class_names: data.class_names,
        feature_names: data.feature_names,
        image: data.image,
        labelled: data.labelled,
        doubts: data.doubts,
        blanks: data.blanks,
    }
}
