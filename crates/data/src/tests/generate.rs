//! The generators follow the laws they state, and the seed alone decides what they draw.

use crate::Table;
use crate::generate::*;

fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, count) = values.into_iter().fold((0.0, 0.0), |(s, n), v| (s + v, n + 1.0));
    sum / count
}

/// Mean and variance of each feature of `table` are those of N(0, 1), to five standard errors.
fn is_standard_normal(table: &Table) {
    let n = table.len() as f64;
    for c in 0..table.width() {
        let column = || (0..table.len()).map(move |r| table.row(r)[c]);
        assert!(mean(column()).abs() < 5.0 / n.sqrt());
        assert!((mean(column().map(|v| v * v)) - 1.0).abs() < 5.0 * (2.0 / n).sqrt());
        assert!((mean(column().map(|v| v.powi(4))) - 3.0).abs() < 5.0 * (96.0 / n).sqrt());
    }
}

/// One step of Newton's method after another: the maximum-likelihood weight of one feature.
fn fitted(table: &Table) -> f64 {
    let mut w = 0.0;
    for _ in 0..20 {
        let (mut slope, mut curve) = (0.0, 0.0);
        for (a, y) in table.features().iter().zip(table.labels()) {
            let p = 1.0 / (1.0 + (-w * a).exp());
            slope += a * ((y + 1.0) / 2.0 - p);
            curve += a * a * p * (1.0 - p);
        }
        w += slope / curve;
    }
    w
}

#[test]
fn logistic_features_are_normal_and_labels_follow_the_teacher() {
    let tables = logistic(4, 5000, 3, 0.2, 11).unwrap();
    let all = Table::concat(&tables).unwrap();
    is_standard_normal(&all);
    assert!(all.labels().iter().all(|y| y.abs() == 1.0));
    // The law is symmetric in a, so both labels are equally likely at every node.
    tables.iter().for_each(|t| assert!(mean(t.labels().iter().copied()).abs() < 5.0 / 5000f64.sqrt()));
    // E[y a] is a positive multiple of w + hᵢ: nodes agree on the teacher's direction but not exactly.
    let pull = |t: &Table, c: usize| mean((0..t.len()).map(|r| t.row(r)[c] * t.label(r)));
    let strongest = (0..3).max_by(|a, b| pull(&all, *a).abs().total_cmp(&pull(&all, *b).abs())).unwrap();
    tables.iter().for_each(|t| assert!(pull(t, strongest) * pull(&all, strongest) > 0.0));
}

#[test]
fn node_weights_scatter_by_the_heterogeneity() {
    // With one feature the weight of each node can be fitted: its scatter over nodes is the heterogeneity.
    let spread = |h: f64| {
        let weights: Vec<f64> = logistic(300, 2000, 1, h, 5).unwrap().iter().map(fitted).collect();
        let centre = mean(weights.iter().copied());
        mean(weights.iter().map(|w| (w - centre).powi(2)))
    };
    let noise = spread(0.0);
    assert!(noise < 0.01, "{noise}");
    let excess = spread(0.2) - noise;
    assert!((excess - 0.2).abs() < 5.0 * 0.2 * (2.0 / 300f64).sqrt(), "{excess}");
}

#[test]
fn held_out_records_are_fresh_draws_of_the_same_laws() {
    let tables = logistic(3, 4000, 1, 4.0, 2).unwrap();
    let held = logistic_held_out(12_001, 1, 4.0, 3, 2).unwrap();
    assert_eq!(held.len(), 12_001);
    let parts = [0..4001u32, 4001..8001, 8001..12_001].map(|part| held.select(&part.collect::<Vec<_>>()));
    for (own, fresh) in tables.iter().zip(&parts) {
        let scale = 1.0 + fitted(own).abs();
        assert!((fitted(own) - fitted(fresh)).abs() < 0.25 * scale, "{} {}", fitted(own), fitted(fresh));
        assert!(own.features().iter().all(|a| !fresh.features().contains(a)));
    }
    // Fewer records than nodes is a smaller mixture, not an error.
    assert_eq!(logistic_held_out(2, 1, 0.2, 5, 2).unwrap().len(), 2);
}

#[test]
fn threads_and_other_nodes_do_not_change_a_node() {
    let make = || (logistic(5, 50, 7, 0.2, 9).unwrap(), coefficients(5, 50, 2.0, 9).unwrap());
    let alone = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(make);
    assert_eq!(alone(1), alone(3));
    assert_eq!(make().0[..2], logistic(2, 50, 7, 0.2, 9).unwrap()[..]);
    assert_ne!(make().0[0], logistic(2, 50, 7, 0.2, 10).unwrap()[0]);
    assert_ne!(make().0[0], make().0[1]);
}

#[test]
fn the_first_draws_stay_what_they_are() {
    // A published figure must stay reproducible: this fails when a dependency changes what a seed means.
    let table = &logistic(1, 1, 2, 0.2, 1).unwrap()[0];
    let bits: Vec<u64> = table.row(0).iter().map(|v| v.to_bits()).collect();
    assert_eq!((bits, table.label(0)), (FIRST.to_vec(), FIRST_LABEL));
}

