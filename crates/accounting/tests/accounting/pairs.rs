//! Noise that cancels between nodes: values of independent code, long arithmetic, laws, tables and refusals.

use crate::high_precision::real::{Real, approximately, exact, int};
use prdo_accounting::pairs::{Choice, Pairs, PairsError, Proof, Secrets, Shares, choose};
use prdo_accounting::{Accountant, AccountingError, Method};
use prdo_accounting::{Event, History, Target, calibrate, numerical};
use proptest::prelude::*;

pub fn ring(nodes: usize) -> Secrets {
    Secrets::between(nodes, (0..nodes).map(|i| (i, (i + 1) % nodes))).unwrap()
}

/// 1/[Σ⁻¹]_ii by elimination on Σ as a matrix, in 67 digits.
fn squared(own: &[f64], edges: &[(usize, usize, f64)], node: usize, coalition: &[usize]) -> Real {
    let honest: Vec<usize> =
        (0..own.len()).filter(|i| !coalition.contains(i) && *i != node).chain([node]).collect();
    let place = |i: usize| honest.iter().position(|&j| j == i);
    let m = honest.len();
    let mut sigma = vec![vec![int(0); m]; m];
    for (a, &i) in honest.iter().enumerate() {
        sigma[a][a] = exact(own[i]) * exact(own[i]);
    }
    for &(i, j, std) in edges {
        if let (Some(a), Some(b)) = (place(i), place(j)) {
            let variance = exact(std) * exact(std);
            sigma[a][a] += &variance;
            sigma[b][b] += &variance;
            sigma[a][b] -= &variance;
            sigma[b][a] -= &variance;
        }
    }
    for k in 0..m {
        let pivot = sigma[k].clone();
        for row in &mut sigma[k + 1..] {
            let factor = &row[k] / &pivot[k];
            row.iter_mut().zip(&pivot).for_each(|(x, p)| *x -= &factor * p);
        }
    }
    sigma[m - 1][m - 1].clone()
}

/// Below the truth, and by no more than is promised.
fn assert_from_below(found: f64, truth: &Real, members: usize) {
    let square = exact(found) * exact(found);
    assert!(square <= *truth, "{found} is above {}", approximately(truth).sqrt());
    let m = members as f64;
    let least = 1.0 - 2.0 * (0.25 * m * m + 2.0 * m + 4.0) * f64::EPSILON;
    assert!(square >= exact(least) * truth, "{found} is far below {}", approximately(truth).sqrt());
}

#[test]
fn multipliers_of_independent_code() {
    let edges = [(0, 1), (0, 4), (1, 2), (1, 3), (2, 3), (3, 4)];
    let secrets = Secrets::between(5, edges).unwrap();
    let mut count = 0;
    for line in include_str!("../fixtures/pairs.csv").lines().skip(2) {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |k: usize| cells[k].parse::<f64>().unwrap();
        let coalition: Vec<usize> = cells[2].split_whitespace().map(|i| i.parse().unwrap()).collect();
        let node = cells[3].parse().unwrap();
        let pairs = Pairs::new(number(0), number(1)).unwrap();
        let found = pairs.multiplier(&secrets, node, &coalition).unwrap();
        assert!((found / number(4) - 1.0).abs() < 1e-12, "{line}: {found}");
        let edges = edges.map(|(i, j)| (i, j, number(1))).to_vec();
        let same = Shares::new(vec![number(0); 5], edges.clone()).unwrap();
        assert_eq!(same.effective_std(node, &coalition).unwrap(), found);
        assert_from_below(found, &squared(&[number(0); 5], &edges, node, &coalition), 5);
        count += 1;
    }
    assert_eq!(count, 16);
}

#[test]
fn a_ring_by_its_eigenvalues() {
    // z = (mean of 1/(z_own² + z_pair²·λ_k))^{−1/2}, at every node.
    for nodes in [3, 4, 10, 33] {
        let pairs = Pairs::new(0.3, 2.5).unwrap();
        let angle = |k: usize| 2.0 * std::f64::consts::PI * k as f64 / nodes as f64;
        let terms = (0..nodes).map(|k| 1.0 / (0.09 + 6.25 * (2.0 - 2.0 * angle(k).cos())));
        let expected = (terms.sum::<f64>() / nodes as f64).sqrt().recip();
        for node in [0, nodes / 2, nodes - 1] {
            let found = pairs.multiplier(&ring(nodes), node, &[]).unwrap();
            assert!((found / expected - 1.0).abs() < 1e-12, "{nodes} {node}: {found} {expected}");
        }
        // Both neighbours together know everything it shares.
        assert_eq!(pairs.multiplier(&ring(nodes), 0, &[1, nodes - 1]).unwrap(), 0.3);
        assert_eq!(pairs.worst(&ring(nodes), 2).unwrap().multiplier, 0.3);
    }
}

