//! `prdo predict`: what a trained model says about new records.

use super::Failure;
use crate::cli::PredictArgs;
use crate::progress::{say, tell};
use prdo::output::write_atomically;
use prdo::predict::{PredictError, Predictions, Predictor};
use std::fmt::Write;

impl From<PredictError> for Failure {
    fn from(error: PredictError) -> Self {
        Failure::Input(error.to_string())
    }
}

pub fn run(args: &PredictArgs) -> Result<(), Failure> {
    if let Some(out) = args.out.as_ref().filter(|out| out.symlink_metadata().is_ok() && !args.overwrite) {
        let shown = out.display();
        return Err(Failure::Input(format!(
            "{shown} is there already: choose another --out, or add --overwrite"
        )));
    }
    let predictor = Predictor::open(&args.folder, args.node.as_deref())?;
    let predictions = predictor.predict(&args.data, args.label.as_deref())?;
    let text = table(&predictions);
    match &args.out {
        Some(out) => {
            write_atomically(out, text.as_bytes())?;
            say(&format!("{} predictions in {}", predictions.probabilities.len(), out.display()));
        }
        None => say(text.trim_end()),
    }
    if let Some(accuracy) = predictions.accuracy {
        tell(&format!("{:.2} % of these records' labels are predicted", 100.0 * accuracy));
    }
    Ok(())
}

/// The most probable class, and every class's probability.
fn table(predictions: &Predictions) -> String {
    let heads: Vec<String> = predictions.classes.iter().map(|class| field(&format!("p_{class}"))).collect();
    let mut text = format!("prediction,{}\n", heads.join(","));
    for (class, row) in predictions.classes_of_records().zip(&predictions.probabilities) {
        let name = predictions.classes.get(class).map_or(String::new(), |name| field(name));
        let cells: Vec<String> = row.iter().map(|p| format!("{p:.6}")).collect();
        let _ = writeln!(text, "{name},{}", cells.join(","));
    }
    text
}

/// A field of a CSV file.
fn field(text: &str) -> String {
    let plain = !text.contains([',', '"', '\n', '\r']);
    if plain { text.to_string() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
}
