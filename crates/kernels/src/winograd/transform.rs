//! The matrices of Winograd's form, applied to one line of vectors; a tile's two sides are done one after the other.

use crate::simd::Simd;

/// One-dimensional F(M, 3): `M` outputs of three weights and `P` = M + 2 inputs, by `P` products.
///
/// # Safety
/// The methods may be called where S's instructions are there.
pub(super) trait Transform<const M: usize, const P: usize> {
    /// Row `ROW` of Bᵀ d. (Only rows below `P` mean anything.)
    unsafe fn place<S: Simd, const ROW: usize>(d: [S::V; P]) -> S::V;
    /// Bᵀ d.
    unsafe fn inputs<S: Simd>(d: [S::V; P]) -> [S::V; P];
    /// Aᵀ m.
    unsafe fn outputs<S: Simd>(m: [S::V; P]) -> [S::V; M];
    /// A y.
    unsafe fn spread<S: Simd>(y: [S::V; M]) -> [S::V; P];
    /// G g.
    unsafe fn weights<S: Simd>(g: [S::V; 3]) -> [S::V; P];
    /// Gᵀ u.
    unsafe fn taps<S: Simd>(u: [S::V; P]) -> [S::V; 3];
}

/// F(2, 3) at the points 0, 1, −1 and ∞: more accurate than the definition.
pub(super) struct F2;

// SAFETY (all of this block): the trait's contract.
#[allow(clippy::undocumented_unsafe_blocks)]
impl Transform<2, 4> for F2 {
    #[inline(always)]
    unsafe fn place<S: Simd, const ROW: usize>([d0, d1, d2, d3]: [S::V; 4]) -> S::V {
        unsafe {
            match ROW {
                0 => S::sub(d0, d2),
                1 => S::add(d1, d2),
                2 => S::sub(d2, d1),
                _ => S::sub(d1, d3),
            }
        }
    }
    #[inline(always)]
    unsafe fn inputs<S: Simd>(d: [S::V; 4]) -> [S::V; 4] {
        unsafe {
            [Self::place::<S, 0>(d), Self::place::<S, 1>(d), Self::place::<S, 2>(d), Self::place::<S, 3>(d)]
        }
    }
    #[inline(always)]
    unsafe fn outputs<S: Simd>([m0, m1, m2, m3]: [S::V; 4]) -> [S::V; 2] {
        unsafe { [S::add(m0, S::add(m1, m2)), S::sub(S::sub(m1, m2), m3)] }
    }
    #[inline(always)]
    unsafe fn spread<S: Simd>([a, b]: [S::V; 2]) -> [S::V; 4] {
        unsafe { [a, S::add(a, b), S::sub(a, b), S::sub(S::zero(), b)] }
    }
    #[inline(always)]
    unsafe fn weights<S: Simd>([a, b, c]: [S::V; 3]) -> [S::V; 4] {
        unsafe {
            let half = S::splat(0.5);
            let (sum, difference) = (S::add(S::add(a, b), c), S::add(S::sub(a, b), c));
            [a, S::mul(half, sum), S::mul(half, difference), c]
        }
    }
    #[inline(always)]
    unsafe fn taps<S: Simd>([u0, u1, u2, u3]: [S::V; 4]) -> [S::V; 3] {
        unsafe {
            let half = S::splat(0.5);
            let (sum, difference) = (S::mul(half, S::add(u1, u2)), S::mul(half, S::sub(u1, u2)));
            [S::add(u0, sum), difference, S::add(sum, u3)]
        }
    }
}

/// F(4, 3) at the points 0, ±5/8, ±3/2 and ∞.
///
/// The points decide the error. The usual 0, ±1, ±2 (or ±1, ±1/2) have entries in B and A that cancel: on random
/// values, 2.3e-6 of the outputs' norm for 128 channels, where F(2, 3) has 3.5e-7. These points have 1.0e-6. So have
/// ±√2/2 and ±√2, but these are exact in binary, and so are B and A; only G is rounded, as what it gives would be.
/// Points of both signs share even and odd parts. (Rows of B against rows of G could be scaled by any power of two:
/// that changes no rounding, so they are scaled for a 1 in each row of B.)
pub(super) struct F4;

