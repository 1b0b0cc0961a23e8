//! Labels as models read them, and labels that may be slips.

use prdo_data::{self as data, DataError, Dataset, Feature, Loaded, Table};
use prdo_runfile::{ConfigError, Key, RunFile};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Labels {
    Signs,
    Classes,
    /// Whatever they are: a program's own model knows.
    AsGiven,
}

impl Labels {
    pub(super) fn of(run: &RunFile, binary: bool) -> Self {
        match (run.model.is_own(), binary) {
            (true, _) => Self::AsGiven,
            (false, true) => Self::Signs,
            (false, false) => Self::Classes,
        }
    }
}

/// Whole numbers with more different values than this are hardly classes.
const MOST_CLASSES: usize = 20;

/// Refuses a column of labels that holds numbers rather than classes, and names the columns that could be meant.
pub(super) fn refuse_numbers(run: &RunFile, loaded: &Loaded) -> Result<(), ConfigError> {
    let Loaded::Numbers(data) = loaded else { return Ok(()) };
    // Of files with named columns another one may be meant; names are classes.
    if data.feature_names.is_none() || data.class_names.is_some() || !data.labelled {
        return Ok(());
    }
    let kind = run.model_kind()?;
    if !kind.has_classes() {
        return Ok(());
    }
    let binary = kind.is_binary();
    let labels = different(data.table.labels().iter().copied());
    let (low, high) = (labels.first().copied().unwrap_or(0.0), labels.last().copied().unwrap_or(0.0));
    let count = labels.len();
    // 0, 1, … without gaps are classes, however many.
    let numbered = low == 0.0 && high + 1.0 == count as f64;
    let fractions = labels.iter().any(|label| label.fract() != 0.0);
    let many = count > MOST_CLASSES && !numbered && run.data.classes.is_none();
    if !(many || count > 2 && (fractions || binary)) {
        return Ok(());
    }
    let label = run.data.file.label.as_deref().unwrap_or("label");
    let values = match count > MOST_CLASSES {
        true => format!("from {low} to {high}"),
        false => format!("({})", labels.iter().map(f64::to_string).collect::<Vec<_>>().join(", ")),
    };
    let looks = match () {
        () if count > MOST_CLASSES || fractions => ": it looks like a number, not like classes".to_string(),
        () => format!(": model.kind = {:?} needs two", kind.name()),
    };
    let message = format!("data: the label column {label:?} has {count} different values {values}{looks}");
    let mut help = columns_of_classes(data);
    help += match (binary, fractions) {
        (true, _) => "; \"softmax\" takes any number of classes",
        (false, false) => {
            "; if these numbers are classes, write classes under [data]: one more than the largest"
        }
        (false, true) => "",
    };
    Err(run.error(label_key(run), message).help(help))
}

fn label_key(run: &RunFile) -> Key {
    if run.data.file.label.is_some() { Key::DataLabel } else { Key::DataPath }
}

/// Which columns have few different values, as a label has.
fn columns_of_classes(data: &Dataset) -> String {
    let few = |(k, name): (usize, &String)| {
        let found = different((0..data.table.len()).filter_map(|r| data.table.row(r).get(k).copied()));
        (2..=MOST_CLASSES).contains(&found.len()).then(|| format!("{name:?} ({})", found.len()))
    };
    let names = data.feature_names.iter().flatten().enumerate();
    let few: Vec<String> = names.filter_map(few).take(MOST_CLASSES).collect();
    let found = match few.is_empty() {
        true => String::new(),
        false => format!("; columns with few different values: {}", few.join(", ")),
    };
    format!("name the column of classes under [data]: label = \"its name\"{found}")
}

/// The different values, in order.
fn different(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    values.dedup();
    values
}

/// Labels of held-out records: no other classes than those of the records.
pub(super) fn labelled_test<F: Feature>(
    test: Table<F>,
    labels: Labels,
    classes: Option<usize>,
) -> Result<Table<F>, DataError> {
    relabel(test, labels, classes).map(|(table, _)| table)
}

