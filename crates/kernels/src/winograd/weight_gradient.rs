//! The gradient with respect to the weights: the same form read the other way.

use super::convolve::{four, input_tile};
use super::{Cursor, Geometry, PLACES, Plan, TAPS};
use crate::gemm::{self, Strides};
use crate::level::leveled;
use crate::simd::{LANES, Simd};

leveled!(
    /// Writes the gradient with respect to the weights over `gradient`, for an input plane `x` and the gradient
    /// `dy` of the outputs (with a halo of 1).
    weight_gradient = weight_gradient_body (
        g: &Geometry, x: &[f32], dy: &[f32], gradient: &mut [f32], scratch: &mut [f32],
    )
);

#[inline(always)]
fn weight_gradient_body<S: Simd>(
    g: &Geometry,
    x: &[f32],
    dy: &[f32],
    gradient: &mut [f32],
    scratch: &mut [f32],
) {
    assert!(g.fits());
    let dy_len = g.outputs * (g.height + 2) * (g.width + 2) * LANES;
    assert!(g.fits() && x.len() >= g.input_len() && dy.len() >= dy_len);
    assert!(gradient.len() == g.gradient() && scratch.len() >= g.scratch(1));
    let plan = Plan::new(g, g.tiles());
    let (v, d) = scratch.split_at_mut(PLACES * plan.v_plane);
    let (inputs, outputs) = (g.inputs * LANES, g.outputs * LANES);
    // SAFETY: all offsets lie within what was checked above; called with S's instructions.
    unsafe {
        let mut tile = Cursor::START;
        for t in 0..plan.tiles {
            input_tile::<S>(&plan, x.as_ptr(), tile, v.as_mut_ptr().add(t * inputs));
            gradient_tile::<S>(&plan, dy.as_ptr(), tile, d.as_mut_ptr().add(t * outputs));
            tile.advance(g);
        }
        let mut sums = [0.0_f32; PLACES * 8 * 2 * LANES];
        for first in (0..outputs).step_by(8) {
            for block in (0..g.inputs).step_by(2) {
                let pair = (g.inputs - block).min(2);
                let s = Strides { row: 1, step: outputs, next: inputs, out: 2 * LANES };
                for place in 0..PLACES {
                    let a = d.as_ptr().add(place * plan.m_plane + first);
                    let b = v.as_ptr().add(place * plan.v_plane + block * LANES);
                    let c = sums.as_mut_ptr().add(place * 8 * 2 * LANES);
                    match pair {
                        2 => gemm::rows::<S, 2>(a, b, c, (8, plan.tiles), s),
                        _ => gemm::rows::<S, 1>(a, b, c, (8, plan.tiles), s),
                    }
                }
                for row in 0..8 {
                    for k in 0..pair {
                        let from = sums.as_ptr().add((row * 2 + k) * LANES);
                        let to = ((first + row) * g.inputs + block + k) * TAPS * LANES;
                        taps::<S>(from, gradient.as_mut_ptr().add(to));
                    }
                }
            }
        }
    }
}

/// A dy Aᵀ of one tile, all output channels.
#[inline(always)]
unsafe fn gradient_tile<S: Simd>(plan: &Plan, dy: *const f32, tile: Cursor, d: *mut f32) {
    let (y0, x0) = (tile.y, tile.x);
    // SAFETY: the caller's.
    unsafe {
        for block in 0..plan.g.outputs {
            let at = dy.add(block * plan.block + (y0 + 1) * plan.row + (x0 + 1) * LANES);
            let below = at.add(plan.row);
            let left = spread_line::<S>(S::load(at), S::load(below));
            let right = spread_line::<S>(S::load(at.add(LANES)), S::load(below.add(LANES)));
            for (i, (a, b)) in left.into_iter().zip(right).enumerate() {
                for (j, value) in spread_line::<S>(a, b).into_iter().enumerate() {
                    S::store(d.add(block * LANES + (4 * i + j) * plan.m_plane), value);
                }
            }
        }
    }
}

/// A applied to two values.
#[inline(always)]
unsafe fn spread_line<S: Simd>(a: S::V, b: S::V) -> [S::V; 4] {
    // SAFETY: the caller's.
    unsafe { [a, S::add(a, b), S::sub(a, b), S::sub(S::zero(), b)] }
}

/// Gᵀ applied to four values.
#[inline(always)]
unsafe fn tap_line<S: Simd>([u0, u1, u2, u3]: [S::V; 4]) -> [S::V; 3] {
    // SAFETY: the caller's.
    unsafe {
        let half = S::splat(0.5);
        let (sum, difference) = (S::mul(half, S::add(u1, u2)), S::mul(half, S::sub(u1, u2)));
        [S::add(u0, sum), difference, S::add(sum, u3)]
    }
}

/// Gᵀ u G of one output channel and one block of input channels.
#[inline(always)]
unsafe fn taps<S: Simd>(u: *const f32, out: *mut f32) {
    // SAFETY: the caller's.
    unsafe {
        let apart = 8 * 2 * LANES;
        let mut rows = [[S::zero(); 4]; 3];
        for j in 0..4 {
            let column = tap_line::<S>(four::<S>(u.add(j * apart), 4 * apart));
            for (row, value) in rows.iter_mut().zip(column) {
                row[j] = value;
            }
        }
        for (i, row) in rows.into_iter().enumerate() {
            for (j, value) in tap_line::<S>(row).into_iter().enumerate() {
                S::store(out.add((3 * i + j) * LANES), value);
            }
        }
    }
}
