//! The accountant against independent reference values.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use prdo_accounting::*;

fn history(q: f64, z: f64, rounds: u64) -> History {
    History::new().and(Event::sampled_gaussian(q, z).unwrap(), rounds)
}

/// Columns: q, sigma, steps, delta, epsilon_lower, epsilon_upper, best, tight, rdp_classical, rdp_improved.
#[test]
fn every_reference_point_lies_within_the_bounds() {
    let mut points = 0;
    for line in include_str!("fixtures/accounting.csv").lines().skip(1) {
        let v: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        let start = std::time::Instant::now();
        let b = numerical::epsilon(&history(v[0], v[1], v[2] as u64), v[3]).unwrap();
        println!(
            "{line}: {} {} width {:.1e} {:.2} ms",
            b.lower,
            b.upper,
            b.width() / b.upper,
            start.elapsed().as_secs_f64() * 1e3
        );
        if v[7] == 1.0 {
            assert!(b.lower <= v[6] && v[6] <= b.upper, "{line}: {b:?}");
            assert!(b.width() <= (1e-6 * v[6]).max(1e-10), "{line}: {b:?}");
        } else {
            assert!(b.lower <= v[5] && v[4] <= b.upper, "{line}: {b:?}");
        }
        let renyi = renyi::epsilon(&history(v[0], v[1], v[2] as u64), v[3]);
        println!("   renyi {renyi} ref {}", v[9]);
        assert!(renyi >= b.lower && renyi <= v[9] * 1.001, "{line}: Rényi {renyi}");
        points += 1;
    }
    assert_eq!(points, 22);
}

#[test]
fn the_papers_setting() {
    let accountant = Accountant::new(Method::Numerical);
    let q = 100.0 / 4500.0;
    for (epsilon, exact, paper, cost) in [
        (4.0, 2.458116139615, 2.464143, 3.987714167),
        (6.0, 1.804911581152, 1.807607, 5.987649059),
        (8.0, 1.478715798018, 1.480246, 7.987483908),
    ] {
        let start = std::time::Instant::now();
        let z = calibrate::noise_multiplier(&accountant, &Target::new(epsilon, 1e-5).unwrap(), &[(q, 9500)])
            .unwrap();
        println!(
            "{z} against {exact}: {:.1e} {:.2} ms",
            z / exact - 1.0,
            start.elapsed().as_secs_f64() * 1e3
        );
        assert!(z >= exact && z <= exact * (1.0 + 1e-6), "{z} against {exact}");
        let b = numerical::epsilon(&history(q, paper, 9500), 1e-5).unwrap();
        assert!(b.lower <= cost + 1e-9 && cost - 1e-9 <= b.upper && b.width() <= 1e-6 * cost, "{b:?}");
        let start = std::time::Instant::now();
        for _ in 0..100 {
            std::hint::black_box(numerical::epsilon(&history(q, paper, 9500), 1e-5).unwrap());
        }
        println!("{:.3} ms", start.elapsed().as_secs_f64() * 10.0);
    }
}
