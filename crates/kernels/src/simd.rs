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

/// Lanes and what can be done with them: [`LANES`] of them, but for [`Simd::Register`].
///
/// # Safety
/// The methods may be called only in code compiled for, and run on, a processor with the implementation's
/// instructions; pointers must be valid for [`Simd::WIDTH`] values.
pub(crate) trait Simd: Copy {
    type V: Copy;
    /// As many 32-bit integers.
    type I: Copy;
    const WIDTH: usize;
    /// Rows of a register tile, and its vectors per row: sums, vectors of a row of the other factor and one value more
    /// have a register each.
    const ROWS: usize;
    const COLUMNS: usize;
    /// The same instructions with as many lanes as one register has: for loops that keep more vectors at once than
    /// there would be registers for. They go through a block of sixteen channels in parts of this width.
    type Register: Simd;

    #[inline(always)]
    unsafe fn load(p: *const f32) -> Self::V {
        // SAFETY: the caller's pointer is valid for as many values; registers lie in memory as arrays do.
        unsafe { read(p) }
    }
    #[inline(always)]
    unsafe fn store(p: *mut f32, v: Self::V) {
        // SAFETY: as for `load`.
        unsafe { write(p, v) }
    }
    #[inline(always)]
    unsafe fn load_sums(p: *const i32) -> Self::I {
        // SAFETY: as for `load`.
        unsafe { read(p) }
    }
    #[inline(always)]
    unsafe fn store_sums(p: *mut i32, sums: Self::I) {
        // SAFETY: as for `load`.
        unsafe { write(p, sums) }
    }
    unsafe fn splat(x: f32) -> Self::V;
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
    /// sums + v, rounded to the nearest integers, ties to even.
    unsafe fn add_rounded(sums: Self::I, v: Self::V) -> Self::I;

    /// Stores whole numbers as the bits of integers.
    unsafe fn store_integers(p: *mut f32, v: Self::V);

    /// Of `WIDTH` values, those whose integer at `keys` is `key`: writes them and their numbers (`first`, `first` +
    /// `step`, …, as integers) close together and gives how many. May write up to `WIDTH` values of each.
    unsafe fn pick(
        (keys, key): (*const f32, i32),
        values: *const f32,
        (first, step): (i32, i32),
        (out, numbers): (*mut f32, *mut f32),
    ) -> usize {
        let mut count = 0;
        for lane in 0..Self::WIDTH {
            // SAFETY: the caller's pointers are valid for so many values.
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
        // SAFETY: no implementation has more lanes.
        unsafe { Self::store(lanes.as_mut_ptr(), v) };
        let mut width = Self::WIDTH / 2;
        while width > 0 {
            for i in 0..width {
                lanes[i] += lanes[i + width];
            }
            width /= 2;
        }
        lanes[0]
    }
}

/// Defines methods that take vectors and give one, each by one expression.
macro_rules! operations {
    ($($name:ident($($v:ident),*) => $op:expr;)*) => {$(
        #[inline(always)]
        unsafe fn $name($($v: Self::V),*) -> Self::V {
            $op
        }
    )*};
}

/// Arrays, for the compiler to do what it can with.
#[derive(Clone, Copy)]
pub(crate) struct Arrays<const N: usize>;

/// What every processor runs. Its registers have four lanes at least.
pub(crate) type Portable = Arrays<LANES>;

/// Applies an operation lane by lane.
macro_rules! lanes {
    ($($v:ident),*; $op:expr) => {{
        let mut out = [0.0_f32; N];
        for i in 0..N {
            $(let $v = $v[i];)*
            out[i] = $op;
        }
        out
    }};
}

impl<const N: usize> Simd for Arrays<N> {
    type V = [f32; N];
    type I = [i32; N];
    const WIDTH: usize = N;
    type Register = Arrays<4>;
    const ROWS: usize = 2;
    const COLUMNS: usize = 1;

