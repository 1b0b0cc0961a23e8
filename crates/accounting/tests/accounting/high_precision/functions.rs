//! The assumption of `rounding.rs`: each library function is within 4 units of 2⁻⁵³, relative.

use super::closed::erfc;
use super::real::{Real, abs, exact, int};
use chacha20::ChaCha20Rng;
use rand::{RngExt, SeedableRng};

/// Largest relative error over `count` draws of the argument, in units of 2⁻⁵³.
fn worst(
    count: usize,
    (low, high): (f64, f64),
    library: impl Fn(f64) -> f64,
    long: impl Fn(&Real) -> Real,
) -> f64 {
    let mut random = ChaCha20Rng::seed_from_u64(7);
    let mut worst = int(0);
    for k in 0..count {
        // Half of the draws spread over the orders of magnitude: that is where small results live.
        let share: f64 = random.random();
        let size = if k % 2 == 0 { 1.0 } else { 10_f64.powf(-12.0 * random.random::<f64>()) };
        let x = size * (low + share * (high - low));
        let truth = long(&exact(x));
        if truth == Real::ZERO {
            continue;
        }
        let error = abs(&((exact(library(x)) - &truth) / &truth));
        if error > worst {
            worst = error;
        }
    }
    (worst * exact(2_f64.powi(53))).to_f64().value()
}

#[test]
fn library_functions_are_as_good_as_assumed() {
    let two_angles = |x: &Real| x.sin();
    let figures = [
        ("exp", worst(400, (-700.0, 700.0), libm::exp, |x| x.exp())),
        ("expm1", worst(400, (-40.0, 40.0), libm::expm1, |x| x.exp_m1())),
        ("log", worst(400, (1e-3, 1e3), libm::log, |x| x.ln())),
        ("log1p", worst(400, (-0.5, 50.0), libm::log1p, |x| x.ln_1p())),
        ("sin", worst(200, (-100.0, 100.0), libm::sin, two_angles)),
        ("cos", worst(200, (-100.0, 100.0), libm::cos, |x| x.cos())),
        ("sincos, sin", worst(200, (-1e5, 1e5), |x| libm::sincos(x).0, two_angles)),
        ("sincos, cos", worst(200, (-1e5, 1e5), |x| libm::sincos(x).1, |x| x.cos())),
        ("atan2", worst(200, (-20.0, 20.0), |x| libm::atan2(x, 1.0), |x| x.atan())),
        ("erfc", worst(200, (-6.0, 26.0), libm::erfc, erfc)),
        ("hypot", worst(200, (-9.0, 9.0), |x| x.hypot(1.5), |x| (x * x + exact(2.25)).sqrt())),
        ("sqrt", worst(200, (0.0, 9.0), f64::sqrt, |x| x.sqrt())),
    ];
    for (name, error) in figures {
        println!("{name}: at most {error:.2} units of 2^-53");
        assert!(error <= 4.0, "{name} is off by {error} units");
        assert!(error > 0.0, "{name}: nothing was measured");
    }
}
