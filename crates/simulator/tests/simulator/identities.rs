//! The identities of the methods, on random graphs, sizes and seeds: the paper's and the family's.

use crate::problem::{bowls, distance, go, minimiser, mixing, open, private, solve, stack};
use prdo_algorithm::graph::{Graph, Mixing, Weights};
use prdo_algorithm::methods::steps::{EXCHANGES, OMEGA};
use prdo_algorithm::{Combine, Method, Settings};
use prdo_privacy::*;
use proptest::prelude::*;

const ED_FAMILY: [Method; 3] = [Method::Ed, Method::Edm, Method::Prdo];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// `prdo` with γ = 1 and b₀ = b is `ed`, bit for bit: without privacy …
    #[test]
    fn prdo_with_gamma_one_is_ed(w in mixing(), d in 1usize..5, seed in 0u64..1000, b in 1usize..6) {
        let data = bowls(w.nodes(), 6, d, seed);
        for sampling in [Sampling::WithoutReplacement, Sampling::Poisson, Sampling::Full] {
            let run = |method| {
                let mut run = open(&data, &w, method, Settings::new(0.2).gamma(1.0), (sampling, b, b), seed);
                go(&mut run, 25, false);
                stack(&run)
            };
            prop_assert_eq!(run(Method::Prdo), run(Method::Ed));
        }
    }

    /// … and with it.
    #[test]
    fn private_prdo_with_gamma_one_is_private_ed(w in mixing(), d in 1usize..5, seed in 0u64..1000, b in 1usize..6) {
        let data = bowls(w.nodes(), 6, d, seed);
        let run = |method| {
            let mut run = private(&data, &w, method, Settings::new(0.2).gamma(1.0), (b, b), seed);
            go(&mut run, 25, false);
            (stack(&run), run.epsilon_spent())
        };
        prop_assert_eq!(run(Method::Prdo), run(Method::Ed));
    }

    /// Full batch, no clipping, no noise: `prdo` with any γ has the trajectory of `ed`.
    #[test]
    fn full_batch_prdo_follows_ed(w in mixing(), d in 1usize..5, seed in 0u64..1000, gamma in 0.02..1.0_f64) {
        let data = bowls(w.nodes(), 4, d, seed);
        let settings = Settings::new(0.3).gamma(gamma);
        let mut ed = open(&data, &w, Method::Ed, settings.clone(), (Sampling::Full, 4, 4), seed);
        let mut prdo = open(&data, &w, Method::Prdo, settings, (Sampling::Full, 4, 4), seed);
        for _ in 0..60 {
            ed.step(false).unwrap();
            prdo.step(false).unwrap();
            let (a, b) = (stack(&ed), stack(&prdo));
            let scale = a.iter().flatten().map(|x| x * x).sum::<f64>().sqrt();
            prop_assert!(distance(&a, &b) <= 1e-12 * scale, "{} against {scale}", distance(&a, &b));
        }
    }

    /// x̄⁺ = x̄ − αv̄ for the Exact Diffusion family, privately too (`cv:average-dynamics`), and the
    /// second-order form X⁺ = W(2X − X₋ − αV + αV₋) with X₋₁ = X₀, V₋₁ = 0 (`cv:second-order`).
    #[test]
    fn average_dynamics_and_second_order_form(w in mixing(), d in 1usize..4, seed in 0u64..1000) {
        let (n, alpha) = (w.nodes(), 0.15);
        let data = bowls(n, 6, d, seed);
        for method in ED_FAMILY {
            let mut run = private(&data, &w, method, Settings::new(alpha).gamma(0.3), (4, 3), seed);
            let (mut x, mut x_before, mut v_before) = (stack(&run), stack(&run), vec![vec![0.0; d]; n]);
            for _ in 0..12 {
                run.step(false).unwrap();
                let v: Vec<Vec<f64>> = run.directions().map(<[f64]>::to_vec).collect();
                let next = stack(&run);
                let at = |i: usize, k: usize| 2.0 * x[i][k] - x_before[i][k] - alpha * v[i][k] + alpha * v_before[i][k];
                for k in 0..d {
                    let mean = |s: &[Vec<f64>]| s.iter().map(|row| row[k]).sum::<f64>() / n as f64;
                    prop_assert!((mean(&next) - (mean(&x) - alpha * mean(&v))).abs() < 1e-12);
                    for i in 0..n {
                        let mixed: f64 = (0..n).map(|j| w.weight(i, j) * at(j, k)).sum();
                        prop_assert!((next[i][k] - mixed).abs() < 1e-12, "{method} node {i}");
                    }
                }
                (x_before, x, v_before) = (x, next, v);
            }
        }
    }

    /// `gt-hsgd` with γ = 1 and b₀ = b is `gt`, which is `mt` with β = 0: bit for bit, in both forms.
    #[test]
    fn the_trackers_meet(w in mixing(), d in 1usize..5, seed in 0u64..1000, b in 1usize..6, first in any::<bool>()) {
        let data = bowls(w.nodes(), 6, d, seed);
        let combine = if first { Combine::First } else { Combine::After };
        let run = |method| {
            let settings = Settings::new(0.2).gamma(1.0).beta(0.0).combine(combine);
            let mut run = private(&data, &w, method, settings, (b, b), seed);
            go(&mut run, 25, false);
            (stack(&run), run.epsilon_spent())
        };
        let tracking = run(Method::Gt);
        prop_assert_eq!(&run(Method::GtHsgd), &tracking);
        prop_assert_eq!(&run(Method::Mt), &tracking);
    }

    /// Full batch, no clipping, no noise: recursive directions are gradients, for any γ.
    #[test]
    fn full_batch_recursion_is_the_gradient(w in mixing(), d in 1usize..5, seed in 0u64..1000, gamma in 0.02..1.0_f64) {
        let data = bowls(w.nodes(), 4, d, seed);
        for (recursive, plain) in [(Method::GtHsgd, Method::Gt), (Method::Deepstorm, Method::Deepstorm)] {
            let run = |method, gamma| {
                let mut run = open(&data, &w, method, Settings::new(0.2).gamma(gamma), (Sampling::Full, 4, 4), seed);
                go(&mut run, 40, false);
                stack(&run)
            };
            let (a, b) = (run(recursive, gamma), run(plain, 1.0));
            prop_assert!(distance(&a, &b) < 1e-11, "{recursive}: {:e}", distance(&a, &b));
        }
    }

    /// x̄⁺ = x̄ − αv̄ for every method, privately: tracked directions, corrections and further exchanges keep the mean.
    #[test]
    fn every_method_moves_the_mean_along_the_mean_direction(w in mixing(), d in 1usize..4, seed in 0u64..1000) {
        let (n, alpha) = (w.nodes() as f64, 0.15);
        let data = bowls(w.nodes(), 6, d, seed);
        for method in Method::ALL {
            for combine in [Combine::After, Combine::First] {
                let settings = Settings::new(alpha).gamma(0.3).combine(combine).with(OMEGA.is(1.3));
                let mut run = private(&data, &w, *method, settings, (4, 3), seed);
                for _ in 0..12 {
                    let before = run.average();
                    run.step(false).unwrap();
                    for (k, (x, next)) in before.iter().zip(run.average()).enumerate() {
                        let v = run.directions().map(|v| v[k]).sum::<f64>() / n;
                        prop_assert!((next - (x - alpha * v)).abs() < 1e-11, "{method}, {combine:?}");
                    }
                }
            }
        }
    }

    /// One exchange of gossip is `dsgd`, bit for bit, whatever ω; K plain ones are W^K.
    #[test]
    fn many_exchanges_are_powers_of_w(w in mixing(), d in 1usize..4, seed in 0u64..1000, omega in 1.0..1.9_f64) {
        let n = w.nodes();
        let data = bowls(n, 6, d, seed);
        let many = |k: f64, omega: f64| {
            Settings::new(0.2).with(EXCHANGES.is(k)).with(OMEGA.is(omega))
        };
        let run = |method, settings| {
            let mut run = private(&data, &w, method, settings, (4, 3), seed);
            go(&mut run, 15, false);
            stack(&run)
        };
        prop_assert_eq!(run(Method::Muffliato, many(1.0, omega)), run(Method::Dsgd, Settings::new(0.2)));

        let mut plain = private(&data, &w, Method::Muffliato, many(3.0, 1.0), (4, 3), seed);
        let before = stack(&plain);
        plain.step(false).unwrap();
        let v: Vec<Vec<f64>> = plain.directions().map(<[f64]>::to_vec).collect();
        let mut z: Vec<Vec<f64>> = (0..n).map(|i| (0..d).map(|k| before[i][k] - 0.2 * v[i][k]).collect()).collect();
        for _ in 0..3 {
            let mixed = |i: usize, k: usize| (0..n).map(|j| w.weight(i, j) * z[j][k]).sum::<f64>();
            z = (0..n).map(|i| (0..d).map(|k| mixed(i, k)).collect()).collect();
        }
        prop_assert!(distance(&stack(&plain), &z) < 1e-12);
    }

    /// Trackers reach the exact minimiser of heterogeneous quadratics on random graphs; more exchanges make the bias of
    /// D-SGD smaller.
    #[test]
    fn trackers_are_exact_and_gossip_is_less_biased(w in mixing(), seed in 0u64..1000) {
        let (n, d) = (w.nodes(), 2);
        let data = bowls(n, 5, d, seed);
        let best = vec![minimiser(&data, d); n];
        let error = |method, settings| {
            let mut run = open(&data, &w, method, settings, (Sampling::Full, 5, 5), 1);
            go(&mut run, 4000, false);
            distance(&stack(&run), &best)
        };
        for method in [Method::Gt, Method::GtHsgd, Method::Deepstorm] {
            for combine in [Combine::After, Combine::First] {
                let error = error(method, Settings::new(0.1).combine(combine));
                prop_assert!(error < 1e-9, "{method}, {combine:?}: {error:e}");
            }
        }
        let exchanged = |k| error(Method::Muffliato, Settings::new(0.2).with(EXCHANGES.is(k)).with(OMEGA.is(1.0)));
        let errors = [1.0, 3.0, 9.0].map(exchanged);
        prop_assert!(errors[0] >= errors[1] && errors[1] >= errors[2], "{errors:?}");
    }

    /// W = 11ᵀ/n: all nodes hold the same model after one round, to the bit.
    #[test]
    fn complete_averaging_agrees_at_once(n in 2usize..9, d in 1usize..4, seed in 0u64..1000) {
        let w = Mixing::new(&Graph::complete(n).unwrap(), Weights::Metropolis, false).unwrap();
        let data = bowls(n, 5, d, seed);
        for method in Method::ALL {
            let mut run = private(&data, &w, *method, Settings::new(0.2), (3, 3), seed);
            run.step(false).unwrap();
            let models = stack(&run);
            prop_assert!(models.iter().all(|x| *x == models[0]), "{method}");
        }
    }
}

