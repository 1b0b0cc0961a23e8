//! What the page's interactive charts are drawn from: the columns of metrics as JSON for `assets/chart.js`.

use crate::baseline::line_label;
use crate::glossary;
use crate::groups::{Group, Spread};
use prdo_simulator::Row;
use prdo_store::{COLUMNS, Column, Panel, PanelScale};
use serde_json::{Map, Value as Json, json};

/// More rows than this are thinned: a page should open at once.
const MOST_ROWS: usize = 2_000;

/// The metrics as the page has them: axes, then curves, the one that people look for first.
fn columns() -> Vec<Column> {
    let mut columns = COLUMNS.to_vec();
    columns.sort_by_key(|column| match column.panel {
        Panel::Axis { .. } => 0,
        Panel::Curve { first: true, .. } => 1,
        Panel::Curve { first: false, .. } => 2,
    });
    columns
}

/// The charts of one run; `baseline` is the share of the most common class.
pub(crate) fn of_run(name: &str, style: usize, rows: &[Row], baseline: Option<f64>) -> Json {
    let kept = thinned(rows.len());
    let columns: Map<String, Json> = columns()
        .iter()
        .map(|column| {
            let cells = kept.iter().filter_map(|k| rows.get(*k)).map(|row| number(column.value(row)));
            (column.name.to_string(), cells.collect::<Vec<_>>().into())
        })
        .collect();
    let series = json!([{ "name": name, "style": style, "columns": columns }]);
    spec(&rows.iter().collect::<Vec<_>>(), series, baseline)
}

/// The charts of several: means over seeds, and their range as bands.
pub(crate) fn of_groups(groups: &[Group<'_>], styles: &[usize], baseline: Option<f64>) -> Json {
    let series: Vec<Json> =
        groups.iter().zip(styles).map(|(group, style)| series_of(group, *style)).collect();
    let rows: Vec<&Row> = groups.iter().flat_map(|g| &g.cells).flat_map(|cell| &cell.rows).collect();
    spec(&rows, series.into(), baseline)
}

fn series_of(group: &Group<'_>, style: usize) -> Json {
    let length = group.cells.iter().map(|cell| cell.rows.len()).min().unwrap_or(0);
    let kept = thinned(length);
    let (mut means, mut low, mut high) = (Map::new(), Map::new(), Map::new());
    for column in columns() {
        let key = column.name;
        let at = |k: usize| -> Vec<f64> {
            group.cells.iter().filter_map(|cell| column.value(cell.rows.get(k)?)).collect()
        };
        let values: Vec<Vec<f64>> = kept.iter().map(|k| at(*k)).collect();
        let list = |f: &dyn Fn(&[f64]) -> Option<f64>| -> Json {
            values.iter().map(|v| number(f(v))).collect::<Vec<_>>().into()
        };
        means.insert(key.into(), list(&|v| Spread::of(v).map(|s| s.mean)));
        if group.cells.len() > 1 && matches!(column.panel, Panel::Curve { .. }) {
            low.insert(key.into(), list(&|v| v.iter().copied().reduce(f64::min)));
            high.insert(key.into(), list(&|v| v.iter().copied().reduce(f64::max)));
        }
    }
    json!({ "name": group.name, "style": style, "columns": means, "low": low, "high": high })
}

/// Axes and panels for the columns that these rows have, and their series.
fn spec(rows: &[&Row], series: Json, baseline: Option<f64>) -> Json {
    let has = |column: &Column| rows.iter().any(|row| column.value(row).is_some());
    let (axes, panels) = axes_and_panels(has, baseline);
    json!({ "axes": axes, "panels": panels, "series": series })
}

/// Axes and panels of every metric: for a page that gets its rows later.
pub(crate) fn of_metrics() -> Json {
    let (axes, panels) = axes_and_panels(|_| true, None);
    json!({ "axes": axes, "panels": panels })
}

fn axes_and_panels(has: impl Fn(&Column) -> bool, baseline: Option<f64>) -> (Vec<Json>, Vec<Json>) {
    let (mut axes, mut panels) = (Vec::new(), Vec::new());
    for column in columns() {
        let key = column.name;
        match column.panel {
            Panel::Axis { label } => axes.push(json!({ "key": key, "label": label })),
            Panel::Curve { title, label, scale, .. } if has(&column) => {
                let range = (scale == PanelScale::WholeShare).then_some([0.0, 1.0]);
                let percent = matches!(scale, PanelScale::Share | PanelScale::WholeShare);
                let reference = baseline.filter(|_| key == "test_accuracy");
                let reference = reference
                    .map(|share| json!({ "value": number(Some(share)), "label": line_label(share) }));
                panels.push(json!({ "key": key, "title": title, "label": label,
                    "log": scale == PanelScale::Log, "percent": percent, "range": range,
                    "reference": reference, "help": glossary::meaning(key) }));
            }
            Panel::Curve { .. } => {}
        }
    }
    (axes, panels)
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
