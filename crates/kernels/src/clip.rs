//! Norms of single-precision vectors, and clipped vectors added to exact integer sums.
//!
//! Lengths are multiples of [`LANES`]; sums are in units of a grid's spacing, which is in the factors.

use crate::level::leveled;
use crate::simd::{LANES, Simd};

/// At most this much, relative, is the error of [`sum_of_squares`] and [`sums_of_squares`]: each lane
/// adds at most 32 squares in single precision before it continues in double precision.
pub const SQUARES_ERROR: f64 = (RUN as f64 + 4.0) * f32::EPSILON as f64;
/// Vectors added up in single precision before their sum is taken to double precision.
const RUN: usize = 32;

leveled!(
    /// Σ v², to [`SQUARES_ERROR`]; infinite or NaN if a value is, or if it is beyond 1e19.
    sum_of_squares = sum_of_squares_body (values: &[f32]) -> f64
);

leveled!(
    /// Σ a² and Σ (a − b)², each difference rounded once, both to [`SQUARES_ERROR`].
    sums_of_squares = sums_of_squares_body (a: &[f32], b: &[f32]) -> [f64; 2]
);

leveled!(
    /// sum += round(factor·v).
    add = add_body (sum: &mut [i32], factor: f32, values: &[f32])
);

leveled!(
    /// sum += round(first·a + second·(a − b)).
    add_difference = add_difference_body (sum: &mut [i32], first: f32, second: f32, a: &[f32], b: &[f32])
);

leveled!(
    /// Makes of a sum in steps of a grid an average, steps·spacing/size, in its place: the bits of a double. The same
    /// with all instructions.
    average = average_body (steps: &mut [i64], spacing: f64, size: f64)
);

/// The doubles whose bits these are, in the same memory.
pub fn doubles(bits: Vec<i64>) -> Vec<f64> {
    const { assert!(size_of::<i64>() == size_of::<f64>() && align_of::<i64>() == align_of::<f64>()) };
    let mut bits = std::mem::ManuallyDrop::new(bits);
    // SAFETY: the allocation of a vector that is not used again; both types have the same size and alignment, and all
    // bits are a double.
    unsafe { Vec::from_raw_parts(bits.as_mut_ptr().cast(), bits.len(), bits.capacity()) }
}

/// Adds to each of `sums` the value at its place.
///
/// # Panics
/// When there are not as many places as sums, or one is beyond the values.
pub fn add_from_places<T: Copy + Into<i64>>(sums: &mut [i64], values: &[T], places: &[u32]) {
    check_equal(sums.len(), places.len());
    let mut most = 0;
    for place in places {
        most = most.max(*place);
    }
    assert!(places.is_empty() || (most as usize) < values.len(), "place {most} of {} values", values.len());
    for (sum, place) in sums.iter_mut().zip(places) {
        // SAFETY: every place is below the length.
        *sum += unsafe { *values.get_unchecked(*place as usize) }.into();
    }
}

/// One rank-one matrix `along[i]·columns[j]`, and perhaps a second one `across.0[i]·across.1[j]` that is added.
#[derive(Clone, Copy, Debug)]
pub struct Outer<'a> {
    pub along: &'a [f32],
    pub columns: &'a [f32],
    pub across: Option<(&'a [f32], &'a [f32])>,
}