    #[inline(always)]
    unsafe fn splat(x: f32) -> Self::V {
        [x; N]
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
    operations! {
        add(a, b) => lanes!(a, b; a + b);
        sub(a, b) => lanes!(a, b; a - b);
        mul(a, b) => lanes!(a, b; a * b);
        div(a, b) => lanes!(a, b; a / b);
        max(a, b) => lanes!(a, b; if a > b { a } else { b });
        min(a, b) => lanes!(a, b; if a < b { a } else { b });
        sqrt(a) => lanes!(a; a.sqrt());
        where_greater(a, b, x, y) => lanes!(a, b, x, y; if a > b { x } else { y });
    }
    #[inline(always)]
    unsafe fn add_rounded(mut sums: Self::I, v: Self::V) -> Self::I {
        for i in 0..N {
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
    use super::{LANES, Simd, read, write};
    use std::arch::x86_64::*;

    #[derive(Clone, Copy)]
    pub(crate) struct Avx512;

    // SAFETY (all of this block): the trait's contract.
    #[allow(clippy::undocumented_unsafe_blocks)]
    impl Simd for Avx512 {
        type V = __m512;
        type I = __m512i;
        const WIDTH: usize = LANES;
        type Register = Self;
        const ROWS: usize = 8;
        const COLUMNS: usize = 2;

        #[inline(always)]
        unsafe fn splat(x: f32) -> __m512 {
            unsafe { _mm512_set1_ps(x) }
        }
        operations! {
            fma(a, b, c) => unsafe { _mm512_fmadd_ps(a, b, c) };
            add(a, b) => unsafe { _mm512_add_ps(a, b) };
            sub(a, b) => unsafe { _mm512_sub_ps(a, b) };
            mul(a, b) => unsafe { _mm512_mul_ps(a, b) };
            div(a, b) => unsafe { _mm512_div_ps(a, b) };
            max(a, b) => unsafe { _mm512_max_ps(a, b) };
            min(a, b) => unsafe { _mm512_min_ps(a, b) };
            sqrt(a) => unsafe { _mm512_sqrt_ps(a) };
            where_greater(a, b, x, y) => unsafe { _mm512_mask_blend_ps(_mm512_cmp_ps_mask::<_CMP_GT_OQ>(a, b), y, x) };
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

    /// `N` 256-bit registers.
    #[derive(Clone, Copy)]
    pub(crate) struct Ymm<const N: usize>;

    /// Two of them are sixteen lanes.
    pub(crate) type Avx2 = Ymm<2>;

    const EIGHT: usize = 8;

    /// Applies an instruction register by register.
    macro_rules! registers {
        ($f:path, $first:ident $(, $v:ident)*) => {{
            let mut out = $first;
            for i in 0..N {
                out[i] = $f($first[i] $(, $v[i])*);
            }
            out
        }};
    }

    // SAFETY (all of this block): the trait's contract.
    #[allow(clippy::undocumented_unsafe_blocks)]
    impl<const N: usize> Simd for Ymm<N> {
        type V = [__m256; N];
        type I = [__m256i; N];
        const WIDTH: usize = N * EIGHT;
        const ROWS: usize = 6;
        const COLUMNS: usize = 1;
        type Register = Ymm<1>;

        #[inline(always)]
        unsafe fn splat(x: f32) -> Self::V {
            unsafe { [_mm256_set1_ps(x); N] }
        }
        operations! {
            fma(a, b, c) => unsafe { registers!(_mm256_fmadd_ps, a, b, c) };
            add(a, b) => unsafe { registers!(_mm256_add_ps, a, b) };
            sub(a, b) => unsafe { registers!(_mm256_sub_ps, a, b) };
            mul(a, b) => unsafe { registers!(_mm256_mul_ps, a, b) };
            div(a, b) => unsafe { registers!(_mm256_div_ps, a, b) };
            max(a, b) => unsafe { registers!(_mm256_max_ps, a, b) };
            min(a, b) => unsafe { registers!(_mm256_min_ps, a, b) };
            sqrt(a) => unsafe { registers!(_mm256_sqrt_ps, a) };
        }
        #[inline(always)]
        unsafe fn where_greater(a: Self::V, b: Self::V, x: Self::V, y: Self::V) -> Self::V {
            unsafe {
                let greater = registers!(_mm256_cmp_ps::<_CMP_GT_OQ>, a, b);
                registers!(_mm256_blendv_ps, y, x, greater)
            }
        }
        #[inline(always)]
        unsafe fn add_rounded(mut sums: Self::I, v: Self::V) -> Self::I {
            unsafe {
                for i in 0..N {
                    sums[i] = _mm256_add_epi32(sums[i], _mm256_cvtps_epi32(v[i]));
                }
                sums
            }
        }
        #[inline(always)]
        unsafe fn store_integers(p: *mut f32, v: Self::V) {
            unsafe {
                for i in 0..N {
                    write(p.add(i * EIGHT), _mm256_cvtps_epi32(v[i]));
                }
            }
        }
        #[inline(always)]
        unsafe fn pick(
            (keys, key): (*const f32, i32),
            values: *const f32,
            (first, step): (i32, i32),
            (out, numbers): (*mut f32, *mut f32),
        ) -> usize {
            unsafe {
                let mut count = 0;
                for i in 0..N {
                    let equal = _mm256_cmpeq_epi32(read(keys.add(i * EIGHT)), _mm256_set1_epi32(key));
                    let mask = _mm256_movemask_ps(_mm256_castsi256_ps(equal)) as usize;
                    let order = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(CLOSE[mask] as i64));
                    write(out.add(count), _mm256_permutevar8x32_ps(read(values.add(i * EIGHT)), order));
                    let here = _mm256_add_epi32(order, _mm256_set1_epi32((i * EIGHT) as i32));
                    let all = _mm256_mullo_epi32(here, _mm256_set1_epi32(step));
                    write(numbers.add(count), _mm256_add_epi32(all, _mm256_set1_epi32(first)));
                    count += mask.count_ones() as usize;
                }
                count
            }
        }
    }

    /// For every set of eight lanes their numbers close together, one per byte, lowest first.
    static CLOSE: [u64; 256] = {
        let mut table = [0; 256];
        let mut mask = 0;
        while mask < 256 {
            let (mut lane, mut found) = (0, 0);
            while lane < EIGHT {
                if mask >> lane & 1 == 1 {
                    table[mask] |= (lane as u64) << (8 * found);
                    found += 1;
                }
                lane += 1;
            }
            mask += 1;
        }
        table
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;
    use crate::level::leveled;

    leveled!(
        /// Those of sixteen values whose key is 1, and their numbers 100, 103, 106, …
        picked = picked_body (keys: &[f32; LANES], values: &[f32; LANES]) -> (Vec<f32>, Vec<u32>)
    );

    #[inline(always)]
    fn picked_body<S: Simd>(keys: &[f32; LANES], values: &[f32; LANES]) -> (Vec<f32>, Vec<u32>) {
        let (mut out, mut numbers) = ([0.0; 2 * LANES], [0.0; 2 * LANES]);
        // SAFETY: sixteen values each, and room for as many behind any number of them; called with S's instructions.
        let count = unsafe {
            let to = (out.as_mut_ptr(), numbers.as_mut_ptr());
            S::pick((keys.as_ptr(), 1), values.as_ptr(), (100, 3), to)
        };
        (out[..count].to_vec(), numbers[..count].iter().map(|n| n.to_bits()).collect())
    }

    #[test]
    fn every_set_of_lanes_is_picked_in_order() {
        let values: [f32; LANES] = std::array::from_fn(|lane| lane as f32 + 0.5);
        for level in Level::available() {
            for set in 0..1_u32 << LANES {
                let keys = std::array::from_fn(|lane| f32::from_bits(set >> lane & 1));
                let lanes: Vec<u32> = (0..LANES as u32).filter(|lane| set >> lane & 1 == 1).collect();
                let (found, numbers) = picked(level, &keys, &values);
                assert!(found.iter().copied().eq(lanes.iter().map(|lane| *lane as f32 + 0.5)), "{set:b}");
                assert!(numbers.into_iter().eq(lanes.iter().map(|lane| 100 + 3 * lane)), "{set:b}");
            }
        }
    }
}
