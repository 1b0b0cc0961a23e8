//! tanh and ReLU, and their derivatives from their values.

use crate::level::leveled;
use crate::simd::{LANES, Simd};

/// What follows a layer, value by value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    None,
    /// tanh, with a relative error of at most 4e-7.
    Tanh,
    /// max(0, ·).
    Relu,
}

leveled!(
    /// Applies `activation` to each of `values`, whose number is a multiple of [`LANES`].
    apply = apply_body (activation: Activation, values: &mut [f32])
);

leveled!(
    /// Multiplies each of `gradient` by the activation's derivative where its value was `output`. Both have the
    /// same number of values, a multiple of [`LANES`].
    differentiate = differentiate_body (activation: Activation, output: &[f32], gradient: &mut [f32])
);

#[inline(always)]
fn apply_body<S: Simd>(activation: Activation, values: &mut [f32]) {
    for chunk in values.chunks_exact_mut(LANES) {
        // SAFETY: a chunk has sixteen values; called with S's instructions.
        unsafe { S::store(chunk.as_mut_ptr(), forward::<S>(activation, S::load(chunk.as_ptr()))) };
    }
}

#[inline(always)]
fn differentiate_body<S: Simd>(activation: Activation, output: &[f32], gradient: &mut [f32]) {
    for (g, a) in gradient.chunks_exact_mut(LANES).zip(output.chunks_exact(LANES)) {
        // SAFETY: a chunk has sixteen values; called with S's instructions.
        unsafe {
            let v = backward::<S>(activation, S::load(a.as_ptr()), S::load(g.as_ptr()));
            S::store(g.as_mut_ptr(), v);
        }
    }
}

/// activation(x).
///
/// # Safety
/// The instructions of S are there.
#[inline(always)]
pub(crate) unsafe fn forward<S: Simd>(activation: Activation, x: S::V) -> S::V {
    // SAFETY: the caller's.
    unsafe {
        match activation {
            Activation::None => x,
            Activation::Tanh => tanh::<S>(x),
            Activation::Relu => S::max(x, S::zero()),
        }
    }
}

/// g·activation′, where `a` is the activation's value.
///
/// # Safety
/// The instructions of S are there.
#[inline(always)]
pub(crate) unsafe fn backward<S: Simd>(activation: Activation, a: S::V, g: S::V) -> S::V {
    // SAFETY: the caller's.
    unsafe {
        match activation {
            Activation::None => g,
            Activation::Tanh => S::sub(g, S::mul(g, S::mul(a, a))),
            Activation::Relu => S::where_greater(a, S::zero(), g, S::zero()),
        }
    }
}

/// Beyond this, tanh is 1 in single precision.
const SATURATED: f32 = 9.01;
/// tanh x ≈ x·P(x²)/Q(x²) on [−9.01, 9.01], fitted for the least largest relative error: 2.1e-8 before rounding.
const P: [f32; 5] = [0.999_999_98, 0.133_803_7, 3.494_809_5e-3, 2.059_625e-5, 1.333_681_7e-8];
const Q: [f32; 5] = [1.0, 0.467_136_86, 2.587_402e-2, 3.284_360_7e-4, 7.769_27e-7];

#[inline(always)]
unsafe fn tanh<S: Simd>(x: S::V) -> S::V {
    // SAFETY: the caller's.
    unsafe {
        let x = S::max(S::min(x, S::splat(SATURATED)), S::splat(-SATURATED));
        let y = S::mul(x, x);
        S::div(S::mul(x, horner::<S>(&P, y)), horner::<S>(&Q, y))
    }
}

/// Σ c_k y^k.
#[inline(always)]
unsafe fn horner<S: Simd>(c: &[f32; 5], y: S::V) -> S::V {
    // SAFETY: the caller's.
    unsafe {
        let mut sum = S::splat(c[4]);
        for k in (0..4).rev() {
            sum = S::fma(sum, y, S::splat(c[k]));
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;

    #[test]
    fn tanh_is_right_to_the_stated_error_everywhere() {
        for level in Level::available() {
            let mut worst = 0.0_f64;
            for k in 0..40_000 {
                let x: Vec<f32> = (0..16)
                    .map(|i| {
                        let size = 10.0_f64.powf(-8.0 + 9.5 * f64::from(k) / 40_000.0) as f32;
                        size * if i % 2 == 0 { 1.0 } else { -1.0 }
                    })
                    .collect();
                let mut y = x.clone();
                apply(level, Activation::Tanh, &mut y);
                for (x, y) in x.iter().zip(&y) {
                    let exact = f64::from(*x).tanh();
                    worst = worst.max((f64::from(*y) / exact - 1.0).abs());
                }
            }
            assert!(worst < 4e-7, "{}: {worst:e}", level.name());
        }
    }

    #[test]
    fn derivatives_from_values() {
        for level in Level::available() {
            let x: Vec<f32> = (0..32).map(|i| (i as f32 - 15.5) / 6.0).collect();
            for activation in [Activation::None, Activation::Tanh, Activation::Relu] {
                let mut output = x.clone();
                apply(level, activation, &mut output);
                let mut gradient = vec![2.0; 32];
                differentiate(level, activation, &output, &mut gradient);
                for (x, g) in x.iter().zip(gradient) {
                    let exact = match activation {
                        Activation::None => 2.0,
                        Activation::Tanh => 2.0 * (1.0 - x.tanh() * x.tanh()),
                        Activation::Relu => 2.0 * f32::from(u8::from(*x > 0.0)),
                    };
                    assert!((g - exact).abs() < 2e-6);
                }
            }
        }
    }
}
