//! What fewer bytes cost in accuracy, in a private run.

use prdo::algorithm::methods::steps::{BITS, WIRE, Wire};
use prdo::prelude::*;

/// Mean ‖∇f(x̄)‖ of the last fifth of the rounds, over some seeds, and the bytes that were sent: ten nodes with 2,000 records each,
/// 400 rounds, z = 6.
fn late_norm(settings: &Settings, seeds: std::ops::Range<u64>) -> (f64, u64) {
    let (mut sum, mut count, mut bytes) = (0.0, 0, 0);
    for seed in seeds {
        let records = prdo::data::generate::logistic(10, 2000, 20, 0.2, 1).unwrap();
        let ring = Mixing::new(&Graph::ring(10).unwrap(), Weights::Paper, false).unwrap();
        let model = Logistic::new(20, 0.001).unwrap();
        let run = Run::new(model, records, ring, Method::Prdo, settings.clone())
            .batch(100, Sampling::Poisson)
            .clip(2.0, 5e-4)
            .private(Privacy::Noise { multiplier: 6.0, delta: 1e-5 })
            .rounds(400)
            .seed(seed)
            .record_every(5);
        for row in run.train().unwrap().rows.iter().filter(|row| row.round > 320) {
            (sum, count, bytes) = (sum + row.grad_norm, count + 1, row.bytes_sent);
        }
    }
    (sum / f64::from(count), bytes)
}

#[test]
fn three_bits_are_within_a_hundredth_of_sixty_four() {
    let plain = Settings::new(0.1).gamma(0.05);
    let bits = plain.clone().with(WIRE.is(Wire::Bits)).with(BITS.is(3.0));
    let ((plain, all), (packed, few)) = (late_norm(&plain, 1..5), late_norm(&bits, 1..5));
    println!("64 bits: {plain:.5} and {all} bytes; 3 bits: {packed:.5} and {few} bytes");
    assert!((packed / plain - 1.0).abs() < 0.01, "{packed} for {plain}");
    assert!(few * 10 <= all, "{few} of {all} bytes");
}
