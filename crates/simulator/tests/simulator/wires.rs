//! Fewer bytes and fewer exchanges: what compression and local steps keep, on random graphs, sizes and seeds.

use crate::problem::{bowls, distance, go, minimiser, mixing, open, private, stack};
use prdo_algorithm::methods::steps::{BITS, KEEP, LOCAL_STEPS, MEMORY, MIXED, WIRE, Wire};
use prdo_algorithm::{Method, Settings};
use prdo_privacy::*;
use proptest::prelude::*;

const DIFFUSION: [Method; 3] = [Method::Ed, Method::Edm, Method::Prdo];

fn bits(settings: Settings, bits: f64) -> Settings {
    settings.with(WIRE.is(Wire::Bits)).with(BITS.is(bits))
}

fn top(settings: Settings, keep: f64) -> Settings {
    settings.with(WIRE.is(Wire::Top)).with(KEEP.is(keep))
}

fn local(settings: Settings, steps: f64) -> Settings {
    settings.with(LOCAL_STEPS.is(steps))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// A wire that keeps every number, corrected in full, is the plain one: up to rounding, with local steps too.
    #[test]
    fn keeping_everything_is_the_plain_wire(w in mixing(), d in 1usize..5, seed in 0u64..1000, steps in 1u32..4) {
        let data = bowls(w.nodes(), 6, d, seed);
        for method in DIFFUSION {
            let settings = local(Settings::new(0.2).gamma(0.3).beta(0.6), f64::from(steps));
            let whole = top(settings.clone(), 100.0).with(MIXED.is(1.0)).with(MEMORY.is(1.0));
            let run = |settings| {
                let mut run = private(&data, &w, method, settings, (4, 3), seed);
                go(&mut run, 24, false);
                (stack(&run), run.epsilon_spent())
            };
            let ((plain, spent), (packed, same)) = (run(settings), run(whole));
            prop_assert!(distance(&plain, &packed) < 1e-11, "{method}: {:e}", distance(&plain, &packed));
            // After the noise: nothing more is spent.
            prop_assert_eq!(spent, same);
        }
    }

    /// x̄⁺ = x̄ − αv̄ for any compression, and with local steps: what is left out on the wire stays with its owner.
    #[test]
    fn the_mean_moves_along_the_mean_direction(w in mixing(), d in 2usize..5, seed in 0u64..1000, bit in 1u32..5) {
        let (n, alpha) = (w.nodes() as f64, 0.05);
        let data = bowls(w.nodes(), 6, d, seed);
        let plain = Settings::new(alpha).gamma(0.3).beta(0.6);
        let wires = [bits(plain.clone(), f64::from(bit)), top(plain.clone(), 1.0), local(bits(plain.clone(), 3.0), 3.0), local(plain, 3.0)];
        for method in DIFFUSION {
            for settings in &wires {
                let mut run = private(&data, &w, method, settings.clone(), (4, 3), seed);
                for _ in 0..12 {
                    let before = run.average();
                    run.step(false).unwrap();
                    for (k, (x, next)) in before.iter().zip(run.average()).enumerate() {
                        let v = run.directions().map(|v| v[k]).sum::<f64>() / n;
                        prop_assert!((next - (x - alpha * v)).abs() < 1e-9, "{method}: {next} {}", x - alpha * v);
                    }
                }
            }
        }
    }

    /// Heterogeneous quadratics, full batches: Exact Diffusion stays exact on every wire and with local steps.
    #[test]
    fn diffusion_stays_exact(w in mixing(), seed in 0u64..1000) {
        let (n, d) = (w.nodes(), 4);
        let data = bowls(n, 5, d, seed);
        let best = vec![minimiser(&data, d); n];
        let plain = Settings::new(0.1);
        for (what, settings) in [
            ("3 local steps", local(plain.clone(), 3.0)),
            ("5 local steps", local(plain.clone(), 5.0)),
            ("3 bits", bits(plain.clone(), 3.0)),
            ("2 bits", bits(plain.clone(), 2.0)),
            ("signs", bits(plain.clone(), 1.0)),
            ("the largest of 4", top(plain.clone(), 1.0).with(MIXED.is(0.1)).with(MEMORY.is(1.0))),
            ("the 2 largest of 4", top(plain.clone(), 2.0)),
            ("4 bits, 2 local steps", local(bits(plain.clone(), 4.0), 2.0)),
        ] {
            let mut run = open(&data, &w, Method::Ed, settings, (Sampling::Full, 5, 5), 1);
            // A sign says least per exchange.
            go(&mut run, if what == "signs" { 20_000 } else { 6000 }, false);
            let error = distance(&stack(&run), &best);
            prop_assert!(error < 1e-8, "{what}: {error:e}");
        }
    }
}

#[test]
fn bytes_are_those_of_the_wire() {
    let w = prdo_algorithm::graph::Mixing::new(
        &prdo_algorithm::graph::Graph::ring(5).unwrap(),
        prdo_algorithm::graph::Weights::Paper,
        false,
    )
    .unwrap();
    let data = bowls(5, 4, 130, 1);
    let sent = |settings: Settings| {
        let mut run = private(&data, &w, Method::Prdo, settings, (2, 2), 1);
        go(&mut run, 6, false);
        run.measure().bytes_sent
    };
    let plain = Settings::new(0.1);
    // Ten one-way links, six rounds; 130 numbers are three blocks of a step size each.
    assert_eq!(sent(plain.clone()), 60 * 8 * 130);
    assert_eq!(sent(bits(plain.clone(), 3.0)), 60 * (3 * 8 + 24 + 24 + 1));
    assert_eq!(sent(top(plain.clone(), 13.0)), 60 * 12 * 13);
    assert_eq!(sent(local(plain, 3.0)), 20 * 8 * 130);
}
