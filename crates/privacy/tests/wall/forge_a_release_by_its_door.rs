// expect: E0624
//! The gate's own door is closed to everyone else.
use prdo_privacy::{Noised, Released};

fn main() {
    let _ = Released::<Noised>::from_gate(vec![1.0]);
}
