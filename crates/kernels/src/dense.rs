//! Fully connected layers: matrix times vector, and its transpose.

use crate::gemm::{self, Strides};
use crate::level::leveled;
use crate::simd::{LANES, Simd};

leveled!(
    /// out[r][o] = Σ_i weights[o][i]·x[r][i] + bias[o] for each record r; `width` inputs, a multiple of
    /// [`LANES`]. A record's result does not depend on the others.
    forward = forward_body (weights: &[f32], bias: &[f32], width: usize, x: &[f32], out: &mut [f32])
);

leveled!(
    /// out[r][i] = Σ_o weights[o][i]·dy[r][o] for each of `records` records; `width` inputs, a multiple of
    /// [`LANES`].
    backward = backward_body (weights: &[f32], width: usize, dy: &[f32], records: usize, out: &mut [f32])
);

#[inline(always)]
fn forward_body<S: Simd>(weights: &[f32], bias: &[f32], width: usize, x: &[f32], out: &mut [f32]) {
    let outputs = bias.len();
    assert!(width > 0 && width.is_multiple_of(LANES) && outputs > 0 && weights.len() == width * outputs);
    assert!(x.len().is_multiple_of(width) && out.len() == x.len() / width * outputs);
    let records = x.len() / width;
    let mut record = 0;
    // SAFETY: every offset lies within what was checked; called with S's instructions.
    unsafe {
        while record + 4 <= records {
            dots::<S, 4>(weights, bias, width, &x[record * width..], &mut out[record * outputs..]);
            record += 4;
        }
        while record < records {
            dots::<S, 1>(weights, bias, width, &x[record * width..], &mut out[record * outputs..]);
            record += 1;
        }
    }
}

/// `R` records with every output, two outputs at a time.
#[inline(always)]
unsafe fn dots<S: Simd, const R: usize>(
    weights: &[f32],
    bias: &[f32],
    width: usize,
    x: &[f32],
    out: &mut [f32],
) {
    let outputs = bias.len();
    // SAFETY: the caller checked the lengths.
    unsafe {
        let mut o = 0;
        while o < outputs {
            let pair = (outputs - o).min(2);
            let rows = [weights.as_ptr().add(o * width), weights.as_ptr().add((o + pair - 1) * width)];
            let mut sums = [[S::zero(); R]; 2];
            for i in (0..width).step_by(LANES) {
                for (row, sums) in rows.iter().zip(&mut sums) {
                    let w = S::load(row.add(i));
                    for (r, sum) in sums.iter_mut().enumerate() {
                        *sum = S::fma(w, S::load(x.as_ptr().add(r * width + i)), *sum);
                    }
                }
            }
            for (k, sums) in sums.iter().enumerate().take(pair) {
                for (r, sum) in sums.iter().enumerate() {
                    out[r * outputs + o + k] = S::sum(*sum) + bias[o + k];
                }
            }
            o += pair;
        }
    }
}

#[inline(always)]
fn backward_body<S: Simd>(weights: &[f32], width: usize, dy: &[f32], records: usize, out: &mut [f32]) {
    assert!(width > 0 && width.is_multiple_of(LANES) && weights.len().is_multiple_of(width));
    let outputs = weights.len() / width;
    assert!(dy.len() == records * outputs && out.len() == records * width);
    let s = Strides { row: outputs, step: 1, next: width, out: width };
    // SAFETY: every offset lies within what was checked; called with S's instructions.
    unsafe {
        let (a, b, c) = (dy.as_ptr(), weights.as_ptr(), out.as_mut_ptr());
        let mut i = 0;
        while i + 2 * LANES <= width {
            gemm::rows::<S, 2>(a, b.add(i), c.add(i), (records, outputs), s);
            i += 2 * LANES;
        }
        if i < width {
            gemm::rows::<S, 1>(a, b.add(i), c.add(i), (records, outputs), s);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;

    #[test]
    fn products_are_their_definitions() {
        let value = |i: usize| (i as f32 * 0.61).sin();
        for level in Level::available() {
            for (width, outputs, records) in [(16, 1, 1), (48, 5, 3), (64, 10, 9), (32, 7, 4)] {
                let weights: Vec<f32> = (0..width * outputs).map(value).collect();
                let bias: Vec<f32> = (0..outputs).map(|o| o as f32).collect();
                let x: Vec<f32> = (0..width * records).map(|i| value(3 * i + 1)).collect();
                let dy: Vec<f32> = (0..outputs * records).map(|i| value(5 * i + 2)).collect();
                let mut out = vec![0.0; outputs * records];
                forward(level, &weights, &bias, width, &x, &mut out);
                let mut back = vec![0.0; width * records];
                backward(level, &weights, width, &dy, records, &mut back);
                for r in 0..records {
                    for o in 0..outputs {
                        let exact: f64 = (0..width)
                            .map(|i| f64::from(weights[o * width + i]) * f64::from(x[r * width + i]))
                            .sum();
                        assert!((f64::from(out[r * outputs + o]) - exact - o as f64).abs() < 1e-5);
                    }
                    for i in 0..width {
                        let exact: f64 = (0..outputs)
                            .map(|o| f64::from(weights[o * width + i]) * f64::from(dy[r * outputs + o]))
                            .sum();
                        assert!((f64::from(back[r * width + i]) - exact).abs() < 1e-5);
                    }
                }
            }
        }
    }
}
