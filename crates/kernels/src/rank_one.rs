//! Products of a few rows of doubles with many columns: the scores of linear models, and sums of outer products.
//!
//! As in [`linear`](crate::linear), every instruction set executes the same operations in the same order and gives the
//! same bits. Lines are padded with zeros to multiples of [`STEP`] values.

use crate::Level;
use crate::level::Set;
use crate::simd::{read, write};

/// Lines have a multiple of this many values.
pub const STEP: usize = 8;

/// 1.5·2⁵²: a number added to it is rounded to an integer, ties to even, which is in the low bits of the sum.
const MAGIC: f64 = 6_755_399_441_055_744.0;

/// Eight doubles and what is done with them.
///
/// # Safety
/// As for `Simd`: in code compiled for, and run with, the implementation's instructions; pointers valid for eight values.
trait Doubles: Copy {
    type V: Copy;
    type I: Copy;
    #[inline(always)]
    unsafe fn load(p: *const f64) -> Self::V {
        // SAFETY: the caller's pointer is valid for eight values; registers lie in memory as arrays do.
        unsafe { read(p) }
    }
    #[inline(always)]
    unsafe fn store(p: *mut f64, v: Self::V) {
        // SAFETY: as for `load`.
        unsafe { write(p, v) }
    }
    unsafe fn splat(x: f64) -> Self::V;
    /// a·b + c, rounded once.
    unsafe fn fma(a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    unsafe fn no_sum() -> Self::I;
    /// sum + the bits of v.
    unsafe fn add_bits(sum: Self::I, v: Self::V) -> Self::I;
    /// Adds the eight sums, each less `offset`, to the integers at `p`.
    unsafe fn add_to(p: *mut i64, sum: Self::I, offset: i64);
}

#[derive(Clone, Copy)]
struct Portable;

impl Doubles for Portable {
    type V = [f64; STEP];
    type I = [i64; STEP];
    #[inline(always)]
    unsafe fn splat(x: f64) -> Self::V {
        [x; STEP]
    }
    #[inline(always)]
    unsafe fn fma(a: Self::V, b: Self::V, c: Self::V) -> Self::V {
        std::array::from_fn(|i| a[i].mul_add(b[i], c[i]))
    }
    #[inline(always)]
    unsafe fn no_sum() -> Self::I {
        [0; STEP]
    }
    #[inline(always)]
    unsafe fn add_bits(sum: Self::I, v: Self::V) -> Self::I {
        std::array::from_fn(|i| sum[i].wrapping_add(v[i].to_bits() as i64))
    }
    #[inline(always)]
    unsafe fn add_to(p: *mut i64, sum: Self::I, offset: i64) {
        for (i, sum) in sum.iter().enumerate() {
            // SAFETY: the caller's pointer is valid for eight values.
            unsafe { *p.add(i) = (*p.add(i)).wrapping_add(sum.wrapping_sub(offset)) };
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Doubles;
    use crate::simd::{read, write};
    use std::arch::x86_64::*;

    #[derive(Clone, Copy)]
    pub(super) struct Avx512;

    // SAFETY (all of this block): the trait's contract.
    #[allow(clippy::undocumented_unsafe_blocks)]
    impl Doubles for Avx512 {
        type V = __m512d;
        type I = __m512i;
        #[inline(always)]
        unsafe fn splat(x: f64) -> __m512d {
            unsafe { _mm512_set1_pd(x) }
        }
        #[inline(always)]
        unsafe fn fma(a: __m512d, b: __m512d, c: __m512d) -> __m512d {
            unsafe { _mm512_fmadd_pd(a, b, c) }
        }
        #[inline(always)]
        unsafe fn no_sum() -> __m512i {
            unsafe { _mm512_setzero_si512() }
        }
        #[inline(always)]
        unsafe fn add_bits(sum: __m512i, v: __m512d) -> __m512i {
            unsafe { _mm512_add_epi64(sum, _mm512_castpd_si512(v)) }
        }
        #[inline(always)]
        unsafe fn add_to(p: *mut i64, sum: __m512i, offset: i64) {
            unsafe {
                let sum = _mm512_sub_epi64(sum, _mm512_set1_epi64(offset));
                write(p, _mm512_add_epi64(read(p), sum));
            }
        }
    }

    #[derive(Clone, Copy)]
    pub(super) struct Avx2;

    // SAFETY (all of this block): the trait's contract.
    #[allow(clippy::undocumented_unsafe_blocks)]
    impl Doubles for Avx2 {
        type V = [__m256d; 2];
        type I = [__m256i; 2];
        #[inline(always)]
        unsafe fn load(p: *const f64) -> Self::V {
            unsafe { [read(p), read(p.add(4))] }
        }
        #[inline(always)]
        unsafe fn store(p: *mut f64, v: Self::V) {
            unsafe {
                write(p, v[0]);
                write(p.add(4), v[1]);
            }
        }
        #[inline(always)]
        unsafe fn splat(x: f64) -> Self::V {
            unsafe { [_mm256_set1_pd(x); 2] }
        }
        #[inline(always)]
        unsafe fn fma(a: Self::V, b: Self::V, c: Self::V) -> Self::V {
            unsafe { [_mm256_fmadd_pd(a[0], b[0], c[0]), _mm256_fmadd_pd(a[1], b[1], c[1])] }
        }
        #[inline(always)]
        unsafe fn no_sum() -> Self::I {
            unsafe { [_mm256_setzero_si256(); 2] }
        }
        #[inline(always)]
        unsafe fn add_bits(sum: Self::I, v: Self::V) -> Self::I {
            unsafe {
                let half = |i: usize| _mm256_add_epi64(sum[i], _mm256_castpd_si256(v[i]));
                [half(0), half(1)]
            }
        }
        #[inline(always)]
        unsafe fn add_to(p: *mut i64, sum: Self::I, offset: i64) {
            unsafe {
                for (i, sum) in sum.into_iter().enumerate() {
                    let (p, offset) = (p.add(4 * i), _mm256_set1_epi64x(offset));
                    let sum = _mm256_sub_epi64(sum, offset);
                    write(p, _mm256_add_epi64(read(p), sum));
                }
            }
        }
    }
}

/// Defines `$name(level, …)`, which runs `$body::<D>(…)` compiled for the level's instructions.
macro_rules! leveled {
    ($(#[$doc:meta])* $name:ident = $body:ident ($($arg:ident : $ty:ty),* $(,)?)) => {
        $(#[$doc])*
        pub fn $name(level: Level, $($arg: $ty),*) {
            match level.0 {
                #[cfg(target_arch = "x86_64")]
                Set::Avx512 => {
                    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx2,fma")]
                    fn wide($($arg: $ty),*) { $body::<x86::Avx512>($($arg),*) }
                    // SAFETY: a level exists only if the processor has its instructions.
                    unsafe { wide($($arg),*) }
                }
                #[cfg(target_arch = "x86_64")]
                Set::Avx2 => {
                    #[target_feature(enable = "avx2,fma")]
                    fn medium($($arg: $ty),*) { $body::<x86::Avx2>($($arg),*) }
                    // SAFETY: a level exists only if the processor has its instructions.
                    unsafe { medium($($arg),*) }
                }
                Set::Portable => $body::<Portable>($($arg),*),
            }
        }
    };
}

leveled!(
    /// `out[r][k] = Σ_j lines[r][j]·weights[k][j]` for lines of `width` values, and as many scores per line as there are
    /// lines of weights. A line's result does not depend on the others.
    scores = scores_body (weights: &[f64], lines: &[f64], width: usize, out: &mut [f64])
);

leveled!(
    /// `out[r] = Σ_j lines[r][j]²` for lines of `width` values.
    squares = squares_body (lines: &[f64], width: usize, out: &mut [f64])
);

leveled!(
    /// `sum[k][j] += Σ_r round(rows[r][k]·lines[r][j])`: the exact product rounded once, to an integer, ties to even.
    /// Products of 2⁵¹ or more give a wrong sum.
    add_rounded = add_rounded_body (rows: &[f64], lines: &[f64], width: usize, sum: &mut [i64])
);

leveled!(
    /// `sum[k][j] += Σ_r rows[r][k]·lines[r][j]`, in the order of r, every product and sum rounded once.
    add = add_body (rows: &[f64], lines: &[f64], width: usize, sum: &mut [f64])
);

leveled!(
    widen = widen_body (values: &[f32], out: &mut [f64])
);

/// How many lines of `width` there are in `len` values.
fn count(len: usize, width: usize) -> usize {
    assert!(
        width > 0 && width.is_multiple_of(STEP) && len.is_multiple_of(width),
        "{len} values in lines of {width}"
    );
    len / width
}

/// Calls `$tile::<D, R, K>` over `rows`×`columns` places, in tiles of at most `$r`×`$k`.
macro_rules! tiles {
    ($rows:expr, $k:expr, $call:ident) => {{
        let mut r = 0;
        while r < $rows {
            let left = $rows - r;
            let mut k = 0;
            while k < $k {
                match (left >= 4, $k - k >= 5) {
                    (true, true) => $call!(4, 5, r, k),
                    (true, false) => $call!(4, 1, r, k),
                    (false, true) => $call!(1, 5, r, k),
                    (false, false) => $call!(1, 1, r, k),
                }
                k += if $k - k >= 5 { 5 } else { 1 };
            }
            r += if left >= 4 { 4 } else { 1 };
        }
    }};
}

#[inline(always)]
fn scores_body<D: Doubles>(weights: &[f64], lines: &[f64], width: usize, out: &mut [f64]) {
    let (rows, outputs) = (count(lines.len(), width), count(weights.len(), width));
    assert!(out.len() == rows * outputs);
    macro_rules! dots {
        ($r:literal, $k:literal, $row:ident, $column:ident) => {
            // SAFETY: rows and columns are within what was checked; called with D's instructions.
            unsafe {
                let (a, b) = (lines.as_ptr().add($row * width), weights.as_ptr().add($column * width));
                let found = dots::<D, $r, $k>(a, b, width);
                for (r, found) in found.iter().enumerate() {
                    out[($row + r) * outputs + $column..][..$k].copy_from_slice(found);
                }
            }
        };
    }
    tiles!(rows, outputs, dots);
}

/// Products of R lines with K lines of weights.
#[inline(always)]
unsafe fn dots<D: Doubles, const R: usize, const K: usize>(
    lines: *const f64,
    weights: *const f64,
    width: usize,
) -> [[f64; K]; R] {
    // SAFETY: the caller's.
    unsafe {
        let mut sums = [[D::splat(0.0); K]; R];
        for at in (0..width).step_by(STEP) {
            let mut columns = [D::splat(0.0); K];
            for (k, column) in columns.iter_mut().enumerate() {
                *column = D::load(weights.add(k * width + at));
            }
            for (r, sums) in sums.iter_mut().enumerate() {
                let line = D::load(lines.add(r * width + at));
                for (sum, column) in sums.iter_mut().zip(columns) {
                    *sum = D::fma(line, column, *sum);
                }
            }
        }
        sums.map(|sums| sums.map(|sum| total::<D>(sum)))
    }
}

/// The sum of the lanes, in one order.
#[inline(always)]
unsafe fn total<D: Doubles>(v: D::V) -> f64 {
    let mut lanes = [0.0; STEP];
    // SAFETY: eight values.
    unsafe { D::store(lanes.as_mut_ptr(), v) };
    let [a, b, c, d, e, f, g, h] = lanes;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

#[inline(always)]
fn squares_body<D: Doubles>(lines: &[f64], width: usize, out: &mut [f64]) {
    assert!(out.len() == count(lines.len(), width));
    for (line, out) in lines.chunks_exact(width).zip(out) {
        // SAFETY: within the line; called with D's instructions.
        unsafe {
            let mut sums = [D::splat(0.0); 4];
            for at in (0..width).step_by(STEP) {
                let v = D::load(line.as_ptr().add(at));
                let sum = &mut sums[at / STEP % 4];
                *sum = D::fma(v, v, *sum);
            }
            *out = sums.map(|sum| total::<D>(sum)).iter().sum();
        }
    }
}

#[inline(always)]
fn add_rounded_body<D: Doubles>(rows: &[f64], lines: &[f64], width: usize, sum: &mut [i64]) {
    let (records, outputs) = (count(lines.len(), width), count(sum.len(), width));
    assert!(rows.len() == records * outputs);
    let offset = (MAGIC.to_bits() as i64).wrapping_mul(records as i64);
    for at in (0..width).step_by(2 * STEP) {
        let wide = at + 2 * STEP <= width;
        let mut k = 0;
        while k < outputs {
            macro_rules! tile {
                ($k:literal, $n:literal) => {
                    // SAFETY: columns and rows are within what was checked; called with D's instructions.
                    unsafe {
                        let from = (rows.as_ptr().add(k), outputs);
                        let sums = rounded::<D, $k, $n>(from, lines.as_ptr().add(at), width, records);
                        for (o, sums) in sums.into_iter().enumerate() {
                            for (n, found) in sums.into_iter().enumerate() {
                                let place = sum.as_mut_ptr().add((k + o) * width + at + n * STEP);
                                D::add_to(place, found, offset);
                            }
                        }
                    }
                };
            }
            match (outputs - k >= 10, outputs - k >= 5, wide) {
                (true, _, true) => tile!(10, 2),
                (true, _, false) => tile!(10, 1),
                (false, true, true) => tile!(5, 2),
                (false, true, false) => tile!(5, 1),
                (false, false, true) => tile!(1, 2),
                (false, false, false) => tile!(1, 1),
            }
            k += match outputs - k {
                10.. => 10,
                5.. => 5,
                _ => 1,
            };
        }
    }
}

/// For K rows and N vectors of columns: the sum over records of the bits of products that MAGIC was added to.
#[inline(always)]
unsafe fn rounded<D: Doubles, const K: usize, const N: usize>(
    (rows, step): (*const f64, usize),
    lines: *const f64,
    width: usize,
    records: usize,
) -> [[D::I; N]; K] {
    // SAFETY: the caller's.
    unsafe {
        let magic = D::splat(MAGIC);
        let mut sums = [[D::no_sum(); N]; K];
        for r in 0..records {
            let mut columns = [magic; N];
            for (n, column) in columns.iter_mut().enumerate() {
                *column = D::load(lines.add(r * width + n * STEP));
            }
            for (k, sums) in sums.iter_mut().enumerate() {
                let row = D::splat(*rows.add(r * step + k));
                for (sum, column) in sums.iter_mut().zip(columns) {
                    *sum = D::add_bits(*sum, D::fma(row, column, magic));
                }
            }
        }
        sums
    }
}

#[inline(always)]
fn add_body<D: Doubles>(rows: &[f64], lines: &[f64], width: usize, sum: &mut [f64]) {
    let (records, outputs) = (count(lines.len(), width), count(sum.len(), width));
    assert!(rows.len() == records * outputs);
    for at in (0..width).step_by(STEP) {
        let mut k = 0;
        while k < outputs {
            macro_rules! tile {
                ($k:literal) => {
                    // SAFETY: columns and rows are within what was checked; called with D's instructions.
                    unsafe {
                        let from = (rows.as_ptr().add(k), outputs);
                        let to = sum.as_mut_ptr().add(k * width + at);
                        summed::<D, $k>(from, lines.as_ptr().add(at), width, records, to);
                    }
                };
            }
            if outputs - k >= 10 {
                tile!(10);
                k += 10;
            } else {
                tile!(1);
                k += 1;
            }
        }
    }
}

#[inline(always)]
unsafe fn summed<D: Doubles, const K: usize>(
    (rows, step): (*const f64, usize),
    lines: *const f64,
    width: usize,
    records: usize,
    to: *mut f64,
) {
    // SAFETY: the caller's.
    unsafe {
        let mut sums = [D::splat(0.0); K];
        for (k, sum) in sums.iter_mut().enumerate() {
            *sum = D::load(to.add(k * width));
        }
        for r in 0..records {
            let column = D::load(lines.add(r * width));
            for (k, sum) in sums.iter_mut().enumerate() {
                *sum = D::fma(D::splat(*rows.add(r * step + k)), column, *sum);
            }
        }
        for (k, sum) in sums.iter().enumerate() {
            D::store(to.add(k * width), *sum);
        }
    }
}

#[inline(always)]
fn widen_body<D: Doubles>(values: &[f32], out: &mut [f64]) {
    for (out, value) in out.iter_mut().zip(values) {
        *out = f64::from(*value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(n: usize, seed: usize) -> Vec<f64> {
        (0..n).map(|i| ((i * 7919 + seed * 104_729) % 2003) as f64 / 1001.5 - 1.0).collect()
    }

    #[test]
    fn products_are_their_definitions_and_the_same_for_every_instruction_set() {
        for (records, outputs, width) in [(1, 1, 8), (7, 10, 48), (16, 13, 24), (5, 2, 40), (4, 5, 16)] {
            let (lines, weights) = (values(records * width, 1), values(outputs * width, 2));
            let rows: Vec<f64> = values(records * outputs, 3).iter().map(|v| v * 1e9).collect();
            let mut first = None;
            for level in Level::available() {
                let mut found = vec![0.0; records * outputs];
                scores(level, &weights, &lines, width, &mut found);
                let mut norms = vec![0.0; records];
                squares(level, &lines, width, &mut norms);
                let mut sum = vec![5; outputs * width];
                add_rounded(level, &rows, &lines, width, &mut sum);
                let mut plain = vec![0.5; outputs * width];
                add(level, &rows, &lines, width, &mut plain);
                for r in 0..records {
                    let line = &lines[r * width..(r + 1) * width];
                    for k in 0..outputs {
                        let weights = &weights[k * width..(k + 1) * width];
                        let exact: f64 = line.iter().zip(weights).map(|(a, b)| a * b).sum();
                        assert!((found[r * outputs + k] - exact).abs() < 1e-12);
                    }
                    assert!((norms[r] - line.iter().map(|v| v * v).sum::<f64>()).abs() < 1e-12);
                }
                for k in 0..outputs {
                    for j in 0..width {
                        let term = |r: usize| rows[r * outputs + k].mul_add(lines[r * width + j], 0.0);
                        // Products near ties aside, which these are not, rounding twice is rounding once.
                        let exact: i64 = (0..records).map(|r| term(r).round_ties_even() as i64).sum();
                        assert_eq!(sum[k * width + j], exact + 5);
                        let exact: f64 = (0..records).map(term).sum::<f64>() + 0.5;
                        assert!((plain[k * width + j] - exact).abs() < 1e-4);
                    }
                }
                let bits = |v: &[f64]| v.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
                let all = (bits(&found), bits(&norms), sum, bits(&plain));
                assert_eq!(*first.get_or_insert_with(|| all.clone()), all, "{}", level.name());
            }
        }
        let (mut wide, single) = ([0.0; 20], values(20, 4).iter().map(|v| *v as f32).collect::<Vec<_>>());
        for level in Level::available() {
            widen(level, &single, &mut wide);
            assert!(wide.iter().zip(&single).all(|(w, s)| *w == f64::from(*s)));
        }
    }
}
