//! How many multiply-adds a second this processor can do at most: what everything else is measured against.

use crate::level::leveled;
use crate::simd::Simd;

leveled!(
    /// Does `steps` times 24 independent fused multiply-adds of sixteen lanes: 768·`steps` floating-point
    /// operations. Returns a number that depends on all of them, so that none is left out.
    multiply_adds = body (steps: usize, seed: f32) -> f32
);

#[inline(always)]
fn body<S: Simd>(steps: usize, seed: f32) -> f32 {
    // SAFETY: called with S's instructions.
    unsafe {
        let (a, b) = (S::splat(0.999_999 + seed), S::splat(1e-6));
        let mut sums = [S::splat(seed); 24];
        for _ in 0..steps {
            for sum in &mut sums {
                *sum = S::fma(*sum, a, b);
            }
        }
        let total = sums.into_iter().fold(S::zero(), |total, sum| S::add(total, sum));
        S::sum(total)
    }
}
