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
        macro_rules! tiles {
            ($r:literal) => {
                while rows.len() - first >= $r {
                    let at: [usize; $r] = std::array::from_fn(|r| *rows.get_unchecked(first + r));
                    let mut sums = [start; $r];
                    for (step, place) in steps.iter().zip(places) {
                        let column = S::load(b.as_ptr().add(*place));
                        let a = a.as_ptr().add(*step);
                        for (sum, at) in sums.iter_mut().zip(at) {
                            let x = S::splat(*a.add(at));
                            *sum =
                                if FUSED { S::fma(x, column, *sum) } else { S::add(*sum, S::mul(x, column)) };
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
            // All taps of a 3×3 kernel over three colours.
            tiles!(27);
            tiles!(8);
        }
        if S::ROWS >= 3 {
            tiles!(6);
        }
        tiles!(2);
        tiles!(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;

    #[test]
    fn gathered_products_are_their_definition_for_any_number_of_rows() {
        let a: Vec<f32> = (0..500).map(|i| (i as f32 * 0.37).sin()).collect();
        let b: Vec<f32> = (0..800).map(|i| (i as f32 * 0.73).cos()).collect();
        let steps: Vec<usize> = (0..20).map(|k| k * 7 % 50).collect();
        let places: Vec<usize> = (0..20).map(|k| k * 16).collect();
        let bias = [0.5; LANES];
        for level in Level::available() {
            for count in [1, 5, 6, 16, 23, 39] {
                let rows: Vec<usize> = (0..count).map(|r| r * 11).collect();
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