const FIRST: [u64; 2] = [4605102327817213433, 13824700235847362029];
const FIRST_LABEL: f64 = -1.0;

#[test]
fn blobs_scatter_about_centres_on_the_sphere() {
    let all = Table::concat(&blobs(3, 4000, 5, 4, 0.3, 1).unwrap()).unwrap();
    let held = blobs_held_out(12_000, 5, 4, 0.3, 1).unwrap();
    for class in 0..4 {
        let rows = |t: &Table| -> Vec<Vec<f64>> {
            (0..t.len()).filter(|r| t.label(*r) == class as f64).map(|r| t.row(r).to_vec()).collect()
        };
        let (rows, fresh) = (rows(&all), rows(&held));
        let n = rows.len() as f64;
        assert!((n / 12_000.0 - 0.25).abs() < 0.02);
        let centre =
            |rows: &[Vec<f64>]| -> Vec<f64> { (0..5).map(|c| mean(rows.iter().map(|r| r[c]))).collect() };
        let (own, other) = (centre(&rows), centre(&fresh));
        assert!((own.iter().map(|v| v * v).sum::<f64>().sqrt() - 1.0).abs() < 0.05);
        assert!(own.iter().zip(&other).all(|(a, b)| (a - b).abs() < 5.0 * 0.3 * (2.0 / n).sqrt()));
        let variance = mean(rows.iter().flat_map(|r| r.iter().zip(&own).map(|(v, c)| (v - c).powi(2))));
        assert!((variance - 0.09).abs() < 0.005);
    }
    assert!(held.features().iter().all(|v| !all.features()[..500].contains(v)));
}

#[test]
fn quadratic_targets_scatter_about_their_nodes_centre() {
    let tables = quadratic(200, 100, 2, 4.0, 3).unwrap();
    let centres: Vec<f64> = tables.iter().map(|t| mean((0..100).map(|r| t.row(r)[0]))).collect();
    let variance = mean(centres.iter().map(|c| c * c));
    assert!((variance - 4.01).abs() < 5.0 * 4.0 * (2.0 / 200f64).sqrt(), "{variance}");
    let within =
        mean(tables.iter().zip(&centres).flat_map(|(t, c)| (0..100).map(move |r| (t.row(r)[0] - c).powi(2))));
    assert!((within - 0.99).abs() < 0.06, "{within}");
    assert!(tables.iter().all(|t| t.labels().iter().all(|y| *y == 0.0)));
    let same = quadratic(3, 10_000, 1, 0.0, 3).unwrap();
    same.iter().for_each(is_standard_normal);
}

#[test]
fn coefficients_are_bounded_centred_and_heterogeneous() {
    for (nodes, records, bound) in [(2, 1, 1.0), (8, 100, 3.0), (50, 7, 1e-200), (3, 11, 1e300)] {
        let tables = coefficients(nodes, records, bound, 4).unwrap();
        let all = Table::concat(&tables).unwrap();
        assert_eq!((all.len(), all.width()), (nodes * records, 1));
        let largest = all.features().iter().fold(0.0f64, |m, a| m.max(a.abs()));
        assert!(largest <= bound && largest > 0.999 * bound);
        assert!(mean(all.features().iter().map(|a| a / bound)).abs() < 1e-15);
        let means: Vec<f64> = tables.iter().map(|t| mean(t.features().iter().map(|a| a / bound))).collect();
        assert!(means.iter().any(|m| (m - means[0]).abs() > 0.01));
    }
}

#[test]
fn arguments_out_of_range_are_named() {
    let said = |result: Result<Vec<Table>, crate::DataError>| result.unwrap_err().to_string();
    assert!(said(logistic(0, 1, 1, 0.2, 0)).starts_with("nodes = 0"));
    assert!(said(logistic(1, 0, 1, 0.2, 0)).starts_with("records = 0"));
    assert!(said(logistic(1, 1, 0, 0.2, 0)).starts_with("dimension = 0"));
    assert!(said(logistic(usize::MAX, 1, 1, 0.2, 0)).starts_with("nodes = "));
    assert!(said(logistic(1 << 31, 1 << 31, 1 << 31, 0.2, 0)).contains("bytes"));
    assert!(said(logistic(1, 1, 1, -0.1, 0)).starts_with("heterogeneity = -0.1"));
    assert!(said(quadratic(1, 1, 1, f64::NAN, 0)).starts_with("heterogeneity = NaN"));
    assert!(said(blobs(1, 1, 1, 1, 0.1, 0)).starts_with("classes = 1"));
    assert!(said(blobs(1, 1, 1, usize::MAX, 0.1, 0)).contains("allowed"));
    assert!(said(blobs(1, 1, 1, 2, f64::INFINITY, 0)).starts_with("spread = inf"));
    assert!(said(coefficients(1, 5, 1.0, 0)).starts_with("nodes = 1"));
    assert!(said(coefficients(2, 5, 0.0, 0)).starts_with("bound = 0"));
    assert!(logistic_held_out(0, 1, 0.2, 1, 0).is_err());
    assert!(blobs_held_out(0, 1, 2, 0.2, 0).is_err());
}