/// How many classes there are, where the run file or the labels' names say so.
pub(super) fn given_classes<F: Feature>(
    run: &RunFile,
    dataset: &Dataset<F>,
    binary: bool,
) -> Result<Option<usize>, ConfigError> {
    let names = dataset.class_names.as_ref();
    if let Some(names) = names.filter(|names| binary && names.len() != 2) {
        let kind = run.model_kind()?;
        let message =
            format!("data: the labels are {}: model.kind = {:?} needs two", names.join(", "), kind.name());
        return Err(run.error(label_key(run), message).help("\"softmax\" takes any number of classes"));
    }
    Ok(run.data.classes.or(names.map(Vec::len)))
}

/// A warning if one class has hardly any records, which is what slips in labels look like; `data.classes` says that the
/// classes are meant.
pub(super) fn rare_class(
    run: &RunFile,
    names: Option<&[String]>,
    labels: &[f64],
    classes: Option<usize>,
) -> Option<String> {
    /// With more classes few records a class are usual, and nobody reads the list.
    const MOST: usize = 100;
    let classes = classes.filter(|k| *k <= MOST && run.data.classes.is_none())?;
    let mut counts = vec![0_usize; classes];
    for label in labels {
        // Of two classes the labels may be −1 and 1.
        let class = if classes == 2 { usize::from(*label > 0.0) } else { *label as usize };
        counts.get_mut(class).into_iter().for_each(|count| *count += 1);
    }
    let name = |k: usize| match names.and_then(|names| names.get(k)) {
        Some(name) => format!("{name:?}"),
        None => k.to_string(),
    };
    let few = (0.01_f64).min(0.1 / classes as f64) * labels.len() as f64;
    let (rarest, count) = counts.iter().enumerate().min_by_key(|(_, count)| **count)?;
    let listed: Vec<String> = counts.iter().enumerate().map(|(k, n)| format!("{} {n}", name(k))).collect();
    ((*count as f64) < few).then(|| {
        format!(
            "class {} has {count} of {} records: is it a slip in the labels? The classes and their records: {} \
             (classes = {classes} under [data] says that they are meant)",
            name(rarest),
            labels.len(),
            listed.join(", ")
        )
    })
}

/// Refuses a largest label that hardly any record has and that is far beyond the next one: it is a slip, and the model
/// would have an output for every number below it. `data.classes` says that it is meant.
pub(super) fn refuse_gaps(
    run: &RunFile,
    (kind, named): (Labels, bool),
    labels: &[f64],
    classes: Option<usize>,
) -> Result<(), ConfigError> {
    let numbered = kind == Labels::Classes && !named && run.data.classes.is_none();
    let found = different(labels.iter().copied());
    let (Some(classes), [.., next, largest]) = (classes.filter(|_| numbered), &found[..]) else {
        return Ok(());
    };
    let count = labels.iter().filter(|label| *label == largest).count();
    if *largest <= 2.0 * (next + 1.0) || 20 * count > labels.len() {
        return Ok(());
    }
    let record = labels.iter().position(|label| label == largest).unwrap_or(0);
    let message = format!(
        "data: record {record} has the label {largest}, but the next smaller label is {next}: only {} of the {classes} classes have records",
        found.len()
    );
    let help = format!("correct the label, or if it is meant, write classes = {classes} under [data]");
    Err(run.error(label_key(run), message).help(help))
}

/// Labels as the model reads them, and how many classes there are.
pub(super) fn relabel<F: Feature>(
    table: Table<F>,
    labels: Labels,
    classes: Option<usize>,
) -> Result<(Table<F>, Option<usize>), DataError> {
    match labels {
        Labels::Signs => Ok((data::binary_labels(table)?, Some(2))),
        Labels::Classes => data::class_labels(table, classes).map(|(table, k)| (table, Some(k))),
        Labels::AsGiven => Ok((table, classes)),
    }
}
