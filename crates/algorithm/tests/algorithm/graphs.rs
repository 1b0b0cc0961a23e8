//! Networks against closed forms, against each other, and at sizes people will try.

use std::f64::consts::{PI, TAU};

use prdo_algorithm::graph::{
    Graph, GraphFamily, Mixing, Network, NetworkError, Parameters, Spectrum, Weights, parse_network,
    positions,
};
use proptest::prelude::*;

fn spectrum(graph: Graph, weights: Weights, lazy: bool) -> Spectrum {
    Mixing::new(&graph, weights, lazy).unwrap().check(true).unwrap()
}

/// λ₂ and λ_n of a W with these eigenvalues (the one included), to rounding.
fn assert_ends(found: Spectrum, eigenvalues: impl IntoIterator<Item = f64>, what: &str) {
    let mut all: Vec<f64> = eigenvalues.into_iter().collect();
    all.sort_by(f64::total_cmp);
    let (second, least) = (all[all.len() - 2], all[0]);
    assert!((found.lambda - second).abs() < 1e-13, "{what}: {found:?}, exact {second}");
    assert!((found.smallest - least).abs() < 1e-13, "{what}: {found:?}, exact {least}");
    assert!((found.second_magnitude - second.abs().max(least.abs())).abs() < 1e-13, "{what}");
    assert!((found.spectral_gap - (1.0 - second)).abs() < 1e-13, "{what}");
    assert!(found.lambda_error < 1e-12 && found.smallest_error < 1e-12, "{what}");
}

#[test]
fn ring_of_the_paper() {
    let w = Mixing::new(&Graph::ring(32).unwrap(), Weights::Paper, false).unwrap();
    let found = w.check(false).unwrap();
    assert!((found.lambda - 0.990392640201615).abs() < 1e-13, "{found:?}");
    assert_ends(found, (0..32).map(|k| (1.0 + (TAU * f64::from(k) / 32.0).cos()) / 2.0), "ring 32");
}

#[test]
fn closed_forms_of_small_families() {
    for n in [3usize, 4, 5, 17, 64] {
        let wave = |k: usize| (TAU * k as f64 / n as f64).cos();
        let third = (0..n).map(|k| (1.0 + 2.0 * wave(k)) / 3.0);
        assert_ends(spectrum(Graph::ring(n).unwrap(), Weights::Metropolis, false), third.clone(), "ring");
        let lazy = third.map(|x| (1.0 + x) / 2.0);
        assert_ends(spectrum(Graph::ring(n).unwrap(), Weights::MaxDegree, true), lazy, "lazy ring");
        // On a path every edge weighs 1/3: the cosine transform diagonalises it.
        let path = (0..n).map(|k| 1.0 - (2.0 - 2.0 * (PI * k as f64 / n as f64).cos()) / 3.0);
        assert_ends(spectrum(Graph::path(n).unwrap(), Weights::Metropolis, false), path, "path");
        let complete = (0..n).map(|k| if k == 0 { 1.0 } else { 0.0 });
        assert_ends(spectrum(Graph::complete(n).unwrap(), Weights::Metropolis, false), complete, "complete");
        // I − L/n with the star's Laplacian: eigenvalues 0, 1 (n − 2 times), n.
        let star = [1.0, 0.0].into_iter().chain((2..n).map(|_| 1.0 - 1.0 / n as f64));
        assert_ends(spectrum(Graph::star(n).unwrap(), Weights::Metropolis, false), star, "star");
    }
    for (rows, cols) in [(3, 3), (3, 8), (5, 7)] {
        let wave = |k: usize, n: usize| (TAU * k as f64 / n as f64).cos();
        let torus =
            (0..rows * cols).map(|k| (1.0 + 2.0 * wave(k / cols, rows) + 2.0 * wave(k % cols, cols)) / 5.0);
        assert_ends(spectrum(Graph::torus(rows, cols).unwrap(), Weights::Metropolis, false), torus, "torus");
    }
    for digits in 1..8u32 {
        let share = 1.0 / (1.0 + f64::from(digits));
        let cube = (0..=digits).map(|k| 1.0 - 2.0 * f64::from(k) * share);
        assert_ends(
            spectrum(Graph::hypercube(1 << digits).unwrap(), Weights::MaxDegree, false),
            cube,
            "cube",
        );
    }
    let one = spectrum(Graph::path(1).unwrap(), Weights::Metropolis, false);
    assert_eq!((one.lambda, one.spectral_gap, one.smallest, one.second_magnitude), (0.0, 1.0, 1.0, 0.0));
    let two = spectrum(Graph::path(2).unwrap(), Weights::Metropolis, true);
    assert_ends(two, [1.0, 0.5], "two nodes");
}