/// ε of each coalition size, for full batches.
fn epsilons(choice: &Choice, secrets: &Secrets) -> Vec<f64> {
    let cost = |z: f64| {
        let history = History::new().and(Event::gaussian(z).unwrap(), 50);
        numerical::epsilon(&history, 1e-5).unwrap().upper
    };
    choice.pairs.by_colluders(secrets).unwrap().iter().map(|worst| cost(worst.multiplier)).collect()
}

/// Ten nodes, 50 releases of full batches, noise for ε = 4 at δ = 1e-5 against any one member.
#[test]
fn epsilon_by_coalition_is_the_studys() {
    let accountant = Accountant::new(Method::Numerical);
    let target = Target::new(4.0, 1e-5).unwrap();
    let z = calibrate::noise_multiplier(&accountant, &target, &[(1.0, 50)]).unwrap();
    let all = Secrets::complete(10).unwrap();
    let cases = [
        (&all, 10.0, 2.88, [3.77, 4.00, 4.28, 4.62, 5.60, 14.3]),
        (&all, 3.0, 2.65, [3.77, 4.00, 4.27, 4.60, 5.54, 12.9]),
        (&ring(10), 100.0, 2.72, [3.52, 4.00, 13.3, 13.3, 13.3, 13.3]),
    ];
    for (secrets, ratio, gain, table) in cases {
        let choice = choose(z, secrets, 1, ratio).unwrap();
        assert!((choice.gain() - gain).abs() <= 0.005, "r = {ratio}: gain {}", choice.gain());
        let found = epsilons(&choice, secrets);
        println!("r = {ratio}: {found:?}");
        assert!(found[1] <= 4.0 && found.len() == 10);
        for (colluders, expected) in [0, 1, 2, 3, 5, 9].into_iter().zip(table) {
            let unit = if expected > 10.0 { 0.05 } else { 0.005 };
            assert!(
                (found[colluders] - expected).abs() <= unit,
                "r = {ratio}, {colluders}: {}",
                found[colluders]
            );
        }
    }
}

#[test]
fn parts_of_the_noise_are_the_studys() {
    // In units of what independent noise needs: own, pair, gain.
    let all = Secrets::complete(10).unwrap();
    let torus = (0..10).flat_map(|i| [(i, (i + 1) % 5 + i / 5 * 5), (i, (i + 5) % 10)]);
    let torus = Secrets::between(10, torus).unwrap();
    let cases = [
        (&all, 1, 1.0, 0.447, 0.447, 2.24),
        (&all, 1, 3.0, 0.378, 0.655, 2.65),
        (&all, 1, 10.0, 0.348, 1.100, 2.88),
        (&all, 1, 30.0, 0.338, 1.853, 2.96),
        (&all, 2, 10.0, 1.0 / 2.71, 3.162 / 2.71, 2.71),
        (&all, 3, 10.0, 1.0 / 2.54, 3.162 / 2.54, 2.54),
        (&ring(10), 1, 30.0, 0.425, 2.33, 2.35),
        (&ring(10), 1, 100.0, 0.367, 3.67, 2.72),
        (&torus, 1, 10.0, 0.403, 1.27, 2.48),
        (&torus, 1, 30.0, 0.359, 1.97, 2.78),
    ];
    for (secrets, colluders, ratio, own, pair, gain) in cases {
        let choice = choose(1.0, secrets, colluders, ratio).unwrap();
        let (found, shared) = (choice.pairs.own(), choice.pairs.pair());
        println!("c = {colluders}, r = {ratio}: {found:.5} {shared:.5} {:.5}", choice.gain());
        // The study rounds to three digits, of which the last is off by one in two places.
        assert!((found / own - 1.0).abs() < 2e-3 && (shared / pair - 1.0).abs() < 3e-3, "{found} {shared}");
        assert!((choice.gain() - gain).abs() <= 0.0051, "{}", choice.gain());
    }
}

