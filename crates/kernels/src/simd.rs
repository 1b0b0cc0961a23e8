//! Sixteen lanes of `f32`, whatever the registers are called.

/// Lanes of a vector: channels are kept in blocks of this many.
pub const LANES: usize = 16;

/// A value at any address.
#[repr(C, packed)]
struct Anywhere<T>(T);

/// The value at `p`, which need not be aligned. The library's own ways to read it become calls in builds with checks,
/// and those then take several times as long: a load is one instruction of the innermost loops.
///
/// # Safety
/// `p` is valid for a value of type T.
#[inline(always)]
pub(crate) unsafe fn read<T: Copy, P>(p: *const P) -> T {
    // SAFETY: the caller's; a packed value may lie anywhere.
    unsafe { (*p.cast::<Anywhere<T>>()).0 }
}

/// Writes `value` at `p`, which need not be aligned.
///
/// # Safety
/// `p` is valid for a value of type T.
#[inline(always)]
pub(crate) unsafe fn write<T: Copy, P>(p: *mut P, value: T) {
    // SAFETY: the caller's; a packed value may lie anywhere.
    unsafe { (*p.cast::<Anywhere<T>>()).0 = value }
}

/// Sixteen lanes and what can be done with them.
///
/// # Safety
/// The methods may be called only in code compiled for, and run on, a processor with the implementation's
/// instructions; pointers must be valid for sixteen values.
pub(crate) trait Simd: Copy {
    type V: Copy;
    /// Sixteen 32-bit integers.
    type I: Copy;
    /// Rows of a register tile of two vectors a row.
    const ROWS: usize;

