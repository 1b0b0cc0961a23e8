// expect: E0599
//! An exposed value has no wire form.
use prdo_privacy::{Exposed, Released};

fn main() {
    let exposed = Released::<Exposed>::zeros(3);
    let _bytes = exposed.to_wire();
}