/// The same W with far more rows than the dense solver takes: closed forms again, now by Lanczos.
#[test]
fn closed_forms_of_large_families() {
    let check = |found: Spectrum, second: f64, least: f64, what: &str| {
        assert!((found.lambda - second).abs() < 1e-11, "{what}: {found:?}, exact {second}");
        assert!((found.smallest - least).abs() < 1e-9, "{what}: {found:?}, exact {least}");
        assert!((found.lambda - second).abs() <= found.lambda_error + 1e-14, "{what}: {found:?}");
    };
    let cube = spectrum(Graph::hypercube(4096).unwrap(), Weights::Metropolis, false);
    check(cube, 1.0 - 2.0 / 13.0, 1.0 - 24.0 / 13.0, "cube");
    let complete = spectrum(Graph::complete(700).unwrap(), Weights::Metropolis, false);
    check(complete, 0.0, 0.0, "complete");
    let star = spectrum(Graph::star(5000).unwrap(), Weights::Metropolis, false);
    check(star, 1.0 - 1.0 / 5000.0, 0.0, "star");
    let torus = spectrum(Graph::torus(30, 40).unwrap(), Weights::Metropolis, true);
    check(torus, 1.0 - (1.0 - (TAU / 40.0).cos()) / 5.0, 0.2, "torus");
    let path = spectrum(Graph::path(1000).unwrap(), Weights::Metropolis, false);
    let exact = (2.0 - 2.0 * (PI / 1000.0).cos()) / 3.0;
    check(path, 1.0 - exact, (1.0 - 2.0 * (PI / 1000.0).cos()) / 3.0, "path");
    assert!((path.spectral_gap / exact - 1.0).abs() < 1e-7, "{path:?}");
}

#[test]
fn ring_of_ten_thousand() {
    let found = spectrum(Graph::ring(10_000).unwrap(), Weights::Paper, false);
    let gap = (PI / 10_000.0).sin().powi(2);
    assert!((found.spectral_gap / gap - 1.0).abs() < 1e-6, "{found:?} {gap}");
    assert!(found.lambda_error < 1e-3 * gap && found.smallest.abs() < 1e-9, "{found:?}");
}

#[test]
fn random_graphs_of_ten_thousand() {
    let sparse = Graph::erdos_renyi(10_000, 0.0015, 5).unwrap();
    assert!(sparse.is_connected() && (sparse.edges() as f64 - 74_992.0).abs() < 1500.0);
    let regular = Graph::random_regular(10_000, 4, 5).unwrap();
    assert!(regular.is_connected() && (0..10_000).all(|i| regular.degree(i) == 4));
    for graph in [sparse, regular] {
        let w = Mixing::new(&graph, Weights::Metropolis, true).unwrap();
        let found = w.check(false).unwrap();
        assert!(found.lambda > 0.5 && found.lambda < 1.0 && found.lambda_error < 1e-8, "{found:?}");
    }
}

/// A random graph has no closed form, but laziness maps each eigenvalue x to (1 + x)/2.
#[test]
fn laziness_maps_the_spectrum() {
    for seed in 0..3 {
        let graph = Graph::erdos_renyi(700, 0.015, seed).unwrap();
        let plain = spectrum(graph.clone(), Weights::Metropolis, false);
        let lazy = spectrum(graph, Weights::Metropolis, true);
        assert!((lazy.lambda - (1.0 + plain.lambda) / 2.0).abs() < 1e-10, "{plain:?} {lazy:?}");
        assert!((lazy.smallest - (1.0 + plain.smallest) / 2.0).abs() < 1e-8, "{plain:?} {lazy:?}");
        assert!(lazy.smallest >= 0.0);
    }
}

fn matrix(rows: &[&[f64]]) -> Mixing {
    let entries = rows.iter().enumerate();
    let entries = entries.flat_map(|(i, row)| row.iter().enumerate().map(move |(j, &x)| (i, j, x)));
    Mixing::from_entries(rows.len(), entries.collect()).unwrap()
}

#[test]
fn every_clause_of_the_assumption_is_judged() {
    let judged = |rows: &[&[f64]]| matrix(rows).check(false).unwrap_err();
    let error = judged(&[&[0.5, f64::INFINITY], &[0.5, 0.5]]);
    assert_eq!(error, NetworkError::NotFinite { row: 0, column: 1, value: f64::INFINITY });
    assert!(matches!(judged(&[&[0.5, 0.5], &[0.5, f64::NAN]]), NetworkError::NotFinite { row: 1, .. }));
    let error = judged(&[&[1.5, -0.5], &[-0.5, 1.5]]);
    assert_eq!(error, NetworkError::Negative { row: 0, column: 1, value: -0.5 });
    let error = judged(&[&[0.5, 0.5], &[0.25, 0.75]]);
    assert_eq!(error, NetworkError::Asymmetric { row: 0, column: 1, value: 0.5, mirrored: 0.25 });
    assert_eq!(error.to_string(), "weight (0, 1) = 0.5 but (1, 0) = 0.25: must be the same");
    let one_way = Mixing::from_entries(2, vec![(0, 0, 1.0), (1, 0, 0.5), (1, 1, 0.5)]).unwrap();
    assert!(matches!(one_way.check(true), Err(NetworkError::Asymmetric { row: 1, column: 0, .. })));
    let error = judged(&[&[0.5, 0.5], &[0.5, 0.6]]);
    assert!(matches!(error, NetworkError::RowSum { row: 1, sum, .. } if (sum - 1.1).abs() < 1e-12));
    assert!(matrix(&[&[0.5, 0.5], &[0.5, 0.5 + 5e-10]]).check(false).is_ok());
    let error = judged(&[&[0.5, 0.0, 0.5], &[0.0, 1.0, 0.0], &[0.5, 0.0, 0.5]]);
    assert_eq!(error, NetworkError::Disconnected { parts: 2, first: 0, other: 1 });
    let swap = matrix(&[&[0.0, 1.0], &[1.0, 0.0]]);
    let error = swap.check(false).unwrap_err();
    assert!(matches!(error, NetworkError::Indefinite { smallest } if (smallest + 1.0).abs() < 1e-14));
    assert!(error.to_string().contains("lazy weights, or set allow_indefinite"));
    let allowed = swap.check(true).unwrap();
    assert!((allowed.second_magnitude - 1.0).abs() < 1e-14 && (allowed.lambda + 1.0).abs() < 1e-14);
    let large = Mixing::new(&Graph::star(700).unwrap(), Weights::Metropolis, false).unwrap();
    assert!(large.check(false).is_ok());
    let ring = Mixing::new(&Graph::ring(701).unwrap(), Weights::Metropolis, false).unwrap();
    assert!(matches!(ring.check(false), Err(NetworkError::Indefinite { .. })));
}

