//! The feature map of tables: fixed ranges, hashed categories, random Fourier features.
//!
//! A column's range is given, not found: the smallest and largest value of private records are private. Values outside
//! are cut off at its ends. A category is one of a public number of buckets, by a hash of its text, with a sign: there is
//! no list of known categories to be outside of, one nobody has seen before falls into a bucket like any other, and two
//! that share a bucket are told apart by sign, half of the time.

use super::dead_leaves::uniform;
use super::{Description, FeatureError, INTERCEPT, MapKind};
use crate::{DENSE_LIMIT, Table};
use prdo_privacy::{Purpose, Secret};
use rayon::prelude::*;
use std::f64::consts::PI;

/// What stands for a number that is missing, whatever its column's range, so that records are the same records under every
/// map: one set of records has one ledger. The map makes the middle of the range of it.
pub const MISSING: f64 = f64::MAX;

/// What is done with one column.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// A number, cut off at `low` and `high` and brought to −1 … 1.
    Range {
        name: String,
        /// What becomes −1.
        low: f64,
        /// What becomes 1.
        high: f64,
    },
    /// A category, by its code (see [`category_code`]).
    Category { name: String },
}

impl Column {
    pub fn name(&self) -> &str {
        match self {
            Column::Range { name, .. } | Column::Category { name } => name,
        }
    }
}

/// What a map of tables is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct TableSettings {
    /// The columns, in the order of the records' features.
    pub columns: Vec<Column>,
    /// Buckets of all categories together.
    pub buckets: usize,
    /// How many random Fourier features; 0 leaves the columns as they are.
    pub fourier: usize,
    /// The distance over which random Fourier features tell records apart.
    pub bandwidth: f64,
}

impl TableSettings {
    /// How many features a map of these settings gives a record.
    pub fn dimension(&self) -> Result<usize, FeatureError> {
        check(self)?;
        Ok(self.features())
    }

    fn features(&self) -> usize {
        if self.fourier == 0 { inputs(self) } else { self.fourier }
    }
}

/// A map from records of numbers to features of norm about 1 or less.
#[derive(Clone, Debug)]
pub struct TableMap {
    settings: TableSettings,
    /// Directions, a line of `inputs` each, and shifts.
    directions: Vec<f64>,
    shifts: Vec<f64>,
    hash: [u8; 32],
}

/// The most constants of a map. Others' agreements come here too: better refused than out of memory.
const MOST_CONSTANTS: usize = 1 << 24;

const SEED: u64 = 0x666f_7572_6965_7221;

impl TableMap {
    /// The map of these settings.
    ///
    /// # Errors
    /// No columns, a range that is empty or not finite, categories without buckets, or numbers outside their ranges.
    pub fn new(settings: TableSettings) -> Result<Self, FeatureError> {
        check(&settings)?;
        let inputs = inputs(&settings);
        let mut stream = Secret::from_seed(SEED).stream(Purpose::Data, 1, 0);
        let scale = 1.0 / settings.bandwidth;
        let directions =
            (0..settings.fourier * inputs).map(|_| scale * normal(|| uniform(&mut stream))).collect();
        let shifts = (0..settings.fourier).map(|_| 2.0 * PI * uniform(&mut stream)).collect();
        let mut map = Self { settings, directions, shifts, hash: [0; 32] };
        let mut hasher = blake3::Hasher::new_derive_key("prdo 2026-11 feature map v1");
        hasher.update(map.describe().text.as_bytes());
        map.directions.iter().chain(&map.shifts).for_each(|v| {
            hasher.update(&v.to_bits().to_le_bytes());
        });
        map.hash = *hasher.finalize().as_bytes();
        Ok(map)
    }

    pub fn dimension(&self) -> usize {
        self.settings.features()
    }

    /// BLAKE3 of the map's description and constants, in hexadecimal digits.
    pub fn hash(&self) -> String {
        blake3::Hash::from_bytes(self.hash).to_hex().to_string()
    }

