//! Disagreement under noise: impulse responses of whole networks, and the study's figures.

use prdo_theory::disagreement::{
    Direction, Exchanges, NoisyMode, after, apart, chebyshev, deviation, lazy_ring, repeated,
};
use proptest::prelude::*;

/// What one round's vector of noise does to x_i − x̄, summed over nodes and rounds: the recursion itself, with W as a matrix.
fn energy(w: &[Vec<f64>], direction: Direction, kick: &[f64]) -> f64 {
    let n = w.len();
    let (mut x, mut before, mut v) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    let mut energy = 0.0;
    for t in 0..100_000 {
        let (keep, take) = match direction {
            Direction::Gradient => (0.0, 1.0),
            Direction::Momentum { beta } => (beta, 1.0 - beta),
            Direction::Recursive { gamma } => (1.0 - gamma, 1.0),
        };
        let fresh: Vec<f64> =
            v.iter().zip(kick).map(|(v, q)| keep * v + if t == 0 { take * q } else { 0.0 }).collect();
        let psi: Vec<f64> = x.iter().zip(&fresh).map(|(x, v)| x - v).collect();
        let last: Vec<f64> = before.iter().zip(&v).map(|(x, v)| x - v).collect();
        let sent: Vec<f64> = (0..n).map(|i| psi[i] + x[i] - last[i]).collect();
        let mixed = w.iter().map(|row| row.iter().zip(&sent).map(|(w, x)| w * x).sum()).collect();
        before = std::mem::replace(&mut x, mixed);
        v = fresh;
        let mean = x.iter().sum::<f64>() / n as f64;
        let square: f64 = x.iter().map(|x| (x - mean).powi(2)).sum();
        energy += square;
        if t > 50 && square < 1e-18 * energy {
            break;
        }
    }
    energy
}

fn ring_matrix(n: usize) -> Vec<Vec<f64>> {
    let mut w = vec![vec![0.0; n]; n];
    for (i, row) in w.iter_mut().enumerate() {
        row[i] += 0.5;
        row[(i + 1) % n] += 0.25;
        row[(i + n - 1) % n] += 0.25;
    }
    w
}

#[test]
fn modes_add_up_to_what_whole_networks_do() {
    let secrets = [(0, 1), (0, 4), (1, 2), (3, 5), (2, 5)];
    for direction in
        [Direction::Gradient, Direction::Momentum { beta: 0.8 }, Direction::Recursive { gamma: 0.3 }]
    {
        for secrets in [&secrets[..], &secrets[..1], &[]] {
            let (n, own, pair) = (7, 0.6, 1.7);
            let w = ring_matrix(n);
            let unit = |i: usize, j: usize| {
                let mut kick = vec![0.0; n];
                (kick[i], kick[j]) = (1.0, if i == j { 1.0 } else { -1.0 });
                energy(&w, direction, &kick)
            };
            let alone: f64 = (0..n).map(|i| own * own * unit(i, i)).sum();
            let shared: f64 = secrets.iter().map(|&(i, j)| pair * pair * unit(i, j)).sum();
            let expected = ((alone + shared) / n as f64).sqrt();
            let modes = lazy_ring(n as u64, secrets.iter().copied(), own, pair).unwrap();
            let found = deviation(&modes, direction).unwrap();
            assert!((found / expected - 1.0).abs() < 1e-7, "{direction:?} {secrets:?}: {found} {expected}");
        }
    }
}

/// Ten nodes: one exchange per round, three, and three by Chebyshev.
fn three(secrets: &[(usize, usize)], own: f64, pair: f64) -> [f64; 3] {
    let rows = apart(10, secrets.iter().copied(), own, pair).unwrap();
    let of = |exchanges| rows.iter().find(|row| row.exchanges == exchanges).unwrap().paired;
    [Exchanges::Repeated(1), Exchanges::Repeated(3), Exchanges::Chebyshev(3)].map(of)
}

#[test]
fn figures_of_the_study() {
    let all: Vec<_> = (0..10).flat_map(|i| (i + 1..10).map(move |j| (i, j))).collect();
    let ring: Vec<_> = (0..10).map(|i| (i, (i + 1) % 10)).collect();
    let torus: Vec<_> =
        (0..5).flat_map(|i| [(i, (i + 1) % 5), (i + 5, (i + 1) % 5 + 5), (i, i + 5)]).collect();
    let complete = |ratio: f64| f64::sqrt((1.0 + ratio) / (1.0 + 9.0 * ratio));
    let check = |secrets: &[(usize, usize)], ratio: f64, own: f64, figures: &[f64]| {
        let found = three(secrets, own, own * f64::sqrt(ratio));
        println!("{} secrets, r = {ratio}: {found:.4?}", secrets.len());
        for (found, figure) in found.into_iter().zip(figures) {
            assert!((found - figure).abs() <= 0.005, "{} secrets, r = {ratio}: {found}", secrets.len());
        }
    };
    check(&[], 0.0, 1.0, &[0.53, 0.18, 0.08]);
    check(&all, 1.0, complete(1.0), &[0.79, 0.27]);
    check(&all, 3.0, complete(3.0), &[1.12, 0.38, 0.17]);
    check(&all, 10.0, complete(10.0), &[1.87, 0.63, 0.28]);
    check(&all, 30.0, complete(30.0), &[3.13, 1.06, 0.47]);
    check(&ring, 30.0, 0.425_413, &[0.86]);
    check(&ring, 100.0, 0.367_174, &[1.33]);
    check(&torus, 10.0, 0.402_630, &[1.19]);
    // The study prints 1.82.
    check(&torus, 30.0, 0.359_157, &[1.81]);
    // Three exchanges: eigenvalues up to 0.74 by powers, to 0.447 by Chebyshev.
    let second = 0.5 * (1.0 + (0.2 * std::f64::consts::PI).cos());
    assert!(
        (repeated(second, 3) - 0.740).abs() < 1e-3 && (chebyshev(second, second, 3) - 0.447).abs() < 1e-3
    );
}

