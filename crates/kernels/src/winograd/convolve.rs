//! Outputs from inputs: transform tiles, multiply place by place, transform back and finish.

use super::finish::{Finish, line, output_tile, pooled_tile};
use super::transform::{F2, F4, Transform};
use super::{Cursor, Geometry, Layout, MOST_HALO, Tile};
use crate::gemm::{self, Strides};
use crate::level::leveled;
use crate::records::Records;
use crate::simd::{LANES, Simd};

leveled!(
    /// Convolves each record's plane at `input` and writes what `finish` makes of it at `output`. A record's
    /// result does not depend on the others.
    convolve = convolve_body (
        tile: Tile, g: &Geometry, memory: &mut [f32], records: Records, input: usize, output: usize,
        weights: &[f32], finish: Finish<'_>, scratch: &mut [f32],
    )
);

#[inline(always)]
fn convolve_body<S: Simd>(
    tile: Tile,
    g: &Geometry,
    memory: &mut [f32],
    records: Records,
    input: usize,
    output: usize,
    weights: &[f32],
    finish: Finish<'_>,
    scratch: &mut [f32],
) {
    assert!(g.fits(tile) && finish.halo <= MOST_HALO);
    let shrink = if finish.pool.is_some() { 2 } else { 1 };
    let (h, w) = (g.height / shrink, g.width / shrink);
    let written = g.outputs * (h + 2 * finish.halo) * (w + 2 * finish.halo) * LANES;
    let places = finish.pool.map_or(0, |at| at.saturating_add(g.outputs * h * w * LANES));
    let plane = g.outputs * (g.height + 2) * (g.width + 2) * LANES;
    let values = finish.derivative.map_or(0, |(_, at)| at.saturating_add(plane));
    let end = input.saturating_add(g.input_len()).max(output.saturating_add(written)).max(places).max(values);
    records.check(memory.len(), end);
    assert!(weights.len() == g.weights(tile) && scratch.len() >= g.scratch(tile, records.count));
    assert!(finish.bias.is_none_or(|bias| bias.len() == g.outputs * LANES));

    let planes = (memory.as_mut_ptr(), input, output);
    // SAFETY: all offsets lie within what was checked above; called with S's instructions.
    unsafe {
        match tile {
            Tile::F2 => {
                all_tiles::<S, F2, F2, 2, 4, 2, 4>(tile, g, records, planes, weights, &finish, scratch)
            }
            Tile::F2x4 => {
                all_tiles::<S, F2, F4, 2, 4, 4, 6>(tile, g, records, planes, weights, &finish, scratch)
            }
            Tile::F4 => {
                all_tiles::<S, F4, F4, 4, 6, 4, 6>(tile, g, records, planes, weights, &finish, scratch)
            }
        }
    }
}

/// `V` is done down a tile, `H` across it: M and N outputs from P and Q places.
#[inline(always)]
unsafe fn all_tiles<
    S: Simd,
    V: Transform<M, P>,
    H: Transform<N, Q>,
    const M: usize,
    const P: usize,
    const N: usize,
    const Q: usize,
>(
    tile: Tile,
    g: &Geometry,
    records: Records,
    (memory, input, output): (*mut f32, usize, usize),
    weights: &[f32],
    finish: &Finish<'_>,
    scratch: &mut [f32],
) {
    let all = g.tiles(tile) * records.count;
    let layout = Layout::new(g, tile.at_once().min(all));
    let (v, rest) = scratch.split_at_mut(Q * layout.v_plane);
    let (m, sums) = rest.split_at_mut(Q * layout.m_plane);
    let (v, m, sums) = (v.as_mut_ptr(), m.as_mut_ptr(), sums.as_mut_ptr());
    let (mut first, mut read) = (0, Cursor::START);
    while first < all {
        let count = layout.tiles.min(all - first);
        // SAFETY: the caller's.
        unsafe {
            let from = (memory.cast_const().add(input), records.stride);
            for row in 0..P {
                let places = (weights.as_ptr(), row);
                row_of_places::<S, V, H, M, P, N, Q>(&layout, from, read, places, (v, m, sums), count);
            }
            for t in 0..count {
                let base = memory.add(read.record * records.stride);
                let sums = sums.add(t * g.outputs * P * N * LANES).cast_const();
                match finish.pool {
                    Some(at) => pooled_tile::<S::Register, V, M, P, N>(
                        &layout,
                        sums,
                        read,
                        base.add(output),
                        base.add(at),
                        finish,
                    ),
                    None => output_tile::<S::Register, V, M, P, N>(&layout, sums, read, base, output, finish),
                }
                read.advance(g, (M, N));
            }
        }
        first += count;
    }
}

/// A row of the places of so many tiles: what the rows of Aᵀ m A are made of goes to `sums`. A row at a time, what is
/// read and written here stays in the first-level cache.
#[inline(always)]
unsafe fn row_of_places<
    S: Simd,
    V: Transform<M, P>,
    H: Transform<N, Q>,
    const M: usize,
    const P: usize,
    const N: usize,
    const Q: usize,