leveled!(
    /// sum += Σ_terms round(term), each term rounded by itself; row-major. Several at a time, because reading and
    /// writing the sum is what takes time.
    add_outers = add_outers_body (sum: &mut [i32], terms: &[Outer<'_>])
);

#[inline(always)]
fn sum_of_squares_body<S: Simd>(values: &[f32]) -> f64 {
    check(values.len(), values.len());
    squares::<S, false>(values, values)[0]
}

#[inline(always)]
fn sums_of_squares_body<S: Simd>(a: &[f32], b: &[f32]) -> [f64; 2] {
    check(a.len(), b.len());
    squares::<S, true>(a, b)
}

/// Σ a² and, if `BOTH`, Σ (a − b)²; equal lengths, multiples of sixteen.
#[inline(always)]
fn squares<S: Simd, const BOTH: bool>(a: &[f32], b: &[f32]) -> [f64; 2] {
    let (mut totals, mut start) = ([0.0; 2], 0);
    while start < a.len() {
        let end = (start + 4 * RUN * LANES).min(a.len());
        // SAFETY: offsets are multiples of sixteen below both lengths; called with S's instructions.
        unsafe {
            let mut sums = [[S::zero(); 4]; 2];
            let mut at = start;
            while at + 4 * LANES <= end {
                for k in 0..4 {
                    square::<S, BOTH>(a, b, at + k * LANES, &mut sums, k);
                }
                at += 4 * LANES;
            }
            while at < end {
                square::<S, BOTH>(a, b, at, &mut sums, 0);
                at += LANES;
            }
            for (total, sums) in totals.iter_mut().zip(sums) {
                for sum in sums {
                    let mut lanes = [0.0_f32; LANES];
                    S::store(lanes.as_mut_ptr(), sum);
                    *total += lanes.iter().map(|l| f64::from(*l)).sum::<f64>();
                }
            }
        }
        start = end;
    }
    totals
}

/// Adds the squares of sixteen values to running sums number `k`.
#[inline(always)]
unsafe fn square<S: Simd, const BOTH: bool>(
    a: &[f32],
    b: &[f32],
    at: usize,
    sums: &mut [[S::V; 4]; 2],
    k: usize,
) {
    // SAFETY: the caller's: sixteen values begin there in both.
    unsafe {
        let v = S::load(a.as_ptr().add(at));
        sums[0][k] = S::fma(v, v, sums[0][k]);
        if BOTH {
            let d = S::sub(v, S::load(b.as_ptr().add(at)));
            sums[1][k] = S::fma(d, d, sums[1][k]);
        }
    }
}

#[inline(always)]
fn add_body<S: Simd>(sum: &mut [i32], factor: f32, values: &[f32]) {
    check(sum.len(), values.len());
    // SAFETY: equal lengths, multiples of sixteen; called with S's instructions.
    unsafe {
        let factor = S::splat(factor);
        for at in (0..sum.len()).step_by(LANES) {
            let value = S::mul(factor, S::load(values.as_ptr().add(at)));
            add_at::<S>(sum.as_mut_ptr().add(at), value);
        }
    }
}

#[inline(always)]
fn add_difference_body<S: Simd>(sum: &mut [i32], first: f32, second: f32, a: &[f32], b: &[f32]) {
    check(sum.len(), a.len());
    check(sum.len(), b.len());
    // SAFETY: equal lengths, multiples of sixteen; called with S's instructions.
    unsafe {
        let (first, second) = (S::splat(first), S::splat(second));
        for at in (0..sum.len()).step_by(LANES) {
            let (a, b) = (S::load(a.as_ptr().add(at)), S::load(b.as_ptr().add(at)));
            add_at::<S>(sum.as_mut_ptr().add(at), S::fma(first, a, S::mul(second, S::sub(a, b))));
        }
    }
}

/// Adds sixteen rounded values to the sixteen integers at `p`.
#[inline(always)]
unsafe fn add_at<S: Simd>(p: *mut i32, v: S::V) {
    // SAFETY: the caller's.
    unsafe { S::store_sums(p, S::add_rounded(S::load_sums(p), v)) }
}

/// The compiler makes vectors of it where there are instructions for 64-bit integers.
#[inline(always)]
fn average_body<S: Simd>(steps: &mut [i64], spacing: f64, size: f64) {
    for steps in steps {
        *steps = (*steps as f64 * spacing / size).to_bits() as i64;
    }
}

#[inline(always)]
fn add_outers_body<S: Simd>(sum: &mut [i32], terms: &[Outer<'_>]) {
    let Some(Outer { along, columns, .. }) = terms.first() else { return };
    let (rows, width) = (along.len(), columns.len());
    check(sum.len(), rows * width);
    check(width, width);
    for term in terms {
        check_equal(term.along.len(), rows);
        check_equal(term.columns.len(), width);
        if let Some((across, others)) = term.across {
            check_equal(across.len(), rows);
            check_equal(others.len(), width);
        }
    }
    // SAFETY: the lengths were checked; called with S's instructions.
    unsafe {
        for i in 0..rows {
            let out = sum.as_mut_ptr().add(i * width);
            let mut at = 0;
            while at + 4 * LANES <= width {
                add_outers_at::<S, 4>(out, terms, i, at);
                at += 4 * LANES;
            }
            while at < width {
                add_outers_at::<S, 1>(out, terms, i, at);
                at += LANES;
            }
        }
    }
}

/// Row `i` of every term, `N` vectors from column `at` on: what is read about a term is read once for all of them.
#[inline(always)]
unsafe fn add_outers_at<S: Simd, const N: usize>(out: *mut i32, terms: &[Outer<'_>], i: usize, at: usize) {
    // SAFETY: the caller's: every term has row `i` and these columns.
    unsafe {
        let mut sums = [S::load_sums(out.add(at)); N];
        for (n, sum) in sums.iter_mut().enumerate().skip(1) {
            *sum = S::load_sums(out.add(at + n * LANES));
        }
        for term in terms {
            let along = S::splat(*term.along.get_unchecked(i));
            let mut values = [along; N];
            for (n, value) in values.iter_mut().enumerate() {
                *value = S::mul(along, S::load(term.columns.as_ptr().add(at + n * LANES)));
            }
            if let Some((across, others)) = term.across {
                let across = S::splat(*across.get_unchecked(i));
                for (n, value) in values.iter_mut().enumerate() {
                    *value = S::fma(across, S::load(others.as_ptr().add(at + n * LANES)), *value);
                }
            }
            for (sum, value) in sums.iter_mut().zip(values) {
                *sum = S::add_rounded(*sum, value);
            }
        }
        for (n, sum) in sums.iter().enumerate() {
            S::store_sums(out.add(at + n * LANES), *sum);
        }
    }
}

fn check(len: usize, other: usize) {
    assert!(len == other && len.is_multiple_of(LANES), "lengths {len} and {other} do not fit");
}

fn check_equal(len: usize, other: usize) {
    assert!(len == other, "lengths {len} and {other} differ");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;

    fn values(n: usize, seed: u32) -> Vec<f32> {
        (0..n as u32).map(|i| ((i.wrapping_mul(2_654_435_761) ^ seed) % 2000) as f32 / 1000.0 - 1.0).collect()
    }

    #[test]
    fn norms_and_sums_are_their_definitions() {
        for level in Level::available() {
            for n in [16, 48, 64, 4096, 4096 + 32, 10_000 * 16] {
                let (a, b) = (values(n, 3), values(n, 11));
                let exact: f64 = a.iter().map(|v| f64::from(*v).powi(2)).sum();
                assert!((sum_of_squares(level, &a) / exact - 1.0).abs() < SQUARES_ERROR);
                let exact: f64 = a.iter().zip(&b).map(|(a, b)| f64::from(a - b).powi(2)).sum();
                let [squares, differences] = sums_of_squares(level, &a, &b);
                assert!((differences / exact - 1.0).abs() < SQUARES_ERROR);
                assert!((squares / sum_of_squares(level, &a) - 1.0).abs() < 1e-12);
                let mut sum = vec![7; n];
                add(level, &mut sum, 1e6, &a);
                add_difference(level, &mut sum, 3e5, -2e6, &a, &b);
                for ((s, a), b) in sum.iter().zip(&a).zip(&b) {
                    let (a, b) = (f64::from(*a), f64::from(*b));
                    let exact = 7.0 + 1e6 * a + 3e5 * a - 2e6 * (a - b);
                    assert!((f64::from(*s) - exact).abs() < 2.0);
                }
            }
            assert!(!sum_of_squares(level, &[f32::NAN; 16]).is_finite());
            assert!(!sum_of_squares(level, &[f32::INFINITY; 16]).is_finite());
        }
    }

    #[test]
    fn averages_have_the_same_bits_everywhere() {
        let step = |i: i64| (i - 50).wrapping_mul(0x0123_4567_89ab_cdef) >> (i % 60);
        let steps: Vec<i64> = (0..100).map(step).collect();
        let exact: Vec<f64> = steps.iter().map(|s| *s as f64 * 0.0625 / 101.0).collect();
        for level in Level::available() {
            let mut steps = steps.clone();
            average(level, &mut steps, 0.0625, 101.0);
            assert_eq!(doubles(steps), exact);
        }
        assert_eq!(doubles(Vec::new()), Vec::<f64>::new());
    }

    #[test]
    fn values_are_added_from_their_places() {
        let mut sums = [1_i64 << 40, 2, 3];
        add_from_places(&mut sums, &[10_i32, -20, 30], &[2, 0, 1]);
        add_from_places(&mut sums, &[1_i64 << 50], &[0, 0, 0]);
        let far = 1 << 50;
        assert_eq!(sums, [(1 << 40) + 30 + far, 12 + far, -17 + far]);
        add_from_places::<i32>(&mut [], &[], &[]);
    }

    #[test]
    #[should_panic(expected = "place 2 of 2 values")]
    fn a_place_beyond_the_values_is_refused() {
        add_from_places(&mut [0], &[1_i32, 2], &[2]);
    }

    #[test]
    fn outer_products_are_their_definitions() {
        for level in Level::available() {
            let (r1, r2, c1, c2) = (values(5, 1), values(5, 2), values(112, 3), values(112, 4));
            let scaled = |r: &[f32], by: f32| r.iter().map(|r| by * r).collect::<Vec<f32>>();
            let (along, across) = (scaled(&r1, 1e6), scaled(&r2, -3e5));
            let one = Outer { along: &along, columns: &c1, across: None };
            let two = Outer { along: &along, columns: &c2, across: Some((&across, &c1)) };
            let mut sum = vec![3; 5 * 112];
            add_outers(level, &mut sum, &[one, two]);
            for i in 0..5 {
                for j in 0..112 {
                    let (r1, r2, c1, c2) =
                        (f64::from(r1[i]), f64::from(r2[i]), f64::from(c1[j]), f64::from(c2[j]));
                    let exact = 3.0 + 1e6 * r1 * c1 + 1e6 * r1 * c2 - 3e5 * r2 * c1;
                    assert!((f64::from(sum[i * 112 + j]) - exact).abs() < 1.5);
                }
            }
        }
    }
}
