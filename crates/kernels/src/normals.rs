//! Normals from random bits, many at a time (Box and Muller 1958), in double precision.
//!
//! Every version executes the same operations in the same order, so all give the same bits: two machines that know the same
//! random bits have the same normals.

use crate::linear::dispatched;

/// Normals that are made together.
pub const BLOCK: usize = 64;
const HALF: usize = BLOCK / 2;

dispatched!(
    /// Adds `scale` times a standard normal to each of `out`. A normal takes eight bytes: `bytes` has those of as many whole
    /// blocks of [`BLOCK`] as `out` begins.
    add_normals,
    add_normals_body,
    (bytes: &[u8], scale: f64, out: &mut [f64])
);

#[inline(always)]
fn add_normals_body(bytes: &[u8], scale: f64, out: &mut [f64]) {
    for (bytes, out) in bytes.chunks_exact(8 * BLOCK).zip(out.chunks_mut(BLOCK)) {
        let mut words = [0_u64; BLOCK];
        for (word, eight) in words.iter_mut().zip(bytes.chunks_exact(8)) {
            let mut own = [0_u8; 8];
            own.copy_from_slice(eight);
            *word = u64::from_le_bytes(own);
        }
        let mut normals = [0.0; BLOCK];
        for k in 0..HALF {
            let radius = scale * (-2.0 * ln(unit(words[k]))).sqrt();
            let (x, y) = direction(words[HALF + k]);
            normals[k] = radius * x;
            normals[HALF + k] = radius * y;
        }
        for (out, normal) in out.iter_mut().zip(normals) {
            *out += normal;
        }
    }
}

/// The high 52 bits as a number between 0 and 1, neither of them.
#[inline(always)]
fn unit(word: u64) -> f64 {
    f64::from_bits((word >> 12) | 0x3FF0_0000_0000_0000) - (1.0 - f64::EPSILON / 2.0)
}

/// √½ as bits: mantissas lie between it and √2.
const LEAST_MANTISSA: u64 = 0x3FE6_A09E_667F_3BCD;

/// The logarithm of a number between 2⁻¹⁰⁰ and 1, with a relative error of some units of 2⁻⁵².
#[inline(always)]
fn ln(x: f64) -> f64 {
    let shifted = x.to_bits().wrapping_add(0x3FF0_0000_0000_0000 - LEAST_MANTISSA);
    // 2⁵² + exponent as a double: no conversion that only some processors have.
    let exponent =
        f64::from_bits((shifted >> 52) | 0x4330_0000_0000_0000) - (4_503_599_627_370_496.0 + 1023.0);
    let mantissa = f64::from_bits((shifted & 0x000F_FFFF_FFFF_FFFF) + LEAST_MANTISSA);
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let z = s * s;
    // 2·artanh(s) = 2s·(1 + z/3 + z²/5 + …), |s| ≤ 0.1716.
    let mut series = 1.0 / 21.0;
    for odd in [19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0] {
        series = f64::mul_add(series, z, 1.0 / odd);
    }
    let tail = 2.0 * s * (z * series);
    f64::mul_add(exponent, std::f64::consts::LN_2, f64::mul_add(2.0, s, tail))
}

/// A point of the unit circle: an angle below π/4 from the high bits, mirrored by three of the low ones.
#[inline(always)]
fn direction(word: u64) -> (f64, f64) {
    let angle = unit(word) * std::f64::consts::FRAC_PI_4;
    let z = angle * angle;
    // Taylor's series to z⁷ and z⁸: the next terms are below 2⁻⁵³ here.
    let (mut sine, mut cosine) = (0.0, 0.0);
    for (of_sine, of_cosine) in SERIES {
        sine = f64::mul_add(sine, z, of_sine);
        cosine = f64::mul_add(cosine, z, of_cosine);
    }
    let (sine, cosine) = (sine * angle, f64::mul_add(cosine, z, 1.0));
    let mirrored = 0_u64.wrapping_sub(word & 1);
    let swapped = (sine.to_bits() ^ cosine.to_bits()) & mirrored;
    let (x, y) = (cosine.to_bits() ^ swapped, sine.to_bits() ^ swapped);
    (f64::from_bits(x ^ ((word >> 1 & 1) << 63)), f64::from_bits(y ^ ((word >> 2 & 1) << 63)))
}

