// expect: E0599 E0624
//! The secret streams can be drawn from by the gate alone.
use prdo_privacy::{Purpose, Secret};

fn main() {
    let secret = Secret::from_seed(1);
    let _ = secret.stream(Purpose::Noise, 0, 0);
    let _ = secret.keyed(1, 0, 0);
}
