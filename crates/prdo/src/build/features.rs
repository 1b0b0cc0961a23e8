//! The run file's `[features]` section: the map that records go through before softmax or logistic regression reads them.

use prdo_data::features::{
    Cache, Column, Description, FeatureError, FeatureMap, Found, PatchSettings, Settings, TableMap,
    TableSettings,
};
use prdo_data::{DataError, Dataset, ImageShape, Loaded, nearest_name};
use prdo_runfile::{
    ColumnRange, ConfigError, Key, MapSettings, ModelKind, PatchOptions, RunFile, ScatteringOptions, Section,
    TableOptions,
};
use prdo_store::RecordFacts;
use std::path::PathBuf;

/// A map that is fixed by public facts, before it is made.
#[derive(Clone, Debug)]
pub enum FeatureDesign {
    Images(ImageShape, Settings),
    Table(TableSettings),
}

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

#[derive(Debug, thiserror::Error)]
pub enum Refused {
    #[error(transparent)]
    Data(#[from] DataError),
    #[error(transparent)]
    Features(#[from] FeatureError),
}

/// The map that the run file asks for; `None` if it has no `[features]` section.
pub fn feature_design(
    run: &RunFile,
    kind: ModelKind,
    facts: &RecordFacts,
) -> Result<Option<FeatureDesign>, ConfigError> {
    let Some(map) = &run.features.map else {
        return match run.features.given {
            true => Err(run.missing(Key::FeaturesMap)),
            false => Ok(None),
        };
    };
    if !kind.reads_features() {
        let message = format!(
            "features.map = {:?} does not fit model.kind = {:?}: it must be \"softmax\" or \"logistic\"",
            map.name(),
            kind.name()
        );
        return Err(run.error(Key::FeaturesMap, message));
    }
    let plan = match map {
        MapSettings::Table(options) => FeatureDesign::Table(table_settings(run, options, facts)?),
        MapSettings::Scattering(scattering) => images(run, map.name(), scattering, None, facts)?,
        MapSettings::ScatteringPatches(scattering, patches) => {
            images(run, map.name(), scattering, Some(patches), facts)?
        }
    };
    plan.dimension().map_err(|e| located(run, &e))?;
    Ok(Some(plan))
}

fn images(
    run: &RunFile,
    name: &str,
    scattering: &ScatteringOptions,
    patches: Option<&PatchOptions>,
    facts: &RecordFacts,
) -> Result<FeatureDesign, ConfigError> {
    let Some([channels, height, width]) = facts.image else {
        return Err(located(run, &FeatureError::NotImages { name: name.to_owned() }));
    };
    let shape = ImageShape { channels: channels as usize, height: height as usize, width: width as usize };
    let base = Settings::scattering(shape.channels);
    let patches = patches.map(|given| {
        let base = PatchSettings::default();
        PatchSettings {
            filters: given.filters.unwrap_or(base.filters),
            size: given.size.unwrap_or(base.size),
            weight: given.weight.unwrap_or(base.weight),
            ..base
        }
    });
    let settings = Settings {
        scales: scattering.scales.unwrap_or(base.scales),
        angles: scattering.angles.unwrap_or(base.angles),
        grid: scattering.grid.unwrap_or(base.grid),
        ridge: scattering.ridge.unwrap_or(base.ridge),
        mirror: scattering.mirror.unwrap_or(base.mirror),
        patches,
        ..base
    };
    Ok(FeatureDesign::Images(shape, settings))
}

fn table_settings(
    run: &RunFile,
    options: &TableOptions,
    facts: &RecordFacts,
) -> Result<TableSettings, ConfigError> {
    let count = facts.features as usize;
    let names = facts.feature_names.clone().unwrap_or_else(|| (1..=count).map(|k| k.to_string()).collect());
    let (ranges, categories) = (run.ranges()?, &run.features.categories);
    let ranged = ranges.iter().enumerate().map(|(k, range)| (Key::FeaturesRanges, k, &range.name));
    let hashed = categories.iter().enumerate().map(|(k, name)| (Key::FeaturesCategories, k, name));
    if let Some((key, k, unknown)) = ranged.chain(hashed).find(|(_, _, name)| !names.contains(name)) {
        let message = format!("features: unknown column {unknown:?}; expected one of {}", names.join(", "));
        let error = run.item_error(key, k, message);
        return Err(match nearest_name(&names, unknown) {
            Some(near) => error.help(format!("did you mean {near:?}?")),
            None if key == Key::FeaturesCategories => {
                error.help("categories lists columns by their names; any text may stand in them")
            }
            None => error,
        });
    }
    let column = |name: &String| match ranges.iter().find(|range| range.name == *name) {
        Some(ColumnRange { low, high, .. }) => {
            Ok(Column::Range { name: name.clone(), low: *low, high: *high })
        }
        None if categories.contains(name) => Ok(Column::Category { name: name.clone() }),
        None => Err(located(run, &FeatureError::NoRange { column: name.clone() })),
    };
    Ok(TableSettings {
        columns: names.iter().map(column).collect::<Result<_, _>>()?,
        buckets: options.buckets,
        fourier: options.fourier,
        bandwidth: options.bandwidth,
    })
}

/// The columns that a run file's `[features]` section speaks of, without a look at the records: as `data.features` lists
/// them, or else ranges before categories.
pub fn declared_columns(run: &RunFile) -> Result<Vec<Column>, ConfigError> {
    let Some(MapSettings::Table(options)) = &run.features.map else {
        return Err(run.missing(Key::FeaturesMap));
    };
    let names = run.data.file.features.clone().unwrap_or_else(|| {
        let mut names: Vec<String> = Vec::new();
        for name in run.features.ranged_columns().into_iter().chain(run.features.categories.clone()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    });
    let facts =
        RecordFacts { features: names.len() as u64, feature_names: Some(names), ..RecordFacts::default() };
    let settings = table_settings(run, options, &facts)?;
    settings.dimension().map_err(|e| located(run, &e))?;
    Ok(settings.columns)
}

pub fn located(run: &RunFile, error: &FeatureError) -> ConfigError {
    if let FeatureError::Range { column, .. } = error {
        let item = run.features.range_of(column);
        return run.item_error(Key::FeaturesRanges, item.unwrap_or(0), error.to_string());
    }
    let field = match error {
        FeatureError::NoRange { .. } | FeatureError::Range { .. } | FeatureError::Column { .. } => {
            Key::FeaturesRanges
        }
        FeatureError::Setting { field, value, allowed } => {
            let name = match *field {
                "size" => "patch",
                "columns" => "ranges",
                name => name,
            };
            let key = Section::Features.key(name).filter(|key| run.has(*key)).unwrap_or(Key::FeaturesMap);
            return run.error(key, error.to_string()).about_value(key.path(), value, allowed);
        }
        _ => Key::FeaturesMap,
    };
    run.error(field, error.to_string())
}

impl FeatureDesign {
    pub fn dimension(&self) -> Result<usize, FeatureError> {
        match self {
            Self::Images(shape, settings) => settings.dimension(*shape),
            Self::Table(settings) => settings.dimension(),
        }
    }

    /// Makes the map, which takes some seconds for images when it is made for the first time.
    pub fn make(&self, run: &RunFile) -> Result<Map, FeatureError> {
        let cache = run.features.cache.clone().or_else(default_cache).map(Cache::new);
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
    pub fn hash(&self) -> String {
        match &self.made {
            Made::Images(map) => map.hash(),
            Made::Table(map) => map.hash(),
        }
    }

    pub fn made_of(&self) -> prdo_store::MapOf {
        match &self.made {
            Made::Images(_) => prdo_store::MapOf::Images,
            Made::Table(_) => prdo_store::MapOf::Table,
        }
    }

    pub fn describe(&self) -> Description {
        match &self.made {
            Made::Images(map) => map.describe(),
            Made::Table(map) => map.describe(),
        }
    }

    /// Refuses a map that is not the one others have, or of which nobody says what others have.
    pub fn same_as(&self, other: Option<&str>) -> Result<(), FeatureError> {
        let own = self.hash();
        match other {
            Some(other) if other == own => Ok(()),
            Some(other) => Err(FeatureError::Mismatch { own, other: other.to_owned() }),
            None => Err(FeatureError::Unnamed { own }),
        }
    }

    /// The same for a run file, which says nothing when it is run for the first time.
    pub fn check(&self, run: &RunFile) -> Result<(), ConfigError> {
        match &run.resolved.features {
            None => Ok(()),
            known => self.same_as(known.as_deref()).map_err(|e| located(run, &e)),
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

    fn images<F: prdo_data::Feature>(
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

fn with_table<F: prdo_data::Feature>(data: Dataset<F>, table: prdo_data::Table<f32>) -> Dataset<f32> {
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
