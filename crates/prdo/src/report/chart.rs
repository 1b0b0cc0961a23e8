//! What the page's interactive charts are drawn from: the columns of metrics as JSON for `assets/chart.js`.

use super::baseline::line_label;
use super::groups::{Group, Spread};
use super::words;
use prdo_simulator::Row;
use serde_json::{Map, Value as Json, json};

/// More rows than this are thinned: a page should open at once.
const MOST_ROWS: usize = 2_000;

/// A column of metrics by its name in `metrics.csv`.
type Column = (&'static str, fn(&Row) -> Option<f64>);

const COLUMNS: [Column; 10] = [
    ("round", |row| Some(f64::from(row.round))),
    ("bytes_sent", |row| Some(row.bytes_sent as f64)),
    ("gradient_evaluations", |row| Some(row.gradient_evaluations as f64)),
    ("test_accuracy", |row| row.test_accuracy),
    ("loss", |row| Some(row.loss)),
    ("grad_norm", |row| Some(row.grad_norm)),
    ("consensus_error", |row| Some(row.consensus_error)),
    ("epsilon_spent", |row| row.epsilon_spent),
    ("clipped_gradient_fraction", |row| row.clipped_gradient_fraction),
    ("clipped_difference_fraction", |row| row.clipped_difference_fraction),
];

/// Those of the columns that are x axes.
const AXES: [(&str, &str); 3] =
    [("round", "rounds"), ("bytes_sent", "bytes sent"), ("gradient_evaluations", "gradient evaluations")];

/// Key, title, label, logarithmic, share.
const PANELS: [(&str, &str, &str, bool, bool); 7] = [
    ("test_accuracy", "Test accuracy", "share right", false, true),
    ("loss", "Loss", "f(x̄)", false, false),
    ("grad_norm", "Gradient norm", "‖∇f(x̄)‖", true, false),
    ("consensus_error", "Disagreement of the nodes", "mean ‖x − x̄‖²", true, false),
    ("epsilon_spent", "Privacy spent", "ε", false, false),
    ("clipped_gradient_fraction", "Clipped gradients", "share of records", false, true),
    ("clipped_difference_fraction", "Clipped differences", "share of records", false, true),
];

/// The charts of one run; `baseline` is the share of the most common class.
pub(super) fn of_run(name: &str, style: usize, rows: &[Row], baseline: Option<f64>) -> Json {
    let kept = thinned(rows.len());
    let columns: Map<String, Json> = COLUMNS
        .iter()
        .map(|(key, value)| {
            let cells = kept.iter().filter_map(|k| rows.get(*k)).map(|row| number(value(row)));
            ((*key).to_string(), cells.collect::<Vec<_>>().into())
        })
        .collect();
    let series = json!([{ "name": name, "style": style, "columns": columns }]);
    spec(&rows.iter().collect::<Vec<_>>(), series, baseline)
}

/// The charts of several: means over seeds, and their range as bands.
pub(super) fn of_groups(groups: &[Group<'_>], styles: &[usize], baseline: Option<f64>) -> Json {
    let series: Vec<Json> =
        groups.iter().zip(styles).map(|(group, style)| series_of(group, *style)).collect();
    let rows: Vec<&Row> = groups.iter().flat_map(|g| &g.cells).flat_map(|cell| &cell.rows).collect();
    spec(&rows, series.into(), baseline)
}

fn series_of(group: &Group<'_>, style: usize) -> Json {
    let length = group.cells.iter().map(|cell| cell.rows.len()).min().unwrap_or(0);
    let kept = thinned(length);
    let (mut columns, mut low, mut high) = (Map::new(), Map::new(), Map::new());
    for (key, value) in COLUMNS {
        let at = |k: usize| -> Vec<f64> {
            group.cells.iter().filter_map(|cell| value(cell.rows.get(k)?)).collect()
        };
        let values: Vec<Vec<f64>> = kept.iter().map(|k| at(*k)).collect();
        let list = |f: &dyn Fn(&[f64]) -> Option<f64>| -> Json {
            values.iter().map(|v| number(f(v))).collect::<Vec<_>>().into()
        };
        columns.insert(key.into(), list(&|v| Spread::of(v).map(|s| s.mean)));
        if group.cells.len() > 1 && !AXES.iter().any(|(axis, _)| *axis == key) {
            low.insert(key.into(), list(&|v| v.iter().copied().reduce(f64::min)));
            high.insert(key.into(), list(&|v| v.iter().copied().reduce(f64::max)));
        }
    }
    json!({ "name": group.name, "style": style, "columns": columns, "low": low, "high": high })
}

/// Axes and panels for the columns that these rows have.
fn spec(rows: &[&Row], series: Json, baseline: Option<f64>) -> Json {
    let has = |key: &str| {
        let column = COLUMNS.iter().find(|(known, _)| *known == key);
        column.is_some_and(|(_, value)| rows.iter().any(|row| value(row).is_some()))
    };
    let panels: Vec<Json> = PANELS
        .iter()
        .filter(|(key, ..)| has(key))
        .map(|(key, title, label, log, share)| {
            let range = key.starts_with("clipped").then_some([0.0, 1.0]);
            let reference = baseline.filter(|_| *key == "test_accuracy");
            let reference =
                reference.map(|share| json!({ "value": number(Some(share)), "label": line_label(share) }));
            json!({ "key": key, "title": title, "label": label, "log": log, "percent": share, "range": range,
                    "reference": reference, "help": words::meaning(key) })
        })
        .collect();
    let axes: Vec<Json> = AXES.iter().map(|(key, label)| json!({ "key": key, "label": label })).collect();
    json!({ "axes": axes, "panels": panels, "series": series })
}

/// The numbers of the rows that are kept, first and last among them.
fn thinned(length: usize) -> Vec<usize> {
    if length <= MOST_ROWS {
        return (0..length).collect();
    }
    (0..MOST_ROWS).map(|k| k * (length - 1) / (MOST_ROWS - 1)).collect()
}

/// Six digits: more cannot be seen, and a page of all of them is large. What is not finite is left out.
fn number(value: Option<f64>) -> Json {
    let Some(value) = value.filter(|v| v.is_finite()) else { return Json::Null };
    // Whole numbers stay as they are.
    if value.fract() == 0.0 && value.abs() < 9e15 {
        return json!(value as i64);
    }
    json!(format!("{value:.5e}").parse::<f64>().unwrap_or(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_runs_are_thinned_and_keep_their_ends() {
        assert_eq!(thinned(3), [0, 1, 2]);
        assert!(thinned(0).is_empty());
        let kept = thinned(100_000);
        assert_eq!((kept.len(), kept[0], kept[MOST_ROWS - 1]), (MOST_ROWS, 0, 99_999));
    }

    #[test]
    fn numbers_are_short_and_finite() {
        assert_eq!(number(Some(f64::NAN)), Json::Null);
        assert_eq!(number(None), Json::Null);
        assert_eq!(number(Some(120_000.0)).to_string(), "120000");
        assert_eq!(number(Some(0.123_456_789)).to_string(), "0.123457");
        assert_eq!(number(Some(1.234_567_89e-9)).to_string(), "1.23457e-9");
    }
}
