// expect: E0576 E0599 E0624
//! The mechanism cannot be called past the gate's own checks.
use prdo_privacy::{Gate, Model, Noised, Protection, Query};

fn twice<M: Model>(gate: &mut Gate<M, Noised>, query: &Query<'_, Noised>) {
    let _ = <Noised as Protection>::answer(gate, 0, query);
    let _ = gate.answer_noised(0, query);
    let _ = Noised::answer(gate, 0, query);
}

fn main() {}
