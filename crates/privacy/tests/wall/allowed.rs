// expect:
//! What an honest node does compiles.
use prdo_privacy::{Noised, Released, Shard};

fn main() {
    let shard = Shard::seal(vec![1.0, 2.0]).unwrap();
    let noised = Released::<Noised>::zeros(shard.slots());
    let sum = Released::combine([(1.0, &noised), (0.5, &noised)]);
    let _bytes = sum.to_wire();
    let halves = |shown: &[&[f64]]| Ok::<_, ()>(vec![shown[0].iter().map(|v| v / 2.0).collect()]);
    let computed = Released::computed(&[&sum], halves).unwrap();
    let _bytes = computed[0].to_wire();
}