const A: f32 = 5.0 / 8.0;
const B: f32 = 3.0 / 2.0;
const A2: f32 = A * A;
const B2: f32 = B * B;
/// Divisors of G: the products of a point's distances from the others.
const AT_0: f32 = 1.0 / (A2 * B2);
const AT_A: f32 = 1.0 / (2.0 * A2 * (A2 - B2));
const AT_B: f32 = 1.0 / (2.0 * B2 * (B2 - A2));

// SAFETY (all of this block): the trait's contract.
#[allow(clippy::undocumented_unsafe_blocks)]
impl Transform<4, 6> for F4 {
    #[inline(always)]
    unsafe fn place<S: Simd, const ROW: usize>([d0, d1, d2, d3, d4, d5]: [S::V; 6]) -> S::V {
        unsafe {
            match ROW {
                0 => S::fma(S::splat(A2 * B2), d0, S::fma(S::splat(-A2 - B2), d2, d4)),
                1..=4 => {
                    let (own, other) = if ROW < 3 { (A, B2) } else { (B, A2) };
                    let own = if ROW % 2 == 1 { own } else { -own };
                    let even = S::fma(S::splat(-other), d2, d4);
                    let odd = S::fma(S::splat(-other), d1, d3);
                    S::fma(S::splat(own), odd, even)
                }
                _ => S::fma(S::splat(A2 * B2), d1, S::fma(S::splat(-A2 - B2), d3, d5)),
            }
        }
    }
    #[inline(always)]
    unsafe fn inputs<S: Simd>(d: [S::V; 6]) -> [S::V; 6] {
        unsafe {
            let [first, second] = [Self::place::<S, 0>(d), Self::place::<S, 1>(d)];
            let [third, fourth] = [Self::place::<S, 2>(d), Self::place::<S, 3>(d)];
            [first, second, third, fourth, Self::place::<S, 4>(d), Self::place::<S, 5>(d)]
        }
    }
    #[inline(always)]
    unsafe fn outputs<S: Simd>([m0, m1, m2, m3, m4, m5]: [S::V; 6]) -> [S::V; 4] {
        unsafe {
            let (even_a, odd_a, even_b, odd_b) =
                (S::add(m1, m2), S::sub(m1, m2), S::add(m3, m4), S::sub(m3, m4));
            [
                S::add(m0, S::add(even_a, even_b)),
                S::fma(S::splat(A), odd_a, S::mul(S::splat(B), odd_b)),
                S::fma(S::splat(A2), even_a, S::mul(S::splat(B2), even_b)),
                S::fma(S::splat(A * A2), odd_a, S::fma(S::splat(B * B2), odd_b, m5)),
            ]
        }
    }
    #[inline(always)]
    unsafe fn spread<S: Simd>([y0, y1, y2, y3]: [S::V; 4]) -> [S::V; 6] {
        unsafe {
            let (a2, b2) = (S::splat(A2), S::splat(B2));
            let (even_a, odd_a) = (S::fma(a2, y2, y0), S::fma(a2, y3, y1));
            let (even_b, odd_b) = (S::fma(b2, y2, y0), S::fma(b2, y3, y1));
            [
                y0,
                S::fma(S::splat(A), odd_a, even_a),
                S::fma(S::splat(-A), odd_a, even_a),
                S::fma(S::splat(B), odd_b, even_b),
                S::fma(S::splat(-B), odd_b, even_b),
                y3,
            ]
        }
    }
    #[inline(always)]
    unsafe fn weights<S: Simd>([a, b, c]: [S::V; 3]) -> [S::V; 6] {
        unsafe {
            let (even_a, even_b) = (S::fma(S::splat(A2), c, a), S::fma(S::splat(B2), c, a));
            let (odd_a, odd_b) = (S::mul(S::splat(A), b), S::mul(S::splat(B), b));
            let (at_a, at_b) = (S::splat(AT_A), S::splat(AT_B));
            [
                S::mul(S::splat(AT_0), a),
                S::mul(at_a, S::add(even_a, odd_a)),
                S::mul(at_a, S::sub(even_a, odd_a)),
                S::mul(at_b, S::add(even_b, odd_b)),
                S::mul(at_b, S::sub(even_b, odd_b)),
                c,
            ]
        }
    }
    #[inline(always)]
    unsafe fn taps<S: Simd>([u0, u1, u2, u3, u4, u5]: [S::V; 6]) -> [S::V; 3] {
        unsafe {
            let (even_a, odd_a, even_b, odd_b) =
                (S::add(u1, u2), S::sub(u1, u2), S::add(u3, u4), S::sub(u3, u4));
            let (even_a, even_b) = (S::mul(S::splat(AT_A), even_a), S::mul(S::splat(AT_B), even_b));
            [
                S::fma(S::splat(AT_0), u0, S::add(even_a, even_b)),
                S::fma(S::splat(A * AT_A), odd_a, S::mul(S::splat(B * AT_B), odd_b)),
                S::fma(S::splat(A2), even_a, S::fma(S::splat(B2), even_b, u5)),
            ]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{LANES, Portable};

    type Matrix = Vec<Vec<f64>>;

    /// The coefficients of the polynomial with these roots, lowest first.
    fn polynomial(roots: &[f64]) -> Vec<f64> {
        roots.iter().fold(vec![1.0], |p, root| {
            let shifted = |i: usize| if i > 0 { p[i - 1] } else { 0.0 };
            (0..=p.len()).map(|i| shifted(i) - root * p.get(i).unwrap_or(&0.0)).collect()
        })
    }

    /// Aᵀ, G and Bᵀ of F(m, 3) at these m + 1 points and ∞.
    fn matrices(points: &[f64]) -> [Matrix; 3] {
        let (m, p) = (points.len() - 1, points.len() + 1);
        let mut a = vec![vec![0.0; p]; m];
        let (mut g, mut b) = (vec![vec![0.0; 3]; p], vec![vec![0.0; p]; p]);
        for (k, x) in points.iter().enumerate() {
            let others: Vec<f64> = points.iter().copied().filter(|other| other != x).collect();
            let distances: f64 = others.iter().map(|other| x - other).product();
            (0..m).for_each(|i| a[i][k] = x.powi(i as i32));
            (0..3).for_each(|i| g[k][i] = x.powi(i as i32) / distances);
            b[k][..p - 1].copy_from_slice(&polynomial(&others));
        }
        (a[m - 1][p - 1], g[p - 1][2]) = (1.0, 1.0);
        b[p - 1] = polynomial(points);
        [a, g, b]
    }

    /// One entry of a line of portable vectors.
    fn unit<const N: usize>(k: usize) -> [[f32; LANES]; N] {
        std::array::from_fn(|i| [if i == k { 1.0 } else { 0.0 }; LANES])
    }

    #[test]
    fn transforms_are_the_matrices_of_their_points() {
        let [a, g, b] = matrices(&[0.0, 0.625, -0.625, 1.5, -1.5]);
        let same =
            |found: f32, exact: f64| assert!((f64::from(found) - exact).abs() < 1e-6, "{found} {exact}");
        // SAFETY: portable code runs everywhere.
        unsafe {
            for k in 0..6 {
                let (inputs, outputs) = (F4::inputs::<Portable>(unit(k)), F4::outputs::<Portable>(unit(k)));
                let taps = F4::taps::<Portable>(unit(k));
                (0..6).for_each(|i| same(inputs[i][0], b[i][k]));
                (0..4).for_each(|i| same(outputs[i][0], a[i][k]));
                (0..3).for_each(|i| same(taps[i][0], g[k][i]));
            }
            for k in 0..4 {
                let spread = F4::spread::<Portable>(unit(k));
                (0..6).for_each(|i| same(spread[i][0], a[k][i]));
            }
            for k in 0..3 {
                let weights = F4::weights::<Portable>(unit(k));
                (0..6).for_each(|i| same(weights[i][0], g[i][k]));
            }
        }
    }

    /// M x Nᵀ in single precision.
    fn both_sides(m: &Matrix, n: &Matrix, x: &[f32]) -> Vec<f32> {
        let columns = n[0].len();
        let dot = |row: &[f64], at: &dyn Fn(usize) -> f32| -> f32 {
            row.iter().enumerate().fold(0.0, |sum, (k, c)| (*c as f32).mul_add(at(k), sum))
        };
        let down = |at: usize| dot(&m[at / columns], &|k| x[k * columns + at % columns]);
        let half: Vec<f32> = (0..m.len() * columns).map(down).collect();
        let across = |at: usize| dot(&n[at % n.len()], &|k| half[at / n.len() * columns + k]);
        (0..m.len() * n.len()).map(across).collect()
    }

    /// The errors of a tile's outputs, summed over channels in single precision, relative to their norm: by these
    /// points down and across, and by the definition in one running sum.
    fn errors(down: &[f64], across: &[f64], channels: usize) -> [f64; 2] {
        let ([a, g, b], [a2, g2, b2]) = (matrices(down), matrices(across));
        let ((m, p), (n, q)) = ((a.len(), b.len()), (a2.len(), b2.len()));
        let mut state = 1_u64;
        let mut random = |count: usize| -> Vec<f32> {
            let mut next = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 40) as f32 / (1 << 23) as f32 - 1.0
            };
            (0..count).map(|_| next()).collect()
        };
        let (mut wrong, mut all) = ([0.0; 2], 0.0);
        for _ in 0..100 {
            let (mut sums, mut exact) = (vec![0.0_f32; p * q], vec![0.0_f64; m * n]);
            let mut running = vec![0.0_f32; m * n];
            for _ in 0..channels {
                let (x, w) = (random(p * q), random(9));
                let (v, u) = (both_sides(&b, &b2, &x), both_sides(&g, &g2, &w));
                sums.iter_mut().zip(v.iter().zip(&u)).for_each(|(sum, (v, u))| *sum = v.mul_add(*u, *sum));
                for (k, (y, sum)) in exact.iter_mut().zip(&mut running).enumerate() {
                    for (t, w) in w.iter().enumerate() {
                        let x = x[(k / n + t / 3) * q + k % n + t % 3];
                        *y += f64::from(*w) * f64::from(x);
                        *sum = w.mul_add(x, *sum);
                    }
                }
            }
            let found = both_sides(&a, &a2, &sums);
            for ((found, sum), y) in found.into_iter().zip(running).zip(exact) {
                wrong[0] += (f64::from(found) - y).powi(2);
                wrong[1] += (f64::from(sum) - y).powi(2);
                all += y * y;
            }
        }
        wrong.map(|wrong| (wrong / all).sqrt())
    }

    const TWO: &[f64] = &[0.0, 1.0, -1.0];
    const FOUR: &[f64] = &[0.0, 0.625, -0.625, 1.5, -1.5];

    #[test]
    fn these_points_err_less_than_half_as_much_as_the_usual_ones() {
        let error = |points: &[f64]| errors(points, points, 64)[0];
        let (two, ours) = (error(TWO), error(FOUR));
        let (usual, halves) = (error(&[0.0, 1.0, -1.0, 2.0, -2.0]), error(&[0.0, 1.0, -1.0, 0.5, -0.5]));
        assert!(ours < 0.55 * usual && ours < 0.55 * halves, "{ours:e} {usual:e} {halves:e}");
        assert!(ours < 4.0 * two && ours < 1e-6, "{ours:e} {two:e}");
    }

    #[test]
    fn wide_tiles_err_as_the_definition_does() {
        for channels in [32, 64, 128] {
            let ([square, definition], [wide, _]) = (errors(TWO, TWO, channels), errors(TWO, FOUR, channels));
            assert!(square < definition, "{channels}: {square:e} {definition:e}");
            assert!(wide < 1.25 * definition, "{channels}: {wide:e} {definition:e}");
        }
    }
}