    pub fn describe(&self) -> Description {
        let s = &self.settings;
        let columns = s.columns.iter().map(|column| match column {
            Column::Range { name, low, high } => format!("{name:?} from {low:?} to {high:?}"),
            Column::Category { name } => format!("{name:?} hashed"),
        });
        let columns = columns.collect::<Vec<_>>().join(", ");
        let mut text = format!("features v1: columns {columns}; {} buckets", s.buckets);
        if s.fourier > 0 {
            text += &format!("; {} random Fourier features of bandwidth {:?}", s.fourier, s.bandwidth);
        }
        text += &format!("; intercept {INTERCEPT:?}");
        Description { kind: MapKind::Table, text }
    }

    /// The features of every record; `names` are those of the records' columns, where they have any.
    ///
    /// # Errors
    /// A column of the records for which there is no range and which is no category, or one that is missing.
    pub fn apply(&self, records: &Table, names: Option<&[String]>) -> Result<Table<f32>, FeatureError> {
        self.check_columns(records.width(), names)?;
        let (width, count) = (self.dimension(), records.len());
        if (count as u128) * (width as u128) * 4 > u128::from(DENSE_LIMIT) {
            return Err(FeatureError::TooLarge { records: count, features: width, limit: DENSE_LIMIT });
        }
        let rows: Vec<f32> =
            records.features().par_chunks(records.width()).flat_map_iter(|row| self.row(row)).collect();
        debug_assert_eq!(rows.len(), width * records.len());
        Ok(Table::trusted(width, rows, records.labels().to_vec()))
    }

    /// The columns with a range, each with how many of its values lie outside and are cut off. Records that the map
    /// cannot read have none.
    pub fn cut_off(&self, records: &Table) -> Vec<(&Column, usize)> {
        let column = |(k, column): (usize, &'_ Column)| match column {
            Column::Range { low, high, .. } => {
                let values = (0..records.len()).filter_map(|r| records.row(r).get(k));
                values.filter(|value| **value != MISSING && !(*low..=*high).contains(*value)).count()
            }
            Column::Category { .. } => 0,
        };
        let counts = self.settings.columns.iter().enumerate().map(column);
        self.settings.columns.iter().zip(counts).filter(|(_, count)| *count > 0).collect()
    }

    fn check_columns(&self, width: usize, names: Option<&[String]>) -> Result<(), FeatureError> {
        let own: Vec<&str> = self.settings.columns.iter().map(Column::name).collect();
        if let Some(names) = names {
            if let Some(missing) = names.iter().find(|name| !own.contains(&name.as_str())) {
                return Err(FeatureError::NoRange { column: missing.clone() });
            }
            if let Some(place) = own.iter().zip(names).position(|(own, name)| own != name) {
                let (own, found) = (own[place].to_owned(), names[place].clone());
                return Err(FeatureError::Column { place: place + 1, expected: own, found });
            }
        }
        match width == own.len() {
            true => Ok(()),
            false => Err(FeatureError::Width { expected: own.len(), found: width }),
        }
    }

    fn row(&self, record: &[f64]) -> Vec<f32> {
        let plain = self.plain(record);
        if self.settings.fourier == 0 {
            return plain.iter().map(|v| *v as f32).collect();
        }
        let wave = |(direction, shift): (&[f64], &f64)| {
            let angle: f64 = direction.iter().zip(&plain).map(|(d, v)| d * v).sum();
            libm::cos(angle + shift)
        };
        let waves: Vec<f64> = self.directions.chunks_exact(plain.len()).zip(&self.shifts).map(wave).collect();
        let norm = waves.iter().map(|w| w * w).sum::<f64>().sqrt().max(1e-9);
        waves.iter().map(|w| (w / norm) as f32).collect()
    }

