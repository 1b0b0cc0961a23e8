//! Who holds what: classes at nodes, or records at nodes.

use crate::page::{Page, table};
use crate::style::percent;
use prdo_plot::{Bar, Bars, Figure, Heat};
use prdo_store::Summary;

/// More nodes than this are summed up instead of drawn one by one.
const MOST_BARS: usize = 64;

/// As many nodes have their table unfolded.
const FEW: usize = 12;

/// Adds what the summary knows of the nodes' records; `nodes` are their names, if they have any.
pub(crate) fn add(page: &mut Page, summary: &Summary, nodes: &[String]) {
    let name = |k: usize| nodes.get(k).cloned().unwrap_or_else(|| k.to_string());
    let classes = summary.class_counts.clone().unwrap_or_default();
    let mut records = summary.node_records.clone().unwrap_or_default();
    if records.is_empty() {
        records = classes.iter().map(|node| node.iter().fold(0, |a: u64, b| a.saturating_add(*b))).collect();
    }
    if let Some(words) = in_words(&records, summary) {
        page.paragraph(&words);
    }
    if !classes.is_empty() {
        let names = summary.class_names.clone().unwrap_or_default();
        if let Some(words) = not_in_it(summary) {
            page.paragraph(&words);
        }
        let labels = if nodes.is_empty() { Vec::new() } else { (0..classes.len()).map(name).collect() };
        let heat = Heat::new("Records of each class at each node", classes).row_labels(labels);
        page.figure(Figure::of(if names.is_empty() { heat } else { heat.column_labels(names) }));
    } else if (2..=MOST_BARS).contains(&records.len()) && records.iter().any(|r| *r != records[0]) {
        let bars = Bars::new("Records of each node", "records").vertical();
        let bar = |(k, count): (usize, &u64)| Bar::new(name(k), *count as f64);
        page.figure(Figure::of(records.iter().enumerate().map(bar).fold(bars, Bars::bar)));
    }
    add_nodes(page, &records, &summary.node_accuracy, name);
}

/// Which records the tables leave out: nobody trains on them.
fn not_in_it(summary: &Summary) -> Option<String> {
    let parts = [(summary.test_records, "for testing"), (summary.validation_records, "for validation")];
    let some = |(count, what): &(Option<u64>, &str)| {
        count.filter(|count| *count > 0).map(|count| format!("{count} {what}"))
    };
    let aside: Vec<String> = parts.iter().filter_map(some).collect();
    let all = summary.records?;
    (!aside.is_empty()).then(|| {
        format!("Training uses these {all} records; held out, and not counted here: {}.", aside.join(", "))
    })
}

/// A line for each node: its records, and what its own model gets right of the held-out ones.
fn add_nodes(page: &mut Page, records: &[u64], accuracy: &[f64], name: impl Fn(usize) -> String) {
    if !(2..=MOST_BARS).contains(&records.len()) || accuracy.len() != records.len() {
        return;
    }
    let row = |(k, (count, own)): (usize, (&u64, &f64))| vec![name(k), count.to_string(), percent(*own)];
    let rows: Vec<Vec<String>> = records.iter().zip(accuracy).enumerate().map(row).collect();
    let text = table(&["node", "records", "test accuracy of its own model"], &rows, &[]);
    match records.len() <= FEW {
        true => page.add(&text),
        false => page.folded("Node by node", |page| page.add(&text)),
    }
}

fn in_words(records: &[u64], summary: &Summary) -> Option<String> {
    let mut sorted = records.to_vec();
    sorted.sort_unstable();
    let spread = summary.records_per_node.unwrap_or_default();
    let nodes = summary.nodes.unwrap_or(sorted.len() as u64);
    let (least, median, most) = match (sorted.first(), sorted.get(sorted.len() / 2), sorted.last()) {
        (Some(least), Some(median), Some(most)) => (*least, *median, *most),
        _ => (spread.least?, spread.median?, spread.most?),
    };
    Some(match (nodes, least == most) {
        (1, _) => format!("One node holds all {most} records."),
        (_, true) => format!("Each of the {nodes} nodes holds {most} records."),
        (_, false) => {
            format!("The {nodes} nodes hold {least} to {most} records each, half of them {median} or more.")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value as Json, json};

    fn read(summary: Json) -> Summary {
        prdo_store::artefact::salvage(summary.to_string().as_bytes()).unwrap().0
    }

    fn html(summary: Json) -> String {
        let mut page = Page::new("", "");
        add(&mut page, &read(summary), &[]);
        page.finish()
    }

    #[test]
    fn nodes_have_their_names() {
        let summary =
            json!({"class_counts": [[1, 2], [3, 4]], "node_accuracy": [0.5, 0.75], "node_records": [3, 7]});
        let mut page = Page::new("", "");
        add(&mut page, &read(summary), &["Lakeside".into(), "North <& South>".into()]);
        let html = page.finish();
        assert!(html.matches("Lakeside").count() >= 2, "in the picture and in the table");
        assert!(html.contains("<td>North &lt;&amp; South&gt;</td>") && html.contains("75"), "{html}");
    }

    #[test]
    fn nodes_are_drawn_or_summed_up() {
        assert!(
            html(json!({"node_records": [3, 9, 5], "nodes": 3}))
                .contains("3 to 9 records each, half of them 5")
        );
        assert!(html(json!({"node_records": [3, 9, 5]})).contains("Records of each node"));
        assert!(html(json!({"node_records": [4, 4]})).contains("Each of the 2 nodes holds 4 records"));
        let large = json!({"nodes": 5000, "records_per_node": {"least": 1, "median": 10, "most": 20}});
        assert!(html(large).contains("5000 nodes hold 1 to 20 records each, half of them 10"));
        assert!(html(json!({"class_counts": [[1, 2], [3, 4]]})).contains("Records of each class"));
        assert!(html(json!({"node_records": [7]})).contains("One node holds all 7"));
        assert!(!html(json!({"class_counts": "no", "node_records": [null, "x"]})).contains("<svg"));
    }
}
