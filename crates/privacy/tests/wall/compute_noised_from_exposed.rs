// expect: E0308
//! What a program computes from exposed vectors is exposed, and it is not shown both kinds together.
use prdo_privacy::{Exposed, Noised, Released};

fn main() {
    let exposed = Released::<Exposed>::zeros(3);
    let noised = Released::<Noised>::zeros(3);
    let keep = |shown: &[&[f64]]| Ok::<_, ()>(vec![shown[0].to_vec()]);
    let _computed: Vec<Released<Noised>> = Released::computed(&[&exposed], keep).unwrap();
    let _both = Released::computed(&[&noised, &exposed], keep);
}