#[test]
fn what_gains_nothing_is_refused_and_says_why() {
    let all = Secrets::complete(4).unwrap();
    assert_eq!(choose(2.0, &all, 3, 3.0), Err(PairsError::TooFewHonest { nodes: 4, colluders: 3 }));
    let alone = Secrets::complete(1).unwrap();
    assert_eq!(choose(2.0, &alone, 0, 3.0), Err(PairsError::TooFewHonest { nodes: 1, colluders: 0 }));
    assert_eq!(choose(2.0, &all, 4, 3.0), Err(PairsError::TooManyColluders { nodes: 4, colluders: 4 }));
    let refused = choose(2.0, &ring(6), 2, 3.0).unwrap_err();
    assert_eq!(refused, PairsError::OwnNoiseOnly { node: 0, neighbours: 2, colluders: 2 });
    assert!(refused.to_string().starts_with("node 0 shares secrets with 2 others only"), "{refused}");
    let star = Secrets::between(5, [(0, 1), (0, 2), (0, 3), (1, 2)]).unwrap();
    assert!(matches!(
        choose(2.0, &star, 0, 3.0),
        Err(PairsError::OwnNoiseOnly { node: 4, neighbours: 0, .. })
    ));
    for ratio in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e13] {
        let refused = choose(2.0, &all, 1, ratio).unwrap_err();
        assert!(matches!(
            refused,
            PairsError::Accounting(AccountingError::OutOfRange { field: "ratio", .. })
        ));
    }
    for z in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(choose(z, &all, 1, 3.0).is_err() && Pairs::new(z, 1.0).is_err());
        assert!(Shares::new(vec![1.0, z], vec![]).is_err());
    }
    assert!(Pairs::new(1.0, -1.0).is_err() && Pairs::new(1.0, f64::NAN).is_err());
    assert!(Shares::new(vec![1.0; 2], vec![(0, 1, f64::NAN)]).is_err());
    let twice = Shares::new(vec![1.0; 2], vec![(0, 1, 1.0), (1, 0, 2.0)]);
    assert_eq!(twice, Err(PairsError::Twice { from: 0, to: 1 }));
    assert_eq!(Secrets::between(3, [(0, 3)]), Err(PairsError::Ends { from: 0, to: 3, last: 2 }));
    assert_eq!(Secrets::between(3, [(1, 1)]), Err(PairsError::Ends { from: 1, to: 1, last: 2 }));
    assert!(matches!(Secrets::complete(0), Err(PairsError::Nodes { nodes: 0, .. })));
    assert!(matches!(Secrets::between(2000, []), Err(PairsError::Nodes { nodes: 2000, most: 1024 })));
    let pairs = Pairs::new(1.0, 1.0).unwrap();
    assert_eq!(pairs.multiplier(&all, 1, &[0, 1]), Err(PairsError::Inside { node: 1 }));
    assert_eq!(pairs.multiplier(&all, 1, &[4]), Err(PairsError::Node { node: 4, last: 3 }));
    assert_eq!(pairs.worst(&all, 4), Err(PairsError::TooManyColluders { nodes: 4, colluders: 4 }));
}

#[test]
fn too_many_coalitions_have_a_bound() {
    // 64 nodes, each with a secret with the 20 nearest on either side: C(64, 12) coalitions.
    let near = (0..64).flat_map(|i| (1..=20).map(move |k| (i, (i + k) % 64)));
    let secrets = Secrets::between(64, near).unwrap();
    let choice = choose(5.0, &secrets, 12, 10.0).unwrap();
    assert_eq!((choice.worst.proof, choice.worst.at.clone()), (Proof::Bound, None));
    assert!(choice.worst.multiplier >= 5.0 && choice.worst.multiplier < 5.0 * (1.0 + 1e-10));
    assert!(choice.gain() > 3.0, "{}", choice.gain());
    // Coalitions of 12 in a row are among the worst: above the bound, not far from it.
    let row: Vec<usize> = (1..=12).collect();
    let seen = choice.pairs.multiplier(&secrets, 0, &row).unwrap();
    assert!((5.0..6.5).contains(&seen), "{seen}");
    let rows = choice.pairs.by_colluders(&secrets).unwrap();
    assert!(rows.windows(2).all(|two| two[0].multiplier >= two[1].multiplier));
    assert_eq!(rows.iter().filter(|row| row.proof == Proof::Exact).count(), 3 + 24);
}