    unsafe fn load(p: *const f32) -> Self::V;
    unsafe fn store(p: *mut f32, v: Self::V);
    unsafe fn splat(x: f32) -> Self::V;
    /// a·b + c.
    unsafe fn fma(a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    unsafe fn add(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn sub(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn mul(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn div(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn max(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn min(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn sqrt(a: Self::V) -> Self::V;
    /// Where a > b: x, elsewhere y.
    unsafe fn where_greater(a: Self::V, b: Self::V, x: Self::V, y: Self::V) -> Self::V;
    unsafe fn load_sums(p: *const i32) -> Self::I;
    unsafe fn store_sums(p: *mut i32, sums: Self::I);
    /// sums + v, rounded to the nearest integers, ties to even.
    unsafe fn add_rounded(sums: Self::I, v: Self::V) -> Self::I;

    /// Stores whole numbers as the bits of integers.
    unsafe fn store_integers(p: *mut f32, v: Self::V);

    /// Of sixteen values, those whose integer at `keys` is `key`: writes them and their numbers (`first`, `first` +
    /// `step`, …, as integers) close together and gives how many. May write up to sixteen values of each.
    unsafe fn pick(
        (keys, key): (*const f32, i32),
        values: *const f32,
        (first, step): (i32, i32),
        (out, numbers): (*mut f32, *mut f32),
    ) -> usize {
        let mut count = 0;
        for lane in 0..LANES {
            // SAFETY: the caller's pointers are valid for sixteen values.
            unsafe {
                if (*keys.add(lane)).to_bits() as i32 == key {
                    *out.add(count) = *values.add(lane);
                    *numbers.add(count) = f32::from_bits((first + step * lane as i32) as u32);
                    count += 1;
                }
            }
        }
        count
    }

    #[inline(always)]
    unsafe fn zero() -> Self::V {
        // SAFETY: as the caller's.
        unsafe { Self::splat(0.0) }
    }

    /// The sum of the lanes, in one order for all implementations.
    #[inline(always)]
    unsafe fn sum(v: Self::V) -> f32 {
        let mut lanes = [0.0_f32; LANES];
        // SAFETY: sixteen values.
        unsafe { Self::store(lanes.as_mut_ptr(), v) };
        let mut width = LANES / 2;
        while width > 0 {
            for i in 0..width {
                lanes[i] += lanes[i + width];
            }
            width /= 2;
        }
        lanes[0]
    }
}

/// Arrays, for the compiler to do what it can with.
#[derive(Clone, Copy)]
pub(crate) struct Portable;

/// Applies an operation lane by lane.
macro_rules! lanes {
    ($($v:ident),*; $op:expr) => {{
        let mut out = [0.0_f32; LANES];
        for i in 0..LANES {
            $(let $v = $v[i];)*
            out[i] = $op;
        }
        out
    }};
}

impl Simd for Portable {
    type V = [f32; LANES];
    type I = [i32; LANES];
    const ROWS: usize = 1;

    #[inline(always)]
    unsafe fn load(p: *const f32) -> Self::V {
        // SAFETY: the caller's pointer is valid for sixteen values.
        unsafe { read(p) }
    }
    #[inline(always)]
    unsafe fn store(p: *mut f32, v: Self::V) {
        // SAFETY: the caller's pointer is valid for sixteen values.
        unsafe { write(p, v) }
    }
    #[inline(always)]
    unsafe fn splat(x: f32) -> Self::V {
        [x; LANES]
    }
    #[inline(always)]
    unsafe fn fma(a: Self::V, b: Self::V, c: Self::V) -> Self::V {
        // Without an instruction for it, a fused multiply-add is a slow library call: two roundings are fine here.
        if cfg!(any(target_arch = "aarch64", target_feature = "fma")) {
            lanes!(a, b, c; a.mul_add(b, c))
        } else {
            lanes!(a, b, c; a * b + c)
        }
    }
    #[inline(always)]
    unsafe fn add(a: Self::V, b: Self::V) -> Self::V {
        lanes!(a, b; a + b)
    }
    #[inline(always)]
    unsafe fn sub(a: Self::V, b: Self::V) -> Self::V {
        lanes!(a, b; a - b)
    }
    #[inline(always)]
    unsafe fn mul(a: Self::V, b: Self::V) -> Self::V {
        lanes!(a, b; a * b)
    }
    #[inline(always)]
    unsafe fn div(a: Self::V, b: Self::V) -> Self::V {
        lanes!(a, b; a / b)
    }
    #[inline(always)]
    unsafe fn max(a: Self::V, b: Self::V) -> Self::V {
        lanes!(a, b; if a > b { a } else { b })
    }
    #[inline(always)]
    unsafe fn min(a: Self::V, b: Self::V) -> Self::V {
        lanes!(a, b; if a < b { a } else { b })
    }
    #[inline(always)]
    unsafe fn sqrt(a: Self::V) -> Self::V {
        lanes!(a; a.sqrt())
    }
    #[inline(always)]
    unsafe fn where_greater(a: Self::V, b: Self::V, x: Self::V, y: Self::V) -> Self::V {
        lanes!(a, b, x, y; if a > b { x } else { y })
    }
    #[inline(always)]
    unsafe fn load_sums(p: *const i32) -> Self::I {
        // SAFETY: the caller's pointer is valid for sixteen values.
        unsafe { read(p) }
    }
    #[inline(always)]
    unsafe fn store_sums(p: *mut i32, sums: Self::I) {
        // SAFETY: the caller's pointer is valid for sixteen values.
        unsafe { write(p, sums) }
    }
    #[inline(always)]
    unsafe fn add_rounded(mut sums: Self::I, v: Self::V) -> Self::I {
        for i in 0..LANES {
            sums[i] = sums[i].wrapping_add(rounded(v[i]));
        }
        sums
    }
    #[inline(always)]
    unsafe fn store_integers(p: *mut f32, v: Self::V) {
        // SAFETY: as for `store`.
        unsafe { Self::store(p, lanes!(v; f32::from_bits(v as i32 as u32))) }
    }
}

/// The nearest integer, ties to even.
#[inline(always)]
fn rounded(x: f32) -> i32 {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_mm_cvtss_si32, _mm_set_ss};
        // SAFETY: every x86-64 processor has SSE2.
        unsafe { _mm_cvtss_si32(_mm_set_ss(x)) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        x.round_ties_even() as i32
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Simd, read, write};
    use std::arch::x86_64::*;

    /// One 512-bit register.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx512;

    // SAFETY (all of this block): the trait's contract.
    #[allow(clippy::undocumented_unsafe_blocks)]
    impl Simd for Avx512 {
        type V = __m512;
        type I = __m512i;
        const ROWS: usize = 8;

        #[inline(always)]
        unsafe fn load(p: *const f32) -> __m512 {
            unsafe { read(p) }
        }
        #[inline(always)]
        unsafe fn store(p: *mut f32, v: __m512) {
            unsafe { write(p, v) }
        }
        #[inline(always)]
        unsafe fn splat(x: f32) -> __m512 {
            unsafe { _mm512_set1_ps(x) }
        }
        #[inline(always)]
        unsafe fn fma(a: __m512, b: __m512, c: __m512) -> __m512 {
            unsafe { _mm512_fmadd_ps(a, b, c) }
        }
        #[inline(always)]
        unsafe fn add(a: __m512, b: __m512) -> __m512 {
            unsafe { _mm512_add_ps(a, b) }
        }
        #[inline(always)]
        unsafe fn sub(a: __m512, b: __m512) -> __m512 {
            unsafe { _mm512_sub_ps(a, b) }
        }
        #[inline(always)]
        unsafe fn mul(a: __m512, b: __m512) -> __m512 {
            unsafe { _mm512_mul_ps(a, b) }
        }
        #[inline(always)]
        unsafe fn div(a: __m512, b: __m512) -> __m512 {
            unsafe { _mm512_div_ps(a, b) }
        }
        #[inline(always)]
        unsafe fn max(a: __m512, b: __m512) -> __m512 {
            unsafe { _mm512_max_ps(a, b) }
        }
        #[inline(always)]
        unsafe fn min(a: __m512, b: __m512) -> __m512 {
            unsafe { _mm512_min_ps(a, b) }
        }
        #[inline(always)]
        unsafe fn sqrt(a: __m512) -> __m512 {
            unsafe { _mm512_sqrt_ps(a) }
        }
        #[inline(always)]
        unsafe fn where_greater(a: __m512, b: __m512, x: __m512, y: __m512) -> __m512 {
            unsafe { _mm512_mask_blend_ps(_mm512_cmp_ps_mask::<_CMP_GT_OQ>(a, b), y, x) }
        }
        #[inline(always)]
        unsafe fn load_sums(p: *const i32) -> __m512i {
            unsafe { read(p) }
        }
        #[inline(always)]
        unsafe fn store_sums(p: *mut i32, sums: __m512i) {
            unsafe { write(p, sums) }
        }
        #[inline(always)]
        unsafe fn add_rounded(sums: __m512i, v: __m512) -> __m512i {
            unsafe { _mm512_add_epi32(sums, _mm512_cvtps_epi32(v)) }
        }
        #[inline(always)]
        unsafe fn store_integers(p: *mut f32, v: __m512) {
            unsafe { write(p, _mm512_cvtps_epi32(v)) }
        }
        #[inline(always)]
        unsafe fn pick(
            (keys, key): (*const f32, i32),
            values: *const f32,
            (first, step): (i32, i32),
            (out, numbers): (*mut f32, *mut f32),
        ) -> usize {
            unsafe {
                let mask = _mm512_cmpeq_epi32_mask(read(keys), _mm512_set1_epi32(key));
                let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
                let all = _mm512_mullo_epi32(lanes, _mm512_set1_epi32(step));
                let all = _mm512_add_epi32(all, _mm512_set1_epi32(first));
                write(out, _mm512_maskz_compress_ps(mask, read(values)));
                write(numbers, _mm512_maskz_compress_epi32(mask, all));
                mask.count_ones() as usize
            }
        }
    }

    /// Two 256-bit registers.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx2;

    macro_rules! halves {
        ($f:ident, $($v:ident),*) => { [$f($($v[0]),*), $f($($v[1]),*)] };
    }

    // SAFETY (all of this block): the trait's contract.
    #[allow(clippy::undocumented_unsafe_blocks)]
    impl Simd for Avx2 {
        type V = [__m256; 2];
        type I = [__m256i; 2];
        const ROWS: usize = 3;

        #[inline(always)]
        unsafe fn load(p: *const f32) -> Self::V {
            unsafe { [read(p), read(p.add(8))] }
        }
        #[inline(always)]
        unsafe fn store(p: *mut f32, v: Self::V) {
            unsafe {
                write(p, v[0]);
                write(p.add(8), v[1]);
            }
        }
        #[inline(always)]
        unsafe fn splat(x: f32) -> Self::V {
            unsafe { [_mm256_set1_ps(x); 2] }
        }
        #[inline(always)]
        unsafe fn fma(a: Self::V, b: Self::V, c: Self::V) -> Self::V {
            unsafe { halves!(_mm256_fmadd_ps, a, b, c) }
        }
        #[inline(always)]
        unsafe fn add(a: Self::V, b: Self::V) -> Self::V {
            unsafe { halves!(_mm256_add_ps, a, b) }
        }
        #[inline(always)]
        unsafe fn sub(a: Self::V, b: Self::V) -> Self::V {
            unsafe { halves!(_mm256_sub_ps, a, b) }
        }
        #[inline(always)]
        unsafe fn mul(a: Self::V, b: Self::V) -> Self::V {
            unsafe { halves!(_mm256_mul_ps, a, b) }
        }
        #[inline(always)]
        unsafe fn div(a: Self::V, b: Self::V) -> Self::V {
            unsafe { halves!(_mm256_div_ps, a, b) }
        }
        #[inline(always)]
        unsafe fn max(a: Self::V, b: Self::V) -> Self::V {
            unsafe { halves!(_mm256_max_ps, a, b) }
        }
        #[inline(always)]
        unsafe fn min(a: Self::V, b: Self::V) -> Self::V {
            unsafe { halves!(_mm256_min_ps, a, b) }
        }
        #[inline(always)]
        unsafe fn sqrt(a: Self::V) -> Self::V {
            unsafe { halves!(_mm256_sqrt_ps, a) }
        }
        #[inline(always)]
        unsafe fn where_greater(a: Self::V, b: Self::V, x: Self::V, y: Self::V) -> Self::V {
            unsafe {
                let half = |i: usize| _mm256_blendv_ps(y[i], x[i], _mm256_cmp_ps::<_CMP_GT_OQ>(a[i], b[i]));
                [half(0), half(1)]
            }
        }
        #[inline(always)]
        unsafe fn load_sums(p: *const i32) -> Self::I {
            unsafe { [read(p), read(p.add(8))] }
        }
        #[inline(always)]
        unsafe fn store_sums(p: *mut i32, sums: Self::I) {
            unsafe {
                write(p, sums[0]);
                write(p.add(8), sums[1]);
            }
        }
        #[inline(always)]
        unsafe fn add_rounded(sums: Self::I, v: Self::V) -> Self::I {
            unsafe {
                let half = |i: usize| _mm256_add_epi32(sums[i], _mm256_cvtps_epi32(v[i]));
                [half(0), half(1)]
            }
        }
        #[inline(always)]
        unsafe fn store_integers(p: *mut f32, v: Self::V) {
            unsafe {
                write(p, _mm256_cvtps_epi32(v[0]));
                write(p.add(8), _mm256_cvtps_epi32(v[1]));
            }
        }
    }
}