>(
    layout: &Layout,
    (x, stride): (*const f32, usize),
    mut tile: Cursor,
    (weights, row): (*const f32, usize),
    (v, m, sums): (*mut f32, *mut f32, *mut f32),
    count: usize,
) {
    let (inputs, outputs) = (layout.g.inputs * LANES, layout.g.outputs * LANES);
    // SAFETY: the caller's.
    unsafe {
        for t in 0..count {
            let (x, v) = (x.add(tile.record * stride), v.add(t * inputs));
            // Each row has code of its own; the products, which are most of it, have not.
            match row {
                0 => input_row::<S::Register, V, H, M, P, N, Q, 0>(layout, x, tile, v),
                1 => input_row::<S::Register, V, H, M, P, N, Q, 1>(layout, x, tile, v),
                2 => input_row::<S::Register, V, H, M, P, N, Q, 2>(layout, x, tile, v),
                3 => input_row::<S::Register, V, H, M, P, N, Q, 3>(layout, x, tile, v),
                4 => input_row::<S::Register, V, H, M, P, N, Q, 4>(layout, x, tile, v),
                _ => input_row::<S::Register, V, H, M, P, N, Q, 5>(layout, x, tile, v),
            }
            tile.advance(&layout.g, (M, N));
        }
        products::<S, Q>(layout, v, weights.add(Q * row * inputs * outputs), m, count);
        for n in 0..count * layout.g.outputs {
            row_of_sums::<S::Register, H, N, Q>(
                layout,
                m.add(n * LANES),
                sums.add((n * P + row) * N * LANES),
            );
        }
    }
}

/// A row of m A of one block of a tile.
#[inline(always)]
unsafe fn row_of_sums<R: Simd, H: Transform<N, Q>, const N: usize, const Q: usize>(
    layout: &Layout,
    m: *const f32,
    sums: *mut f32,
) {
    // SAFETY: the caller's.
    unsafe {
        for lane in (0..LANES).step_by(R::WIDTH) {
            let line = H::outputs::<R>(line::<R, Q>(m.add(lane), layout.m_plane));
            for (j, value) in line.into_iter().enumerate() {
                R::store(sums.add(j * LANES + lane), value);
            }
        }
    }
}

/// Row `ROW` of Bᵀ d B of one tile, all input channels: its places go to so many planes of `v`.
#[inline(always)]
unsafe fn input_row<
    R: Simd,
    V: Transform<M, P>,
    H: Transform<N, Q>,
    const M: usize,
    const P: usize,
    const N: usize,
    const Q: usize,
    const ROW: usize,
>(
    layout: &Layout,
    x: *const f32,
    tile: Cursor,
    v: *mut f32,
) {
    // SAFETY: the caller's: a halo of 1 makes every tile whole.
    unsafe {
        for channel in (0..layout.g.inputs * LANES).step_by(R::WIDTH) {
            let (block, lane) = (channel / LANES, channel % LANES);
            let d = x.add(block * layout.block + tile.y * layout.row + tile.x * LANES + lane);
            let v = v.add(channel);
            let mut row = [R::zero(); Q];
            for (j, value) in row.iter_mut().enumerate() {
                *value = V::place::<R, ROW>(line::<R, P>(d.add(j * LANES), layout.row));
            }
            for (j, value) in H::inputs::<R>(row).into_iter().enumerate() {
                R::store(v.add(j * layout.v_plane), value);
            }
        }
    }
}

/// For each place of a row: M[tile][output] = Σ_input V[tile][input]·U[input][output].
#[inline(always)]
unsafe fn products<S: Simd, const Q: usize>(
    layout: &Layout,
    v: *const f32,
    u: *const f32,
    m: *mut f32,
    tiles: usize,
) {
    let (inputs, outputs) = (layout.g.inputs * LANES, layout.g.outputs * LANES);
    debug_assert!(tiles <= layout.tiles);
    // SAFETY: the caller's.
    unsafe {
        for place in 0..Q {
            let v = v.add(place * layout.v_plane);
            let (u, m) = (u.add(place * inputs * outputs), m.add(place * layout.m_plane));
            for pair in 0..layout.g.outputs / 2 {
                let s = Strides { row: inputs, step: 1, next: 32, out: outputs };
                gemm::rows::<S, 2>(v, u.add(pair * 32 * inputs), m.add(pair * 32), (tiles, inputs), s);
            }
            if layout.g.outputs % 2 == 1 {
                let at = outputs - LANES;
                let s = Strides { row: inputs, step: 1, next: LANES, out: outputs };
                gemm::rows::<S, 1>(v, u.add(at * inputs), m.add(at), (tiles, inputs), s);
            }
        }
    }
}