    /// Ranges and buckets, divided by the root of the number of columns.
    fn plain(&self, record: &[f64]) -> Vec<f64> {
        let settings = &self.settings;
        let scale = 1.0 / (settings.columns.len() as f64).sqrt();
        let mut out = Vec::with_capacity(inputs(settings));
        let mut buckets = vec![0.0; if has_categories(settings) { settings.buckets } else { 0 }];
        for (number, (column, value)) in settings.columns.iter().zip(record).enumerate() {
            match column {
                Column::Range { .. } if *value == MISSING => out.push(0.0),
                Column::Range { low, high, .. } => {
                    let share = (value.clamp(*low, *high) - low) / (high - low);
                    out.push(scale * (2.0 * share - 1.0));
                }
                Column::Category { .. } => {
                    let (bucket, sign) = place(number, *value, settings.buckets);
                    buckets[bucket] += scale * sign;
                }
            }
        }
        out.append(&mut buckets);
        out
    }
}

/// The number that stands for a category's text: 52 bits of its hash, which a double holds exactly.
pub fn category_code(text: &str) -> f64 {
    let hash = blake3::derive_key("prdo 2026-11 category v1", text.as_bytes());
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&hash[..8]);
    (u64::from_le_bytes(bytes) >> 12) as f64
}

/// The bucket of a category of column `number`, and its sign.
fn place(number: usize, code: f64, buckets: usize) -> (usize, f64) {
    let mut hasher = blake3::Hasher::new_derive_key("prdo 2026-11 bucket v1");
    hasher.update(&(number as u64).to_le_bytes()).update(&code.to_bits().to_le_bytes());
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
    let hash = u64::from_le_bytes(bytes);
    ((hash >> 1) as usize % buckets, if hash & 1 == 0 { 1.0 } else { -1.0 })
}

fn has_categories(settings: &TableSettings) -> bool {
    settings.columns.iter().any(|column| matches!(column, Column::Category { .. }))
}

fn inputs(settings: &TableSettings) -> usize {
    let ranges = settings.columns.iter().filter(|column| matches!(column, Column::Range { .. })).count();
    ranges + if has_categories(settings) { settings.buckets } else { 0 }
}

fn check(settings: &TableSettings) -> Result<(), FeatureError> {
    if settings.columns.is_empty() {
        return Err(FeatureError::setting("ranges", "none", "a range or a category for every column"));
    }
    for (number, column) in settings.columns.iter().enumerate() {
        let name = column.name();
        if settings.columns[..number].iter().any(|other| other.name() == name) {
            return Err(FeatureError::setting("columns", format!("{name:?} twice"), "each column once"));
        }
        if let Column::Range { low, high, .. } = column
            && !(low.is_finite() && high.is_finite() && low < high && (high - low).is_finite())
        {
            return Err(FeatureError::Range { column: name.to_owned(), low: *low, high: *high });
        }
    }
    if has_categories(settings) && !(1..=1 << 20).contains(&settings.buckets) {
        return Err(FeatureError::setting("buckets", settings.buckets, "from 1 to 1048576"));
    }
    if settings.fourier > 1 << 20 {
        return Err(FeatureError::setting("fourier", settings.fourier, "from 0 to 1048576"));
    }
    let inputs = inputs(settings);
    if settings.fourier.saturating_mul(inputs) > MOST_CONSTANTS {
        let allowed =
            format!("so few that, times {inputs} columns and buckets, it is at most {MOST_CONSTANTS}");
        return Err(FeatureError::setting("fourier", settings.fourier, allowed));
    }
    if !(1e-6..=1e6).contains(&settings.bandwidth) {
        return Err(FeatureError::setting("bandwidth", settings.bandwidth, "from 1e-6 to 1e6"));
    }
    Ok(())
}

