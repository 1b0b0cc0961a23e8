//! A member's own records, held against what was agreed on.

use prdo::build::{Form, Planned, Refused};
use prdo_data::features::FeatureError;
use prdo_data::{
    self as data, DataError, Dataset, Feature, Format, Layout, Loaded, Options, Table, csv, fingerprint,
};
use prdo_peer::agreement::Facts;
use prdo_peer::wire::Hash;
use prdo_runfile::{Document, RunFile};
use std::path::Path;

/// Records that fit the agreement, with the digest of all that the file holds.
pub struct OwnRecords {
    /// The records, labelled as agreed on.
    pub table: RecordTable,
    /// Stands for the records in their ledger. It stays there.
    pub digest: Hash,
    /// What the owner should think about.
    pub warnings: Vec<String>,
}

/// Records as the model reads them.
pub enum RecordTable {
    Numbers(Table),
    /// Images as bytes.
    Images(Table<u8>),
    /// Features of either.
    Features(Table<f32>),
}

impl RecordTable {
    pub fn len(&self) -> usize {
        match self {
            Self::Numbers(table) => table.len(),
            Self::Images(table) => table.len(),
            Self::Features(table) => table.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// OwnRecords data that cannot be read or is not what was agreed on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordsError {
    #[error("{}", named(file, error))]
    Data { file: String, error: Box<DataError> },
    #[error("{file}: {error}")]
    Features { file: String, error: FeatureError },
    #[error("{file} does not match the agreement: {what} is {found}, agreed is {agreed}")]
    Differs { file: String, what: String, found: String, agreed: String },
}

/// Some errors name the file themselves.
fn named(file: &str, error: &DataError) -> String {
    let text = error.to_string();
    let text = if text.starts_with(file) { text } else { format!("{file}: {text}") };
    match error {
        DataError::MissingColumn { .. } => format!("{text}; --label COLUMN names the labels"),
        _ => text,
    }
}

/// How a file is read, where it does not say so itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading<'a> {
    /// The column or array of labels.
    pub label: Option<&'a str>,
    /// The names of all columns of a CSV file without a header; none for one with.
    pub columns: &'a [String],
    /// Whether a folder of images is read for its test images.
    pub test: bool,
}

/// Reads a member's data and holds it against the agreement.
pub fn read(
    path: &Path,
    reading: Reading<'_>,
    facts: &Facts,
    document: &Document,
    planned: &Planned,
) -> Result<OwnRecords, RecordsError> {
    let file = path.display().to_string();
    let failed = |error| RecordsError::Data { file: file.clone(), error: Box::new(error) };
    let format = Format::of(path).map_err(failed)?;
    let run = document.run_file();
    let options = Options {
        format: Some(format),
        label: reading.label.map(str::to_string),
        features: columns(path, format, reading, facts)?,
        columns: (!reading.columns.is_empty()).then(|| reading.columns.to_vec()),
        // Sparse records have as many features as are agreed on; of other formats the width is compared below.
        width: (format.layout() == Layout::Sparse).then_some(facts.features as usize),
        categories: run.features.categories.clone(),
        missing: run.features.missing_numbers(),
        prefix: if reading.test { data::test_part(path).map(str::to_string) } else { None },
        ..Options::default()
    };
    let mut loaded = data::load(path, &options).map_err(failed)?;
    // Of what the file holds, whatever the model makes of it: one set of records has one ledger.
    let digest = match &loaded {
        _ if format == Format::Csv => {
            fingerprint::of_csv(path, options.columns.as_deref()).map_err(failed)?
        }
        Loaded::Images(images) => fingerprint::of_records(images),
        Loaded::Numbers(numbers) => fingerprint::of_records(numbers),
    };
    let mut warnings = match &mut loaded {
        Loaded::Images(images) => std::mem::take(&mut images.doubts),
        Loaded::Numbers(numbers) => std::mem::take(&mut numbers.doubts),
    };
    // An archive's labels are numbers, with or without names: where classes have none, the numbers are agreed on.
    if format.layout() == Layout::Arrays && facts.class_names.is_none() {
        match &mut loaded {
            Loaded::Images(images) => images.class_names = None,
            Loaded::Numbers(numbers) => numbers.class_names = None,
        }
    }
    let fit = Fit { file: &file, facts, run: &run, planned };
    let table = match loaded {
        loaded if planned.model.features.is_some() => {
            RecordTable::Features(fit.features(loaded, &mut warnings)?)
        }
        Loaded::Images(images) if matches!(planned.model.form, Form::Network { .. }) => {
            RecordTable::Images(fit.table(images)?)
        }
        other => RecordTable::Numbers(fit.table(other.into_numbers(&file).map_err(failed)?)?),
    };
    Ok(OwnRecords { table, digest, warnings })
}

/// The agreed features among the columns of a CSV file that names them: it may have others, in any order. `None` where
/// nobody has names, or the file has too few columns, which is said further on.
fn columns(
    path: &Path,
    format: Format,
    reading: Reading<'_>,
    facts: &Facts,
) -> Result<Option<Vec<String>>, RecordsError> {
    let (Format::Csv, Some(agreed)) = (format, &facts.feature_names) else { return Ok(None) };
    let file = path.display().to_string();
    let there = match reading.columns {
        [] => csv::header(path)
            .map_err(|error| RecordsError::Data { file: file.clone(), error: error.into() })?,
        names => names.to_vec(),
    };
    match agreed.iter().find(|name| !there.contains(name)) {
        None => Ok(Some(agreed.clone())),
        Some(missing) if there.len() > agreed.len() => Err(RecordsError::Differs {
            file,
            what: format!("the column {missing:?}"),
            found: format!("missing (the file has {})", there.join(", ")),
            agreed: format!("one of the features ({})", agreed.join(", ")),
        }),
        Some(_) => Ok(None),
    }
}

/// What to say of columns that are not as everybody thought when the ranges were agreed on: more than one value in
/// twenty lies outside.
fn far_outside(cut_off: &[(String, usize)], records: usize) -> Vec<String> {
    let many = cut_off.iter().filter(|(_, count)| count * 20 > records);
    let say = |(column, count): &(String, usize)| {
        format!(
            "{column}: {count} of {records} values lie outside the agreed range and are clipped to it; are they in the agreed \
             unit?"
        )
    };
    many.map(say).collect()
}

struct Fit<'a> {
    file: &'a str,
    facts: &'a Facts,
    run: &'a RunFile,
    planned: &'a Planned,
}

