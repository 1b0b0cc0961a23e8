//! The gradient with respect to the weights: the same form read the other way.

use super::finish::line;
use super::transform::{F2, F4, Transform};
use super::{Cursor, Geometry, Layout, PAIR, ROWS, TAPS, Tile};
use crate::gemm::{self, Strides};
use crate::level::leveled;
use crate::simd::{LANES, Simd};

leveled!(
    /// Writes the gradient with respect to the weights over `gradient`, for an input plane `x` and the gradient
    /// `dy` of the outputs (with a halo of 1).
    weight_gradient = weight_gradient_body (
        tile: Tile, g: &Geometry, x: &[f32], dy: &[f32], gradient: &mut [f32], scratch: &mut [f32],
    )
);

#[inline(always)]
fn weight_gradient_body<S: Simd>(
    tile: Tile,
    g: &Geometry,
    x: &[f32],
    dy: &[f32],
    gradient: &mut [f32],
    scratch: &mut [f32],
) {
    assert!(g.fits(tile));
    let dy_len = g.outputs * (g.height + 2) * (g.width + 2) * LANES;
    assert!(x.len() >= g.input_len() && dy.len() >= dy_len);
    assert!(gradient.len() == g.gradient() && scratch.len() >= g.scratch(tile, 1));
    let layout = Layout::new(g, g.tiles(tile));
    let from = (x.as_ptr(), dy.as_ptr());
    // SAFETY: all offsets lie within what was checked above; called with S's instructions.
    unsafe {
        match tile {
            Tile::F2 => all_channels::<S, F2, F2, 2, 4, 2, 4>(&layout, from, gradient.as_mut_ptr(), scratch),
            Tile::F2x4 => {
                all_channels::<S, F2, F4, 2, 4, 4, 6>(&layout, from, gradient.as_mut_ptr(), scratch)
            }
            Tile::F4 => all_channels::<S, F4, F4, 4, 6, 4, 6>(&layout, from, gradient.as_mut_ptr(), scratch),
        }
    }
}

/// `V` is done down a tile, `H` across it: M and N outputs from P and Q places.
#[inline(always)]
unsafe fn all_channels<
    S: Simd,
    V: Transform<M, P>,
    H: Transform<N, Q>,
    const M: usize,
    const P: usize,
    const N: usize,
    const Q: usize,
>(
    layout: &Layout,
    (x, dy): (*const f32, *const f32),
    gradient: *mut f32,
    scratch: &mut [f32],
) {
    let g = &layout.g;
    let (inputs, outputs) = (g.inputs * LANES, g.outputs * LANES);
    let (v, rest) = scratch.split_at_mut(P * Q * layout.v_plane);
    let (d, sums) = rest.split_at_mut(P * Q * layout.m_plane);
    // SAFETY: the caller's.
    unsafe {
        let mut tile = Cursor::START;
        for t in 0..layout.tiles {
            input_tile::<S::Register, V, H, M, P, N, Q>(layout, x, tile, v.as_mut_ptr().add(t * inputs));
            gradient_tile::<S::Register, V, H, M, P, N, Q>(layout, dy, tile, d.as_mut_ptr().add(t * outputs));
            tile.advance(g, (M, N));
        }
        for first in (0..outputs).step_by(ROWS) {
            for block in (0..g.inputs).step_by(PAIR) {
                let pair = (g.inputs - block).min(PAIR);
                let s = Strides { row: 1, step: outputs, next: inputs, out: PAIR * LANES };
                for place in 0..P * Q {
                    let a = d.as_ptr().add(place * layout.m_plane + first);
                    let b = v.as_ptr().add(place * layout.v_plane + block * LANES);
                    let c = sums.as_mut_ptr().add(place * ROWS * PAIR * LANES);
                    match pair {
                        2 => gemm::rows::<S, 2>(a, b, c, (ROWS, layout.tiles), s),
                        _ => gemm::rows::<S, 1>(a, b, c, (ROWS, layout.tiles), s),
                    }
                }
                for row in 0..ROWS {
                    for k in 0..pair {
                        let from = sums.as_ptr().add((row * PAIR + k) * LANES);
                        let to = ((first + row) * g.inputs + block + k) * TAPS * LANES;
                        for lane in (0..LANES).step_by(S::Register::WIDTH) {
                            taps::<S::Register, V, H, M, P, N, Q>(from.add(lane), gradient.add(to + lane));
                        }
                    }
                }
            }
        }
    }
}