/// Coefficients of sin(a)/a, and of (cos(a) − 1)/a², in a², the highest first.
const SERIES: [(f64, f64); 8] = [
    (-1.0 / 1_307_674_368_000.0, 1.0 / 20_922_789_888_000.0),
    (1.0 / 6_227_020_800.0, -1.0 / 87_178_291_200.0),
    (-1.0 / 39_916_800.0, 1.0 / 479_001_600.0),
    (1.0 / 362_880.0, -1.0 / 3_628_800.0),
    (-1.0 / 5_040.0, 1.0 / 40_320.0),
    (1.0 / 120.0, -1.0 / 720.0),
    (-1.0 / 6.0, 1.0 / 24.0),
    (1.0, -0.5),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn random(count: usize, seed: u64) -> Vec<u8> {
        let mut state = seed;
        let mut next = || {
            // SplitMix64.
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            z ^ (z >> 31)
        };
        (0..count).flat_map(|_| next().to_le_bytes()).collect()
    }

    #[test]
    fn logarithms_and_directions_are_right_to_some_units_in_the_last_place() {
        let bytes = random(20_000, 1);
        let words = bytes.chunks_exact(8).map(|b| u64::from_le_bytes(b.try_into().unwrap()));
        let edges = [0, 1 << 12, u64::MAX, 0xFFF, 1 << 63, (1 << 63) - 1, 0xB504_F333_F9DE_6484];
        for word in words.chain(edges) {
            let u = unit(word);
            assert!(u > 0.0 && u < 1.0);
            assert!((ln(u) / u.ln() - 1.0).abs() < 1e-14, "{u:e}: {} {}", ln(u), u.ln());
            let (x, y) = direction(word);
            assert!((x * x + y * y - 1.0).abs() < 1e-14);
            let angle = u * std::f64::consts::FRAC_PI_4;
            let (small, large) = (x.abs().min(y.abs()), x.abs().max(y.abs()));
            assert!((small - angle.sin()).abs() < 1e-15 && (large - angle.cos()).abs() < 1e-15);
        }
    }

    #[test]
    fn every_instruction_set_has_the_same_bits_and_parts_of_a_block_are_its_beginning() {
        for len in [0_usize, 1, 63, 64, 65, 1000] {
            let bytes = random(len.div_ceil(BLOCK) * BLOCK, 7);
            let (mut a, mut b) = (vec![0.5; len], vec![0.5; len]);
            add_normals(&bytes, 1.7, &mut a);
            add_normals_body(&bytes, 1.7, &mut b);
            assert_eq!(a, b);
            let whole = random(1024, 7);
            let mut all = vec![0.5; 1024];
            add_normals(&whole, 1.7, &mut all);
            assert_eq!(a, all[..len]);
        }
    }

    #[test]
    fn the_normals_are_normal_and_independent() {
        let n = 1 << 20;
        let mut values = vec![0.0; n];
        add_normals(&random(n, 3), 1.0, &mut values);
        let moment = |k: i32| values.iter().map(|v| v.powi(k)).sum::<f64>() / n as f64;
        // Six standard errors.
        for (k, expected, variance) in
            [(1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0), (6, 15.0, 10_170.0)]
        {
            let error = 6.0 * f64::sqrt(variance / n as f64);
            assert!((moment(k) - expected).abs() < error, "{k}: {}", moment(k));
        }
        // Those of a pair, and their squares, among others.
        for lag in [1, HALF, BLOCK] {
            let pairs = || values[lag..].iter().zip(&values);
            let product = pairs().map(|(a, b)| a * b).sum::<f64>() / (n as f64).sqrt();
            let squares = pairs().map(|(a, b)| (a * a - 1.0) * (b * b - 1.0)).sum::<f64>();
            assert!(product.abs() < 6.0 && (squares / (4.0 * n as f64).sqrt()).abs() < 6.0, "{lag}");
        }
        let beyond = |z: f64| values.iter().filter(|v| v.abs() > z).count() as f64;
        for (z, share) in [(1.0, 0.317_310_5), (2.0, 0.045_500_26), (3.0, 0.002_699_796), (4.0, 6.334_248e-5)]
        {
            let expected = share * n as f64;
            assert!((beyond(z) - expected).abs() < 6.0 * expected.sqrt(), "{z}: {}", beyond(z));
        }
    }
}
