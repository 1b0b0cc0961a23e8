//! Draws and logarithms by integer and IEEE arithmetic only: the same bits on every machine.
//!
//! The standard library's `ln` may differ in the last bit between platforms, and then two peers would hold
//! different networks.

use prdo_privacy::Stream;
use rand::Rng;

/// A uniformly random order (Fisher and Yates).
pub(super) fn shuffle(items: &mut [u32], stream: &mut Stream) {
    for last in (1..items.len()).rev() {
        items.swap(last, below(stream, last + 1));
    }
}

/// Uniform below `bound`, up to a bias of bound/2^64.
pub(super) fn below(stream: &mut Stream, bound: usize) -> usize {
    ((u128::from(stream.next_u64()) * bound as u128) >> 64) as usize
}

/// Uniform in (0, 1], a multiple of 2^-53.
pub(super) fn unit(stream: &mut Stream) -> f64 {
    ((stream.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64
}

/// ln x of a positive normal number, by the series of the inverse hyperbolic tangent.
pub(super) fn ln(x: f64) -> f64 {
    let exponent = ((x.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    let mantissa = f64::from_bits(x.to_bits() & ((1 << 52) - 1) | 1023 << 52);
    let (exponent, mantissa) = match mantissa > std::f64::consts::SQRT_2 {
        true => (exponent + 1, mantissa / 2.0),
        false => (exponent, mantissa),
    };
    f64::from(exponent) * std::f64::consts::LN_2 + two_atanh((mantissa - 1.0) / (mantissa + 1.0))
}

/// ln(1 − p) for p in (0, 1), exact to rounding also where 1 − p is next to one.
pub(super) fn ln_one_minus(p: f64) -> f64 {
    if p < 0.25 { -two_atanh(p / (2.0 - p)) } else { ln(1.0 - p) }
}

/// ln((1 + s)/(1 − s)) for |s| ≤ 0.172.
fn two_atanh(s: f64) -> f64 {
    let tail = (0..11).rev().fold(0.0, |sum, k| sum * s * s + 1.0 / f64::from(2 * k + 1));
    2.0 * s * tail
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_logarithm_is_right() {
        for i in 1..4000 {
            let x = f64::from(i) / 1000.0;
            assert!((ln(x) - x.ln()).abs() <= 4e-16 * x.ln().abs() + 1e-16, "{x}");
        }
        for p in [1e-300, 1e-17, 1e-9, 1e-3, 0.2, 0.2499, 0.25, 0.5, 0.999, 1.0 - 1e-15] {
            assert!((ln_one_minus(p) / (-p).ln_1p() - 1.0).abs() < 1e-15, "{p}");
        }
        assert!((ln(2f64.powi(-53)) + 53.0 * 2f64.ln()).abs() < 1e-14);
    }
}
