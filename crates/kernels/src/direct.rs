//! Convolutions of any kernel, stride and padding by their definition, and matrix products with gathered rows.
//!
//! `C[r][n] = Σ_k A[rows[r] + steps[k]]·B[k][n]`: with rows the places of output pixels and steps those of the
//! kernel's taps this is a convolution; the other way round it is its weight gradient.

use crate::level::leveled;
use crate::simd::{LANES, Simd};

leveled!(
    /// The same as [`gather`] with products and sums rounded apart: the same bits for every instruction set.
    gather_apart = gather_apart_body (
        a: &[f32], rows: &[usize], steps: &[usize], b: &[f32], places: &[usize], bias: Option<&[f32]>,
        out: &mut [f32], outs: &[usize],
    )
);

leveled!(
    /// above += weight·max(scale·v − threshold, 0) and below += weight·max(−scale·v − threshold, 0), value by value.
    add_beyond = add_beyond_body (
        values: &[f32], scale: f32, threshold: f32, weight: f32, above: &mut [f32], below: &mut [f32],
    )
);

#[inline(always)]
fn add_beyond_body<S: Simd>(
    values: &[f32],
    scale: f32,
    threshold: f32,
    weight: f32,
    above: &mut [f32],
    below: &mut [f32],
) {
    assert!(above.len() == values.len() && below.len() == values.len());
    for ((v, a), b) in values.iter().zip(above).zip(below) {
        let v = scale * v;
        let (high, low) = (v - threshold, -v - threshold);
        *a += weight * if high > 0.0 { high } else { 0.0 };
        *b += weight * if low > 0.0 { low } else { 0.0 };
    }
}

leveled!(
    /// `out[r][n] = Σ_k a[rows[r] + steps[k]]·b[places[k] + n]` for sixteen columns n, row r at `out[outs[r]..]`,
    /// plus `bias` if there is any; k is summed in order.
    gather = gather_body (
        a: &[f32], rows: &[usize], steps: &[usize], b: &[f32], places: &[usize], bias: Option<&[f32]>,
        out: &mut [f32], outs: &[usize],
    )
);

leveled!(
    /// Adds each pixel's sixteen values to `sums`: the gradient of a block's biases.
    add_pixels = add_pixels_body (pixels: &[f32], sums: &mut [f32; LANES])
);

#[inline(always)]
fn add_pixels_body<S: Simd>(pixels: &[f32], sums: &mut [f32; LANES]) {
    // SAFETY: whole pixels; called with S's instructions.
    unsafe {
        let mut running = [S::zero(); 4];
        for four in pixels.chunks(4 * LANES) {
            for (sum, pixel) in running.iter_mut().zip(four.chunks_exact(LANES)) {
                *sum = S::add(*sum, S::load(pixel.as_ptr()));
            }
        }
        let [a, b, c, d] = running;
        let sum = S::add(S::add(a, b), S::add(c, d));
        S::store(sums.as_mut_ptr(), S::add(S::load(sums.as_ptr()), sum));
    }
}

#[inline(always)]
fn gather_body<S: Simd>(
    a: &[f32],
    rows: &[usize],
    steps: &[usize],
    b: &[f32],
    places: &[usize],
    bias: Option<&[f32]>,
    out: &mut [f32],
    outs: &[usize],
) {
    gathered::<S, true>(a, rows, steps, b, places, bias, out, outs);
}

#[inline(always)]
fn gather_apart_body<S: Simd>(
    a: &[f32],
    rows: &[usize],
    steps: &[usize],
    b: &[f32],
    places: &[usize],
    bias: Option<&[f32]>,
    out: &mut [f32],
    outs: &[usize],
) {
    gathered::<S, false>(a, rows, steps, b, places, bias, out, outs);
}

