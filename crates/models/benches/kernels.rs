//! Nanoseconds a record of the logistic model's batch kernels, beside the plain loop over records that every
//! model gets by default. `cargo bench -p prdo-models`
#![allow(clippy::unwrap_used)]

use prdo_models::Logistic;
use prdo_privacy::{Model, Records};
use std::hint::black_box;
use std::time::Instant;

const RECORDS: usize = 2000;
const REPEATS: usize = 400;

/// Best of five, in nanoseconds a record.
fn time(mut work: impl FnMut()) -> f64 {
    let once = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        (0..REPEATS).for_each(|_| work());
        start.elapsed().as_secs_f64() * 1e9 / (REPEATS * RECORDS) as f64
    };
    (0..5).map(|_| once(&mut work)).fold(f64::INFINITY, f64::min)
}

fn main() {
    println!("{:>5} {:>12} {:>12} {:>12} {:>10}", "width", "loop ns", "gradient ns", "with loss ns", "ratio");
    for width in [5, 10, 20, 50, 100, 784] {
        let data = prdo_data::generate::logistic(1, RECORDS, width, 0.2, 1).unwrap().remove(0);
        let model = Logistic::new(width, 0.001).unwrap();
        let x: Vec<f64> = (0..width).map(|j| (j as f64 * 0.7).sin()).collect();
        let (mut sum, mut gradient) = (vec![0.0; width], vec![0.0; width]);
        let plain = time(|| {
            for r in 0..RECORDS {
                model.gradient(black_box(&x), &data, r, &mut gradient);
                sum.iter_mut().zip(&gradient).for_each(|(s, g)| *s += g);
            }
            black_box(&mut sum);
        });
        let batch =
            time(|| model.add_gradients(black_box(&x), &data, Records::Run(0, RECORDS), black_box(&mut sum)));
        let both = time(|| {
            black_box(model.evaluate(black_box(&x), &data, Records::Run(0, RECORDS), black_box(&mut sum)));
        });
        println!("{width:>5} {plain:>12.2} {batch:>12.2} {both:>12.2} {:>10.2}", plain / batch);
    }
}