/// A few nodes with some secrets between them.
fn networks() -> impl Strategy<Value = (usize, Vec<(usize, usize)>)> {
    (2_usize..9).prop_flat_map(|nodes| {
        let all: Vec<_> = (0..nodes).flat_map(|i| (i + 1..nodes).map(move |j| (i, j))).collect();
        let most = all.len();
        (Just(nodes), proptest::sample::subsequence(all, 0..=most))
    })
}

fn size_of_component(nodes: usize, edges: &[(usize, usize)], node: usize, coalition: &[usize]) -> usize {
    let mut reached = vec![false; nodes];
    reached[node] = true;
    for _ in 0..nodes {
        for &(i, j) in edges.iter().filter(|(i, j)| !coalition.contains(i) && !coalition.contains(j)) {
            if reached[i] || reached[j] {
                (reached[i], reached[j]) = (true, true);
            }
        }
    }
    reached.iter().filter(|r| **r).count()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_node_keeps_its_own_noise_and_gains_at_most_its_component(
        (nodes, edges) in networks(), own in 0.01_f64..10.0, ln_ratio in -6.0_f64..12.0, mask in 0_u32..256,
    ) {
        let secrets = Secrets::between(nodes, edges.iter().copied()).unwrap();
        let pairs = Pairs::new(own, own * f64::exp(0.5 * ln_ratio)).unwrap();
        let coalition: Vec<usize> = (1..nodes).filter(|i| mask >> i & 1 == 1).collect();
        let z = pairs.multiplier(&secrets, 0, &coalition).unwrap();
        let size = size_of_component(nodes, &edges, 0, &coalition) as f64;
        prop_assert!(own <= z && z <= own * size.sqrt() * (1.0 + 1e-15), "{} {}", z, size);
        let shared: Vec<_> = edges.iter().map(|&(i, j)| (i, j, pairs.pair())).collect();
        assert_from_below(z, &squared(&vec![own; nodes], &shared, 0, &coalition), nodes);
        // One more colluder, less of either noise or a secret fewer never help.
        let clear = 1.0 + 1e-13;
        if let Some(more) = (1..nodes).find(|i| !coalition.contains(i)) {
            let larger = [coalition.clone(), vec![more]].concat();
            prop_assert!(pairs.multiplier(&secrets, 0, &larger).unwrap() <= z * clear);
        }
        let less_own = Pairs::new(own * 0.9, pairs.pair()).unwrap();
        let less_pair = Pairs::new(own, pairs.pair() * 0.9).unwrap();
        prop_assert!(less_own.multiplier(&secrets, 0, &coalition).unwrap() <= z * clear);
        prop_assert!(less_pair.multiplier(&secrets, 0, &coalition).unwrap() <= z * clear);
        let fewer = Secrets::between(nodes, edges.iter().skip(1).copied()).unwrap();
        prop_assert!(pairs.multiplier(&fewer, 0, &coalition).unwrap() <= z * clear);
    }

    #[test]
    fn the_worst_is_the_least_of_all_and_falls_with_colluders(
        (nodes, edges) in networks(), own in 0.1_f64..3.0, ratio in 0.1_f64..100.0,
    ) {
        let secrets = Secrets::between(nodes, edges).unwrap();
        let pairs = Pairs::new(own, own * ratio.sqrt()).unwrap();
        let rows = pairs.by_colluders(&secrets).unwrap();
        prop_assert_eq!(rows[nodes - 1].multiplier, own);
        for row in &rows {
            let mut least = f64::INFINITY;
            for set in (0_u32..1 << nodes).filter(|set| set.count_ones() as usize == row.colluders) {
                let coalition: Vec<usize> = (0..nodes).filter(|i| set >> i & 1 == 1).collect();
                for node in (0..nodes).filter(|i| !coalition.contains(i)) {
                    least = least.min(pairs.multiplier(&secrets, node, &coalition).unwrap());
                }
            }
            prop_assert!((row.multiplier / least - 1.0).abs() < 1e-13, "{:?} {}", row, least);
            if let Some((node, coalition)) = &row.at {
                let there = pairs.multiplier(&secrets, *node, coalition).unwrap();
                prop_assert!(coalition.len() == row.colluders && (there / least - 1.0).abs() < 1e-13);
            }
        }
        prop_assert!(rows.windows(2).all(|two| two[0].multiplier >= two[1].multiplier));
    }

    #[test]
    fn secrets_between_all_pairs_have_a_closed_form(
        nodes in 2_usize..40, own in 0.01_f64..10.0, ln_ratio in -6.0_f64..12.0, colluders in 0_usize..39,
    ) {
        let colluders = colluders % nodes;
        let pairs = Pairs::new(own, own * f64::exp(0.5 * ln_ratio)).unwrap();
        let all = Secrets::complete(nodes).unwrap();
        let coalition: Vec<usize> = (nodes - colluders..nodes).collect();
        let closed = pairs.worst(&all, colluders).unwrap().multiplier;
        prop_assert_eq!(pairs.multiplier(&all, 0, &coalition).unwrap(), closed);
        // The study's formula, and the network eliminated node by node.
        let (m, shared) = ((nodes - colluders) as f64, pairs.pair() * pairs.pair());
        let inverse = 1.0 / m / (own * own) + (1.0 - 1.0 / m) / (own * own + m * shared);
        prop_assert!((closed * inverse.sqrt() - 1.0).abs() < 1e-12);
        let edges = all.pairs().map(|(i, j)| (i, j, pairs.pair())).collect();
        let listed = Shares::new(vec![own; nodes], edges).unwrap().effective_std(0, &coalition).unwrap();
        prop_assert!((closed / listed - 1.0).abs() < 1e-12, "{} {}", closed, listed);
    }

    #[test]
    fn what_is_chosen_has_the_multiplier_asked_for(
        (nodes, edges) in networks(), z in 0.05_f64..500.0, ln_ratio in -3.0_f64..8.0, colluders in 0_usize..7,
    ) {
        for secrets in [Secrets::between(nodes, edges).unwrap(), Secrets::complete(nodes).unwrap()] {
            let (_, degree) = secrets.weakest();
            match choose(z, &secrets, colluders, ln_ratio.exp()) {
                Ok(choice) => {
                    prop_assert!(degree > colluders);
                    prop_assert!(choice.worst.multiplier >= z && choice.worst.multiplier <= z * (1.0 + 1e-13));
                    prop_assert_eq!(&choice.worst, &choice.pairs.worst(&secrets, colluders).unwrap());
                    let ratio = (choice.pairs.pair() / choice.pairs.own()).powi(2);
                    prop_assert!((ratio / ln_ratio.exp() - 1.0).abs() < 1e-14);
                    let gain = choice.gain();
                    prop_assert!(gain > 1.0 && gain <= ((nodes - colluders) as f64).sqrt() * (1.0 + 1e-13));
                }
                Err(PairsError::OwnNoiseOnly { neighbours, .. }) => prop_assert!(neighbours <= colluders),
                Err(PairsError::TooManyColluders { .. }) => prop_assert!(colluders >= nodes),
                Err(PairsError::TooFewHonest { .. }) => prop_assert!(nodes - colluders < 2),
                Err(other) => return Err(TestCaseError::fail(other.to_string())),
            }
        }
    }

    #[test]
    fn unequal_nodes_are_exact_too(
        (nodes, edges) in networks(), own in prop::collection::vec(0.01_f64..10.0, 9),
        pair in prop::collection::vec(0.0_f64..50.0, 36), mask in 0_u32..256,
    ) {
        let edges: Vec<_> = edges.iter().zip(pair).map(|(&(i, j), std)| (j, i, std)).collect();
        let shares = Shares::new(own[..nodes].to_vec(), edges.clone());
        let Ok(shares) = shares else { return Ok(()) };
        let coalition: Vec<usize> = (0..nodes - 1).filter(|i| mask >> i & 1 == 1).collect();
        let found = shares.effective_std(nodes - 1, &coalition).unwrap();
        assert_from_below(found, &squared(&own[..nodes], &edges, nodes - 1, &coalition), nodes);
    }
}