/// A normal number, by Box and Muller's formula: with `libm`, the same bits on every machine.
fn normal(mut uniform: impl FnMut() -> f64) -> f64 {
    let (u, v) = (1.0 - uniform(), uniform());
    (-2.0 * libm::log(u)).sqrt() * libm::cos(2.0 * PI * v)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(name: &str, low: f64, high: f64) -> Column {
        Column::Range { name: name.into(), low, high }
    }

    fn settings(columns: Vec<Column>) -> TableSettings {
        TableSettings { columns, buckets: 32, fourier: 0, bandwidth: 1.0 }
    }

    #[test]
    fn what_is_missing_is_the_middle_of_any_range_and_not_cut_off() {
        for (low, high) in [(20.0, 60.0), (-3.0, 0.0), (-f64::MAX / 4.0, f64::MAX / 4.0)] {
            let map = TableMap::new(settings(vec![range("age", low, high)])).unwrap();
            let table = Table::new(1, vec![MISSING, high, f64::MAX / 2.0], vec![0.0; 3]).unwrap();
            assert_eq!(map.apply(&table, None).unwrap().features(), [0.0, 1.0, 1.0]);
            assert_eq!(map.cut_off(&table).iter().map(|(_, count)| *count).collect::<Vec<_>>(), [1]);
        }
    }

    #[test]
    fn ranges_are_cut_off_and_categories_hashed() {
        let columns = vec![
            range("age", 20.0, 60.0),
            Column::Category { name: "job".into() },
            range("hours", 0.0, 100.0),
        ];
        let map = TableMap::new(settings(columns)).unwrap();
        assert_eq!(map.dimension(), 34);
        let (nurse, smith) = (category_code("nurse"), category_code("smith"));
        let records = [[40.0, nurse, 150.0], [10.0, smith, 50.0], [60.0, nurse, 0.0]].concat();
        let table = Table::new(3, records, vec![0.0, 1.0, 1.0]).unwrap();
        let names = ["age", "job", "hours"].map(str::to_owned);
        let found = map.apply(&table, Some(&names)).unwrap();
        let unit = 1.0 / 3.0_f32.sqrt();
        assert_eq!(found.row(0)[..2], [0.0, unit]);
        assert_eq!(found.row(1)[..2], [-unit, 0.0]);
        assert_eq!(found.row(0)[2..], found.row(2)[2..]);
        assert_ne!(found.row(0)[2..], found.row(1)[2..]);
        assert!(found.row(1)[2..].iter().filter(|v| **v != 0.0).count() == 1);
        assert_eq!(found.labels(), table.labels());
    }

    #[test]
    fn fourier_features_are_a_gaussian_kernel() {
        let columns = vec![range("a", -1.0, 1.0), range("b", -1.0, 1.0)];
        let map =
            TableMap::new(TableSettings { fourier: 20_000, bandwidth: 0.5, ..settings(columns) }).unwrap();
        let table = Table::new(2, vec![0.1, 0.2, 0.5, -0.3, -1.0, 1.0], vec![0.0; 3]).unwrap();
        let found = map.apply(&table, None).unwrap();
        for (i, j) in [(0, 1), (0, 2), (1, 2), (0, 0)] {
            let dot: f64 = found.row(i).iter().zip(found.row(j)).map(|(a, b)| f64::from(a * b)).sum();
            let apart: f64 =
                table.row(i).iter().zip(table.row(j)).map(|(a, b)| (a - b) * (a - b) / 2.0).sum();
            assert!((dot - (-apart / (2.0 * 0.25)).exp()).abs() < 0.03, "{i} {j}: {dot}");
        }
        let again = TableMap::new(map.settings.clone()).unwrap();
        assert_eq!((map.hash(), map.directions.clone()), (again.hash(), again.directions));
    }

    #[test]
    fn what_does_not_fit_is_refused_by_name() {
        let said = |columns| TableMap::new(settings(columns)).unwrap_err().to_string();
        assert!(said(vec![]).contains("every column"));
        assert_eq!(
            said(vec![range("age", 3.0, 3.0)]),
            "the range of column \"age\" is 3 to 3: its ends must be finite numbers, the first below the second"
        );
        assert!(said(vec![range("age", 0.0, f64::INFINITY)]).contains("age"));
        assert!(said(vec![range("a", 0.0, 1.0), range("a", 0.0, 1.0)]).contains("twice"));
        let map = TableMap::new(settings(vec![range("age", 0.0, 99.0)])).unwrap();
        let apply = |width: usize, names: &[&str]| {
            let names: Vec<String> = names.iter().map(|n| (*n).to_owned()).collect();
            let table = Table::new(width, vec![1.0; width], vec![0.0]).unwrap();
            map.apply(&table, Some(&names).filter(|n| !n.is_empty()).map(Vec::as_slice))
                .unwrap_err()
                .to_string()
        };
        assert!(apply(2, &["age", "job"]).contains("no range for column \"job\""));
        assert!(apply(2, &[]).contains("1 columns"), "{}", apply(2, &[]));
        let map = TableMap::new(settings(vec![range("a", 0.0, 1.0), range("b", 0.0, 1.0)])).unwrap();
        let table = Table::new(2, vec![1.0; 2], vec![0.0]).unwrap();
        let said = map.apply(&table, Some(&["b".to_owned(), "a".to_owned()])).unwrap_err().to_string();
        assert_eq!(said, "column 1 is \"b\", but the feature map expects \"a\" there");
    }

    #[test]
    fn what_takes_too_much_work_or_memory_is_refused_by_name() {
        let columns = || vec![range("age", 0.0, 99.0), Column::Category { name: "job".into() }];
        let said = |change: fn(&mut TableSettings)| {
            let mut settings = settings(columns());
            change(&mut settings);
            let said = settings.dimension().unwrap_err();
            assert_eq!(TableMap::new(settings).unwrap_err(), said);
            said.to_string()
        };
        assert!(
            said(|s| s.buckets = 0)
                .contains("features.buckets = 0 is not allowed: it must be from 1 to 1048576")
        );
        assert!(said(|s| s.buckets = usize::MAX).contains("features.buckets"));
        assert!(said(|s| s.fourier = usize::MAX).contains("from 0 to 1048576"));
        assert!(
            said(|s| s.fourier = 1 << 20).contains("times 33 columns and buckets, it is at most 16777216")
        );
        assert!(said(|s| s.bandwidth = 0.0).contains("features.bandwidth = 0"));
        assert_eq!(settings(columns()).dimension(), Ok(33));
        // More features than fit: refused before they are computed.
        let columns = vec![range("age", 0.0, 99.0), range("hours", 0.0, 99.0)];
        let map = TableMap::new(TableSettings { fourier: 500_000, ..settings(columns) }).unwrap();
        let table = Table::new(2, vec![1.0; 2 * 2001], vec![0.0; 2001]).unwrap();
        assert!(matches!(map.apply(&table, None), Err(FeatureError::TooLarge { records: 2001, .. })));
    }

    #[test]
    fn constant_columns_and_unseen_categories_are_harmless() {
        let columns =
            vec![range("same", 0.0, 10.0), range("age", 0.0, 10.0), Column::Category { name: "job".into() }];
        let map = TableMap::new(settings(columns)).unwrap();
        let rows = [[7.0, 1.0, category_code("nurse")], [7.0, 9.0, category_code("never seen before")]];
        let found = map.apply(&Table::new(3, rows.concat(), vec![0.0; 2]).unwrap(), None).unwrap();
        assert_eq!(found.row(0)[0], found.row(1)[0]);
        for r in 0..2 {
            assert!(found.row(r).iter().all(|v| v.is_finite()));
            assert!(found.row(r).iter().map(|v| v * v).sum::<f32>() <= 1.0 + 1e-6);
            assert_eq!(found.row(r)[2..].iter().filter(|v| **v != 0.0).count(), 1);
        }
        assert!(map.describe().text.ends_with("; intercept 0.1"), "{}", map.describe());
    }
}
