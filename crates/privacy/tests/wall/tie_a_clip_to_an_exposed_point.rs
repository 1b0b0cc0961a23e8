// expect: E0308
//! A clip that is tied to a movement is tied to released points.
use prdo_privacy::{Exposed, Gate, Model, Noised, Query, Released};

fn ask<M: Model>(gate: &mut Gate<M, Noised>, at: &Released<Noised>) {
    let exposed = Released::<Exposed>::zeros(1);
    let _ = gate.answer(0, &Query::moved(at, &exposed, 1.0));
}

fn main() {}
