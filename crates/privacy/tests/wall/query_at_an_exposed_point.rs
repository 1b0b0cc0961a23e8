// expect: E0308
//! A private gate is asked only at points that are themselves released.
use prdo_privacy::{Exposed, Gate, Model, Noised, Query, Released};

fn ask<M: Model>(gate: &mut Gate<M, Noised>) {
    let exposed = Released::<Exposed>::zeros(1);
    let _ = gate.answer(0, &Query::gradient(&exposed));
}

fn main() {}
