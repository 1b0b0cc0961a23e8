// expect: E0277 E0599
//! Nor by a type parameter, on which the functions of sealed supertraits can be called: none of them reaches the
//! mechanism without naming it.
use prdo_privacy::{Gate, Model, Protection, Query};

fn twice<M: Model, P: Protection>(gate: &mut Gate<M, P>, query: &Query<'_, P>) {
    let _ = P::answer(gate, 0, query);
    let _ = P::case::<M>((gate, 0, query));
}

fn main() {}
