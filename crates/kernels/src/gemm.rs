//! The register tile that every dense product here is made of.

use crate::simd::{LANES, Simd};

/// Where the operands of C[r][n] = Σ_k A[r·row + k·step]·B[k·next + n] lie, in values.
#[derive(Clone, Copy)]
pub(crate) struct Strides {
    /// From a row of A to the next.
    pub row: usize,
    /// From a k of A to the next.
    pub step: usize,
    /// From a k of B to the next.
    pub next: usize,
    /// From a row of C to the next.
    pub out: usize,
}

/// C = A·B for `R` rows and `N` vectors of sixteen columns; `depth` values of k, summed in order. A stride of rows
/// that is known when compiling (`ROW`, 0 if it is not) saves the arithmetic of addresses.
///
/// # Safety
/// A, B and C are valid for the strides; the instructions of S are there.
#[inline(always)]
unsafe fn tile<S: Simd, const R: usize, const N: usize, const ROW: usize>(
    a: *const f32,
    b: *const f32,
    c: *mut f32,
    depth: usize,
    s: Strides,
) {
    // SAFETY: the caller's.
    unsafe {
        let stride = if ROW > 0 { ROW } else { s.row };
        let mut sums = [[S::zero(); N]; R];
        for k in 0..depth {
            let (a, b) = (a.add(k * s.step), b.add(k * s.next));
            let mut columns = [S::zero(); N];
            for (n, column) in columns.iter_mut().enumerate() {
                *column = S::load(b.add(n * LANES));
            }
            for (r, row) in sums.iter_mut().enumerate() {
                let x = S::splat(*a.add(r * stride));
                for (sum, column) in row.iter_mut().zip(columns) {
                    *sum = S::fma(x, column, *sum);
                }
            }
        }
        for (r, row) in sums.iter().enumerate() {
            for (n, sum) in row.iter().enumerate() {
                S::store(c.add(r * s.out + n * LANES), *sum);
            }
        }
    }
}

/// C = A·B for any number of rows and `N` vectors of columns. A row's result does not depend on which tile it
/// falls in.
///
/// # Safety
/// As [`tile`].
#[inline(always)]
pub(crate) unsafe fn rows<S: Simd, const N: usize>(
    a: *const f32,
    b: *const f32,
    c: *mut f32,
    size: (usize, usize),
    s: Strides,
) {
    // SAFETY: the caller's.
    unsafe {
        if S::COLUMNS >= N {
            return known_stride::<S, N>(a, b, c, size, s);
        }
        for n in 0..N {
            known_stride::<S, 1>(a, b.add(n * LANES), c.add(n * LANES), size, s);
        }
    }
}

/// As many vectors of columns as a register tile has, or fewer.
#[inline(always)]
unsafe fn known_stride<S: Simd, const N: usize>(
    a: *const f32,
    b: *const f32,
    c: *mut f32,
    size: (usize, usize),
    s: Strides,
) {
    // SAFETY: the caller's.
    unsafe {
        match s.row {
            1 => tiles::<S, N, 1>(a, b, c, size, s),
            32 => tiles::<S, N, 32>(a, b, c, size, s),
            64 => tiles::<S, N, 64>(a, b, c, size, s),
            128 => tiles::<S, N, 128>(a, b, c, size, s),
            _ => tiles::<S, N, 0>(a, b, c, size, s),
        }
    }
}

#[inline(always)]
unsafe fn tiles<S: Simd, const N: usize, const ROW: usize>(
    mut a: *const f32,
    b: *const f32,
    mut c: *mut f32,
    (mut rows, depth): (usize, usize),
    s: Strides,
) {
    // SAFETY: the caller's; each tile advances by the rows it has done.
    unsafe {
        macro_rules! tiles {
            ($r:literal $(, unless $last:literal)?) => {
                while rows >= $r $(&& rows != $last)? {
                    tile::<S, $r, N, ROW>(a, b, c, depth, s);
                    // Past the last row these point nowhere, and are not used.
                    a = a.wrapping_add($r * s.row);
                    c = c.wrapping_add($r * s.out);
                    rows -= $r;
                }
            };
        }
        if S::ROWS >= 8 {
            tiles!(8);
        } else if S::ROWS >= 6 {
            // Four rows have just enough sums to keep the multiply-adds busy, two have not: 8 are 4 + 4.
            tiles!(6, unless 8);
        }
        if S::ROWS >= 4 {
            tiles!(4);
        }
        tiles!(2);
        tiles!(1);
    }
}
