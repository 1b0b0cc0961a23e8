//! The accountant against independent reference values, and the laws it must obey.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use prdo_accounting::*;
use proptest::prelude::*;

fn epsilon(q: f64, z: f64, rounds: u64, delta: f64) -> f64 {
    let history = History::new().and(Release::new(q, z).unwrap(), rounds);
    RenyiAccountant::new().epsilon(&history, delta).unwrap()
}

/// Columns: q, sigma, steps, delta, epsilon_lower, epsilon_upper, best, tight, rdp_classical, rdp_improved,
/// from independent code. The classical Rényi value also tries fractional orders, so ours (integer orders,
/// the paper's) may lie a little above it; we try larger orders than it does, so ours may also be smaller.
#[test]
fn bounds_the_exact_epsilon_and_is_near_the_reference_renyi_value() {
    let mut points = 0;
    for line in include_str!("fixtures/accounting.csv").lines().skip(1) {
        let v: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        let ours = epsilon(v[0], v[1], v[2] as u64, v[3]);
        assert!(ours >= v[6] * (1.0 - 1e-9), "{line}: {ours} is below the exact ε");
        // At (q 1, σ 0.5, 1e5 releases) the best order lies between 1 and 2, which integer orders miss.
        let slack = if v[2] >= 1e5 && v[0] == 1.0 { 2.0 } else { 1.12 };
        assert!(ours <= v[8] * slack, "{line}: {ours} is far above the reference {}", v[8]);
        points += 1;
    }
    assert_eq!(points, 22);
}

#[test]
fn the_papers_setting_costs_what_an_independent_renyi_accountant_says() {
    // q = 100/4500, T = 9500, δ = 1e-5; dp-accounting's Rényi multipliers use its improved conversion, so the
    // paper's own conversion asks for a little more noise.
    for (target, improved) in [(4.0, 2.620621), (6.0, 1.909975), (8.0, 1.555480)] {
        let z = noise_multiplier(&Target::new(target, 1e-5).unwrap(), &[(100.0 / 4500.0, 9500)]).unwrap();
        assert!(z > improved && z < improved * 1.13, "ε = {target}: z = {z}");
    }
}

#[test]
fn the_first_release_at_its_own_rate_is_composed_exactly() {
    let (q0, q, z, rounds, delta) = (0.3, 0.02, 1.3, 500, 1e-5_f64);
    let mut best = f64::INFINITY;
    for a in prdo_accounting::renyi::orders() {
        let first = prdo_accounting::renyi::sampled_gaussian(a, &Release::new(q0, z).unwrap());
        let later = prdo_accounting::renyi::sampled_gaussian(a, &Release::new(q, z).unwrap());
        best = f64::min(best, first + later * (rounds - 1) as f64 + (1.0 / delta).ln() / f64::from(a - 1));
    }
    let history =
        History::new().and(Release::new(q0, z).unwrap(), 1).and(Release::new(q, z).unwrap(), rounds - 1);
    let ours = RenyiAccountant::new().epsilon(&history, delta).unwrap();
    assert!((ours / best - 1.0).abs() < 1e-12);
}

#[test]
fn bad_input_is_refused_with_its_range() {
    for (rate, z) in [
        (0.0, 1.0),
        (-0.1, 1.0),
        (1.1, 1.0),
        (f64::NAN, 1.0),
        (0.5, 0.0),
        (0.5, -1.0),
        (0.5, f64::NAN),
        (0.5, 1e9),
    ] {
        let message = Release::new(rate, z).unwrap_err().to_string();
        assert!(message.contains("must be"), "{message}");
    }
    for (epsilon, delta) in
        [(0.0, 1e-5), (-1.0, 1e-5), (f64::NAN, 1e-5), (1.0, 0.0), (1.0, 1.0), (1.0, f64::NAN)]
    {
        assert!(Target::new(epsilon, delta).is_err());
    }
    let impossible = noise_multiplier(&Target::new(1e-9, 1e-12).unwrap(), &[(1.0, 1_000_000)]);
    assert!(matches!(impossible, Err(AccountingError::Unreachable { .. })), "{impossible:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn cost_grows_with_rate_and_rounds_and_falls_with_noise_and_delta(
        q in 1e-4..0.5_f64, z in 0.5..20.0_f64, rounds in 1u64..10_000, delta in 1e-10..1e-2_f64,
    ) {
        let base = epsilon(q, z, rounds, delta);
        prop_assert!(base.is_finite() && base > 0.0);
        prop_assert!(epsilon(q * 1.5, z, rounds, delta) >= base);
        prop_assert!(epsilon(q, z * 1.5, rounds, delta) <= base);
        prop_assert!(epsilon(q, z, rounds + 1, delta) >= base);
        prop_assert!(epsilon(q, z, rounds, delta * 2.0) <= base);
    }

    #[test]
    fn calibration_never_under_noises_and_is_tight(
        target in 0.2..10.0_f64, q0 in 0.01..0.6_f64, q in 0.001..0.2_f64, rounds in 2u64..5_000,
    ) {
        let delta = 1e-5;
        let z = noise_multiplier(&Target::new(target, delta).unwrap(), &[(q0, 1), (q, rounds - 1)]).unwrap();
        let cost = |z: f64| {
            let h = History::new().and(Release::new(q0, z).unwrap(), 1).and(Release::new(q, z).unwrap(), rounds - 1);
            RenyiAccountant::new().epsilon(&h, delta).unwrap()
        };
        prop_assert!(cost(z) <= target);
        prop_assert!(cost(z * (1.0 - 1e-6)) > target);
    }
}