#[test]
fn every_bias_corrected_method_reaches_the_exact_minimiser_and_dsgd_its_computable_bias() {
    let (n, d, alpha) = (6, 2, 0.4);
    let w = Mixing::new(&Graph::ring(n).unwrap(), Weights::Paper, false).unwrap();
    let data = bowls(n, 5, d, 3);
    let best = vec![minimiser(&data, d); n];
    let settle = |method, settings: Settings| {
        let mut run = open(&data, &w, method, settings, (Sampling::Full, 5, 5), 1);
        go(&mut run, 6000, false);
        stack(&run)
    };
    let settings = Settings::new(alpha).beta(0.7);
    for method in [Method::Ed, Method::Edm, Method::Mt, Method::Prdo] {
        let error = distance(&settle(method, settings.clone()), &best);
        assert!(error < 1e-10, "{method}: {error:e}");
    }
    let error = distance(&settle(Method::Mt, settings.clone().combine(Combine::First)), &best);
    assert!(error < 1e-10, "mt, combine first: {error:e}");

    // D-SGD's fixed point solves X = W(X − αG(X)), or X = WX − αG(X): for quadratics a linear system,
    // coordinate by coordinate.
    for combine in [Combine::After, Combine::First] {
        let limit = settle(Method::Dsgd, settings.clone().combine(combine));
        let mut expected = vec![vec![0.0; d]; n];
        for k in 0..d {
            let h = |i: usize| data[i].iter().map(|b| b.curvature[k]).sum::<f64>() / 5.0;
            let hc = |i: usize| data[i].iter().map(|b| b.curvature[k] * b.centre[k]).sum::<f64>() / 5.0;
            let mut matrix = vec![vec![0.0; n + 1]; n];
            for i in 0..n {
                for j in 0..n {
                    let step =
                        if combine == Combine::After { w.weight(i, j) } else { f64::from(u8::from(i == j)) };
                    let keep = f64::from(u8::from(i == j)) - w.weight(i, j);
                    matrix[i][j] = keep + step * alpha * h(j);
                    matrix[i][n] += step * alpha * hc(j);
                }
            }
            solve(&mut matrix).into_iter().enumerate().for_each(|(i, x)| expected[i][k] = x);
        }
        assert!(distance(&limit, &expected) < 1e-9, "{combine:?}: {:e}", distance(&limit, &expected));
        assert!(distance(&limit, &best) > 1e-2, "the bias is real");
    }
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let w = Mixing::new(&Graph::torus(4, 5).unwrap(), Weights::Metropolis, true).unwrap();
    let data = bowls(20, 30, 40, 5);
    for method in Method::ALL {
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut run = private(&data, &w, *method, Settings::new(0.2), (10, 8), 9);
                go(&mut run, 15, true);
                (stack(&run), run.measure())
            })
        };
        let one = run(1);
        assert!([2, 5].into_iter().all(|k| run(k) == one), "{method}");
    }
}

