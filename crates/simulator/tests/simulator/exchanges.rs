//! Several exchanges per round, and those after the last one, on random graphs, sizes and seeds.

use crate::problem::{bowls, distance, go, minimiser, mixing, open, private, stack};
use prdo_algorithm::graph::{Graph, Mixing, Weights};
use prdo_algorithm::methods::FINAL_MIXINGS;
use prdo_algorithm::methods::steps::{
    BITS, EXCHANGES, Ends, LOCAL_STEPS, POLYNOMIAL, Polynomial, PolynomialKind, WIRE, Wire,
};
use prdo_algorithm::{Combine, Method, Settings};
use prdo_privacy::*;
use prdo_simulator::Training;
use proptest::prelude::*;

type Matrix = Vec<Vec<f64>>;

const PUSHING: [Method; 2] = [Method::Sgp, Method::PushPrdo];

/// As a run tells a method: for this network, over so many rounds.
fn told(settings: Settings, method: Method, w: &Mixing, rounds: u32) -> Settings {
    settings.for_network(method, &w.check(false).unwrap()).over(rounds)
}

fn ends(w: &Mixing) -> Ends {
    Ends::of(&w.check(false).unwrap()).unwrap()
}

/// p_K(W) by its roots: (T_K + 1)/2 is zero, twice, where cos Kθ = −1.
fn by_roots(w: &Mixing, degree: u32) -> Matrix {
    let (n, Ends { smallest, second }) = (w.nodes(), ends(w));
    let mut product: Matrix = (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    for k in 0..degree {
        let cosine = (std::f64::consts::PI * f64::from(2 * k + 1) / f64::from(degree)).cos();
        let root = 0.5 * (smallest + second) + 0.5 * (second - smallest) * cosine;
        let factor = |i: usize, j: usize| (w.weight(i, j) - if i == j { root } else { 0.0 }) / (1.0 - root);
        let entry = |i: usize, j: usize| (0..n).map(|l| factor(i, l) * product[l][j]).sum();
        product = (0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect();
    }
    product
}

fn times(matrix: &Matrix, rows: &Matrix) -> Matrix {
    let entry = |row: &Vec<f64>, k: usize| row.iter().zip(rows).map(|(p, z)| p * z[k]).sum();
    matrix.iter().map(|row| (0..rows[0].len()).map(|k| entry(row, k)).collect()).collect()
}

/// Whether a symmetric matrix has no eigenvalue below −`room`: then with that added its pivots are positive.
fn is_semidefinite(matrix: &Matrix, room: f64) -> bool {
    let mut m = matrix.clone();
    (0..m.len()).for_each(|i| m[i][i] += room);
    for c in 0..m.len() {
        if m[c][c] <= 0.0 {
            return false;
        }
        for r in c + 1..m.len() {
            let factor = m[r][c] / m[c][c];
            for k in c..m.len() {
                m[r][k] -= factor * m[c][k];
            }
        }
    }
    true
}

fn apart(disagreement: &[f64]) -> f64 {
    disagreement.iter().sum::<f64>().sqrt()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// K exchanges are a product with p_K(W), which is symmetric, has rows that add up to one and no negative eigenvalue.
    #[test]
    fn k_exchanges_multiply_by_the_polynomial(w in mixing(), d in 1usize..4, seed in 0u64..1000, k in 2u32..9) {
        let p = by_roots(&w, k);
        for (i, row) in p.iter().enumerate() {
            prop_assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            prop_assert!((0..p.len()).all(|j| (p[i][j] - p[j][i]).abs() < 1e-12));
        }
        prop_assert!(is_semidefinite(&p, 1e-11));
        let data = bowls(w.nodes(), 6, d, seed);
        let settings = Settings::new(0.2).with(EXCHANGES.is(f64::from(k)));
        let mut run = private(&data, &w, Method::Dsgd, told(settings.clone(), Method::Dsgd, &w, 3), (4, 3), seed);
        for _ in 0..3 {
            let before = stack(&run);
            run.step(false).unwrap();
            let v: Matrix = run.directions().map(<[f64]>::to_vec).collect();
            let z: Matrix = before.iter().zip(&v).map(|(x, v)| x.iter().zip(v).map(|(x, v)| x - 0.2 * v).collect()).collect();
            prop_assert!(distance(&stack(&run), &times(&p, &z)) < 1e-12 * (1.0 + distance(&z, &vec![vec![0.0; d]; z.len()])));
        }
        // Exact Diffusion's second round mixes its corrected message by the same matrix.
        let mut ed = private(&data, &w, Method::Ed, told(settings, Method::Ed, &w, 2), (4, 3), seed);
        let x = [stack(&ed), { ed.step(false).unwrap(); stack(&ed) }];
        let v0: Matrix = ed.directions().map(<[f64]>::to_vec).collect();
        ed.step(false).unwrap();
        let v1: Matrix = ed.directions().map(<[f64]>::to_vec).collect();
        let phi = |i: usize, k: usize| 2.0 * x[1][i][k] - x[0][i][k] - 0.2 * v1[i][k] + 0.2 * v0[i][k];
        let phi: Matrix = (0..w.nodes()).map(|i| (0..d).map(|k| phi(i, k)).collect()).collect();
        prop_assert!(distance(&stack(&ed), &times(&p, &phi)) < 1e-11);
    }

    /// x̄⁺ = x̄ − αv̄ for every method, privately, whatever the exchanges make of W and in the last round too.
    #[test]
    fn the_mean_moves_along_the_mean_direction(w in mixing(), d in 1usize..4, seed in 0u64..1000, k in 1u32..6) {
        let (n, alpha) = (w.nodes() as f64, 0.15);
        let data = bowls(w.nodes(), 6, d, seed);
        for (method, combine) in Method::ALL.iter().flat_map(|m| [Combine::After, Combine::First].map(|c| (*m, c))) {
            for kind in [PolynomialKind::Chebyshev, PolynomialKind::Power] {
                let settings = Settings::new(alpha).gamma(0.3).combine(combine).with(POLYNOMIAL.is(kind));
                let settings = settings.with(EXCHANGES.is(f64::from(k))).with(FINAL_MIXINGS.is(5.0));
                let mut run = private(&data, &w, method, told(settings, method, &w, 6), (4, 3), seed);
                for _ in 0..6 {
                    let before = run.average();
                    run.step(false).unwrap();
                    for (k, (x, next)) in before.iter().zip(run.average()).enumerate() {
                        let v = run.directions().map(|v| v[k]).sum::<f64>() / n;
                        prop_assert!((next - (x - alpha * v)).abs() < 1e-11, "{method}, {combine:?}, {kind:?}");
                    }
                }
            }
        }
    }

    /// Corrected and tracking methods reach the exact minimiser of heterogeneous quadratics, with any number of exchanges.
    #[test]
    fn further_exchanges_keep_exact_methods_exact(w in mixing(), seed in 0u64..1000, k in 2u32..7) {
        let (n, d) = (w.nodes(), 2);
        let data = bowls(n, 5, d, seed);
        let best = vec![minimiser(&data, d); n];
        for method in [Method::Ed, Method::Edm, Method::Prdo, Method::Gt, Method::GtHsgd, Method::Deepstorm] {
            for kind in [PolynomialKind::Chebyshev, PolynomialKind::Power] {
                let settings = Settings::new(0.2).gamma(0.5).beta(0.5).with(EXCHANGES.is(f64::from(k))).with(POLYNOMIAL.is(kind));
                let mut run = open(&data, &w, method, told(settings, method, &w, 2000), (Sampling::Full, 5, 5), 1);
                go(&mut run, 2000, false);
                let error = distance(&stack(&run), &best);
                prop_assert!(error < 1e-9, "{method}, {kind:?}: {error:e}");
            }
        }
    }

    /// The exchanges after the last round keep the mean, and shrink what nodes differ in by T_F(y(1)) at least.
    #[test]
    fn final_mixings_keep_the_mean_and_bring_nodes_together(w in mixing(), d in 1usize..4, seed in 0u64..1000, f in 1u32..12) {
        let data = bowls(w.nodes(), 6, d, seed);
        let Ends { smallest, second } = ends(&w);
        let y = (2.0 - smallest - second) / (second - smallest);
        let factor = 1.0 / (f64::from(f) * y.acosh()).cosh();
        let polynomial = Polynomial::fastest(f, ends(&w));
        prop_assert!((polynomial.at(second).abs() - factor).abs() < 1e-12);
        for method in Method::ALL.iter().filter(|method| !PUSHING.contains(method)) {
            for wire in [Wire::Plain, Wire::Bits] {
                let settings = |f: u32| {
                    let settings = Settings::new(0.1).gamma(0.3).with(FINAL_MIXINGS.is(f64::from(f))).with(WIRE.is(wire));
                    told(settings.with(BITS.is(4.0)), *method, &w, 7)
                };
                let mut plain = private(&data, &w, *method, settings(0), (4, 3), seed);
                let mut mixed = private(&data, &w, *method, settings(f), (4, 3), seed);
                go(&mut plain, 7, false);
                go(&mut mixed, 7, false);
                for (before, after) in plain.average().iter().zip(mixed.average()) {
                    prop_assert!((before - after).abs() < 1e-12, "{method}: {before} {after}");
                }
                let (before, after) = (apart(&plain.disagreement()), apart(&mixed.disagreement()));
                prop_assert!(after <= factor * before * (1.0 + 1e-9) + 1e-13, "{method}: {after} of {before}, {factor}");
                // Nothing more is spent; what is sent is counted.
                prop_assert_eq!(plain.epsilon_spent(), mixed.epsilon_spent());
                let links = (0..w.nodes()).map(|i| w.row_entries(i).count() as u64 - 1).sum::<u64>();
                let more = mixed.measure().bytes_sent - plain.measure().bytes_sent;
                prop_assert_eq!(more, links * u64::from(f) * 8 * d as u64);
                prop_assert_eq!(mixed.measure().bytes_sent, links * method.exchanges(&settings(f)).bytes(d, 7));
            }
        }
    }
}

/// Where a run is stopped makes no difference, at its very end neither.
#[test]
fn a_restored_run_goes_on_to_the_same_bits() {
    let w = Mixing::new(&Graph::ring(5).unwrap(), Weights::Paper, false).unwrap();
    let data = bowls(5, 8, 3, 5);
    for method in Method::ALL.iter().copied() {
        for local in [1.0, 2.0] {
            let settings = Settings::new(0.2).with(FINAL_MIXINGS.is(4.0)).with(LOCAL_STEPS.is(local));
            let settings = settings.with(EXCHANGES.is(if local == 1.0 { 3.0 } else { 1.0 }));
            let fresh = || private(&data, &w, method, told(settings.clone(), method, &w, 6), (5, 4), 9);
            let mut whole = fresh();
            go(&mut whole, 6, false);
            let expected = (stack(&whole), whole.measure());
            for rounds in 0..=6 {
                let mut first = fresh();
                go(&mut first, rounds, false);
                let mut second = fresh();
                second.restore(&[7; 32], &first.save(&[7; 32])).unwrap();
                go(&mut second, 6 - rounds, false);
                assert_eq!((stack(&second), second.measure()), expected, "{method}, {rounds}");
            }
        }
    }
}

/// One exchange per round and none at the end, said or not, whatever the polynomial: the same bits.
#[test]
fn one_exchange_is_what_it_always_was() {
    let w = Mixing::new(&Graph::ring(6).unwrap(), Weights::Metropolis, true).unwrap();
    let data = bowls(6, 8, 3, 5);
    for method in Method::ALL.iter().copied().filter(|method| *method != Method::Muffliato) {
        let run = |settings: Settings| {
            let mut run = private(&data, &w, method, settings, (5, 4), 9);
            go(&mut run, 9, false);
            stack(&run)
        };
        let plain = Settings::new(0.2);
        let said = plain.clone().with(EXCHANGES.is(1.0)).with(FINAL_MIXINGS.is(0.0));
        let power = said.clone().with(POLYNOMIAL.is(PolynomialKind::Power));
        let expected = run(plain);
        assert_eq!(run(told(said, method, &w, 9)), expected, "{method}");
        assert_eq!(run(told(power, method, &w, 9)), expected, "{method}");
    }
    // And muffliato has three.
    let three = Settings::new(0.2).with(EXCHANGES.is(3.0));
    assert_eq!(Method::Muffliato.exchanges(&Settings::new(0.2)), Method::Muffliato.exchanges(&three));
}