#[test]
fn a_network_from_text_to_spectrum() {
    let text = "# a ring of four\n0 1 0.25\n1 2 0.25\n2 3 0.25\n3 0 0.25\n";
    let Network::Mixing(w) = parse_network(text).unwrap() else { panic!("weights were given") };
    assert_eq!(w, Mixing::new(&Graph::ring(4).unwrap(), Weights::Paper, false).unwrap());
    assert!((w.check(false).unwrap().lambda - 0.5).abs() < 1e-14);
    assert_eq!(w.support(), Graph::ring(4).unwrap());
}

/// Any graph of any family, by name.
fn any_graph() -> impl Strategy<Value = (GraphFamily, Graph)> {
    let random = (3usize..60, 0.2f64..1.0, any::<u64>());
    (0..GraphFamily::ALL.len(), random).prop_filter_map(
        "a size the family has",
        |(kind, (nodes, share, seed))| {
            let kind = GraphFamily::ALL[kind];
            let nodes = match kind {
                GraphFamily::Hypercube => nodes.next_power_of_two(),
                GraphFamily::Torus => 3 * nodes,
                _ => nodes,
            };
            let degree = ((share * nodes as f64) as usize).clamp(2, nodes - 1);
            let parameters = Parameters {
                probability: (kind == GraphFamily::ErdosRenyi).then_some(share),
                degree: (kind == GraphFamily::RandomRegular).then_some(degree),
                seed,
            };
            Graph::build(kind, nodes, &parameters).ok().map(|graph| (kind, graph))
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn graphs_are_simple_and_connected((kind, graph) in any_graph()) {
        prop_assert!(graph.is_connected());
        let mut ends = 0;
        for i in 0..graph.nodes() {
            let row = graph.neighbours(i);
            prop_assert!(row.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert!(row.iter().all(|&j| j as usize != i));
            prop_assert!(row.iter().all(|&j| graph.neighbours(j as usize).binary_search(&(i as u32)).is_ok()));
            ends += row.len();
        }
        prop_assert_eq!(ends, 2 * graph.edges());
        for (x, y) in positions(Some(kind), &graph) {
            prop_assert!((0.0..=1.0).contains(&x) && (0.0..=1.0).contains(&y));
        }
    }

    #[test]
    fn weights_are_doubly_stochastic((_, graph) in any_graph(), most in any::<bool>(), lazy in any::<bool>()) {
        let rule = if most { Weights::MaxDegree } else { Weights::Metropolis };
        let w = Mixing::new(&graph, rule, lazy).unwrap();
        prop_assert_eq!(w.entries(), graph.nodes() + 2 * graph.edges());
        for i in 0..w.nodes() {
            prop_assert!((w.row(i).1.iter().sum::<f64>() - 1.0).abs() < 1e-14);
            for (j, weight) in w.row_entries(i) {
                prop_assert!(weight > 0.0);
                prop_assert_eq!(weight.to_bits(), w.weight(j, i).to_bits());
            }
        }
        prop_assert_eq!(w.support(), graph);
        let found = w.check(!lazy).unwrap();
        prop_assert!(found.lambda < 1.0 && found.lambda >= found.smallest - 1e-12 && found.smallest > -1.0);
        prop_assert!(!lazy || found.smallest > -1e-12);
    }

    #[test]
    fn no_text_is_a_panic(text in "[0-9#.,e \t\n-]{0,60}|# (edges|matrix)[ 0-9]{0,3}\n[0-3 .\n]{0,40}") {
        if let Ok(Network::Mixing(w)) = parse_network(&text) {
            let _ = w.check(true);
        }
    }

    #[test]
    fn no_matrix_is_a_panic(entries in prop::collection::vec((0usize..6, 0usize..6, any::<f64>()), 0..12)) {
        if let Ok(w) = Mixing::from_entries(6, entries) {
            let _ = w.check(true);
        }
    }
}
