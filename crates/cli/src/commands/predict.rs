//! `prdo predict`: what a trained model says about new records.

use super::table::table_lines;
use super::{Failure, target};
use crate::cli::PredictArgs;
use crate::progress::{say, tell, warn};
use prdo::data::{self, Format, csv};
use prdo::disk::write_atomically;
use prdo::predict::{ClassScores, Predictions, Scores, Threshold};
use serde_json::{Value as Json, json};
use std::path::Path;

/// A column of the data that stands beside the predictions.
struct Key {
    name: String,
    values: Vec<String>,
}

pub fn run(args: &PredictArgs) -> Result<(), Failure> {
    if let Some(out) = &args.out {
        let data = ("the file with the records", args.data.clone());
        target::check(out, target::of_run(&args.folder).chain([data]), args.overwrite)?;
    }
    let mut predictor = prdo_member::predict::predictor(&args.folder, args.node.as_deref())?;
    if let Some(typed) = &args.threshold {
        predictor = predictor.with_threshold(typed)?;
    }
    if data::test_part(&args.data).is_some() {
        tell(&format!("reading the test images of {}", args.data.display()));
    }
    let predictions = predictor.predict(&args.data, args.label.as_deref())?;
    let key = args.key.as_ref().map(|name| key(&args.data, name)).transpose()?;
    warn(&predictions.warnings);
    if let Some(out) = &args.out {
        write_atomically(out, table(&predictions, key.as_ref()).as_bytes())?;
    }
    match (&args.out, args.json) {
        (out, true) => say(&to_json(&predictions, key.as_ref(), out.as_deref()).to_string()),
        (Some(out), false) => {
            say(&format!("{} predictions in {}", predictions.probabilities.len(), out.display()));
        }
        (None, false) => say(table(&predictions, key.as_ref()).trim_end()),
    }
    if let Some(scores) = predictions.scores.as_ref().filter(|_| !args.json) {
        figures(&predictions, scores).iter().for_each(|line| tell(line));
    }
    if let Some(words) = &predictions.trained_on {
        tell(&format!("note: {words}"));
    }
    Ok(())
}

/// More classes than this are not listed one by one where people read.
const MOST_LISTED: usize = 40;

fn figures(predictions: &Predictions, scores: &Scores) -> Vec<String> {
    let auc = scores.auc.map_or(String::new(), |auc| format!("; area under the ROC curve (AUC): {auc:.4}"));
    let mut lines = vec![format!(
        "{:.2} % of these records' labels are predicted correctly ({} records; always the most common class: {:.2} %{auc})",
        100.0 * scores.accuracy,
        predictions.probabilities.len(),
        100.0 * scores.most_common_class
    )];
    if scores.classes.len() <= MOST_LISTED {
        let percent = |share: Option<f64>| share.map_or("n/a".into(), |s| format!("{:.2} %", 100.0 * s));
        let row = |class: &ClassScores| {
            let (records, predicted) = (class.records.to_string(), class.predicted.to_string());
            vec![class.name.clone(), records, predicted, percent(class.precision()), percent(class.recall())]
        };
        let rows: Vec<Vec<String>> = scores.classes.iter().map(row).collect();
        lines.extend(table_lines(&["class", "records", "predicted", "precision", "recall"], &rows));
    }
    if let Some((threshold, class)) = threshold(predictions) {
        lines.push(format!(
            "{class} is predicted where p_{class} is {} or more (--threshold)",
            threshold.probability
        ));
    }
    lines
}

fn threshold(predictions: &Predictions) -> Option<(Threshold, &String)> {
    let threshold = predictions.threshold?;
    Some((threshold, predictions.classes.get(threshold.class)?))
}

/// The column that tells records apart, as it stands in the file.
fn key(path: &Path, name: &str) -> Result<Key, Failure> {
    let wrong = |e: prdo::data::DataError| Failure::Input(format!("--key: {e}"));
    match Format::of(path).map_err(wrong)? {
        Format::Csv => Ok(Key { name: name.to_string(), values: csv::column(path, name).map_err(wrong)? }),
        other => Err(Failure::Input(format!(
            "--key {name} is for CSV files, and this is a {} file: predictions are in the order of its records",
            other.name()
        ))),
    }
}

/// The class that is predicted, and every class's probability.
fn table(predictions: &Predictions, key: Option<&Key>) -> String {
    let head = key.map(|key| key.name.clone()).into_iter().chain(["prediction".to_string()]);
    let head = head.chain(predictions.classes.iter().map(|class| format!("p_{class}"))).collect();
    let row = |(k, (class, row)): (usize, (usize, &Vec<f64>))| -> Vec<String> {
        let first = key.and_then(|key| key.values.get(k)).cloned();
        let name = predictions.classes.get(class).cloned().unwrap_or_default();
        first.into_iter().chain([name]).chain(row.iter().map(|p| format!("{p:.6}"))).collect()
    };
    let records = predictions.classes_of_records().zip(&predictions.probabilities).enumerate();
    csv::text_of(std::iter::once(head).chain(records.map(row)))
}

/// The same for programs; where a file has the predictions, only what is to be said of them.
fn to_json(predictions: &Predictions, key: Option<&Key>, out: Option<&Path>) -> Json {
    let one = |(k, (class, row)): (usize, (usize, &Vec<f64>))| {
        let mut json = json!({ "prediction": predictions.classes.get(class), "probabilities": row });
        if let Some(value) = key.and_then(|key| key.values.get(k)) {
            json["key"] = value.as_str().into();
        }
        json
    };
    let scores = predictions.scores.as_ref();
    let all = predictions.classes_of_records().zip(&predictions.probabilities).enumerate();
    json!({
        "records": predictions.probabilities.len(),
        "classes": predictions.classes,
        "accuracy": scores.map(|s| s.accuracy),
        "auc": scores.and_then(|s| s.auc),
        "most_common_class": scores.map(|s| s.most_common_class),
        "per_class": scores.map(Scores::classes_to_json),
        "threshold": threshold(predictions).map(|(threshold, _)| threshold.probability),
        "threshold_class": threshold(predictions).map(|(_, class)| class),
        "trained_on": predictions.trained_on.is_some(),
        "warnings": predictions.warnings,
        "key": key.map(|key| &key.name),
        "file": out.map(|out| out.display().to_string()),
        "predictions": out.is_none().then(|| all.map(one).collect::<Vec<_>>()),
    })
}