#[inline(always)]
fn gathered<S: Simd, const FUSED: bool>(
    a: &[f32],
    rows: &[usize],
    steps: &[usize],
    b: &[f32],
    places: &[usize],
    bias: Option<&[f32]>,
    out: &mut [f32],
    outs: &[usize],
) {
    let most = |list: &[usize]| list.iter().copied().max().unwrap_or(0);
    assert!(rows.len() == outs.len() && steps.len() == places.len());
    assert!(rows.is_empty() || steps.is_empty() || most(rows).saturating_add(most(steps)) < a.len());
    assert!(places.is_empty() || most(places).saturating_add(LANES) <= b.len());
    assert!(outs.is_empty() || most(outs).saturating_add(LANES) <= out.len());
    assert!(bias.is_none_or(|bias| bias.len() >= LANES));
    // SAFETY: every place was checked; called with S's instructions.
    unsafe {
        let start = match bias {
            Some(bias) => S::load(bias.as_ptr()),
            None => S::zero(),
        };
        let mut first = 0;
        // Rows that follow one another need no register each for where they begin.
        macro_rules! runs {
            ($runs:literal of $length:literal) => {
                while are_runs::<$runs, $length>(rows.get_unchecked(first..)) {
                    let at: [usize; $runs] =
                        std::array::from_fn(|run| *rows.get_unchecked(first + run * $length));
                    let mut sums = [[start; $length]; $runs];
                    for (step, place) in steps.iter().zip(places) {
                        let column = S::load(b.as_ptr().add(*place));
                        let a = a.as_ptr().add(*step);
                        for (sums, at) in sums.iter_mut().zip(at) {
                            for (k, sum) in sums.iter_mut().enumerate() {
                                *sum = product::<S, FUSED>(*a.add(at + k), column, *sum);
                            }
                        }
                    }
                    for (run, sums) in sums.iter().enumerate() {
                        for (k, sum) in sums.iter().enumerate() {
                            let to = *outs.get_unchecked(first + run * $length + k);
                            S::store(out.as_mut_ptr().add(to), *sum);
                        }
                    }
                    first += $runs * $length;
                }
            };
        }
        macro_rules! tiles {
            ($r:literal) => {
                while rows.len() - first >= $r {
                    let at: [usize; $r] = std::array::from_fn(|r| *rows.get_unchecked(first + r));
                    let mut sums = [start; $r];
                    for (step, place) in steps.iter().zip(places) {
                        let column = S::load(b.as_ptr().add(*place));
                        let a = a.as_ptr().add(*step);
                        for (sum, at) in sums.iter_mut().zip(at) {
                            *sum = product::<S, FUSED>(*a.add(at), column, *sum);
                        }
                    }
                    for (r, sum) in sums.into_iter().enumerate() {
                        S::store(out.as_mut_ptr().add(outs[first + r]), sum);
                    }
                    first += $r;
                }
            };
        }
        if S::ROWS >= 8 {
            // Pixels of a line, and all taps of a 3×3 kernel over three colours or of a 5×5 kernel.
            runs!(1 of 16);
            runs!(9 of 3);
            runs!(5 of 5);
            tiles!(8);
        }
        if S::ROWS >= 3 {
            tiles!(6);
        }
        tiles!(2);
        tiles!(1);
    }
}

#[inline(always)]
unsafe fn product<S: Simd, const FUSED: bool>(x: f32, column: S::V, sum: S::V) -> S::V {
    // SAFETY: the caller's.
    unsafe {
        let x = S::splat(x);
        if FUSED { S::fma(x, column, sum) } else { S::add(sum, S::mul(x, column)) }
    }
}

/// Whether the first `RUNS`·`LENGTH` rows are so many runs of rows that begin one value after another.
#[inline(always)]
fn are_runs<const RUNS: usize, const LENGTH: usize>(rows: &[usize]) -> bool {
    let Some(rows) = rows.get(..RUNS * LENGTH) else { return false };
    rows.chunks_exact(LENGTH).all(|run| run.iter().enumerate().all(|(k, row)| *row == run[0] + k))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;

    #[test]
    fn pixels_are_added_channel_by_channel() {
        let pixels: Vec<f32> = (0..13 * LANES).map(|i| i as f32).collect();
        for level in Level::available() {
            for count in 0..13 {
                let mut sums = [0.5; LANES];
                add_pixels(level, &pixels[..count * LANES], &mut sums);
                for (lane, sum) in sums.into_iter().enumerate() {
                    let exact: f32 = (0..count).map(|n| pixels[n * LANES + lane]).sum();
                    assert_eq!(sum, exact + 0.5);
                }
            }
        }
    }

    #[test]
    fn gathered_products_are_their_definition_for_any_number_of_rows() {
        let a: Vec<f32> = (0..500).map(|i| (i as f32 * 0.37).sin()).collect();
        let b: Vec<f32> = (0..800).map(|i| (i as f32 * 0.73).cos()).collect();
        let steps: Vec<usize> = (0..20).map(|k| k * 7 % 50).collect();
        let places: Vec<usize> = (0..20).map(|k| k * 16).collect();
        let bias = [0.5; LANES];
        for level in Level::available() {
            // Apart from each other, and in runs of 3, 5 and 16.
            for (count, run) in
                [1, 5, 6, 16, 23, 39, 70].into_iter().flat_map(|n| [1, 3, 5, 16].map(|r| (n, r)))
            {
                let rows: Vec<usize> = (0..count).map(|r| r / run * 19 % 300 + r % run).collect();
                let outs: Vec<usize> = (0..count).map(|r| r * LANES).collect();
                let mut out = vec![0.0; count * LANES];
                gather(level, &a, &rows, &steps, &b, &places, Some(&bias), &mut out, &outs);
                for r in 0..count {
                    for n in 0..LANES {
                        let terms =
                            (0..20).map(|k| f64::from(a[rows[r] + steps[k]]) * f64::from(b[places[k] + n]));
                        let exact = 0.5 + terms.sum::<f64>();
                        assert!((f64::from(out[r * LANES + n]) - exact).abs() < 1e-5);
                    }
                }
            }
        }
    }
}
