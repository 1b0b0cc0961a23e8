// expect: E0596
//! A node's ledger can be read, not changed.
use prdo_privacy::{Gate, History, Model, Noised};

fn refill<M: Model>(gate: &Gate<M, Noised>) {
    gate.ledger().restore(&History::new());
}

fn main() {}
