// expect: E0277 E0308
//! An exposed value cannot become, or be mixed into, a noised one.
use prdo_privacy::{Exposed, Noised, Released};

fn main() {
    let exposed = Released::<Exposed>::zeros(3);
    let mut noised = Released::<Noised>::zeros(3);
    let _converted: Released<Noised> = exposed.clone().into();
    let _combined: Released<Noised> = Released::combine([(1.0, &noised), (1.0, &exposed)]);
    noised.blend(1.0, 1.0, &exposed);
}