/// Responses followed round by round settle at the modes' closed form, for own noise, shares and every direction.
#[test]
fn responses_on_any_network_add_up_to_the_closed_form() {
    let n = 10_usize;
    let mix = |x: &[f64]| {
        (0..n).map(|i| 0.5 * x[i] + 0.25 * (x[(i + 1) % n] + x[(i + n - 1) % n])).collect::<Vec<f64>>()
    };
    let secrets: Vec<(usize, usize)> = (0..n).map(|i| (i, (i + 3) % n)).collect();
    let unit = |ends: &[(usize, f64)]| {
        let mut source = vec![0.0; n];
        ends.iter().for_each(|(i, value)| source[*i] = *value);
        source
    };
    let mut sources: Vec<Vec<f64>> = (0..n).map(|i| unit(&[(i, 0.4)])).collect();
    sources.extend(secrets.iter().map(|(a, b)| unit(&[(*a, 1.3), (*b, -1.3)])));
    let modes = lazy_ring(n as u64, secrets, 0.4, 1.3).unwrap();
    for direction in
        [Direction::Gradient, Direction::Momentum { beta: 0.8 }, Direction::Recursive { gamma: 0.3 }]
    {
        let settled = deviation(&modes, direction).unwrap();
        let found = after(&mix, &sources, direction, 10_000).unwrap();
        assert!((found / settled - 1.0).abs() < 1e-6, "{direction:?}: {found} {settled}");
        let early = after(&mix, &sources, direction, 3).unwrap();
        assert!(early > 0.0 && early < settled);
    }
    assert!(after(&mix, &sources, Direction::Momentum { beta: 1.0 }, 3).is_err());
}

#[test]
fn what_has_no_figure_is_refused() {
    for eigenvalue in [-0.1, 1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(Direction::Gradient.response(eigenvalue).unwrap_err().field, "eigenvalue");
    }
    for beta in [-0.1, 1.0, f64::NAN] {
        assert_eq!(Direction::Momentum { beta }.response(0.5).unwrap_err().field, "beta");
    }
    for gamma in [0.0, 1.1, f64::NAN] {
        assert_eq!(Direction::Recursive { gamma }.response(0.5).unwrap_err().field, "gamma");
    }
    assert!(lazy_ring(2, [], 1.0, 0.0).is_err() && lazy_ring(5, [(0, 5)], 1.0, 1.0).is_err());
    assert!(lazy_ring(5, [], f64::NAN, 0.0).is_err() && lazy_ring(5, [], 1.0, -1.0).is_err());
    let bad = NoisyMode { eigenvalue: 0.5, noise_variance: -1.0 };
    assert_eq!(deviation(&[bad], Direction::Gradient).unwrap_err().field, "noise_variance");
}

proptest! {
    #[test]
    fn the_closed_form_is_the_sum_of_the_impulse_response(z in 0.0_f64..0.99, beta in 0.0_f64..0.99) {
        for (direction, keep, take) in [
            (Direction::Momentum { beta }, beta, 1.0 - beta),
            (Direction::Recursive { gamma: 1.0 - beta }, beta, 1.0),
        ] {
            let (mut x, mut before, mut v, mut sum) = (0.0, 0.0, 0.0, 0.0);
            for t in 0..20_000 {
                let last = v;
                v = keep * v + if t == 0 { take } else { 0.0 };
                (before, x) = (x, z * (2.0 * x - before - (v - last)));
                sum += x * x;
            }
            let found = direction.response(z).unwrap();
            prop_assert!((found - sum).abs() <= 1e-9 * found.max(1e-12), "{} {}", found, sum);
        }
        prop_assert_eq!(Direction::Gradient.response(z), Direction::Momentum { beta: 0.0 }.response(z));
    }

    #[test]
    fn chebyshev_is_the_smallest_of_its_degree(z in 0.0_f64..1.0, second in 0.01_f64..0.9999, exchanges in 1_u32..20) {
        let place = z * second;
        let found = chebyshev(place, second, exchanges);
        prop_assert!((0.0..1.0).contains(&found) && (chebyshev(1.0, second, exchanges) - 1.0).abs() < 1e-12);
        // Nowhere above its value at the largest eigenvalue, which is below that of powers.
        let edge = chebyshev(second, second, exchanges);
        prop_assert!(found <= edge * (1.0 + 1e-9) && edge <= repeated(second, exchanges) * (1.0 + 1e-9));
    }
}
