//! Points from the whole range of rates, noises, counts and δ: sound, finite, ordered, mostly tight.
//!
//! `PRDO_POINTS=2000 cargo test --release -p prdo-accounting --test accounting random_points:: -- --nocapture` draws more of them and
//! shows the slowest and the widest.

use chacha20::ChaCha20Rng;
use prdo_accounting::*;
use rand::{RngExt, SeedableRng};
use rayon::prelude::*;
use std::time::Instant;

#[derive(Clone, Copy, Debug)]
struct Point {
    rate: f64,
    noise: f64,
    rounds: u64,
    delta: f64,
}

fn draw(random: &mut ChaCha20Rng) -> Point {
    let mut log = |low: f64, high: f64| {
        let share: f64 = random.random();
        (low.ln() + share * (high / low).ln()).exp()
    };
    let (rate, noise) = (log(1e-6, 1.0), log(0.3, 100.0));
    Point { rate, noise, rounds: log(1.0, 1e7) as u64, delta: log(1e-15, 1e-2) }
}

fn check(point: &Point) -> (f64, f64) {
    let history = History::new().and(Event::sampled_gaussian(point.rate, point.noise).unwrap(), point.rounds);
    let start = Instant::now();
    let Bounds { lower, upper } = numerical::epsilon(&history, point.delta).unwrap();
    let seconds = start.elapsed().as_secs_f64();
    assert!(lower >= 0.0 && lower <= upper && upper.is_finite(), "{point:?}: [{lower}, {upper}]");
    // Two simpler bounds hold too: Rényi from above, one release alone from below.
    let renyi = renyi::epsilon(&history, point.delta);
    assert!(lower <= renyi * (1.0 + 1e-8), "{point:?}: {lower} is above the Rényi bound {renyi}");
    let single = History::new().and(Event::sampled_gaussian(point.rate, point.noise).unwrap(), 1);
    let single = numerical::epsilon(&single, point.delta).unwrap().lower;
    assert!(upper >= single, "{point:?}: {upper} is below one release alone, {single}");
    let width = if upper - lower <= 1e-10 { 0.0 } else { (upper - lower) / upper };
    (width, seconds)
}

#[test]
fn sound_finite_and_mostly_tight() {
    let count: usize = std::env::var("PRDO_POINTS").ok().and_then(|n| n.parse().ok()).unwrap_or(120);
    let mut random = ChaCha20Rng::seed_from_u64(3);
    let points: Vec<Point> = (0..count).map(|_| draw(&mut random)).collect();
    let mut results: Vec<(Point, f64, f64)> = points
        .par_iter()
        .map(|point| {
            let (width, seconds) = check(point);
            (*point, width, seconds)
        })
        .collect();
    let tight = results.iter().filter(|(_, width, _)| *width <= 1e-6).count();
    println!("{tight} of {count} intervals are narrower than 1e-6 of ε");
    results.sort_by(|a, b| b.1.total_cmp(&a.1));
    results.iter().take(12).for_each(|(point, width, _)| println!("widest: {point:?}: {width:.1e}"));
    results.sort_by(|a, b| b.2.total_cmp(&a.2));
    results.iter().take(12).for_each(|(point, _, seconds)| println!("slowest: {point:?}: {seconds:.3} s"));
    let total: f64 = results.iter().map(|(_, _, seconds)| seconds).sum();
    println!("{:.2} ms on average, median {:.2} ms", 1e3 * total / count as f64, 1e3 * results[count / 2].2);
    assert!(tight * 10 >= count * 9, "only {tight} of {count} are tight");
}