#[test]
fn a_restored_run_continues_to_the_same_bits_and_a_damaged_checkpoint_is_refused() {
    use prdo_simulator::{CheckpointError, Training};
    let w = Mixing::new(&Graph::ring(5).unwrap(), Weights::Paper, false).unwrap();
    let data = bowls(5, 8, 3, 5);
    let print = [7u8; 32];
    for method in Method::ALL {
        let fresh = || private(&data, &w, *method, Settings::new(0.2), (5, 4), 9);
        let mut whole = fresh();
        let moments: Vec<_> = (0..20).map(|_| whole.step(true).unwrap()).collect();
        let mut first = fresh();
        go(&mut first, 9, true);
        let bytes = first.save(&print);
        let mut second = fresh();
        second.restore(&print, &bytes).unwrap();
        for expected in &moments[9..] {
            assert_eq!(second.step(true).unwrap(), *expected);
        }
        assert_eq!((stack(&second), second.measure()), (stack(&whole), whole.measure()), "{method}");

        assert_eq!(fresh().restore(&[0; 32], &bytes), Err(CheckpointError::OtherRun));
        for at in (0..bytes.len()).step_by(97) {
            let mut flipped = bytes.clone();
            flipped[at] ^= 4;
            assert_eq!(fresh().restore(&print, &flipped), Err(CheckpointError::Damaged));
            assert_eq!(fresh().restore(&print, &bytes[..at]), Err(CheckpointError::Damaged));
        }
    }
}