impl Fit<'_> {
    fn differs(&self, what: impl Into<String>, found: impl ToString, agreed: impl ToString) -> RecordsError {
        let (found, agreed) = (found.to_string(), agreed.to_string());
        RecordsError::Differs { file: self.file.into(), what: what.into(), found, agreed }
    }

    /// The agreed features of records that fit.
    fn features(&self, loaded: Loaded, warnings: &mut Vec<String>) -> Result<Table<f32>, RecordsError> {
        let wrong = |error: Refused| match error {
            Refused::Data(error) => RecordsError::Data { file: self.file.into(), error: Box::new(error) },
            Refused::Features(error) => RecordsError::Features { file: self.file.into(), error },
        };
        let Some(plan) = &self.planned.model.features else {
            return Err(self.differs("the features", "none", "a feature map"));
        };
        let loaded = match loaded {
            Loaded::Images(data) => Loaded::Images(Dataset { table: self.table(data.clone())?, ..data }),
            Loaded::Numbers(data) => Loaded::Numbers(Dataset { table: self.table(data.clone())?, ..data }),
        };
        let map = plan.make(self.run).map_err(|e| wrong(e.into()))?;
        map.same_as(self.run.resolved.features.as_deref()).map_err(|e| wrong(e.into()))?;
        let cut_off = map.cut_off(&loaded);
        let mapped = map.apply(loaded, &|_, _| (), warnings).map_err(wrong)?;
        warnings.extend(far_outside(&cut_off, mapped.table.len()));
        warnings.extend(mapped.blanks.iter().cloned());
        Ok(mapped.table)
    }

    /// The records with the agreed labels, and with ones where the model has an intercept that is not its own, as it is
    /// on features.
    fn table<F: Feature>(&self, dataset: Dataset<F>) -> Result<Table<F>, RecordsError> {
        let width = dataset.table.width() as u64;
        if width != self.facts.features {
            let (mut found, mut agreed) = (width.to_string(), self.facts.features.to_string());
            if let (Some(ours), Some(theirs)) = (&dataset.feature_names, &self.facts.feature_names) {
                (found, agreed) =
                    (format!("{found} ({})", ours.join(", ")), format!("{agreed} ({})", theirs.join(", ")));
            }
            return Err(self.differs("the number of features", found, agreed));
        }
        let image = dataset.image.map(|i| [i.channels as u64, i.height as u64, i.width as u64]);
        if let (Some(found), Some(agreed)) = (image, self.facts.image)
            && found != agreed
        {
            let words = |[c, h, w]: [u64; 3]| format!("{c}x{h}x{w}");
            return Err(self.differs("the images' shape", words(found), words(agreed)));
        }
        self.check_features(dataset.feature_names.as_deref())?;
        let kind = self.planned.model.kind;
        let table = self.labels(dataset, kind.is_binary())?;
        let with_ones = self.run.intercept(kind) && self.planned.model.features.is_none();
        Ok(if with_ones { table.with_ones() } else { table })
    }

    /// Names, where both sides have them, are the same in the same order.
    fn check_features(&self, found: Option<&[String]>) -> Result<(), RecordsError> {
        let (Some(found), Some(agreed)) = (found, self.facts.feature_names.as_deref()) else { return Ok(()) };
        let differs = found.iter().zip(agreed).position(|(ours, theirs)| ours != theirs);
        match differs.and_then(|k| Some((k, found.get(k)?, agreed.get(k)?))) {
            Some((k, ours, theirs)) => {
                Err(self.differs(format!("feature {}", k + 1), format!("{ours:?}"), format!("{theirs:?}")))
            }
            None => Ok(()),
        }
    }

    fn labels<F: Feature>(&self, dataset: Dataset<F>, binary: bool) -> Result<Table<F>, RecordsError> {
        let failed = |error| RecordsError::Data { file: self.file.into(), error: Box::new(error) };
        let Some(classes) = self.facts.classes else { return Ok(dataset.table) };
        let table = match &dataset.class_names {
            Some(names) => {
                let numbers = self.numbers(names)?;
                data::renumbered_labels(dataset.table, &numbers).map_err(failed)?
            }
            // Nobody could say which number stands for which name, unless the names are the numbers.
            None if self
                .facts
                .class_names
                .iter()
                .flatten()
                .enumerate()
                .any(|(k, name)| *name != k.to_string()) =>
            {
                let agreed: Vec<_> = self.facts.class_names.iter().flatten().take(20).cloned().collect();
                return Err(self.differs(
                    "a label",
                    "a number",
                    format!("one of the names {}", agreed.join(", ")),
                ));
            }
            None => dataset.table,
        };
        if binary {
            return data::binary_labels(table).map_err(failed);
        }
        Ok(data::class_labels(table, Some(classes as usize)).map_err(failed)?.0)
    }

    /// The agreed numbers of the classes that this file names.
    fn numbers(&self, names: &[String]) -> Result<Vec<usize>, RecordsError> {
        let listed = |names: &[String]| names.iter().take(20).cloned().collect::<Vec<_>>().join(", ");
        let Some(agreed) = &self.facts.class_names else {
            return Err(self.differs("a label", format!("a name ({})", listed(names)), "a class's number"));
        };
        let number = |name: &String| {
            let known = agreed.iter().position(|a| a == name);
            known.ok_or_else(|| {
                self.differs("a class", format!("{name:?}"), format!("one of {}", listed(agreed)))
            })
        };
        names.iter().map(number).collect()
    }
}
