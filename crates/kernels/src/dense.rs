//! Fully connected layers: matrix times vector, and its transpose.

use crate::gemm::{self, Strides};
use crate::level::leveled;
use crate::records::Records;
use crate::simd::{LANES, Simd};

leveled!(
    /// Writes `Σ_i weights[o][i]·x[i] + bias[o]` at `output` for each record, whose x (`width` values, a multiple of
    /// [`LANES`]) is at `input`. A record's result does not depend on the others.
    forward = forward_body (
        weights: &[f32], bias: &[f32], width: usize, memory: &mut [f32], records: Records,
        input: usize, output: usize,
    )
);

leveled!(
    /// Writes `Σ_o weights[o][i]·dy[o]` at `output` (`width` values) for each record, whose dy is at `input`.
    backward = backward_body (
        weights: &[f32], width: usize, memory: &mut [f32], records: Records, input: usize, output: usize,
    )
);

#[inline(always)]
fn forward_body<S: Simd>(
    weights: &[f32],
    bias: &[f32],
    width: usize,
    memory: &mut [f32],
    records: Records,
    input: usize,
    output: usize,
) {
    let outputs = bias.len();
    check(weights.len(), width, outputs);
    records.check(memory.len(), input.saturating_add(width).max(output.saturating_add(outputs)));
    let base = memory.as_mut_ptr();
    let mut record = 0;
    // SAFETY: every offset lies within what was checked; called with S's instructions.
    unsafe {
        while record < records.count {
            let x = base.add(record * records.stride + input);
            let out = base.add(record * records.stride + output);
            if record + 4 <= records.count {
                dots::<S, 4>(weights, bias, width, records.stride, x, out);
                record += 4;
            } else {
                dots::<S, 1>(weights, bias, width, records.stride, x, out);
                record += 1;
            }
        }
    }
}

/// `R` records with every output, two outputs at a time.
#[inline(always)]
unsafe fn dots<S: Simd, const R: usize>(
    weights: &[f32],
    bias: &[f32],
    width: usize,
    stride: usize,
    x: *const f32,
    out: *mut f32,
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
                        *sum = S::fma(w, S::load(x.add(r * stride + i)), *sum);
                    }
                }
            }
            for (k, sums) in sums.iter().enumerate().take(pair) {
                for (r, sum) in sums.iter().enumerate() {
                    *out.add(r * stride + o + k) = S::sum(*sum) + bias[o + k];
                }
            }
            o += pair;
        }
    }
}

#[inline(always)]
fn backward_body<S: Simd>(
    weights: &[f32],
    width: usize,
    memory: &mut [f32],
    records: Records,
    input: usize,
    output: usize,
) {
    let outputs = weights.len() / width.max(1);
    check(weights.len(), width, outputs);
    records.check(memory.len(), input.saturating_add(outputs).max(output.saturating_add(width)));
    let s = Strides { row: records.stride, step: 1, next: width, out: records.stride };
    // SAFETY: every offset lies within what was checked; called with S's instructions.
    unsafe {
        let (base, b) = (memory.as_mut_ptr(), weights.as_ptr());
        let (a, c) = (base.add(input).cast_const(), base.add(output));
        let mut i = 0;
        while i + 2 * LANES <= width {
            gemm::rows::<S, 2>(a, b.add(i), c.add(i), (records.count, outputs), s);
            i += 2 * LANES;
        }
        if i < width {
            gemm::rows::<S, 1>(a, b.add(i), c.add(i), (records.count, outputs), s);
        }
    }
}

fn check(weights: usize, width: usize, outputs: usize) {
    assert!(
        width > 0
            && width.is_multiple_of(LANES)
            && outputs > 0
            && Some(weights) == width.checked_mul(outputs)
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;

    #[test]
    fn products_are_their_definitions() {
        let value = |i: usize| (i as f32 * 0.61).sin();
        for level in Level::available() {
            for (width, outputs, count) in [(16, 1, 1), (48, 5, 3), (64, 10, 9), (32, 7, 4)] {
                let weights: Vec<f32> = (0..width * outputs).map(value).collect();
                let bias: Vec<f32> = (0..outputs).map(|o| o as f32).collect();
                // A record: x, Wx + b, and Wᵀ of that.
                let stride = 2 * width + outputs;
                let mut memory: Vec<f32> = (0..stride * count).map(|i| value(3 * i + 1)).collect();
                let records = Records { stride, count };
                forward(level, &weights, &bias, width, &mut memory, records, 0, width);
                backward(level, &weights, width, &mut memory, records, width, width + outputs);
                for record in memory.chunks_exact(stride) {
                    for o in 0..outputs {
                        let row = &weights[o * width..(o + 1) * width];
                        let exact: f64 = row.iter().zip(record).map(|(w, x)| f64::from(w * x)).sum();
                        assert!((f64::from(record[width + o]) - exact - o as f64).abs() < 1e-5);
                    }
                    for i in 0..width {
                        let terms = (0..outputs).map(|o| weights[o * width + i] * record[width + o]);
                        let exact: f64 = terms.map(f64::from).sum();
                        assert!((f64::from(record[width + outputs + i]) - exact).abs() < 2e-5);
                    }
                }
            }
        }
    }
}
