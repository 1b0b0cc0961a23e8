// expect: E0616 E0624
//! Sealed records cannot be read back.
use prdo_privacy::Shard;

fn main() {
    let shard = Shard::seal(vec![1.0, 2.0]).unwrap();
    let _by_method = shard.data();
    let _by_field = shard.data;
}
