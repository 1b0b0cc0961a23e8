// expect: E0451
//! A release cannot be written down as a struct.
use prdo_privacy::{Noised, Released};

fn main() {
    let _ = Released::<Noised> { values: vec![1.0], protection: std::marker::PhantomData };
}
