// expect: E0308
//! A private gate is asked only at points that are themselves released.
use prdo_privacy::{Exposed, Gate, Model, Noised, Query, Released};

fn ask<M: Model<Data = Vec<f64>>>(gate: &mut Gate<Vec<f64>, Noised>, model: &M) {
    let exposed = Released::<Exposed>::zeros(1);
    let _ = gate.answer(model, 0, &Query::gradient(&exposed));
}

fn main() {}