#[test]
fn moments_are_their_definitions() {
    let w = Mixing::new(&Graph::ring(4).unwrap(), Weights::Paper, false).unwrap();
    let data = bowls(4, 6, 2, 8);
    let mut run = open(&data, &w, Method::Prdo, Settings::new(0.3), (Sampling::WithoutReplacement, 6, 2), 4);
    let mut before: Option<Vec<Vec<f64>>> = None;
    for t in 0..10 {
        let x = stack(&run);
        let m = run.step(true).unwrap().unwrap();
        let v: Vec<Vec<f64>> = run.directions().map(<[f64]>::to_vec).collect();
        let gradient = |i: usize, k: usize| {
            data[i].iter().map(|b| b.curvature[k] * (x[i][k] - b.centre[k])).sum::<f64>() / 6.0
        };
        let mean = |s: &dyn Fn(usize, usize) -> f64, k: usize| (0..4).map(|i| s(i, k)).sum::<f64>() / 4.0;
        let error = |i: usize, k: usize| v[i][k] - gradient(i, k);
        let all = |f: &dyn Fn(usize, usize) -> f64| {
            (0..4).flat_map(|i| (0..2).map(move |k| (i, k))).map(|(i, k)| f(i, k)).sum::<f64>()
        };
        let close =
            |a: f64, b: f64| assert!((a - b).abs() <= 1e-12 * (1.0 + b), "round {t}: {a} against {b}");
        close(m.disagreement, all(&|i, k| (x[i][k] - mean(&|i, k| x[i][k], k)).powi(2)));
        close(m.local_error, all(&|i, k| error(i, k).powi(2)));
        close(m.mean_error, (0..2).map(|k| mean(&error, k).powi(2)).sum());
        close(m.direction, (0..2).map(|k| mean(&|i, k| v[i][k], k).powi(2)).sum());
        close(m.movement, before.as_ref().map_or(0.0, |b| distance(b, &x).powi(2)));
        if t == 0 {
            close(m.local_error, 0.0);
        }
        before = Some(x);
    }
}
