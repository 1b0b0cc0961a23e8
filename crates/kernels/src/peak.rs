//! How many multiply-adds a second this processor can do at most: what everything else is measured against.

use crate::level::leveled;
use crate::simd::Simd;

leveled!(
    /// Does 24·`steps` fused multiply-adds of sixteen lanes, as many at a time as there are registers: 768·`steps` floating-point
    /// operations. Returns a number that depends on all of them, so that none is left out.
    multiply_adds = body (steps: usize, seed: f32) -> f32
);

#[inline(always)]
fn body<S: Simd>(steps: usize, seed: f32) -> f32 {
    // As many sums as there are registers for.
    match S::ROWS {
        8.. => sums::<S, 24>(steps, seed),
        3..8 => sums::<S, 6>(4 * steps, seed),
        _ => sums::<S, 3>(8 * steps, seed),
    }
}

#[inline(always)]
fn sums<S: Simd, const N: usize>(steps: usize, seed: f32) -> f32 {
    // SAFETY: called with S's instructions.
    unsafe {
        let (a, b) = (S::splat(0.999_999 + seed), S::splat(1e-6));
        let mut sums = [S::splat(seed); N];
        for _ in 0..steps {
            for sum in &mut sums {
                *sum = S::fma(*sum, a, b);
            }
        }
        let mut total = S::zero();
        for sum in sums {
            total = S::add(total, sum);
        }
        S::sum(total)
    }
}