/// Bᵀ d B of one tile, all input channels: place ξ goes to plane ξ of `v`.
#[inline(always)]
unsafe fn input_tile<
    S: Simd,
    V: Transform<M, P>,
    H: Transform<N, Q>,
    const M: usize,
    const P: usize,
    const N: usize,
    const Q: usize,
>(
    layout: &Layout,
    x: *const f32,
    tile: Cursor,
    v: *mut f32,
) {
    // SAFETY: the caller's: a halo of 1 makes every tile whole.
    unsafe {
        for channel in (0..layout.g.inputs * LANES).step_by(S::WIDTH) {
            let (block, lane) = (channel / LANES, channel % LANES);
            let d = x.add(block * layout.block + tile.y * layout.row + tile.x * LANES + lane);
            let v = v.add(channel);
            let mut rows = [[S::zero(); Q]; P];
            for j in 0..Q {
                let column = V::inputs::<S>(line::<S, P>(d.add(j * LANES), layout.row));
                for (row, value) in rows.iter_mut().zip(column) {
                    row[j] = value;
                }
            }
            for (i, row) in rows.into_iter().enumerate() {
                for (j, value) in H::inputs::<S>(row).into_iter().enumerate() {
                    S::store(v.add((Q * i + j) * layout.v_plane), value);
                }
            }
        }
    }
}

/// A dy Aᵀ of one tile, all output channels.
#[inline(always)]
unsafe fn gradient_tile<
    S: Simd,
    V: Transform<M, P>,
    H: Transform<N, Q>,
    const M: usize,
    const P: usize,
    const N: usize,
    const Q: usize,
>(
    layout: &Layout,
    dy: *const f32,
    tile: Cursor,
    d: *mut f32,
) {
    // SAFETY: the caller's.
    unsafe {
        for channel in (0..layout.g.outputs * LANES).step_by(S::WIDTH) {
            let (block, lane) = (channel / LANES, channel % LANES);
            let at = dy.add(block * layout.block + (tile.y + 1) * layout.row + (tile.x + 1) * LANES + lane);
            let d = d.add(channel);
            let mut rows = [[S::zero(); N]; P];
            for j in 0..N {
                let column = V::spread::<S>(line::<S, M>(at.add(j * LANES), layout.row));
                for (row, value) in rows.iter_mut().zip(column) {
                    row[j] = value;
                }
            }
            for (i, row) in rows.into_iter().enumerate() {
                for (j, value) in H::spread::<S>(row).into_iter().enumerate() {
                    S::store(d.add((Q * i + j) * layout.m_plane), value);
                }
            }
        }
    }
}

/// Gᵀ u G of one output channel and as many input channels as S has lanes.
#[inline(always)]
unsafe fn taps<
    S: Simd,
    V: Transform<M, P>,
    H: Transform<N, Q>,
    const M: usize,
    const P: usize,
    const N: usize,
    const Q: usize,
>(
    u: *const f32,
    out: *mut f32,
) {
    // SAFETY: the caller's.
    unsafe {
        let apart = ROWS * PAIR * LANES;
        let mut rows = [[S::zero(); Q]; 3];
        for j in 0..Q {
            let column = V::taps::<S>(line::<S, P>(u.add(j * apart), Q * apart));
            for (row, value) in rows.iter_mut().zip(column) {
                row[j] = value;
            }
        }
        for (i, row) in rows.into_iter().enumerate() {
            for (j, value) in H::taps::<S>(row).into_iter().enumerate() {
                S::store(out.add((3 * i + j) * LANES), value);
            }
        }
    }
}
